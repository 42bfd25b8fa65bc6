// Package runner carries out one trial on a real server and says what kind of end it came to.
package runner
