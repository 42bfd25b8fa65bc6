// Package law goes from a configuration, a workload and a machine to what a server would do: rates, latencies, memory, failure; pure.
// The fake engine obeys it, and the search benchmark perturbs it.
package law
