package secret

import (
	"strings"
	"testing"
)

func TestVariable(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"HF_TOKEN", "abc", true},
		{"OPENAI_API_KEY", "k", true},
		{"MAX_DISPATCH_TOKENS", "1024", false},
		{"HF_TOKEN", "", false},
		{"GITHUB_PAT", "abcdefgh", true},
		{"PATH", "/usr/bin:/bin", false},
		{"PYTHONPATH", "/usr/lib/python", false},
		{"PGPASS", "open-sesame", true},
		{"MYSQL_PWD", "open-sesame", true},
		{"FIRST_PASS", "1", false},
		{"COMPASS", "north-west", false},
		{"PWD", "/home/someone/study", false},
		{"OLDPWD", "/home/someone/study", false},
		{"SSH_PRIVATE_KEY", "abc", true},
		{"GPG_PASSPHRASE", "abc", true},
		{"DATABASE_URL", "sqlite:///x", true},
		{"SENTRY_DSN", "https://public@host/1", true},
		{"AWS_CREDENTIAL", "abc", true},
		{"MY_VAR", "hf_abcdefghijklmnopqrstuvwxyz123456", true},
		{"MY_VAR", "postgres://u:pw@h/x", true},
		{"HTTP_PROXY", "http://proxy:3128", false},
		{"VLLM_ATTENTION_BACKEND", "FLASH_ATTN", false},
	} {
		if got := Variable(c.name, c.value); got != c.want {
			t.Errorf("%s=%s: %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

func TestRedact(t *testing.T) {
	for _, s := range []string{
		"hf_abcdefghijklmnopqrstuvwxyz123456", "sk-proj-abcdefghij0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "gho_abcdefghijklmnopqrst",
		"github_pat_11ABCDEFG_abcdefghijklm", "xoxb-1234567890-abcdef", "xoxa-2-1234567890", "xoxp-1234567890-abcdef", "AKIAABCDEFGHIJKLMNOP",
		"glpat-abcdefghij0123456789", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def-ghi",
	} {
		if got, want := Redact("key='"+s+"', then"), "key='***', then"; got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
		if !Value(s) {
			t.Errorf("%s is no secret", s)
		}
	}
	if got, want := Redact("at postgres://u:p@w@h:5432/x and redis://:pw@h"), "at postgres://***@h:5432/x and redis://***@h"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, plain := range []string{
		"INFO http://0.0.0.0:8000/v1/models", "hf_overrides={}", "hf-config", "disk-abcdefghijklmnopqrstuvwxyz", "zai-org/GLM-5.2-FP8", "torch.ops.eyJ",
		"tcp://127.0.0.1:29500 rank=0 a@b", "sk-learn", strings.Repeat("x", 40),
	} {
		if got := Redact(plain); got != plain {
			t.Errorf("%s became %s", plain, got)
		}
	}
}
