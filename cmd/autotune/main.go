// Command autotune finds the serving command that gets the most out of a language model on the GPUs at hand.
package main

import (
	"context"
	"io"
	"log"
	"os"
)

// version is set by the linker.
var version = "development"

func main() {
	log.SetOutput(io.Discard) // only net/http would write here: what a broken server sends that nobody asked for
	os.Exit(execute(context.Background(), systemWorld()))
}
