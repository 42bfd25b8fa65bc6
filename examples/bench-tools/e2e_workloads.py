"""Runs each published workload by each tool that can send it, against the fake engine in real time, each as a study of one trial:

    e2e_workloads.py AUTOTUNE FOLDER TOOL=PROGRAM...    (words of a program with commas between; FOLDER holds the tokenizer "even", and keeps specs and results)

Lengths, rates and arrivals are the workload's own. There are a twentieth of its requests, at least 10, and a twentieth of its cap, so that whole answers of
2000 tokens and minutes at one request a second become seconds. A line a pair; exit status 1 when one that can be sent came to no measurement."""

import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SPECS = [HERE / "published.yaml", HERE.parent / "glm-5.2-8xh200.yaml", HERE.parent / "qwen3.5-35b-a3b-h200.yaml"]
SHARE = 20  # one request in so many
LEAST = 10
LIMIT = 600  # seconds for one study
ROW = "{:<18}{:<32}{:<14}{}"


def lines_of(spec):
    """The workloads of a spec as it has them, by name: each is a line of its own there."""
    return dict(re.findall(r"^  (\w+): (\{dataset: .*\})$", spec.read_text(), re.M))


def small(line):
    """A workload with fewer requests and a lower cap, and without its role in its own study."""
    line = re.sub(r", (role|max_regression): [^,}]+", "", line)
    line = re.sub(r"requests: (\d+)", lambda m: f"requests: {max(LEAST, int(m[1]) // SHARE)}", line)
    line = re.sub(r"max_concurrency: (\d+)", lambda m: f"max_concurrency: {int(m[1]) // SHARE}", line)
    return re.sub(r"path: [^,}]+", "path: sharegpt.json", line)


def sharegpt(path):
    """A file in the format of ShareGPT: letters by chance, four a token, lengths as of chats; too short and too long ones, lone turns."""
    chance = random.Random(1)
    text = lambda tokens: "".join(chance.choices("bcdfgaeioumnt", k=4 * tokens))
    length = lambda mean: max(4, min(1000, int(chance.lognormvariate(0, 0.8) * mean)))
    rows = [[text(length(200)), text(length(150)), text(20)] for _ in range(300)] + [[text(2), text(50)], [text(50), text(2)], [text(1500), text(50)], [text(50)]]
    chance.shuffle(rows)
    turns = lambda row: [{"from": ("human", "gpt")[i % 2], "value": v} for i, v in enumerate(row)]
    path.write_text(json.dumps([{"id": str(i), "conversations": turns(row)} for i, row in enumerate(rows)]))


def study(autotune, folder, name, tool, program, line):
    """One trial: what it came to, in words, and whether it is a measurement of all that was asked."""
    spec, db = folder / f"{name}.yaml", folder / f"{name}.db"
    spec.write_text(f"""name: {name}
model: ./even
gpus: 8
objective: {{maximize: output_token_throughput}}
workloads:
  w: {line[:-1]}, warmup: 0}}
engines:
  vllm:
    command: [autotune, fake-engine, --start-time=0s, --noise=0, vllm]
    fixed: {{tensor-parallel-size: 8}}
    space: {{max-num-seqs: [256, 512]}}
budget: {{trials: 1}}
search: {{stoppers: "off"}}
""" + (f"bench: {{tool: {tool}, command: [{program}]}}\n" if tool != "builtin" else ""))
    began = time.monotonic()
    with open(folder / f"{name}.txt", "w") as out:
        run = subprocess.Popen([autotune, "run", spec, "--study", db], stdout=out, stderr=subprocess.STDOUT, cwd=folder)
        try:
            run.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return f"not done after {LIMIT} s", False
        finally:
            run.terminate()  # if it still runs: autotune ends its server and the tool, and keeps the study
            run.wait()
    if not db.exists():
        return (folder / f"{name}.txt").read_text().strip().splitlines()[-1], False
    trial = json.loads(subprocess.run([autotune, "show", db, "0", "--json"], capture_output=True, text=True, check=True, timeout=60).stdout)
    m = trial.get("metrics") or {}
    if trial["kind"] != "measured":
        return f"{trial['kind']}: {trial.get('evidence')}", False
    asked = int(re.search(r"requests: (\d+)", line)[1])
    words = f"{int(m['successful_requests'])} of {asked} requests, {m['input_tokens']:.0f} tokens in, {m['output_tokens']:.0f} out, {m['output_token_throughput']:.0f} out/s"
    return f"{words} ({time.monotonic() - began:.0f} s)", int(m["successful_requests"]) == asked


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    autotune, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    programs = dict(word.split("=", 1) for word in sys.argv[3:])
    sharegpt(folder / "sharegpt.json")
    pairs = json.loads(subprocess.run([autotune, "bench", "tools", *SPECS, "--json"], capture_output=True, text=True, check=True, timeout=60).stdout)
    failed, done = 0, {}
    print(ROW.format("workload", "of", "tool", ""), flush=True)
    for p in pairs:
        line, suggested = small(lines_of(next(s for s in SPECS if s.name == p["spec"]))[p["workload"]]), ""
        show = lambda words: print(ROW.format(p["workload"], p["spec"], p["tool"], words), flush=True)
        if not p["sends"]:
            show("no: " + "; ".join(lack["problem"] for lack in p["lacks"]))
            if [lack["key"] for lack in p["lacks"]] != ["rate"]:
                continue
            line, suggested = re.sub(r", rate: \d+", "", line), "  as it suggests, without the rate: "
        if p["tool"] not in programs:
            show(suggested + "FAILED: the tool is not here")
            failed += 1
            continue
        if (p["tool"], line) in done:
            show(f"{suggested}the same as {done[p['tool'], line]}")
            continue
        name = "-".join([p["spec"].split(".")[0], p["workload"], p["tool"]])
        words, good = study(autotune, folder, name, p["tool"], programs[p["tool"]], line)
        done[p["tool"], line] = f"{p['workload']} of {p['spec']}"
        failed += not good
        show(suggested + ("" if good else "FAILED: ") + words)
    print(f"{failed} failed" if failed else "all that can be sent was measured")
    sys.exit(1 if failed else 0)


main()
