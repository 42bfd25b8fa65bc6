// Package law goes from a configuration, a workload and a machine to what a server would do: rates, latencies, memory, failure; pure. The fake
// engine obeys it, and the search benchmark perturbs it.
//
// # What it is
//
// Resolve makes of an engine's flags what the engine would make of them. New does the memory maths and ends with a Failure where the engine
// would run out of memory; else it gives a Simulation, in which continuous batching runs as a discrete-event simulation in whole microseconds.
// Play drives it by a workload. One configuration, seed and workload always give the same events.
//
// # Memory
//
// Of each GPU, in GiB. Experts lie over all GPUs of a replica, the rest of the weights over those that share one attention rank. A token takes
// layers x 2 x heads x size x bytes in the cache, or layers x (latent x bytes + index) where attention is latent, which tensor parallelism
// does not divide. vLLM: cache = memory x utilisation - weights - activations of the largest step - graphs - overhead. SGLang: cache = (memory
// - overhead) x fraction - weights, and what the fraction leaves over has to hold graphs, buffers and the activations of whatever step comes:
// a fraction, a chunk or graphs that are too large end in capturing or in serving. SGLang's automatic fraction is its own formula.
//
// # A step
//
//	device = read weights + tokens x FLOP + crossing between GPUs + max over attention ranks of (attention + reading the cache + sequences)
//	graph:  step = device + fixed                    eager:  step = sqrt(device² + host²)
//
// Weights are read at Bandwidth of the memory's peak, of the experts only those that the step's tokens touch: 1 - (1 - k/n)^tokens. Linear
// layers run at Compute of the peak, attention at Attention of the 16-bit peak; what has fewer heads on a GPU than a kernel's tile computes as
// if it had the tile's. A sequence costs Sequence s a step. A step that is replayed from a graph adds a fixed cost; one that is launched
// kernel by kernel hides a part of launching behind computing, and the other way round. Attention ranks that meet add Gather (collectives), or
// Dispatch where the host waits for an all-to-all. Crossing between GPUs is bytes over 60 % of the link. See Coefficients for the units.
//
// # Scheduling
//
// vLLM: what decodes goes on, prompts take what is left of the step's tokens in pieces, a prompt is admitted when it fits, and when decoding
// outgrows the cache the latest sequence is put back and read again. SGLang: prompts first, while what decodes waits unless chunks are mixed
// in; a request is admitted when its prompt and its output fit beside a share of what the running ones have yet to make, a share that falls
// with every decoding step and depends on schedule-conservativeness; over-admission is taken back. Attention ranks have queues and caches of
// their own and step together; replicas share nothing.
//
// # What it was fitted to
//
// Two published tuning studies (published.json), 38 records: within 10 % of (input + output tokens) / duration on a study's target workload
// and 25 % on the others; out of memory, and the run of which half failed, fail here too. Residuals gives the table and `autotune law` prints
// it. Coefficients are properties of a model and an engine, twelve or so each; no configuration is looked up. `go test -tags fit -run Fit -v
// ./tuner/law` reproduces them. ShareGPT's lengths are drawn from their published means, since the rows are not published.
//
// Not fitted, but of the usual size: what a flag does that no study turned, such as attention and expert kernels, two-batch overlap,
// pipelines, speculation, balanced experts, graphs' limits; the models other than the two. A model of another name is taken for a dense one
// (or one with experts, as in 30B-A3B) of the size that its name tells, or of 7 billion parameters; a name with demo or tiny in it for 13
// billion.
//
// # What it does not know
//
// Prefix caching (every prompt is new), quality of the output, draft acceptance that depends on the text, network and client, thermal drift,
// other tenants, expert imbalance by content, first-request compilation. A speculating server on a model with linear-attention layers under
// vLLM crashes once its drafts' states exceed the cache: the published run only says that half of its requests failed, so the mechanism is a
// guess. Latencies follow from the simulation; they were not fitted.
package law
