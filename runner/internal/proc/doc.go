// Package proc is the only code that starts and stops processes.
//
// What it starts gets a session of its own, a marker in its environment, and its output in a capped log. What it stops is found by looking at
// the process table: by session, by descent, by marker, and by adoption (this process is the reaper of its orphans). It signals nothing else,
// and it says so when something outlives SIGKILL.
package proc
