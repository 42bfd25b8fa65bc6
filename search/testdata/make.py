"""Works out by numpy and scipy what formula_test.go compares with: python3 make.py > reference.json"""

import json
import math

import numpy as np
from scipy import special, stats


def log_ei(z):
    """log E max(0, x) of a normal variable with mean z and standard deviation 1: log(phi(z) + z Phi(z)), by erfcx without underflow."""
    tail = 1 + z * math.sqrt(math.pi / 2) * special.erfcx(-z / math.sqrt(2))
    return -z * z / 2 - math.log(2 * math.pi) / 2 + math.log(tail)


def kernel(places, cells, at, width):
    """The mass of a normal distribution in each cell, cut off at the ends of the range."""
    mass = np.array([stats.norm.cdf(hi, places[at], width) - stats.norm.cdf(lo, places[at], width) for lo, hi in cells])
    return mass / mass.sum()


def parzen_numbers():
    """Five numbers evenly spread, three observations, the second number twice. A kernel is as wide as the larger gap to a neighbour, the middle of the
    range being one, but no narrower than 1 / min(100, n + 2); the uniform component counts as one observation."""
    places, observed = np.linspace(0, 1, 5), [1, 1, 4]
    cells = [(u - 1 / 8, u + 1 / 8) for u in places]
    known = sorted([0.5] + [places[i] for i in observed])
    total = np.full(5, 1 / 5)
    for i in observed:
        below, above = [u for u in known if u < places[i]], [u for u in known if u > places[i]]
        gaps = ([places[i] - below[-1]] if below else []) + ([above[0] - places[i]] if above else [])
        total += kernel(places, cells, i, max(gaps + [1 / min(100, len(observed) + 2)]))
    return np.log(total / 4).tolist()


Z = [-1000.0, -40.0, -10.0, -6.5, -6.01, -5.99, -3.0, -1.0, 0.0, 0.5, 4.0]
print(json.dumps({
    "z": Z,
    "logEI": [log_ei(z) for z in Z],
    "logCDF": special.log_ndtr(Z).tolist(),
    "parzenNumbers": parzen_numbers(),
}, indent=1))
