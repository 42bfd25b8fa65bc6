// Package load is the HTTP load generator for streaming completions; it also reads dataset files.
//
// A run is open loop: every request has an instant at which the workload wants it, and its latency counts from there, whether the client's
// own queue (a cap on requests in flight) or its own slowness delayed it. Both are recorded. On the wall clock (wall.go) instants are read
// from this machine's monotonic clock: a request's just before it is handed to the connection, an event's just after its bytes were read.
// In law time (law.go) they are the server's stamps, and a run is a function of the workload and the server alone.
//
// A turn of a conversation is wanted when the answer to the one before has ended and the think time has passed (turns.go).
//
// Tokens are counted by the server's usage, never by events. Both engines are asked to count in every event; where one does not, the
// tokens of an answer are spread over its events, the first taken to carry one, and Result.Notes says so.
package load
