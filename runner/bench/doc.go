// Package bench is the benchmark tools that people quote, behind one call: what a tool has written is read, held against what it was asked for, and
// given under this program's names, or refused with the reason.
package bench
