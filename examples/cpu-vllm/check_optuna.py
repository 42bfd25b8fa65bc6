#!/usr/bin/env python3
"""Checks that Optuna reads a study file as autotune does: check_optuna.py STUDY TRIALS.json

TRIALS.json is what `autotune show STUDY --json` prints. Every trial is compared: number, state, parameters, value, constraints, attributes, times.
Then Optuna goes on with a copy of the study by one trial. Exit status: 0 when both agree, 1 with each difference on a line. Needs Optuna 5.0.
"""

import datetime
import json
import os
import sqlite3
import sys
import tempfile

import optuna

STATES = {"": "RUNNING", "interrupted": "RUNNING", "measured": "COMPLETE", "stopped": "PRUNED", "infeasible": "FAIL", "invalid": "FAIL"}
EXACT = 2**53  # integers beyond it are words for Optuna, which keeps parameters as floats


def outside(value):
    """A value of ours as Optuna should give it back."""
    if value is None:
        return "default"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT:
        return str(value)
    return value


def same(a, b):
    """Equal, and true is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool) and isinstance(a, str) == isinstance(b, str)


def instant(text):
    """An instant of ours as Optuna keeps it: UTC without a zone, to the microsecond."""
    if not text or text.startswith("0001-"):
        return None
    date, _, fraction = text.removesuffix("Z").partition(".")
    return datetime.datetime.fromisoformat(date).replace(microsecond=int((fraction + "000000")[:6]))


def params(ours, theirs):
    """Yields the differences between the parameters of one trial."""
    defaults = theirs.user_attrs.get("defaults", [])
    words = theirs.user_attrs.get("words", {})
    for name, value in ours["point"].items():
        if name in theirs.params:
            distribution = theirs.distributions[name]
            if not same(theirs.params[name], outside(value)):
                yield f"{name} is {value!r}, for Optuna {theirs.params[name]!r}"
            if not distribution._contains(distribution.to_internal_repr(theirs.params[name])):
                yield f"{name}={theirs.params[name]!r} is not of {distribution}"
        elif value is None:
            if name not in defaults:
                yield f"{name} is left out, and not among Optuna's defaults"
        elif name not in words or words[name] != (value if isinstance(value, str) else json.dumps(value)):
            yield f"{name} is {value!r}, and Optuna has no value"
    for name in [*theirs.params, *defaults, *words]:
        if name not in ours["point"]:
            yield f"{name} is inactive, and Optuna has it"


def outcome(ours, theirs):
    """Yields the differences between the ends of one trial."""
    kind, value = ours["kind"], ours["value"]
    state = STATES[kind]
    if kind == "measured" and value is None:
        state = "FAIL"
    if theirs.state.name != state:
        yield f"{kind or 'running'}, for Optuna {theirs.state.name}, not {state}"
    values = [value] if state == "COMPLETE" else None
    if theirs.values != values:
        yield f"values are {values}, for Optuna {theirs.values}"
    partial = [value] if kind == "stopped" and value is not None else []
    if list(theirs.intermediate_values.values()) != partial:
        yield f"partial values are {partial}, for Optuna {theirs.intermediate_values}"
    broken = any(v > 0 for v in theirs.constraints.values())
    if state == "COMPLETE" and (not theirs.constraints or broken == ours["feasible"]):
        yield f"feasible {ours['feasible']}, for Optuna the constraints are {theirs.constraints}"
    if state == "FAIL" and not broken:
        yield f"failed, for Optuna the constraints are {theirs.constraints}"
    ended = instant(ours["ended"]) if state != "RUNNING" else None
    if (theirs.datetime_start, theirs.datetime_complete) != (instant(ours["started"]), ended):
        yield f"from {ours['started']} to {ours['ended']}, for Optuna from {theirs.datetime_start} to {theirs.datetime_complete}"
    attributes = {"outcome": kind, "origin": ours["origin"], **{k: ours.get(k) for k in ("phase", "reason", "signature", "rule", "evidence", "engine_version")}}
    for key, word in {**attributes, **ours.get("metrics", {})}.items():
        if theirs.user_attrs.get(key) != (word or (None if key in attributes else word)):
            yield f"{key} is {word!r}, for Optuna {theirs.user_attrs.get(key)!r}"
    if bool(theirs.user_attrs.get("stale")) != ours["stale"]:
        yield f"stale {ours['stale']}, for Optuna {theirs.user_attrs.get('stale')}"


def load(path):
    return optuna.load_study(study_name=None, storage="sqlite:///" + path)


def compare(path, ours):
    """Yields every difference between the trials of the file and those that autotune shows."""
    study = load(path)
    theirs = {t.number: t for t in study.trials}
    if len(theirs) != len(study.trials) or sorted(theirs) != sorted(t["number"] for t in ours):
        yield f"autotune has the trials {sorted(t['number'] for t in ours)}, Optuna {[t.number for t in study.trials]}"
        return
    for t in ours:
        if t["foreign"]:
            continue
        for check in (params, outcome):
            for difference in check(t, theirs[t["number"]]):
                yield f"trial {t['number']}: {difference}"
    complete = [t for t in study.trials if t.state.name == "COMPLETE"]
    if any(all(v <= 0 for v in t.constraints.values()) for t in complete):
        print(f"Optuna's best is trial {study.best_trial.number}, {study.metric_names[0]} {study.best_value}")


def go_on(path, ours):
    """Yields what is wrong when Optuna adds a trial to a copy of the study."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.db")
        source, target = sqlite3.connect("file:" + path + "?mode=ro", uri=True), sqlite3.connect(copy)
        source.backup(target)
        source.close()
        target.close()
        study = load(copy)
        space = {}
        for t in study.trials:
            space.update(t.distributions)
        asked = study.ask(space)
        study.tell(asked, 1.0)
        if asked.number != max((t["number"] for t in ours), default=-1) + 1:
            yield f"Optuna's own trial has the number {asked.number}"
        yield from (f"after Optuna's own trial: {d}" for d in compare_without(copy, ours))


def compare_without(path, ours):
    """The differences of the trials that are ours, after another one was added."""
    theirs = {t.number: t for t in load(path).trials}
    for t in ours:
        if not t["foreign"]:
            for difference in [*params(t, theirs[t["number"]]), *outcome(t, theirs[t["number"]])]:
                yield f"trial {t['number']}: {difference}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path = os.path.abspath(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as f:
        ours = json.load(f)
    differences = [*compare(path, ours), *go_on(path, ours)]
    for d in differences:
        print(d, file=sys.stderr)
    print(f"{len(ours)} trials compared with Optuna {optuna.__version__}, {len(differences)} differences")
    sys.exit(1 if differences or not ours else 0)


if __name__ == "__main__":
    main()
