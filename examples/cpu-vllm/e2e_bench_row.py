"""Two rows of the table of e2e-bench.sh: what a tool says of a run, and what the server of the same run says. Without arguments: the head.

    e2e_bench_row.py TOOL VERSION SAID fake LEDGER     the truth is the fake engine's ledger
    e2e_bench_row.py TOOL VERSION SAID vllm COUNTERS   the truth is what e2e_bench_watch.py kept of vLLM's counters

SAID is the JSON of autotune show, load or bench read. It exits with 1, and names the tool, where a figure differs by more than its bound."""

import json
import statistics
import sys

OUTPUT = 64  # of the workload in e2e-bench.sh
COLUMNS = {"done": "done", "prompt": "prompt tokens", "output": "output tokens", "rate": "tokens/s", "ttft": "TTFT ms", "tpot": "TPOT ms", "latency": "latency ms"}
METRICS = {"done": "successful_requests", "prompt": "input_tokens", "output": "output_tokens", "rate": "output_token_throughput", "ttft": "mean_ttft_sent", "tpot": "mean_tpot",
           "latency": "mean_latency_sent"}
COUNTS = ("done", "prompt", "output")
# By how much a tool may differ from the server: counts by nothing, a rate by a share, times by a share and some ms more, which is how late a client in Python may see an
# event on a fast server. Two processors with a load average of 15 to 30 had guidellm 271 ms late at the last token, aiperf 268 ms at the first.
SHARE = {"rate": 0.10, "ttft": 0.10, "tpot": 0.10, "latency": 0.10}
LATE = {"ttft": 400, "tpot": 2, "latency": 400}
# SGLang's tool counts prompts before they are text: the text of random tokens may be more tokens for the server, 6.6 % more with the tiny model's tokenizer.
COUNTS_ITSELF = {("sglang-bench", "prompt"): 0.10}


def show(tool, version, by, figures):
    text = lambda k: "n/a" if k not in figures else f"{figures[k]:.{1 if k in ('ttft', 'tpot', 'latency') else 0}f}"
    print(f"{tool:<14}{version:<14}{by:<12}" + "".join(f"{text(k):>14}" for k in COLUMNS))


def said(path):
    """The figures of a tool, times in ms; or why there are none, as text."""
    told = json.load(open(path))
    told = told.get("runs", [told])[0]
    metrics = told.get("metrics") or {}
    why = told.get("refused") or told.get("evidence")
    if why or METRICS["done"] not in metrics:
        return json.dumps(why)
    return {k: metrics[name] * (1e3 if name.startswith("mean") else 1) for k, name in METRICS.items() if name in metrics}


def ledger(path):
    """The workload's requests as the fake engine served them: instants in microseconds, those of the tokens as differences; the first line is the server."""
    with open(path) as f:
        requests = [json.loads(line) for line in f][1:]
    done = [r for r in requests if r.get("output") == OUTPUT and r.get("finish") == "length"]
    span = max(r["end_us"] for r in done) - min(r["received_us"] for r in done)
    mean = lambda values: statistics.fmean(values) / 1e3
    last = [sum(r["tokens_us"]) for r in done]
    return {"done": len(done), "prompt": sum(r["input"] for r in done), "output": OUTPUT * len(done), "rate": 1e6 * OUTPUT * len(done) / span,
            "ttft": mean(r["tokens_us"][0] - r["received_us"] for r in done), "tpot": mean((end - r["tokens_us"][0]) / (OUTPUT - 1) for r, end in zip(done, last)),
            "latency": mean(end - r["received_us"] for r, end in zip(done, last))}


def counters(path):
    """What vLLM counted between the first look and the last. The run began a TTFT before the first token counted, and ended with the last: each is known to one look."""
    with open(path) as f:
        looks = [json.loads(line) for line in f]
    before, after = looks[0], looks[-1]
    grown = {k: after[k] - before[k] for k in after}
    mean = lambda look, name: (look[name + "_sum"] - before[name + "_sum"]) / (look[name + "_count"] - before[name + "_count"])
    first = next(k for k in looks if k["ttft_count"] > before["ttft_count"])
    last = next(k for k in looks if k["output"] == after["output"])
    return {k: grown[k] for k in COUNTS} | {"rate": grown["output"] / (last["at"] - first["at"] + mean(first, "ttft"))} | {k: 1e3 * mean(after, k) for k in ("ttft", "tpot", "latency")}


def beyond(tool, its, truth):
    """The figures that differ by more than their bound. A time that a tool does not give is not one of them; a count is."""
    wrong = [f"no {COLUMNS[k]}" for k in COUNTS if k not in its]
    for k, figure in its.items():
        allowed = COUNTS_ITSELF.get((tool, k), SHARE.get(k, 0)) * truth[k] + LATE.get(k, 0)
        if not abs(figure - truth[k]) <= allowed:
            wrong.append(f"{COLUMNS[k]} {figure:.6g} and not {truth[k]:.6g} (bound {allowed:.3g})")
    return wrong


def main():
    if len(sys.argv) < 2:
        return print(f"{'tool':<14}{'version':<14}{'seen by':<12}" + "".join(f"{c:>14}" for c in COLUMNS.values()))
    tool, version, told, place, book = sys.argv[1:]
    its = said(told)
    if isinstance(its, str):
        sys.exit(f"{tool} has measured nothing on the {place} engine: {its}")
    truth = ledger(book) if place == "fake" else counters(book)
    show(tool, version, "itself", its)
    show("", "", "the server", truth)
    if wrong := beyond(tool, its, truth):
        sys.exit(f"{tool} on the {place} engine: " + ", ".join(wrong))


main()
