// Package engine holds serving engines as data: flags, rules, command line, readiness, metrics, failure signatures, memory maths.
package engine
