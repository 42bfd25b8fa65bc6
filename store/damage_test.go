package store

import (
	"errors"
	"strings"
	"testing"

	"autotune/store/storetest"
)

// What another program has broken in a sound database is named with the file, the place and what to try.
func TestDamaged(t *testing.T) {
	for _, c := range []struct {
		name, script, says string
	}{
		{"inputs", `UPDATE autotune_study SET inputs = '{"gpus":'`, "the study's inputs are no JSON"},
		{"no leases", "DROP TABLE autotune_lease", "no such table: autotune_lease"},
		{"an outcome", "UPDATE autotune_trial SET outcome = 'splendid' WHERE trial_id = 2", `trial 1 has the outcome "splendid"`},
		{"a time", "UPDATE autotune_trial SET started = 'noon' WHERE trial_id = 2", "trial 1 cannot be read"},
		{"a configuration", "UPDATE autotune_trial SET point = '{' WHERE trial_id = 2", "the configuration of trial 1 cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := temporary(t)
			finished(t, path, 3)
			database(t, path, c.script)
			for name, open := range map[string]func(string) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
				d, err := open(path)
				if err == nil {
					d.Bind(storetest.Problem(t))
					_, _, err = d.Load(t.Context())
					if err == nil {
						_, err = d.Holder(t.Context())
					}
					d.Close()
				}
				var f *FileError
				if !errors.As(err, &f) || !strings.HasPrefix(err.Error(), path+" is damaged: ") || !strings.Contains(f.Problem, c.says) || f.Try == "" {
					t.Errorf("%s: %v, want a damaged file that says %q", name, err, c.says)
				}
			}
		})
	}
}
