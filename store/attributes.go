package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// attributes is one of Optuna's tables of attributes.
type attributes struct{ table, owner string }

var (
	studySystemAttributes = attributes{"study_system_attributes", "study_id"}
	studyUserAttributes   = attributes{"study_user_attributes", "study_id"}
	trialSystemAttributes = attributes{"trial_system_attributes", "trial_id"}
	trialUserAttributes   = attributes{"trial_user_attributes", "trial_id"}
)

// setAttribute writes one attribute as JSON, in place of an earlier one.
func setAttribute(ctx context.Context, tx queries, a attributes, owner int64, key string, value any) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("attribute %s: %w", key, err)
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s (%s, "key", value_json) VALUES (?, ?, ?)
		ON CONFLICT (%[2]s, "key") DO UPDATE SET value_json = excluded.value_json`, a.table, a.owner), owner, key, string(encoded))
	return err
}

// dropAttributes removes attributes of ours; those that other programs have added stay.
func dropAttributes(ctx context.Context, tx queries, a attributes, owner int64, keys []string) error {
	args := []any{owner}
	for _, k := range keys {
		args = append(args, k)
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s WHERE %s = ? AND "key" IN (?%s)`, a.table, a.owner, strings.Repeat(", ?", len(keys)-1)), args...)
	return err
}
