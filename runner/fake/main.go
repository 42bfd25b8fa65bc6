package fake

import (
	"context"
	"io"
)

// Command is the name of the subcommand that reaches Main: exe is started again as `exe fake-engine --child ...` for the processes below the server.
const Command = "fake-engine"

// Main runs a fake engine until ctx ends or the engine does, and returns its exit status. args are the words after fake-engine;
// exe is the program to start again for the engine's child processes; getenv reads the environment.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer, exe string, getenv func(string) string) int {
	return 1
}
