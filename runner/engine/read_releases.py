"""Reads from the source packages of vLLM and SGLang, one folder a release, which flags and architectures each release has.

    pip download --no-deps sglang==0.5.23              # a wheel: unpack it into FOLDER/0.5.23
    pip download --no-deps --no-binary :all: vllm==0.34.0   # a source package: unpack it into FOLDER/0.34.0
    python3 read_releases.py flags vllm FOLDER > releases_vllm.tsv
    python3 read_releases.py architectures sglang FOLDER > architectures_sglang.tsv

Nothing of an engine is imported or run: its files are parsed. Flags are what add_argument is called with, and the fields of the classes that become flags.
Architectures are the keys of vLLM's registry of models, and the classes that a file of SGLang's models names as its EntryClass.
"""

import ast
import glob
import os
import sys


def parse(path):
    with open(path, encoding="utf-8-sig") as f:
        return ast.parse(f.read())


def words(nodes):
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def arguments(path):
    """Long options that add_argument is called with."""
    found = set()
    for n in ast.walk(parse(path)):
        if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "add_argument":
            found |= {w[2:] for w in words(n.args) if w.startswith("--")}
    return found


def fields(path):
    """Names and annotations of all classes' annotated fields."""
    for c in ast.walk(parse(path)):
        if isinstance(c, ast.ClassDef):
            for s in c.body:
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
                    yield c.name, s.target.id.replace("_", "-"), s.annotation


def vllm_flags(folder):
    found = arguments(folder + "/vllm/engine/arg_utils.py")
    for path in glob.glob(folder + "/vllm/entrypoints/**/cli_args.py", recursive=True):
        found |= arguments(path)
        found |= {n for c, n, a in fields(path) if c in ("FrontendArgs", "BaseFrontendArgs") and "ClassVar" not in ast.dump(a)}
    return found


def sglang_field(name, annotation):
    """Spellings of a field A[TYPE, "help"] or A[TYPE, Arg(...)]; none where it is no flag."""
    if not (isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") in ("A", "Annotated") and isinstance(annotation.slice, ast.Tuple)):
        return set()
    for e in annotation.slice.elts[1:]:
        if isinstance(e, ast.Call) and getattr(e.func, "id", "") == "Arg":
            given = {k.arg: k.value for k in e.keywords}
            if getattr(given.get("no_cli"), "value", False):
                return set()
            names = {given["cli_name"].value[2:] if "cli_name" in given else name}
            return names | {w[2:] for w in words(getattr(given.get("aliases"), "elts", [])) if w.startswith("--")}
        if isinstance(e, (ast.Constant, ast.JoinedStr, ast.BinOp)):
            return {name}
    return set()


def sglang_flags(folder):
    found = set()
    for path in [folder + "/sglang/srt/server_args.py"] + glob.glob(folder + "/sglang/srt/arg_groups/**/*.py", recursive=True):
        found |= arguments(path)
        for _, name, annotation in fields(path):
            found |= sglang_field(name, annotation)
    return found


def vllm_architectures(folder):
    """Keys of the tables of models that generate text or take pictures, sound or video and generate text."""
    found = set()
    for n in ast.walk(parse(folder + "/vllm/model_executor/models/registry.py")):
        targets = n.targets if isinstance(n, ast.Assign) else [n.target] if isinstance(n, ast.AnnAssign) else []
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        if any(t in ("_TEXT_GENERATION_MODELS", "_MULTIMODAL_MODELS", "_GENERATION_MODELS", "_DECODER_ONLY_MODELS", "_ENCODER_DECODER_MODELS", "_TRANSFORMERS_SUPPORTED_MODELS") for t in names):
            found |= words(getattr(n.value, "keys", []))
    return found


def sglang_architectures(folder):
    found = set()
    for path in glob.glob(folder + "/sglang/srt/models/**/*.py", recursive=True):
        for n in parse(path).body:
            if isinstance(n, ast.Assign) and any(getattr(t, "id", "") == "EntryClass" for t in n.targets):
                found |= {e.id for e in getattr(n.value, "elts", [n.value]) if isinstance(e, ast.Name)}
            if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and "EntryClass" in ast.dump(n.value.func):  # EntryClass.append(...)
                found |= {e.id for e in n.value.args if isinstance(e, ast.Name)}
    return found


def spans(has, releases):
    """0.6.0-0.9.0 0.11.0-: the releases that have a name."""
    parts, start = [], None
    for i, h in enumerate(has + [False]):
        if h and start is None:
            start = i
        if not h and start is not None:
            parts.append(releases[start] + "-" + ("" if i == len(has) else releases[i - 1]))
            start = None
    return " ".join(parts)


def main(what, engine, folder):
    releases = sorted((r for r in os.listdir(folder)), key=lambda r: [int(x) for x in r.split(".")])
    seen = [globals()[engine + "_" + what](os.path.join(folder, r)) for r in releases]
    print("releases\t" + " ".join(releases))
    for name in sorted(set().union(*seen)):
        print(name + "\t" + spans([name in s for s in seen], releases))


main(*sys.argv[1:4])
