// Command autotune finds the serving command that gets the most out of a language model on the GPUs at hand.
package main

import (
	"context"
	"os"
)

// version is set by the linker.
var version = "development"

func main() { os.Exit(execute(context.Background(), systemWorld())) }
