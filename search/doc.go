// Package search has the samplers and rankers, each a pure function of what has been seen.
package search
