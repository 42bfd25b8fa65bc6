// Package searchbench measures samplers on surfaces whose truth is known, without a server and without a GPU.
//
// A surface is a function from a point to a noise-free outcome, with a problem as a study has it. A family makes one for each seed.
//
//   - glm8k, glm32k, glm1k2k: a big mixture of experts on eight GPUs, served by one of two engines, with prompts of 8K and answers of 1K, of 32K and 100,
//     of 1K and 2K. The goal is tokens per second. Data-parallel attention, an all-to-all backend, a narrow cache and the memory share decide together.
//   - small: a model with 3 billion active parameters on one GPU, two checkpoints, under two SLOs (first token, time per token).
//   - guard: glm8k, guarded by a chat workload whose time per token is bounded.
//   - additive: no server's law: main effects of 15 flags and five pairs.
//   - combo: three flags that help only together, each of them a loss alone.
//   - rugged: random features of all flags: neighbours say little.
//
// Serving surfaces rest on tuner/law: its memory plan and its steps, through its closed form of a run. Each seed perturbs that law: every coefficient
// by 5 to 30 %, in a third of the seeds the first engine catches up with the second, and a twist lies over it: small effects of every flag's value,
// four interactions of two flags, two pairs of values that crash. So no law that a sampler's author knew is the truth.
//
// A method (a sampler with a ranker) is run as a study would run it, on noisy measurements, and is scored by the true regret of the point that it
// would return. Rows say how a run went; a table is made of rows.
package searchbench
