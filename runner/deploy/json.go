package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON writes the export as an object: argv as a list of words, the environment, and what else is known. Secrets are named only.
// The error is a figure that JSON cannot hold.
func JSON(e Export) ([]byte, error) {
	e.Env, e.Secrets = e.open()
	if e.Argv == nil {
		e.Argv = []string{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("writing the command as JSON: %w", err)
	}
	return b.Bytes(), nil
}
