// Package space says what can be turned: typed parameters, conditions, constraints, and points in them.
package space
