// Package place is where an engine is started: this machine.
package place
