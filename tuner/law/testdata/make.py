"""Works out from doc.go's formulas what formula_test.go compares with: python3 make.py > reference.json. Nothing but the standard library is needed."""

import json
import math

H200 = {"bandwidth": 4.8e12, "flops": 989e12, "link": 450e9}
DEMO = {"layers": 40, "hidden": 5120, "heads": 40, "size": 128, "rest": 12.7e9, "embed": 0.33e9}
GLM = {"layers": 78, "hidden": 6144, "latent": 576, "index": 132, "window": 2048, "experts": 256, "top": 8, "expert": 724.8e9, "rest": 17.3e9, "embed": 1.9e9}
GIB = 2**30
LINK = 0.6  # of the link's peak


def demo_decode(sequences, context):
    """A step of a graph: weights once (16 bits; of embedding and head the head alone), two FLOP a parameter and token, the cache of every sequence."""
    bandwidth, flops = 0.75 * H200["bandwidth"], 0.5 * H200["flops"]
    weights = (2 * DEMO["rest"] + DEMO["embed"]) / bandwidth
    linear = sequences * 2 * DEMO["rest"] / flops
    token = DEMO["layers"] * 2 * DEMO["heads"] * DEMO["size"] * 2
    attention = sequences * context * token / bandwidth + 0.03e-3 * sequences
    return weights + linear + attention + 2e-3


def demo_prefill(tokens):
    """A step without a graph, in which one prompt is read from its first token to its last: each looks at those before it, half of them on average."""
    bandwidth, flops = 0.75 * H200["bandwidth"], 0.5 * H200["flops"]
    weights = (2 * DEMO["rest"] + DEMO["embed"]) / bandwidth
    linear = tokens * 2 * DEMO["rest"] / flops
    pair = 2 * DEMO["layers"] * DEMO["heads"] * 2 * DEMO["size"] / (0.4 * H200["flops"])
    attention = pair * tokens**2 / 2 + 0.03e-3
    return math.sqrt((weights + linear + attention) ** 2 + 8e-3**2)


def touched(tokens):
    """The share of the experts that at least one of the tokens picks."""
    return 1 - (1 - GLM["top"] / GLM["experts"]) ** tokens


def glm_decode(sequences, context):
    """Eight attention ranks that meet in an all-to-all, 8-bit weights and cache, experts whole on each GPU (the busiest has 6 % more to do)."""
    ranks, bandwidth, flops = 8, 0.88 * H200["bandwidth"], 0.557 * 2 * H200["flops"]
    tokens = ranks * sequences
    weights = (GLM["expert"] / 8 * touched(tokens) + GLM["rest"] + GLM["embed"] / 8) / bandwidth
    linear = tokens * 1.06 * 2 * GLM["expert"] * GLM["top"] / GLM["experts"] / 8 / flops + sequences * 2 * GLM["rest"] / flops
    # To its eight experts a token's activations go in 8 bits, and come back in 16: three bytes a value and expert, over all GPUs' links at once.
    crossing = tokens * 3 * GLM["hidden"] * GLM["top"] * GLM["layers"] / 8 / (LINK * H200["link"])
    cache = GLM["layers"] * (sequences * min(context, GLM["window"]) * GLM["latent"] + sequences * context * GLM["index"]) / bandwidth
    return weights + linear + crossing + cache + 96.9e-6 * sequences + 6.34e-3


def looked(first, end, window):
    """How many tokens the prompt's tokens first to end - 1 look at, each at those before it and half of itself."""
    return sum(min(i + 0.5, window) for i in range(first, end))


print(json.dumps({
    "demoDecode": demo_decode(8, 1000),
    "demoPrefill": demo_prefill(2048),
    "glmDecode": glm_decode(32, 9000),
    # Two all-reduces a layer, in a ring 2 (n - 1) / n of the bytes each (Patarasuk and Yuan, Journal of Parallel and Distributed Computing 69, 2009).
    "ring": 2 * DEMO["layers"] * 2 * DEMO["hidden"] * 2 * (4 - 1) / 4 / (LINK * H200["link"]),
    # Drafted one after another, each accepted with 3/4 (Leviathan, Kalman and Matias, ICML 2023, equation 1).
    "speculated": (1 - 0.75**5) / (1 - 0.75),
    "demoWeights": 2 * (DEMO["rest"] + DEMO["embed"]) / GIB,
    "glmWeights": (GLM["expert"] / 8 + GLM["rest"] + 2 * GLM["embed"] / 8) / GIB,
    "demoToken": DEMO["layers"] * 2 * DEMO["heads"] * DEMO["size"] * 2,
    "glmToken": GLM["layers"] * (GLM["latent"] + GLM["index"]),
    "lookedWindow": looked(1500, 4000, 2048),
    "lookedAll": looked(1500, 4000, math.inf),
}, indent=1))
