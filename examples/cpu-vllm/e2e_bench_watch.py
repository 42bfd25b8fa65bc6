"""Keeps how a vLLM's own counters grow while a tool measures it: e2e_bench_watch.py URL FILE, until SIGTERM; a line of JSON for each look that saw something new."""

import json
import signal
import sys
import time
import urllib.request

# Seconds between two looks: each costs the server some milliseconds. After SIGTERM it looks on until nothing has grown for QUIET: the engine counts behind its answers.
EVERY, QUIET = 0.1, 1.0
COUNTERS = {"request_success_total": "done", "prompt_tokens_total": "prompt", "generation_tokens_total": "output"}
HISTOGRAMS = {"time_to_first_token_seconds": "ttft", "request_time_per_output_token_seconds": "tpot", "e2e_request_latency_seconds": "latency"}
NAMES = {f"vllm:{k}": v for k, v in COUNTERS.items()} | {f"vllm:{k}_{end}": f"{v}_{end}" for k, v in HISTOGRAMS.items() for end in ("sum", "count")}


def look(url):
    """The counters, those of a histogram as NAME_sum and NAME_count, summed over their labels."""
    found = dict.fromkeys(NAMES.values(), 0.0)
    with urllib.request.urlopen(url + "/metrics", timeout=20) as answer:
        for line in answer.read().decode().splitlines():
            name = NAMES.get(line.split("{", 1)[0])
            if name:
                found[name] += float(line.rsplit(" ", 1)[1])
    return found


def main():
    url, path = sys.argv[1:]
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
    seen, grew = None, time.monotonic()
    with open(path, "w") as f:
        while not asked or time.monotonic() < grew + QUIET:
            now = time.monotonic()
            found = look(url)
            if found != seen:
                print(json.dumps({"at": now} | found), file=f, flush=True)
                seen, grew = found, now
            time.sleep(EVERY)


main()
