// Package workload is the traffic that a study asks about, expanded deterministically from a seed; dataset rows are handed to it.
package workload
