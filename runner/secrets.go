package runner

import (
	"encoding/json"
	"slices"
	"strings"

	"autotune/tuner/secret"
)

// secretFlags are the flags of the engines that take a secret.
var secretFlags = []string{"api-key", "admin-api-key", "hf-token", "ssl-keyfile-password"}

// keyVariable is where vLLM also takes its key from.
const keyVariable = "VLLM_API_KEY"

// secrets are what reaches the servers and nothing else.
type secrets struct {
	values *strings.Replacer
	apiKey string // that requests to the server must carry; empty for none
}

func findSecrets(environ []string, plan Plan) secrets {
	var s secrets
	var values []string
	add := func(value string) {
		if len(value) < secret.Shortest {
			return
		}
		values = append(values, value)
		if quoted, err := json.Marshal(value); err == nil {
			values = append(values, string(quoted[1:len(quoted)-1])) // as it stands in JSON
		}
	}
	for _, e := range slices.Concat(environ, plan.Env) {
		name, value, _ := strings.Cut(e, "=")
		if secret.Variable(name, value) {
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
		pairs = append(pairs, v, secret.Redacted)
	}
	s.values = strings.NewReplacer(pairs...)
	return s
}

func bareFlag(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.ReplaceAll(name, "_", "-")
}

func isSecretFlag(flag string) bool { return slices.Contains(secretFlags, bareFlag(flag)) }

// redact removes from a text every secret's value, and what has a secret's form.
func (s secrets) redact(text string) string { return secret.Redact(s.values.Replace(text)) }

// argv is a command line for the record.
func (s secrets) argv(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = s.redact(w)
		head, _, assigned := strings.Cut(w, "=")
		switch {
		case assigned && strings.HasPrefix(w, "--") && isSecretFlag(w):
			out[i] = head + "=" + secret.Redacted
		case i > 0 && strings.HasPrefix(words[i-1], "--") && !strings.Contains(words[i-1], "=") && isSecretFlag(words[i-1]):
			out[i] = secret.Redacted
		}
	}
	return out
}

// env is a list of variables for the record.
func (s secrets) env(list []string) []string {
	out := make([]string, len(list))
	for i, e := range list {
		name, value, _ := strings.Cut(e, "=")
		if secret.Variable(name, value) {
			value = secret.Redacted
		}
		out[i] = name + "=" + s.redact(value)
	}
	return out
}
