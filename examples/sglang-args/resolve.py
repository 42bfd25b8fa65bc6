#!/usr/bin/env python3
"""Resolves SGLang command lines with SGLang's own parser, on pretended GPUs: resolve.py [--gpus N] [--memory MIB] <LINES >RESULTS

LINES is a JSON list of argument lists, as they follow `sglang serve`. RESULTS is a JSON list of the same length: {"resolved": {argument: value}},
{"refused": "the error", "where": "who raised it"}, or {"failed": "why nothing can be said"}. Each line is resolved in a process of its own, for the resolution writes environment variables.
What a launch checks before it starts processes is checked; nothing is started, and no weights are looked for.
"""
import argparse
import io
import json
import logging
import os
import sys
import warnings

import pretend


def resolve(argv):
    """Does what sglang.launch_server does up to the start of processes."""
    from sglang.srt.server_args import prepare_server_args

    errors = sys.stderr = io.StringIO()
    try:
        arguments = prepare_server_args(argv)
        logging.disable(logging.CRITICAL)
        arguments.resolve_once()
        arguments.check_server_args()
        return {"resolved": arguments.resolved_dict()}
    except SystemExit:
        return {"refused": errors.getvalue().strip().splitlines()[-1]}
    except ImportError as e:  # something real is missing, or is not pretended: says nothing of the arguments
        return {"failed": f"{type(e).__name__}: {e} ({where(e.__traceback__)})"}
    except Exception as e:
        return {"refused": f"{type(e).__name__}: {e}".strip(), "where": where(e.__traceback__)}


def where(traceback):
    """Names the function and line that refused, as FILE:LINE FUNCTION."""
    while traceback.tb_next:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    return f"{os.path.basename(code.co_filename)}:{traceback.tb_lineno} {code.co_name}"


def apart(argv):
    """Resolves in a forked process, and brings its answer back."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            json.dump(resolve(argv), out, default=str)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--gpus", type=int, default=8)
    options.add_argument("--name", default="NVIDIA H200")
    options.add_argument("--memory", type=int, default=143771, help="MiB of a GPU, as nvidia-smi shows them")
    options = options.parse_args()

    os.environ["CUDA_HOME"] = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    warnings.simplefilter("ignore")
    pretend.device(options.gpus, options.name, (9, 0), options.memory)
    pretend.packages()
    logging.disable(logging.WARNING)
    import sglang.srt.arg_groups.pipeline  # once, not in every child
    import sglang.srt.server_args

    json.dump([apart(argv) for argv in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
