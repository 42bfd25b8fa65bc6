// Package load is the HTTP load generator for streaming completions; it also reads dataset files.
package load
