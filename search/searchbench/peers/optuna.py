"""Drives Optuna's samplers over the search benchmark's surfaces.

The Go program measures, scores and writes the rows; this one asks and tells, as a user of Optuna would. It talks to
`searchbench serve` in JSON lines. Spaces are defined while they run: the Go side names the next active parameter.

    python3 -m venv DIR && DIR/bin/pip install -r search/searchbench/peers/requirements.txt
    go build -o bin/searchbench ./search/searchbench/cmd/searchbench
    DIR/bin/python search/searchbench/peers/optuna.py --searchbench bin/searchbench --methods optuna-tpe --seeds 0-9 --out rows.csv

How a study is written down for Optuna:

- A list of values is a categorical parameter, `default` (None) among them. A range is an int or a float parameter, by logarithm where
  the range is, with a categorical one before it that says whether the flag is set at all.
- Baselines are enqueued first, as every sampler here begins with them.
- A point that breaks a rule which is known before the start costs no trial: it is told as a failure, and asked again. After 100 in a row
  a random point that keeps the rules is enqueued.
- A trial that fails, or breaks a bound, is told as FAIL (optuna-tpe), or with constraints: did it fail, and by how much it breaks each
  bound; one that fails has the worst value so far.
- optuna-gp wants torch and scipy besides (requirements-gp.txt), and half a minute of a core for 40 trials.
- What the method would return is the best measurement that keeps every bound.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
import warnings

# This file has the library's name: do not import it from here.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != HERE]

import optuna  # noqa: E402

RULES_IN_A_ROW = 100
UNSET, SET = "unset", "set"


def violations(trial):
    """Optuna's constraints of a finished trial: above 0 is broken."""
    return trial.user_attrs["violations"]


def make_sampler(method, seed):
    if method == "optuna-random":
        return optuna.samplers.RandomSampler(seed=seed)
    if method == "optuna-tpe":
        return optuna.samplers.TPESampler(seed=seed)
    if method == "optuna-tpe-constraints":
        return optuna.samplers.TPESampler(seed=seed, constraints_func=violations)
    if method == "optuna-tpe-group":
        return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, constant_liar=True, constraints_func=violations)
    if method == "optuna-gp":
        return optuna.samplers.GPSampler(seed=seed, constraints_func=violations)
    raise SystemExit(f"no method is called {method}; there are {', '.join(METHODS)}")


METHODS = ["optuna-random", "optuna-tpe", "optuna-tpe-constraints", "optuna-tpe-group", "optuna-gp"]


class Server:
    """`searchbench serve`, one request and one answer at a time."""

    def __init__(self, program, out):
        self.process = subprocess.Popen([program, "serve", "-out", out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("searchbench serve has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise SystemExit(f"searchbench: {answer['error']}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def nearest(grid, x):
    return min(grid, key=lambda v: abs(v - x))


def suggest(trial, p):
    """One parameter's value; None is default."""
    name = p["name"]
    if p["kind"] == "choice":
        return trial.suggest_categorical(name, p["values"])
    if p.get("default") and trial.suggest_categorical(name + "?", [UNSET, SET]) == UNSET:
        return None
    if p["kind"] == "int":
        return trial.suggest_int(name, int(p["low"]), int(p["high"]), log=p.get("log", False))
    return nearest(p["values"], trial.suggest_float(name, p["low"], p["high"], log=p.get("log", False)))


def draw(rng, p):
    """One parameter's value by chance, as Optuna's parameters."""
    name = p["name"]
    if p["kind"] == "choice":
        return {name: rng.choice(p["values"])}
    if p.get("default") and rng.random() < 0.5:
        return {name + "?": UNSET}
    out = {name + "?": SET} if p.get("default") else {}
    out[name] = rng.randint(int(p["low"]), int(p["high"])) if p["kind"] == "int" else rng.choice(p["values"])
    return out


class Run:
    """One run: a method on a surface with a seed."""

    def __init__(self, server, method, opened, seed, trials):
        self.server, self.method, self.trials = server, method, trials
        self.params = {p["name"]: p for p in opened["parameters"]}
        self.bounds = opened.get("bounds", 0)
        self.constrained = method in ("optuna-tpe-constraints", "optuna-tpe-group", "optuna-gp")
        self.study = optuna.create_study(direction="maximize", sampler=make_sampler(method, seed))
        self.rng = random.Random(seed)
        self.worst = None
        self.seconds = 0.0
        for point in opened["openings"]:
            self.study.enqueue_trial(self.as_params(point))

    def as_params(self, point):
        out = {}
        for name, value in point.items():
            p = self.params[name]
            if p["kind"] == "choice":
                out[name] = value
                continue
            if p.get("default"):
                out[name + "?"] = UNSET if value is None else SET
            if value is not None:
                out[name] = value
        return out

    def timed(self, call, *args, **named):
        begun = time.perf_counter()
        try:
            return call(*args, **named)
        finally:
            self.seconds += time.perf_counter() - begun

    def build(self, value_of):
        """Goes down the space until nothing is missing; value_of makes a parameter's value."""
        point = {}
        while True:
            answer = self.server.ask(op="next", point=point)
            if answer.get("ok"):
                return point, answer.get("broken")
            name = answer["next"]
            point[name] = value_of(self.params[name])

    def tell_failure(self, trial):
        if not self.constrained:
            self.timed(self.study.tell, trial, state=optuna.trial.TrialState.FAIL)
            return
        trial.set_user_attr("violations", [1.0] + [0.0] * self.bounds)
        self.timed(self.study.tell, trial, self.worst if self.worst is not None else 0.0)

    def enqueue_random(self):
        while True:
            params = {}

            def by_chance(p):
                drawn = draw(self.rng, p)
                params.update(drawn)
                return drawn.get(p["name"])

            if not self.build(by_chance)[1]:
                self.study.enqueue_trial(params)
                return

    def carry_out(self, trial, point):
        answer = self.server.ask(op="eval", point=point)
        if not answer.get("runs"):
            self.tell_failure(trial)
            return
        value, broken = answer["value"], answer.get("violations") or []
        self.worst = value if self.worst is None else min(self.worst, value)
        if self.constrained:
            trial.set_user_attr("violations", [-1.0] + broken)
        elif any(v > 0 for v in broken):
            self.timed(self.study.tell, trial, state=optuna.trial.TrialState.FAIL)
            return
        self.timed(self.study.tell, trial, value)

    def go(self):
        done = refused = 0
        while done < self.trials:
            trial = self.timed(self.study.ask)
            point, broken = self.build(lambda p: self.timed(suggest, trial, p))
            if broken:
                refused += 1
                self.tell_failure(trial)
                if refused % RULES_IN_A_ROW == 0:
                    self.enqueue_random()
                continue
            refused = 0
            self.carry_out(trial, point)
            done += 1
        self.server.ask(op="done", trials=self.trials, seconds=self.seconds)


def main():
    a = argparse.ArgumentParser(description="Drives Optuna's samplers over the search benchmark's surfaces.")
    a.add_argument("--searchbench", required=True, help="the Go program")
    a.add_argument("--methods", default="optuna-tpe,optuna-tpe-constraints,optuna-tpe-group", help=", ".join(METHODS))
    a.add_argument("--surfaces", default="six")
    a.add_argument("--seeds", default="0-9")
    a.add_argument("--noise", type=float, default=0.05)
    a.add_argument("--trials", type=int, default=60)
    a.add_argument("--out", required=True, help="file of rows to append to")
    o = a.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")  # experimental and deprecated options are meant
    print(f"optuna {optuna.__version__}, python {sys.version.split()[0]}", file=sys.stderr)
    server = Server(o.searchbench, o.out)
    for place in server.ask(op="places", surfaces=o.surfaces, seeds=o.seeds)["places"]:
        for method in o.methods.split(","):
            opened = server.ask(op="open", surface=place["surface"], seed=place["seed"], noise=o.noise, method=method)
            if opened.get("skip"):
                continue
            Run(server, method, opened, place["seed"], o.trials).go()
    server.close()


if __name__ == "__main__":
    main()
