// Package bench is the benchmark tools that people quote, behind one call: a workload becomes a command line, or what the tool cannot do of it is said;
// what it has written is read, held against what it was asked for, and given under this program's names, or refused with the reason.
package bench
