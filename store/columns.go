package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// asJSON stores a list, a map or a struct as JSON, and an empty one as NULL.
func asJSON(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	switch s := string(b); s {
	case "null", "[]", "{}":
		return nil, nil
	default:
		return s, nil
	}
}

// finite drops what is no number: JSON has no word for it, and a metric that is no number was not measured.
func finite(m map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(m))
	for k, v := range m {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[k] = v
		}
	}
	return out
}

// scanJSON reads what asJSON wrote.
type scanJSON struct{ into any }

func (s scanJSON) Scan(src any) error {
	var n sql.NullString
	if err := n.Scan(src); err != nil || !n.Valid {
		return err
	}
	return json.Unmarshal([]byte(n.String), s.into)
}

// scanInstant reads what instant wrote.
type scanInstant struct{ into *time.Time }

func (s scanInstant) Scan(src any) error {
	var n sql.NullString
	if err := n.Scan(src); err != nil || !n.Valid {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, n.String)
	*s.into = t
	return err
}

// scanText reads a column that may be NULL.
type scanText[T ~string | ~[]byte] struct{ into *T }

func (s scanText[T]) Scan(src any) error {
	var n sql.NullString
	if err := n.Scan(src); err != nil || !n.Valid {
		return err
	}
	*s.into = T(n.String)
	return nil
}

// scanInt reads a column that may be NULL.
type scanInt[T ~int | ~int64] struct{ into *T }

func (s scanInt[T]) Scan(src any) error {
	var n sql.NullInt64
	if err := n.Scan(src); err != nil || !n.Valid {
		return err
	}
	*s.into = T(n.Int64)
	return nil
}

// scanFloat reads a column that may be NULL.
type scanFloat struct{ into *float64 }

func (s scanFloat) Scan(src any) error {
	var n sql.NullFloat64
	if err := n.Scan(src); err != nil || !n.Valid {
		return err
	}
	*s.into = n.Float64
	return nil
}

// columns collects the names and values of a row to be written; the first failure of an encoding is kept.
type columns struct {
	names  []string
	values []any
	err    error
}

func (c *columns) set(name string, value any) {
	c.names, c.values = append(c.names, name), append(c.values, value)
}

func (c *columns) json(name string, value any) {
	encoded, err := asJSON(value)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", name, err)
	}
	c.set(name, encoded)
}
