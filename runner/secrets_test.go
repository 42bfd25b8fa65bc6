package runner

import (
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
)

// What is inherited reaches no record, whatever it is called and however it looks; a folder stays readable.
func TestSecretsLeaveTheRecord(t *testing.T) {
	environ := []string{"DATABASE_URL=postgres://u:pw@h/x", "GITHUB_PAT=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "MYVAR=hf_abcdefghijklmnopqrstuvwxyz123456",
		"PGPASS=open-sesame", "PWD=/home/someone/study", "FIRST_PASS=1", `QUOTED_TOKEN=with "quotes"`}
	s := findSecrets(environ, Plan{Engine: &engine.Definition{}, Settings: []engine.Setting{{Flag: "api-key", Value: space.String("key-of-the-server")}}})
	if s.apiKey != "key-of-the-server" {
		t.Errorf("the client's key is %q", s.apiKey)
	}
	for text, want := range map[string]string{
		"cannot reach postgres://u:pw@h/x":                 "cannot reach ***",
		"postgres://u:pw@other/y is down":                  "postgres://***@other/y is down",
		"ghp_abcdefghijklmnopqrstuvwxyz0123456789 expired": "*** expired",
		"auth hf_abcdefghijklmnopqrstuvwxyz123456":         "auth ***",
		"another hf_zyxwvutsrqponmlkjihgfedcba654321":      "another ***",
		"password=open-sesame":                             "password=***",
		"in /home/someone/study, pass 1":                   "in /home/someone/study, pass 1",
		`{"t":"with \"quotes\""}`:                          `{"t":"***"}`,
	} {
		if got := s.redact(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	env := strings.Join(s.env(environ), " ")
	if want := `DATABASE_URL=*** GITHUB_PAT=*** MYVAR=*** PGPASS=*** PWD=/home/someone/study FIRST_PASS=1 QUOTED_TOKEN=***`; env != want {
		t.Errorf("the environment is recorded as %s, want %s", env, want)
	}
	argv := strings.Join(s.argv([]string{"vllm", "--api-key", "key-of-the-server", "--hf-token=x", "A=hf_abcdefghijklmnopqrstuvwxyz123456"}), " ")
	if want := "vllm --api-key *** --hf-token=*** A=***"; argv != want {
		t.Errorf("the command is recorded as %s, want %s", argv, want)
	}
}
