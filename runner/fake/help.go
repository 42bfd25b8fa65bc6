package fake

// Help is what a person needs to know to call a fake engine.
const Help = `Serve as a fake vLLM or SGLang: a real HTTP server, in a process of its own, that takes the real engine's arguments, loads, batches and slows
down under load as a law fitted to published measurements says, and fails on demand. No GPU is needed and no model is read.

usage: autotune fake-engine [own flags] vllm|sglang [serve] [MODEL] ENGINE-ARGUMENTS...

Its own flags stand in front of the engine's name:
  --clock wall|law       wall: one event a token, in real time; law: a simulation that answers a whole plan of requests at once (wall)
  --seed N               seed of the noise; without it AUTOTUNE_TRIAL_SEED of the environment, else 0
  --noise S              standard deviation of the log of a run's speed, 0 to 1 (0.05)
  --gpus N               GPUs of the machine; without it as many as CUDA_VISIBLE_DEVICES names, else 8
  --gpu NAME             their name (H200)
  --memory GIB           memory of one (140.4)
  --start-time D         how long a start takes in real time, its stages in proportion (wall: 2s, law: 0s)
  --engine-version X     version that the engine says it has
  --ledger FILE          writes what was truly served, a line of JSON a request
  --gpu-dir DIR          folder with a lock file a GPU, held while the engine lives: a second engine on the same GPU finds no free memory
  --idle-limit D         ends after so long without a request (30m)
  --fault NAME[=ARG]     a failure, again for more of them
  --fault-when COND      the faults happen only if the engine's flags fulfil this condition, as in 'max-num-seqs > 64'

Failures of the start:
  reject-flag[=FLAG]     the argument parser does not know FLAG and refuses it where it is used (without FLAG: always); exit 2
  address-in-use         the port is taken
  oom-start[=PHASE]      out of GPU memory in load, profile or capture (profile)
  hang-start             stops half-way and says nothing more
  slow-start=D           takes D longer, in real time
  log-oom-but-alive[=N]  after N finished requests (0: in the start) logs that memory ran out and serves nothing more, but the process lives on
  wrong-model-name       /v1/models shows another name, as a stale server on the port would
  silent                 nothing is logged at all, though everything works

Failures under load, after N finished requests:
  oom-load=N             out of GPU memory; the engine ends
  crash-after=N          the engine's child dies without a reason in the log; the engine ends
  rank-dies=N            the engine's child dies; the server lives on and serves nothing more
  hang-serve=N           no more tokens come
  health-200-but-hangs   from the start no completion ever gives a token, though /health is well

Failures of a share S of the requests, evenly spread, 0 < S <= 1:
  refuse=S               HTTP 503
  stream-error=S         an error object inside the 200 stream, half-way
  abort=S                ends half-way with finish reason abort
  truncate=S             ends half-way without finish reason and without [DONE]
  cut=S                  the connection breaks half-way
  empty=S                answered without any token
  lengths=S              stops half-way although the length was forced

Others:
  bundle=N               N tokens in one event
  resolve=FLAG=VALUE     runs with VALUE where FLAG is given, whatever is asked for, and says so where real engines do
  exit-code=N            how the process ends when a failure ends it; negative: by that signal
  ignore-sigterm         SIGTERM does nothing
  orphan[=group|session] a process that ignores SIGTERM stays behind, in a process group (or session) of its own (group)
`
