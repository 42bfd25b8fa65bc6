package studyfile_test

import (
	"strings"

	"autotune/tuner/memory"
)

// errorCases are mistakes and everything that is said about them, in order: lines that replace those of the good spec or are added to it.
var errorCases = []struct {
	lines []string
	want  []string
}{
	{[]string{`objective: {maximise: total_token_throughput}`}, []string{
		`4:12: objective: maximize or minimize is missing; allowed: {maximize: METRIC} or {minimize: METRIC}`,
		`4:13: objective.maximise: unknown key; did you mean "maximize"?`,
	}},
	{[]string{`budgt: {trials: 5}`}, []string{
		`16:1: budgt: unknown key; did you mean "budget"?`,
	}},
	{[]string{`gpus: eight`}, []string{
		`3:7: gpus: wrong type: found eight; allowed: an integer from 0 to 4096`,
	}},
	{[]string{`gpus: -1`}, []string{
		`3:7: gpus: out of range: found -1; allowed: an integer from 0 to 4096`,
	}},
	{[]string{`gpus: 99999999999999999999999`}, []string{
		`3:7: gpus: the integer is beyond 64 bits: found 99999999999999999999999; allowed: -9223372036854775808 to 9223372036854775807`,
	}},
	{[]string{`gpus: 08`}, []string{
		`3:7: gpus: a number in a doubtful spelling: found 08; allowed: decimal digits; in quotes if it is a text`,
	}},
	{[]string{`gpus: 1_000`}, []string{
		`3:7: gpus: a number in a doubtful spelling: found 1_000; allowed: decimal digits; in quotes if it is a text`,
	}},
	{[]string{`gpus: 0x10`}, []string{
		`3:7: gpus: a number in a doubtful spelling: found 0x10; allowed: decimal digits; in quotes if it is a text`,
	}},
	{[]string{`gpus: 2.0`}, []string{
		`3:7: gpus: wrong type: found 2.0; allowed: an integer from 0 to 4096`,
	}},
	{[]string{`gpus: "8"`}, []string{
		`3:7: gpus: wrong type: found the text "8"; allowed: an integer from 0 to 4096`,
	}},
	{[]string{`gpus: yes`}, []string{
		`3:7: gpus: wrong type: found yes; allowed: an integer from 0 to 4096`,
	}},
	{[]string{`gpus: 2024-01-01`}, []string{
		`3:7: gpus: wrong type: found 2024-01-01; allowed: an integer from 0 to 4096`,
	}},
	{[]string{`gpus:`}, []string{
		`3:6: gpus: nothing stands here; allowed: an integer from 0 to 4096`,
	}},
	{[]string{`plan: {gpu: H2000x}`}, []string{
		`16:8: plan.gpu: a GPU whose memory is not known: found H2000x; allowed: ` + strings.Join(memory.Names(), ", ") + `; or another name beside memory: GIB`,
	}},
	{[]string{`plan: {memory: -1, disc: 3}`}, []string{
		`16:16: plan.memory: out of range: found -1; allowed: the GiB of one GPU, such as 140.4`,
		`16:20: plan.disc: unknown key; did you mean "disk"?`,
	}},
	{[]string{`plan: {models: {elsewhere: x}}`}, []string{
		`16:17: plan.models.elsewhere: not a checkpoint of this study; allowed: org/model`,
	}},
	{[]string{`plan: {models: {org/model: {hiden_size: 8, num_hidden_layers: two}}}`}, []string{
		`16:29: plan.models.org/model.hiden_size: not a key of config.json that the planner reads; allowed: ` + strings.Join(memory.Keys(), ", ") + `; did you mean "hidden_size"?`,
	}},
	{[]string{`plan: {models: {org/model: {hidden_size: 8}}}`}, []string{
		`16:28: plan.models.org/model: no geometry: config.json has no num_hidden_layers: found a mapping; allowed: at least num_hidden_layers, hidden_size, num_attention_heads and vocab_size`,
	}},
	{[]string{`model: []`}, []string{
		`2:8: model: the list is empty: found a list; allowed: a checkpoint: a name such as Qwen/Qwen3-8B, or a folder`,
	}},
	{[]string{`model: [a, a]`}, []string{
		`2:12: model[1]: the checkpoint is listed twice: found a`,
	}},
	{[]string{`model: --trust-remote-code`}, []string{
		`2:8: model: an engine would read this as a flag: found --trust-remote-code; allowed: a checkpoint: a name such as Qwen/Qwen3-8B, or a folder`,
	}},
	{[]string{`name: a:b`}, []string{
		`1:7: name: not a name: found a:b; allowed: at most 63 letters, digits, dots, dashes and underscores, a letter or digit first and last`,
	}},
	{[]string{`objective: {maximize: total_token_throughputs}`}, []string{
		`4:23: objective.maximize: the bench does not measure this: found total_token_throughputs; allowed: success_rate, request_, input_token_, output_token_, total_token_throughput, goodput, each also ..._per_gpu; mean_, p50_, p90_, p95_, p99_ of ttft, tpot, itl, latency; and more; did you mean "total_token_throughput"?`,
	}},
	{[]string{`objective: {maximize: p95_ttft}`}, []string{
		`4:23: objective.maximize: p95_ttft is better when it is lower: found p95_ttft; allowed: minimize: p95_ttft`,
	}},
	{[]string{`objective: {minimize: p95_tfft}`}, []string{
		`4:23: objective.minimize: the bench does not measure this: found p95_tfft; allowed: success_rate, request_, input_token_, output_token_, total_token_throughput, goodput, each also ..._per_gpu; mean_, p50_, p90_, p95_, p99_ of ttft, tpot, itl, latency; and more; did you mean "p95_ttft"?`,
	}},
	{[]string{`objective: {maximize: duration, minimize: p95_ttft}`}, []string{
		`4:23: objective.maximize: duration is better when it is lower: found duration; allowed: minimize: duration`,
		`4:43: objective.minimize: not available in this version: several objectives (a Pareto study); allowed: maximize or minimize`,
	}},
	{[]string{`objective: {maximize: total_token_throughput, subject_to: ["p95_ttft < 5s"]}`}, []string{
		`4:70: objective.subject_to[0]: unknown comparison: found <; allowed: <= or >=; did you mean "<="?`,
	}},
	{[]string{`objective: {maximize: total_token_throughput, subject_to: ["p95_ttft <= 5parsecs", "p95_ttft <= 1s", "p95_ttft <= 2s"]}`}, []string{
		`4:73: objective.subject_to[0]: not a limit on p95_ttft: found 5parsecs; allowed: a time above 0 such as 5s or 200ms, or a number of seconds`,
		`4:102: objective.subject_to[2]: p95_ttft <= is bounded twice: found the text "p95_ttft <= 2s"`,
	}},
	{[]string{`objective: {maximize: total_token_throughput, subject_to: ["x.p95_ttft <= 5s"]}`}, []string{
		`4:61: objective.subject_to[0]: no workload is called so: found x; allowed: w; did you mean "w"?`,
	}},
	{[]string{`objective: [{maximize: total_token_throughput}, {minimize: p95_ttft}]`}, []string{
		`4:12: objective: not available in this version: several objectives (a Pareto study); allowed: one metric under maximize or minimize`,
	}},
	{[]string{`gate: {success_rate: 1.5}`}, []string{
		`5:22: gate.success_rate: out of range: found 1.5; allowed: a share above 0, at most 1, such as 0.99`,
	}},
	{[]string{`gate: {success_rate: .nan}`}, []string{
		`5:22: gate.success_rate: not a finite number: found .nan; allowed: a number; in quotes if it is a text`,
	}},
	{[]string{`gate: {success_rate: .inf}`}, []string{
		`5:22: gate.success_rate: not a finite number: found .inf; allowed: a number; in quotes if it is a text`,
	}},
	{[]string{`  w: {dataset: randm, input_tokens: 128, output_tokens: 32, requests: 10}`}, []string{
		`7:16: workloads.w.dataset: unknown word: found randm; allowed: random, prefix, conversation, sharegpt, jsonl, mooncake, azure; did you mean "random"?`,
	}},
	{[]string{`  w: {dataset: random, input_tokens: 0, output_tokens: 32, requets: 10}`}, []string{
		`7:6: workloads.w.requests: is missing; allowed: how many requests a measurement has`,
		`7:38: workloads.w.input_tokens: out of range: found 0; allowed: an integer from 1 to 16777216`,
		`7:60: workloads.w.requets: unknown key; did you mean "requests"?`,
	}},
	{[]string{`  w: {dataset: sharegpt, requests: 10}`}, []string{
		`7:6: workloads.w.path: is missing; allowed: the dataset's file`,
	}},
	{[]string{`  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10, role: guard, max_regression: 10%}`}, []string{
		`7:3: workloads: every workload is a guard: nothing is left to tune for; allowed: one with role: target`,
	}},
	{[]string{`objective: {maximize: request_rate}`}, []string{
		`4:12: objective.maximize: any rate would do: without a bound on a latency nothing limits it; allowed: subject_to: ["p95_ttft <= 2s"]`,
	}},
	{[]string{`objective: {maximize: request_throughput, subject_to: ["request_rate >= 3"]}`}, []string{
		`4:57: objective.subject_to[0]: it is searched for, so it cannot be bounded: found request_rate; allowed: maximize: request_rate`,
	}},
	{[]string{"  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10}\n  v: {dataset: random, input_tokens: 8, output_tokens: 8, requests: 10}", `objective: {maximize: request_rate, subject_to: ["p95_ttft <= 2s"]}`}, []string{
		`4:12: objective.maximize: a rate is searched for on one workload; allowed: one workload`,
	}},
	{[]string{`  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10, max_regression: 10%}`}, []string{
		`7:76: workloads.w.max_regression: has no meaning here: only a guard has it; allowed: role: guard`,
	}},
	{[]string{"  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10}\n  g: {dataset: random, input_tokens: 8, output_tokens: 8, requests: 10, role: guard, weight: 2}"}, []string{
		`8:3: workloads.g.max_regression: is missing; allowed: what a winner may lose on this guard, such as 10%`,
		`8:86: workloads.g.weight: has no meaning here: the objective is about targets alone`,
	}},
	{[]string{"  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10}\n  g: {dataset: random, input_tokens: 8, output_tokens: 8, requests: 10, role: guard, max_regression: 100%}"}, []string{
		`8:102: workloads.g.max_regression: not a share: found 100%; allowed: a share of the reference's value from 0 to below 1, such as 10% or 0.1`,
	}},
	{[]string{"  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10}\n  v: {dataset: random, input_tokens: 8, output_tokens: 1, requests: 10}", `objective: {minimize: w.p95_tpot}`}, []string{
		`4:23: objective.minimize: the objective is the metric over every target, not on one workload: found w.p95_tpot; allowed: p95_tpot, and role: guard for the workloads that are no target`,
	}},
	{[]string{"  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10}\n  v: {dataset: random, input_tokens: 8, output_tokens: 1, requests: 10}", `objective: {maximize: request_throughput, subject_to: ["p95_tpot <= 1s", "w.retained >= 0.9"]}`}, []string{
		`4:57: objective.subject_to[0]: undefined: workload v asks for 1 output token, and no time passes between tokens: found p95_tpot`,
		`4:75: objective.subject_to[1]: a guard is bounded by its own key: found retained; allowed: max_regression: 10% on the workload`,
	}},
	{[]string{`  w: {dataset: random, input_tokens: 128, output_tokens: 1, requests: 10}`, `objective: {minimize: p95_tpot}`}, []string{
		`4:23: objective.minimize: undefined: workload w asks for 1 output token, and no time passes between tokens: found p95_tpot`,
	}},
	{[]string{`  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10, wall_limit: 30}`}, []string{
		`7:88: workloads.w.wall_limit: the unit is missing: found 30; allowed: a time such as 10h, 90m, 1h30m, 45s or 200ms; 0s for no limit`,
	}},
	{[]string{`budget: {trials: 0}`}, []string{
		`15:18: budget.trials: out of range: found 0; allowed: an integer from 1 to 1000000`,
	}},
	{[]string{`budget: {wall_clock: 5}`}, []string{
		`15:22: budget.wall_clock: the unit is missing: found 5; allowed: a time such as 10h, 90m, 1h30m, 45s or 200ms`,
	}},
	{[]string{`budget: {trials: 5, trials: 6}`}, []string{
		`15:21: key "trials" is given twice: the first stands on line 15, column 10`,
	}},
	{[]string{`confirm: {top: 3, repeats: 3}`}, []string{
		`16:1: confirm: not available in this version: measuring the best few again`,
	}},
	{[]string{`bench: {tool: guidelm}`}, []string{
		`16:15: bench.tool: unknown word: found guidelm; allowed: builtin, guidellm, sglang-bench, aiperf, vllm-bench; did you mean "guidellm"?`,
	}},
	{[]string{`bench: {command: [vllm]}`}, []string{
		`16:9: bench.command: has no meaning here: the built-in load generator is no program of its own; allowed: tool: guidellm, sglang-bench, aiperf, vllm-bench`,
	}},
	{[]string{`bench: {tool: aiperf, comand: [a], args: x}`}, []string{
		`16:23: bench.comand: unknown key; did you mean "command"?`,
		`16:42: bench.args: not a list of words: found x; allowed: the words in a list: [--num-warmups, 8]`,
	}},
	{[]string{`bench: {tool: aiperf, args: [--streaming, --api-key, abc]}`}, []string{
		`16:43: bench.args: an API key on a command line can be read by everybody on the machine; allowed: export OPENAI_API_KEY in the shell that runs autotune, and the tool inherits it`,
	}},
	{[]string{`bench: {tool: bultin}`}, []string{
		`16:15: bench.tool: unknown word: found bultin; allowed: builtin, guidellm, sglang-bench, aiperf, vllm-bench; did you mean "builtin"?`,
	}},
	{[]string{`search: {sampler: annealing}`}, []string{
		`16:19: search.sampler: unknown word: found annealing; allowed: random, tpe, one-at-a-time`,
	}},
	{[]string{`search: {sampler: tpee, seed: -1}`}, []string{
		`16:19: search.sampler: unknown word: found tpee; allowed: random, tpe, one-at-a-time; did you mean "tpe"?`,
		`16:31: search.seed: not a seed: found -1; allowed: an integer from 0 to 18446744073709551615`,
	}},
	{[]string{`search: {seed: 18446744073709551616}`}, []string{
		`16:16: search.seed: not a seed: found 18446744073709551616; allowed: an integer from 0 to 18446744073709551615`,
	}},
	{[]string{`search: {startup: 5, smapler: tpe}`}, []string{
		`16:10: search.startup: unknown key; allowed: sampler, seed, start_from, stoppers, stop`,
		`16:22: search.smapler: unknown key; did you mean "sampler"?`,
	}},
	{[]string{`search: tpe`}, []string{
		`16:9: search: wrong type: found tpe; allowed: a mapping with the keys sampler, seed, start_from, stoppers, stop`,
	}},
	{[]string{`search: {start_from: [a.db, "", b.db, a.db, [c.db]], stoppers: sometimes}`}, []string{
		`16:29: search.start_from[1]: the text is empty; allowed: the study files of earlier studies, such as [other.db]`,
		`16:39: search.start_from[3]: the study file is listed twice: found a.db`,
		`16:45: search.start_from[4]: wrong type: found a list; allowed: the study files of earlier studies, such as [other.db]`,
		`16:64: search.stoppers: unknown word: found sometimes; allowed: on, off, report`,
	}},
	{[]string{`search: {stoppers: reports, stop: never}`}, []string{
		`16:20: search.stoppers: unknown word: found reports; allowed: on, off, report; did you mean "report"?`,
		`16:35: search.stop: wrong type: found never; allowed: a share below 1, such as 1% or 0.01; off for no such end`,
	}},
	{[]string{`search: {stop: 1}`}, []string{
		`16:16: search.stop: out of range: found 1; allowed: a share below 1, such as 1% or 0.01; off for no such end`,
	}},
	{[]string{`search: {stop: 100%}`}, []string{
		`16:16: search.stop: out of range: found 100%; allowed: a share below 1, such as 1% or 0.01; off for no such end`,
	}},
	{[]string{`search: {stop: -1%}`}, []string{
		`16:16: search.stop: out of range: found -1%; allowed: a share below 1, such as 1% or 0.01; off for no such end`,
	}},
	{[]string{`search: {sampler: tpe, seed: 1}`, `sampler: tpe`, `seed: 1`}, []string{
		`17:1: sampler: stands under search already, on line 16; allowed: one of the two: the one under search is the present spelling`,
		`18:1: seed: stands under search already, on line 16; allowed: one of the two: the one under search is the present spelling`,
	}},
	{[]string{`sampler: tpee`}, []string{
		`16:10: sampler: unknown word: found tpee; allowed: random, tpe, one-at-a-time; did you mean "tpe"?`,
	}},
	{[]string{`seed: -1`}, []string{
		`16:7: seed: not a seed: found -1; allowed: an integer from 0 to 18446744073709551615`,
	}},
	{[]string{`reference: vllm`}, []string{
		`16:12: reference: unknown word: found vllm; allowed: sglang`,
	}},
	{[]string{`recipes: [{flags: {fractoin: 0.8}}]`}, []string{
		`16:20: recipes[0].flags.fractoin: the flag is not in the space of sglang; did you mean "fraction"?`,
	}},
	{[]string{`require: ["sglang.dp-sizes > 2"]`}, []string{
		`16:12: require[0]: unknown parameter "sglang.dp-sizes"; did you mean "sglang.dp-size"?`,
	}},
	{[]string{`require: ["sglang.dp-size >> 2"]`}, []string{
		`16:28: require[0]: unexpected ">": expected a value`,
	}},
	{[]string{`require: ["sglang.fraction > 5"]`}, []string{
		`9:3: engines.sglang: the space is empty: no configuration of this engine keeps what the spec requires; allowed: rules that can be kept; comparing a flag that is not there is false, and default equals only default`,
	}},
	{[]string{`require: [{that: "fractoin > 5", reason: x}, "engine == sglang", "engine == sglang"]`}, []string{
		`16:19: require[0]: unknown parameter "fractoin"; allowed: engine, checkpoint, and ENGINE.FLAG for a flag under fixed, baseline or space`,
		`16:66: require[2]: the rule is given twice: found the text "engine == sglang"`,
	}},
	{[]string{`    fixed: {tp-size: [8, 4]}`}, []string{
		`10:22: engines.sglang.fixed.tp-size: several values are no setting: found a list; allowed: one value here; a list of choices under space`,
	}},
	{[]string{`    fixed: {--tp-size: 8}`}, []string{
		`10:13: engines.sglang.fixed.--tp-size: a flag is written without dashes in front; did you mean "tp-size"?`,
	}},
	{[]string{`    fixed: {tp_size: 8}`}, []string{
		`10:13: engines.sglang.fixed.tp_size: a flag is written with dashes, not underscores; did you mean "tp-size"?`,
	}},
	{[]string{`    fixed: {tp-size: default}`}, []string{
		`10:22: engines.sglang.fixed.tp-size: a flag that is fixed to default is no flag: found default; allowed: a value, or no line at all`,
	}},
	{[]string{`    fixed: {port: 8000}`}, []string{
		`10:13: engines.sglang.fixed.port: autotune gives each server a port of its own`,
	}},
	{[]string{`    fixed: {tp-size: 8, tp-size: 4}`}, []string{
		`10:25: key "tp-size" is given twice: the first stands on line 10, column 13`,
	}},
	{[]string{`    fixed: {tp-size: 8, fraction: 0.8}`}, []string{
		`14:7: engines.sglang.space.fraction: the flag stands under fixed already, on line 10`,
	}},
	{[]string{`      dp-size: {choices: [2, 4, 8], when: enable-dp-atention}`}, []string{
		`13:43: engines.sglang.space.dp-size.when: unknown parameter "enable-dp-atention"; did you mean "enable-dp-attention"?`,
	}},
	{[]string{`      dp-size: {choices: [2, 4, 8], when: "fraction == fp9"}`}, []string{
		`13:37: engines.sglang.space.dp-size.when: the condition never holds: found fraction == fp9; allowed: sglang.fraction is default, 0.7 to 0.9 in 33 values`,
	}},
	{[]string{`      dp-size: {choices: [2, 4, 2]}`}, []string{
		`13:33: engines.sglang.space.dp-size.choices[2]: the value is listed twice: the first stands on line 13, column 27: found 2`,
	}},
	{[]string{`      dp-size: {choices: [], when: enable-dp-attention}`}, []string{
		`13:26: engines.sglang.space.dp-size.choices: the list is empty: found a list; allowed: one value at least`,
	}},
	{[]string{`      dp-size: {ints: [8, 2]}`}, []string{
		`13:23: engines.sglang.space.dp-size.ints: range [8, 2] is empty: found a list; allowed: two integers [LO, HI] with LO <= HI`,
	}},
	{[]string{`      dp-size: {ints: [2, 8], step: 4}`}, []string{
		`13:37: engines.sglang.space.dp-size.step: the steps from 2 do not end at 8: found 4; allowed: a top of 6, say`,
	}},
	{[]string{`      dp-size: {ints: [0, 8], log: true}`}, []string{
		`13:23: engines.sglang.space.dp-size.ints: a log range starts at 0, below 1: found a list; allowed: two integers [LO, HI] with 0 < LO <= HI`,
	}},
	{[]string{`      dp-size: {ints: [1, 9223372036854775808]}`}, []string{
		`13:27: engines.sglang.space.dp-size.ints: the integer is beyond 64 bits: found 9223372036854775808; allowed: -9223372036854775808 to 9223372036854775807`,
	}},
	{[]string{`      dp-size: 4`}, []string{
		`13:16: engines.sglang.space.dp-size: one value is no space: it belongs under fixed, or in a list: found 4; allowed: bool, a list of values, {ints: [LO, HI]}, {floats: [LO, HI]} or {choices: [...]}, each of these with when: CONDITION`,
	}},
	{[]string{`      dp-size: {choice: [2, 4]}`}, []string{
		`13:17: engines.sglang.space.dp-size.choice: unknown key; did you mean "choices"?`,
	}},
	{[]string{`      dp-size: [[2, 4]]`}, []string{
		`13:17: engines.sglang.space.dp-size[0]: a list is no value: found a list; allowed: one value; a flag that takes a list gets it in quotes, as on the command line`,
	}},
	{[]string{`      dp-size: {floats: [0.5, .inf]}`}, []string{
		`13:31: engines.sglang.space.dp-size.floats: not a finite number: found .inf; allowed: a number; in quotes if it is a text`,
	}},
	{[]string{`      dp-size: {choices: [2, 4], when: dp-size > 1}`}, []string{
		`13:40: engines.sglang.space.dp-size.when: the conditions form a cycle: sglang.dp-size needs sglang.dp-size`,
	}},
	{[]string{`      enable-dp-attention: {choices: bool, when: dp-size > 1}`}, []string{
		`12:50: engines.sglang.space.enable-dp-attention.when: the conditions form a cycle: sglang.enable-dp-attention needs sglang.dp-size needs sglang.enable-dp-attention`,
	}},
	{[]string{`engines: {vlm: {space: {x: [1, 2]}}}`}, []string{
		`8:11: engines.vlm: unknown engine; allowed: vllm, sglang; did you mean "vllm"?`,
	}},
	{[]string{`engines: {}`}, []string{
		`8:10: engines: no engine is given: found a mapping; allowed: an engine by its name: vllm, sglang`,
	}},
	{[]string{`engines: {vllm: {fixed: {x: 1}}}`}, []string{
		`8:11: engines.vllm: the space is empty: there is nothing to search; allowed: flags with their values under space`,
	}},
	{[]string{`engines: {vllm: {env: {HF_TOKEN: abc, OPENAI_API_KEY: k, MAX_DISPATCH_TOKENS: 1, 1X: 2, AUTOTUNE_X: 3}, space: {x: [1, 2]}}}`}, []string{
		`8:24: engines.vllm.env.HF_TOKEN: looks like a secret, and a spec is stored in the study file; allowed: no line here: export HF_TOKEN=... in the shell that runs autotune, and the engine inherits it`,
		`8:39: engines.vllm.env.OPENAI_API_KEY: looks like a secret, and a spec is stored in the study file; allowed: no line here: export OPENAI_API_KEY=... in the shell that runs autotune, and the engine inherits it`,
		`8:82: engines.vllm.env.1X: not a variable's name; allowed: letters, digits and underscores, no digit first`,
		`8:89: engines.vllm.env.AUTOTUNE_X: autotune marks its processes with variables of this name`,
	}},
	{[]string{`engines: {vllm: {env: {MY_VAR: hf_abcdefghijklmnopqrstuvwxyz123456, DATABASE_URL: "postgres://u:pw@h/x", FIRST_PASS: 1}, space: {x: [1, 2]}}}`}, []string{
		`8:24: engines.vllm.env.MY_VAR: looks like a secret, and a spec is stored in the study file; allowed: no line here: export MY_VAR=... in the shell that runs autotune, and the engine inherits it`,
		`8:69: engines.vllm.env.DATABASE_URL: looks like a secret, and a spec is stored in the study file; allowed: no line here: export DATABASE_URL=... in the shell that runs autotune, and the engine inherits it`,
	}},
	{[]string{`engines: {vllm: {command: [env, A=ghp_abcdefghijklmnopqrstuvwxyz, python], fixed: {download-url: "https://u:pw@h/x"}, space: {x: [1, 2]}}}`}, []string{
		`8:33: engines.vllm.command[1]: looks like a secret, and a spec is stored in the study file; allowed: export it in the shell that runs autotune, and the engine inherits it`,
		`8:98: engines.vllm.fixed.download-url: looks like a secret, and a spec is stored in the study file; allowed: export it in the shell that runs autotune, and the engine inherits it`,
	}},
	{[]string{`engines: {vllm: {version: latest, space: {x: [1, 2]}}}`}, []string{
		`8:27: engines.vllm.version: not a release: found latest; allowed: a release of the engine, as 0.17.1`,
	}},
	{[]string{`engines: {vllm: {command: python, space: {x: [1, 2]}}}`}, []string{
		`8:27: engines.vllm.command: not a list of words: found python; allowed: the words of the command in a list: [python, -m, vllm.entrypoints.openai.api_server]`,
	}},
	{[]string{`engines: {vllm: {fixed: {a: 1}, require: ["a == 2"], space: {x: [1, 2]}}}`}, []string{
		`8:11: engines.vllm: the space is empty: no configuration of this engine keeps what the spec requires; allowed: rules that can be kept; comparing a flag that is not there is false, and default equals only default`,
	}},
	{[]string{`engines: {vllm: {space: {a.b: [1, {ints: [1, 3]}], api-key: [1], hf-token: [x]}}}`}, []string{
		`8:32: engines.vllm.space.a.b: the value is listed twice: it is in the range too: found 1`,
		`8:52: engines.vllm.space.api-key: autotune's client sends no key: add it to the command that is deployed`,
		`8:66: engines.vllm.space.hf-token: a secret, and a spec is stored in the study file: export HF_TOKEN in the shell that runs autotune`,
	}},
	{[]string{`engines: {vllm: {space: {c: [{mode: 3}, {mode: 3}, {mode: .nan}]}}}`}, []string{
		`8:41: engines.vllm.space.c[1]: the value is listed twice: the first stands on line 8, column 30: found a mapping`,
		`8:59: engines.vllm.space.c[2]: not a finite number: found .nan; allowed: JSON`,
	}},
	{[]string{`engines: {vllm: {space: {c: [1, "1", true, "true"]}}}`}, []string{
		`8:33: engines.vllm.space.c[1]: the number and the text are one word on a command line: the first stands on line 8, column 30: found the text "1"`,
	}},
	{[]string{`engines: {vllm: {space: {x: {choices: [1, 2], when: "engine == sglang"}}}}`}, []string{
		`8:47: engines.vllm.space.x.when: the condition never holds: found engine == sglang; allowed: engine is vllm`,
	}},
	{[]string{`engines: {vllm: {space: {x: [1, 2]}, guards: {}}}`}, []string{
		`8:38: engines.vllm.guards: unknown key; allowed: command, version, env, fixed, baseline, space, require`,
	}},
	{[]string{`engines: {vllm: {baseline: {x: [1]}, space: {x: [1, 2]}}}`}, []string{
		`8:32: engines.vllm.baseline.x: several values are no setting: found a list; allowed: one value here; a list of choices under space`,
	}},
	{[]string{`timeouts: {start: 1, hang: 0s, sillence: 3m}`}, []string{
		`16:19: timeouts.start: the unit is missing: found 1; allowed: a time such as 10h, 90m, 1h30m, 45s or 200ms`,
		`16:28: timeouts.hang: out of range: found 0s; allowed: a time such as 10h, 90m, 1h30m, 45s or 200ms`,
		`16:32: timeouts.sillence: unknown key; did you mean "silence"?`,
	}},
	{[]string{`records: some`}, []string{
		`16:10: records: unknown word: found some; allowed: full, requests`,
	}},
	{[]string{`guards: {x: 1}`}, []string{
		`16:1: guards: not available in this version: a list of guards; a workload says role: guard and max_regression: 10%`,
	}},
	{[]string{`verify: true`}, []string{
		`16:1: verify: unknown key; allowed: name, model, gpus, objective, gate, workloads, engines, require, recipes, reference, plan, search, budget, timeouts, records, bench`,
	}},
	{[]string{`gpus: 0`, `objective: {maximize: total_token_throughput_per_gpu}`}, []string{
		`4:23: objective.maximize: undefined: the study has no GPUs (gpus: 0): found total_token_throughput_per_gpu`,
	}},
	{[]string{`model: &m org/model`, `budget: {trials: 0}`}, []string{
		`2:8: YAML anchors (&) are not supported: write the value out wherever it is wanted; a text that begins with & stands in quotes`,
		`15:18: budget.trials: out of range: found 0; allowed: an integer from 1 to 1000000`,
	}},
	{[]string{`model: !!str org/model`}, []string{
		`2:8: YAML tags have no meaning in a spec: a text that begins with ! stands in quotes`,
	}},
	{[]string{`name: *x`}, []string{
		`1:7: YAML aliases (*) are not supported: write the value out; a text that begins with * stands in quotes`,
	}},
	{[]string{`gpus: eight`, `budget: {trials: 0}`, `search: {sampler: grid}`}, []string{
		`3:7: gpus: wrong type: found eight; allowed: an integer from 0 to 4096`,
		`15:18: budget.trials: out of range: found 0; allowed: an integer from 1 to 1000000`,
		`16:19: search.sampler: unknown word: found grid; allowed: random, tpe, one-at-a-time`,
	}},
}
