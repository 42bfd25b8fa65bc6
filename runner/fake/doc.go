// Package fake is a fake serving engine that obeys tuner/law, for tests and for rehearsing a study without a GPU.
//
// It is a program of its own, reached by Main: a real HTTP server behind a real port, with a child process that holds the GPUs, which takes
// vLLM's or SGLang's arguments, logs what they log, answers what they answer, and fails as they do, on demand or when the law says so.
// On the wall clock every token comes when the law says; in law time (see runner/internal/lawtime) a whole benchmark is simulated at once.
// A ledger tells what was truly served.
package fake
