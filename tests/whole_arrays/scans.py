"""What NumPy makes of the programs of scans.ptl, scans with functions."""

import numpy as np


def recurred(a, b, axis):
    """`h = a * h + b` along an axis, and the products of `a`."""
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    y, p = np.empty_like(b), np.empty_like(a)
    state, factor = np.zeros(b.shape[1:], np.float32), np.ones(a.shape[1:], np.float32)
    for n in range(len(a)):
        state, factor = a[n] * state + b[n], factor * a[n]
        y[n], p[n] = state, factor
    return np.moveaxis(y, 0, axis), np.moveaxis(p, 0, axis)


def latest(k, axis):
    k = np.moveaxis(k, axis, 0)
    y, state = np.empty_like(k), np.zeros_like(k[:1])
    for n in range(len(k)):
        state = np.where(k[n : n + 1] == 0, state, k[n : n + 1])
        y[n] = state[0]
    return np.moveaxis(y, 0, axis)


def folded(draw, *shape):
    a, b = np.tanh(draw(*shape)), draw(*shape)
    k = (draw(*shape) * 2).astype(np.int32)
    rows, factors = recurred(a, b, 2)
    half = a * np.float32(0.5)
    wanted = {"rows": rows + 1, "factors": factors, "columns": recurred(half, b, 1)[0], "planes": recurred(a, b - 1, 0)[0]}
    return {"a": a, "b": b, "k": k}, {**wanted, "last": latest(k, 1)}


def folded_row(draw, n):
    a, b, h = np.tanh(draw(n)), draw(n), (draw(n) * 2).astype(np.int8)
    y, p = recurred(a, b, 0)
    return {"a": a, "b": b, "h": h}, {"y": y, "p": p, "last": latest(h, 0)}


def recurrences(draw, t, c):
    a, b = np.abs(draw(t, c)) / (1 + np.abs(draw(t, c))), draw(t, c)
    q, p = recurred(a, b, 0)
    h = b
    for _ in range(3):
        h = recurred(a, h, 0)[0] / 4
    return {"a": a, "b": b}, {"p": p, "q": q, "along": recurred(a, b, 1)[0], "twice": h}


def three_axes(draw, b, t, c):
    x, a, h, k = draw(b, t, c), draw(b, t, c) / 4, draw(b, t, c).astype(np.float16), (draw(b, t, c) * 9000).astype(np.int64)
    wanted = {"middle": recurred(a / 2, x, 1)[0], "front": np.maximum.accumulate(k, 0), "last": np.maximum.accumulate(h, 2)}
    return {"x": x, "a": a, "h": h, "k": k}, wanted


def best(draw, t, c):
    x = draw(t, c)
    v, i = np.maximum.accumulate(x, 0), np.zeros((t, c), np.int32)
    for n in range(1, t):
        i[n] = np.where(x[n] > v[n - 1], n, i[n - 1])
    return {"x": x}, {"v": v, "i": i}


def short_rows(draw, *shape):
    a, b = np.tanh(draw(*shape)), draw(*shape)
    k = (draw(*shape) * 2).astype(np.int32)
    rows, factors = recurred(a, b, 2)
    wanted = {"y": rows, "p": factors, "last": latest(k, 2), "sums": np.cumsum(2 * a - b, 2)}
    small = np.cumsum(k.astype(np.int8), 2, dtype=np.int8)
    return {"a": a, "b": b, "k": k}, {**wanted, "small": small, "part": np.maximum.accumulate(b[:, :, 1:], 2)}


def known_short_rows(draw, r):
    x, z, k = draw(r, 3), (draw(r, 7) * 9000).astype(np.int16), (draw(r, 5) * 2).astype(np.int32)
    return {"x": x, "z": z, "k": k}, {"of_three": np.cumsum(x, 1), "of_seven": np.cumsum(z, 1, dtype=np.int16), "last": latest(k, 1)}


CASES = {
    "recurrences": (recurrences, [(7, 130), (1, 1), (33, 70), (600, 9), (40, 300)]),
    "three_axes": (three_axes, [(2, 7, 70), (1, 1, 1), (3, 33, 9), (2, 530, 3)]),
    "best": (best, [(7, 130), (1, 1), (60, 33), (600, 9)]),
    "folded": (folded, [(3, 5, 7), (1, 1, 1), (2, 33, 66), (7, 16, 16), (1, 70, 3), (2, 3, 1)]),
    "short_rows": (short_rows, [(1, 1, 2), (3, 50, 3), (1, 333, 5), (2, 41, 7), (3, 17, 15), (2, 9, 16), (1, 40, 17)]),
    "known_short_rows": (known_short_rows, [(1,), (13,), (50,)]),
    "folded_row": (folded_row, [(1,), (7,), (16,), (35,), (130,)]),
}  # fmt: skip
