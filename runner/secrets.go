package runner

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// redacted stands for a secret.
const redacted = "***"

// Names of secrets: HF_TOKEN, OPENAI_API_KEY, ... among the variables, and the flags of the engines that take one.
var (
	secretVariable = regexp.MustCompile(`(?i)(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|APIKEY|API_KEY|ACCESS_KEY|CREDENTIALS?)(_|$)`)
	secretFlags    = []string{"api-key", "admin-api-key", "hf-token", "ssl-keyfile-password"}
)

// keyVariable is where vLLM also takes its key from.
const keyVariable = "VLLM_API_KEY"

// shortestSecret in bytes: what is shorter (true, 1) would be found in everything.
const shortestSecret = 6

// secrets are what reaches the servers and nothing else.
type secrets struct {
	values *strings.Replacer
	apiKey string // that requests to the server must carry; empty for none
}

func findSecrets(environ []string, plan Plan) secrets {
	var s secrets
	var values []string
	add := func(value string) {
		if len(value) < shortestSecret {
			return
		}
		values = append(values, value)
		if quoted, err := json.Marshal(value); err == nil {
			values = append(values, strings.Trim(string(quoted), `"`)) // as it stands in JSON
		}
	}
	for _, e := range slices.Concat(environ, plan.Env) {
		name, value, _ := strings.Cut(e, "=")
		if secretVariable.MatchString(name) {
			add(value)
		}
		if name == keyVariable && plan.Engine.Name == "vllm" {
			s.apiKey = value
		}
	}
	for _, setting := range plan.Settings {
		if isSecretFlag(setting.Flag) {
			add(setting.Value.String())
			if bareFlag(setting.Flag) == "api-key" {
				s.apiKey = setting.Value.String()
			}
		}
	}
	slices.SortFunc(values, func(x, y string) int { return len(y) - len(x) }) // one may hold another
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, v, redacted)
	}
	s.values = strings.NewReplacer(pairs...)
	return s
}

func bareFlag(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.ReplaceAll(name, "_", "-")
}

func isSecretFlag(flag string) bool { return slices.Contains(secretFlags, bareFlag(flag)) }

// redact removes every secret's value from a text.
func (s secrets) redact(text string) string { return s.values.Replace(text) }

// argv is a command line for the record.
func (s secrets) argv(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = s.redact(w)
		head, _, assigned := strings.Cut(w, "=")
		switch {
		case assigned && strings.HasPrefix(w, "--") && isSecretFlag(w):
			out[i] = head + "=" + redacted
		case i > 0 && strings.HasPrefix(words[i-1], "--") && !strings.Contains(words[i-1], "=") && isSecretFlag(words[i-1]):
			out[i] = redacted
		}
	}
	return out
}

// env is a list of variables for the record.
func (s secrets) env(list []string) []string {
	out := make([]string, len(list))
	for i, e := range list {
		name, value, _ := strings.Cut(e, "=")
		if secretVariable.MatchString(name) {
			value = redacted
		}
		out[i] = name + "=" + s.redact(value)
	}
	return out
}
