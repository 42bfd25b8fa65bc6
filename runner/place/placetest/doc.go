// Package placetest is the suite that every place passes: start, ready, fork, ignore SIGTERM, exit early, cancel, reap.
package placetest
