#!/usr/bin/env python3
"""Hold command lines against SGLang's own argument parser, without a GPU and without its dependencies.

    python3 -m venv v && v/bin/pip install msgspec pydantic orjson pyyaml packaging requests psutil
    v/bin/pip install --no-deps --target sglang-files sglang==0.5.23
    autotune export glm.db | v/bin/python parse.py sglang-files        # one command, or several, on standard input
    v/bin/python parse.py sglang-files --help                          # what `autotune run` reads from an installed SGLang

The parser alone is real: torch, triton and whatever else is not installed are stand-ins that do nothing, so nothing can be served, and what SGLang
makes of the arguments once it knows the model and the GPU is not computed. Tried with 0.5.23; another release may import what these stand-ins lack.
Exit status 0 when every command is accepted, 2 when one is not.
"""
import argparse
import importlib.abc
import importlib.machinery
import shlex
import sys
import types

# Platforms that SGLang would look for and must not find; without them it asks nothing of torch.
ABSENT = {"sglang", "torch_npu", "torch_musa", "torchada", "habana_frameworks", "intel_extension_for_pytorch", "mlx"}
DEVICES = {"npu", "xpu", "hpu", "musa", "mps"}


class Nothing:
    """Answers whatever it is asked with more of itself."""

    def __init__(self, *args, **named): pass

    def __call__(self, *args, **named):
        return args[0] if len(args) == 1 and callable(args[0]) and not named else Nothing()  # a decorator leaves its function alone

    def __getattr__(self, name):
        if name.startswith("__class_val"):
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __mro_entries__(self, bases): return ()
    def __getitem__(self, key): return Nothing()
    def __iter__(self): return iter(())
    def __contains__(self, item): return False
    def __int__(self): return 0
    __index__ = __len__ = __int__
    def __float__(self): return 0.0
    def __bool__(self): return False
    def __lt__(self, other): return False
    def __ge__(self, other): return True
    def __or__(self, other): return self
    __ror__ = __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __or__
    def __enter__(self): return self
    def __exit__(self, *why): return False


class Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name == "__version__":
            return "99.0.0"
        if name.startswith("__") or name in DEVICES:
            raise AttributeError(name)
        value = Nothing()
        setattr(self, name, value)
        return value


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last, and so finds what nobody else does."""

    def find_spec(self, name, path, target=None):
        return None if name.split(".")[0] in ABSENT else importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec): return Module(spec.name)
    def exec_module(self, module): pass


def parser(files):
    """SGLang's parser from the files of its package."""
    sys.path.insert(0, files)
    sys.meta_path.append(StandIns())
    for name in ("sglang", "sglang.srt", "sglang.srt.utils"):  # their own __init__ imports the whole engine
        package = types.ModuleType(name)
        package.__path__, package.__version__ = [files + "/" + name.replace(".", "/")], "0"
        sys.modules[name] = package
    import sglang.srt.platforms as platforms
    platforms._current_platform = Nothing()
    del sys.modules["sglang.srt.utils"]
    from sglang.srt.server_args import ServerArgs
    made = argparse.ArgumentParser(prog="launch_server.py")
    ServerArgs.add_cli_args(made)
    return made


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    p = parser(sys.argv[1])
    if "--help" in sys.argv[2:]:
        p.print_help()
        return
    refused = 0
    for line in sys.stdin.read().replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if "sglang.launch_server" not in words:
            continue
        arguments = words[words.index("sglang.launch_server") + 1:]
        try:
            p.parse_args(arguments)
            print("accepted:", shlex.join(arguments))
        except SystemExit:
            refused += 1
            print("refused: ", shlex.join(arguments))
    sys.exit(2 if refused else 0)


main()
