// Package metric defines what is recorded of a request and what every metric computed from records means: one definition each, in one file.
package metric
