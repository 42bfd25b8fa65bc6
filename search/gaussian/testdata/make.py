"""Works out by numpy and scipy what the tests of this package compare with: python3 make.py > reference.json"""

import json

import numpy as np
from scipy.optimize import minimize

PLACES = [None, [0.0, 0.25, 0.5, 1.0], [0.0, 1.0]]  # a choice of three, four positions, a switch with positions
LEVELS = [3, 4, 2]
X = np.array([[0, 0, 0], [1, 1, 0], [2, 2, 1], [0, 3, 1], [1, 0, 1], [2, 3, 0]])
Y = np.array([1.0, 1.4, 0.7, 2.1, 1.2, 0.4])
NOISE = np.array([1, 1, 4, 1, 1, 1.0])
RAN = np.array([1, 1, 0, 1, 1, 0.0])
PRIOR = np.array([2.2, 2.2, 1.0, 0.5, 2.2, 0.5])
SCALE, ADDITIVE, WEIGHT, LENGTH, VAR = 0.8, 0.35, [0.3, 0.6, 0.2], [1, 0.5, 0.7], 0.01
TREND = [0, 3.0, 1.5]  # standard deviation of a linear effect over the whole range, in another classification
ASK = np.array([[0, 1, 1], [2, 0, 0], [1, 3, 0], [0, 0, 0]])


def kappa(d, i, j, length):
    if i == j:
        return 1.0
    if PLACES[d] is None:
        return 0.0
    r = np.sqrt(5) * abs(PLACES[d][i] - PLACES[d][j]) / length
    return (1 + r + r * r / 3) * np.exp(-r)


def kernel(a, b, scale, weight, length, additive=0.0):
    out = np.full((len(a), len(b)), float(scale))
    for d in range(len(LEVELS)):
        for i, p in enumerate(a):
            for j, q in enumerate(b):
                out[i, j] *= (1 + weight[d] * kappa(d, p[d], q[d], length[d])) / (1 + weight[d])
    for d in range(len(LEVELS)):
        for i, p in enumerate(a):
            for j, q in enumerate(b):
                out[i, j] += additive * weight[d] / (1 + weight[d]) * kappa(d, p[d], q[d], length[d])
    return out


def regression():
    k = kernel(X, X, SCALE, WEIGHT, LENGTH, ADDITIVE) + np.diag(VAR * NOISE + 1e-6)
    ks = kernel(ASK, X, SCALE, WEIGHT, LENGTH, ADDITIVE)
    inverse = np.linalg.inv(k)
    y = Y - Y.mean()
    mean = Y.mean() + ks @ inverse @ y
    variance = np.diag(kernel(ASK, ASK, SCALE, WEIGHT, LENGTH, ADDITIVE)) - np.einsum("ij,jk,ik->i", ks, inverse, ks)
    likelihood = -y @ inverse @ y / 2 - np.linalg.slogdet(k)[1] / 2
    return {"mean": mean.tolist(), "variance": variance.tolist(), "likelihood": likelihood}


def linear(a, b, trend):
    """The sum over dimensions of b² (u - 1/2) (u' - 1/2)."""
    out = np.zeros((len(a), len(b)))
    for d, size in enumerate(trend):
        if size > 0:
            u, v = (size * (np.array(PLACES[d])[points[:, d]] - 0.5) for points in (a, b))
            out += np.outer(u, v)
    return out


def classification(weight, scale, trend):
    """The mode by a general optimiser, and what follows from it by the textbook's formulas."""
    k = kernel(X, X, scale, [weight] * 3, [0.4] * 3) + linear(X, X, trend)
    inverse = np.linalg.inv(k)
    sign = 2 * RAN - 1

    def cost(f):
        return np.log1p(np.exp(-sign * (f + PRIOR))).sum() + f @ inverse @ f / 2

    f = minimize(cost, np.zeros(len(X)), method="BFGS", options={"gtol": 1e-10}).x
    f = minimize(cost, f, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 100000, "maxfev": 100000}).x
    p = 1 / (1 + np.exp(-(f + PRIOR)))
    w = p * (1 - p)
    b = np.eye(len(X)) + np.sqrt(w)[:, None] * k * np.sqrt(w)[None, :]
    evidence = -cost(f) - np.linalg.slogdet(b)[1] / 2
    ks = kernel(ASK, X, scale, [weight] * 3, [0.4] * 3) + linear(ASK, X, trend)
    mean = 1.0 + ks @ (RAN - p)
    variance = scale + np.diag(linear(ASK, ASK, trend)) - np.einsum("ij,jk,ik->i", ks, np.linalg.inv(k + np.diag(1 / w)), ks)
    return evidence, (1 / (1 + np.exp(-mean / np.sqrt(1 + np.pi * variance / 8)))).tolist()


def chosen(trend):
    """The classification with the highest evidence."""
    (evidence, probability), weight, scale = max(((classification(w, s, trend), w, s) for w in (0.3, 1, 3) for s in (4, 16)), key=lambda t: t[0][0])
    return {"weight": weight, "scale": scale, "evidence": evidence, "probability": probability}


print(json.dumps({
    "places": PLACES, "levels": LEVELS, "x": X.tolist(), "y": Y.tolist(), "noise": NOISE.tolist(), "ran": RAN.tolist(), "prior": PRIOR.tolist(),
    "scale": SCALE, "additive": ADDITIVE, "weight": WEIGHT, "length": LENGTH, "variance": VAR, "ask": ASK.tolist(),
    "regression": regression(),
    "classification": chosen([0, 0, 0]), "trend": TREND, "withTrend": chosen(TREND),
}, indent=1))
