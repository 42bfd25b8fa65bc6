package deploy

// Export is a command to deploy: what was measured, without what autotune added for itself.
type Export struct {
	Env  []string `json:"env,omitempty"` // NAME=VALUE, only the user's own
	Argv []string `json:"argv"`
}

// Shell writes the command so that pasting it into a POSIX shell runs exactly Argv: one flag a line.
func Shell(e Export) string { return "" }

// JSON writes the command as an object with env and argv.
func JSON(e Export) ([]byte, error) { return nil, nil }
