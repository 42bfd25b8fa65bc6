"""A row of the table of e2e-bench.sh: what a tool says of a run, and what the fake engine's ledger says of the same one. Without arguments: the head."""

import json
import statistics
import sys

REQUESTS, OUTPUT = 200, 64  # of the workload in e2e-bench.sh
COLUMNS = ("tool", "version", "seen by", "done", "tokens/s", "TTFT p50 ms", "TPOT p50 ms", "latency p50 ms")


def row(*cells):
    print("".join(f"{c:<16}" if i < 2 else f"{c:>15}" for i, c in enumerate(cells)))


def ledger(path):
    """The workload's requests as the server served them: instants in microseconds, those of the tokens as differences; the first line is the server."""
    with open(path) as f:
        requests = [json.loads(line) for line in f][1:]
    return [r for r in requests if r.get("output") == OUTPUT and r.get("finish") == "length"][-REQUESTS:]


def main():
    if len(sys.argv) < 2:
        return row(*COLUMNS)
    tool, shown, book = sys.argv[1:]
    trial = json.load(open(shown))
    if trial["kind"] != "measured":
        print(f"{tool:<16}{trial['kind']}: {trial.get('evidence')}")
        return
    m = trial["metrics"]
    ms = lambda name: f"{1e3 * m[name]:.1f}" if name in m else "n/a"
    row(tool, trial.get("facts", {}).get("bench_version", ""), "itself", int(m["successful_requests"]), f"{m['output_token_throughput']:.0f}",
        ms("p50_ttft_sent"), ms("p50_tpot"), ms("p50_latency_sent"))
    truth(ledger(book))


def truth(done):
    median = lambda values: f"{statistics.median(values) / 1e3:.1f}"
    span = max(r["end_us"] for r in done) - min(r["received_us"] for r in done)
    last = [sum(r["tokens_us"]) for r in done]
    row("", "", "the server", len(done), f"{1e6 * OUTPUT * len(done) / span:.0f}", median(r["tokens_us"][0] - r["received_us"] for r in done),
        median((end - r["tokens_us"][0]) / (OUTPUT - 1) for r, end in zip(done, last)), median(end - r["received_us"] for r, end in zip(done, last)))


main()
