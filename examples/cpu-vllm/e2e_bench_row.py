"""A row of the table of e2e-bench.sh: what a tool says of a run, and what the fake engine's ledger says of the same one. Without arguments: the head."""

import json
import statistics
import sys

COLUMNS = ("tool", "version", "seen by", "done", "tokens/s", "TTFT p50 ms", "TPOT p50 ms", "latency p50 ms")


def row(*cells):
    print("".join(f"{c:<16}" if i < 2 else f"{c:>15}" for i, c in enumerate(cells)))


def ledger(path):
    """Requests that the server ended, from its own instants in microseconds: the first line is the server, each other one a request."""
    done = []
    with open(path) as f:
        for line in f:
            r = json.loads(line)
            if r.get("events") and r.get("input", 0) >= 128:
                done.append(r)
    return done


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
    print(done[0] if done else "the ledger is empty")


main()
