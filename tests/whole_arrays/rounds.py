"""What NumPy makes of the programs of rounds.ptl, loops whose rounds have a row each."""

import numpy as np


def rounds(x, factors, start=0.0):
    """The states of `s = s * factor + row`."""
    state, states = np.full(x.shape[1:], start, np.float32), []
    for row, factor in zip(x, factors, strict=True):
        state = state * factor + row
        states.append(state)
    return np.stack(states)


def mean(draw, t, c):
    x = draw(t, c)
    y = rounds(x, np.full(t, 0.5))
    return {"x": x}, {"y": y, "last": y[-1]}


def discounted(draw, t, c):
    x, keep = draw(t, c), draw(t) * 0.5
    return {"x": x, "keep": keep}, {"y": rounds(x[::-1], keep[::-1])[::-1]}


def largest(x):
    state, states = np.zeros(x.shape[1:], np.float32), []
    for row in x:
        state = np.maximum(state * 0.5, row)
        states.append(state)
    return np.stack(states)


def ahead(draw, t, c):
    x, k = draw(t + 1, c).astype(np.float16), (draw(t, c) * 50).astype(np.int32)
    sums = np.concatenate([np.zeros((1, c)), np.cumsum(k, 0)]).astype(np.int32)
    return {"x": x, "k": k}, {"y": largest(x[1:].astype(np.float32)).astype(np.float16), "z": sums}


def in_turn(draw, b, t, c):
    x = draw(b, t, c)
    return {"x": x}, {"y": np.stack([rounds(each, np.full(t, 0.25), 1.0) for each in x])}


def known(draw, c):
    x = draw(24, c)
    return {"x": x}, {"y": largest(x)}


def apart(draw, t, c):
    x, w = draw(t, c), draw(c)
    return {"x": x, "w": w}, {"y": x * w + 1}


def ordered(draw, t, c):
    x = draw(t, c)
    return {"x": x}, {"y": x[::-1] + 1, "last": x[-1] * 2}


def late(draw, t, c):
    x = draw(t, c)
    y = np.zeros_like(x)
    y[2:] = x[: max(t - 2, 0)] - x[2:]
    return {"x": x}, {"y": y}


def around(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"y": x[:, ::-1] * 3}


CASES = {
    "mean": (mean, [(37, 300), (1, 1), (16, 5000), (9, 60000)]),
    "discounted": (discounted, [(37, 300), (1, 1), (16, 65)]),
    "ahead": (ahead, [(37, 300), (1, 1), (8, 129)]),
    "in_turn": (in_turn, [(3, 19, 70), (1, 1, 1), (2, 8, 600)]),
    "known": (known, [(300,), (1,), (6000,)]),
    "apart": (apart, [(37, 300), (1, 1), (300, 9)]),
    "ordered": (ordered, [(37, 70), (1, 1)]),
    "late": (late, [(37, 70), (1, 5), (3, 600)]),
    "around": (around, [(3, 19, 70), (1, 1, 1), (50, 3, 33)]),
}  # fmt: skip
