// Command searchbench runs samplers on surfaces whose truth is known, and makes tables of how they did.
//
//	go run ./search/searchbench/cmd/searchbench run -methods gp,one-at-a-time -surfaces six -seeds 0-9 -out rows.csv
//	go run ./search/searchbench/cmd/searchbench table rows.csv
package main

import (
	"fmt"
	"io"
	"os"
)

const usage = `usage: searchbench COMMAND [flags]

  run       run methods on surfaces; rows are appended to a file, and what is there already is skipped
  table     make a Markdown table of files of rows
  surfaces  say how sound surfaces are: what fails, what the best is, how long an evaluation takes
  serve     let another program drive surfaces over JSON lines on standard input and output

searchbench COMMAND -h tells a command's flags.
`

func main() {
	if err := dispatch(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "searchbench:", err)
		os.Exit(1)
	}
}

func dispatch(args []string, in io.Reader, out, progress io.Writer) error {
	if len(args) == 0 {
		_, err := io.WriteString(out, usage)
		return err
	}
	switch args[0] {
	case "run":
		return runCommand(args[1:], progress)
	case "table":
		return tableCommand(args[1:], out, progress)
	case "surfaces":
		return surfacesCommand(args[1:], out, progress)
	case "serve":
		return serveCommand(args[1:], in, out, progress)
	}
	return fmt.Errorf("no command is called %q: there are run, table, surfaces, serve", args[0])
}
