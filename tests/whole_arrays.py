"""Programs on whole arrays beside NumPy, on every executor: `whole_arrays.py BUILD_FOLDER [TEXT ...]`, cases whose names have a TEXT.

The passes for chips give such programs other axes, other orders and other instructions than they are written in. Lengths are odd and
small, and 1, so that each of these has a last tile, and none.
"""

import pathlib
import sys
import tempfile

import numpy as np
from harness import ROOT, Case, Outcome, Tools, run_cases
from run_arrays import run_on_arrays

FOLDER = ROOT / "tests" / "whole_arrays"
TARGETS = ("cpu", "reference", "a2", "a3", "a5")


def normed(x, axes):
    away = x - x.mean(axes, keepdims=True)
    return away / np.sqrt((away * away).mean(axes, keepdims=True) + 0.001)


def group_norm(draw, n, c, h, w):
    x, weight, bias = draw(n, c, h, w), draw(c), draw(c)
    y = normed(x.reshape(n, 4, -1), 2).reshape(x.shape) * weight[:, None, None] + bias[:, None, None]
    return {"x": x, "w": weight, "b": bias}, {"y": y}


def batch_norm(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"y": normed(x, (0, 2, 3))}


def pooled(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"top": x.max((2, 3)), "sums": x.sum((2, 3)), "last": x.sum((1, 2))}


def to_one(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"all": x.sum(), "most": x.max().reshape(1), "y": x / (x * x).sum()}


def group_norm_last(draw, n, p, c):
    x, weight, bias = draw(n, p, c), draw(c), draw(c)
    return {"x": x, "w": weight, "b": bias}, {"y": normed(x.reshape(n, p, 4, c // 4), (1, 3)).reshape(x.shape) * weight + bias}


def folds_apart(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"sums": x.sum((0, 2)), "top": x.max((1, 3)), "least": x.min((0, 2, 3))}


def mixed(draw, a, b, c):
    x, row, plane, column = draw(a, b, c), draw(c), draw(b, c), draw(a, 1, 1)
    made = x * row + plane
    wanted = {"y": made + column, "z": (made * column).transpose(2, 1, 0), "s": made.sum((1, 2), keepdims=True) * column}
    return {"x": x, "row": row, "plane": plane, "column": column}, wanted


def of_bytes(draw, *shape):
    x, mask = (draw(*shape) * 20).astype(np.int8), draw(*shape) > 1
    return {"x": x, "mask": mask}, {"y": np.where(mask, x, 0).astype(np.int8), "any_of": mask.any((1, 2)), "many": np.sum(x, dtype=np.int32)}


def depthwise(draw, c, h, w):
    x, k = draw(c, h + 4, w + 4), draw(5, 5, c)
    parts = [x[:, i : i + h, j : j + w] * k[i, j][:, None, None] for i in range(5) for j in range(5)]
    return {"x": x, "k": k}, {"y": sum(parts)}


def in_place(draw, *shape):
    x = draw(*shape)
    return {"x": x}, {"x": x - x.mean((1, 2), keepdims=True)}


def scattered(draw, how, shape, count, axis, dtype):
    """Arguments and result of `scatter`; positions repeat."""
    shape, parts = list(shape), list(shape)
    parts[axis] = count
    number = lambda *of: (draw(*of) * 50).astype(dtype)  # noqa: E731
    x, v = number(*shape), number(*parts)
    idx = (np.abs(draw(*parts)) * shape[axis]).astype(np.int32) % shape[axis]
    y = np.moveaxis(x.copy(), axis, -1).reshape(-1, shape[axis])
    for row, places, values in zip(y, *(np.moveaxis(each, axis, -1).reshape(-1, count) for each in (idx, v)), strict=True):
        for at, value in zip(places, values, strict=True):
            row[at] = value if how is None else how(row[at], value)
    kept = [length for number, length in enumerate(shape) if number != axis]
    return {"x": x, "idx": idx, "v": v}, {"y": np.moveaxis(y.reshape(*kept, shape[axis]), -1, axis)}


def scatters(how, shape_of, axis, dtype, result="y", position=np.int32):
    def make(draw, *lengths):
        given, wanted = scattered(draw, how, *shape_of(*lengths), axis, dtype)
        return {**given, "idx": given["idx"].astype(position)}, {result: wanted["y"]}

    return make


def histogram(draw, n, k):
    idx = (np.abs(draw(k)) * n).astype(np.int32) % n
    return {"N": n, "idx": idx}, {"y": np.bincount(idx, minlength=n).astype(np.int32) + 1}


def product(draw, m, n, k):
    a, b = draw(m, k), draw(k, n)
    return {"a": a, "b": b}, {"c": a @ b}


def of_turned(draw, m, n, k):
    a, b = draw(k, m), draw(n, k)
    return {"a": a, "b": b}, {"c": (a.T @ b.T).T}


def named_alike(draw, m, n):
    x, s = draw(m, n), draw(m)
    return {"x": x, "s": s}, {"y": x * s[:, None] * 2}


def of_every_third(draw, m, n, k):
    a, b = draw(3 * m, k), draw(3 * k, n)
    return {"a": a, "b": b}, {"c": a[2::3] @ b[1::3]}


def of_every_second(draw, m, n, k):
    a, b = draw(2 * k, m).astype(np.float16), draw(2 * n, k).astype(np.float16)
    return {"a": a, "b": b}, {"c": a[1::2].T.astype(np.float32) @ b[0::2].T.astype(np.float32)}


def of_batches(draw, c, m, n, k):
    a, b, bias = draw(c, m, k), draw(c, k, n), draw(c, n)
    return {"a": a, "b": b, "bias": bias}, {"c": np.maximum(a @ b + bias[:, None], 0)}


def gated(draw, m, n, k):
    x, gate, up = draw(m, k), draw(k, n), draw(k, n)
    return {"x": x, "gate": gate, "up": up}, {"y": x @ gate / (1 + np.exp(-(x @ gate))) * (x @ up)}


def of_computed(draw, m, n, k):
    a, b, s = draw(m, k), draw(k, n), draw(m)
    return {"a": a, "b": b, "s": s}, {"c": (a * 2 + 1) @ b * s[:, None]}


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


def taken(draw, t, e, n):
    x, ids = draw(t, e).astype(np.float16), (np.abs(draw(n)) * t).astype(np.int32) % t
    return {"x": x, "ids": ids}, {"y": x[ids]}


def picked(draw, b, n, e, k):
    x, c, ids = draw(b, n, e), (draw(n, e) * 50).astype(np.int8).view(np.uint8), (np.abs(draw(k)) * e).astype(np.int32) % e
    return {"x": x, "b": c, "ids": ids}, {"y": x[:, :, ids] * 2, "c": c[:, ids]}


def backwards(draw, n):
    x = draw(n)
    return {"x": x}, {"y": x[::-1]}


def taken_twice(draw, t, e, q, k):
    x, ids = draw(t, e), ((np.abs(draw(q, k)) * t).astype(np.int32) % t).astype(np.uint16)
    return {"x": x, "ids": ids}, {"y": x[ids].sum(1)}


def framed(draw, r, c):
    x = draw(r, c)
    return {"x": x}, {"y": np.pad(x, (1, 2), constant_values=7)}


def beside(draw, r, c):
    x, b = draw(r, c), (draw(r, c) * 50).clip(-128, 127).astype(np.int8)
    wanted = {"y": np.concatenate([x, x * 2], 1), "rolled": np.roll(x, -1, 1), "twice": np.concatenate([b, b], 1)}
    return {"x": x, "b": b}, wanted


def differences(draw, r, c):
    x = draw(r, c)
    return {"x": x}, {"across": np.diff(x, axis=1), "down": np.diff(x, axis=0)}


def running(draw, r, c):
    x, h, k = draw(r, c), draw(r, c).astype(np.float16), (draw(r, c) * 1e7).astype(np.int32)
    wanted = {"sums": np.cumsum(x, 1), "most": np.maximum.accumulate(h, 1), "counts": np.cumsum(k, 1, dtype=np.int32)}
    return {"x": x, "h": h, "k": k}, wanted


def recurring(draw, t, c):
    x = draw(t, c)
    u = x.copy()
    for k in range(2, t):
        u[k] = 0.5 * u[k - 1] - 0.25 * u[k - 2] + x[k]
    return {"x": x}, {"y": u}


def moved(draw, n, times):
    x = draw(n)
    a = x.copy()
    for k in range(times):
        a[1:] = a[:-1].copy()
        a[0] = k
        a[:-1] = a[:-1] + 0.5 * a[1:]
    return {"x": x, "n": times}, {"y": a}


def kept(draw, n, times):
    x = draw(n)
    a, b = x.copy(), np.zeros_like(x)
    for k in range(times):
        before = a.copy()
        a[k % n] = k
        b += before - a
    return {"x": x, "n": times}, {"y": a, "z": b}


def in_turns(draw, m, n, times):
    x = draw(m, n)
    a, b = x.copy(), np.zeros_like(x)
    for k in range(times):
        a[k % m] = b[k % m] + 1
        a, b = b, a
    return {"x": x, "n": times}, {"y": a, "z": b}


def chosen(draw, n, times):
    x = (draw(n) * 4).astype(np.int32)
    a, b, c = x.copy(), x.copy(), x.copy()
    for k in range(times):
        i = k % n
        if a[i] > 0:
            a[i::2] = a[i] - 1
        if a[i] > 1:
            b[i] = b[n - 1 - i]
        else:
            b[: n - i] = b[i:].copy()
        if a[i] < 1:
            c[i] = 7
        else:
            c = a.copy()
    return {"x": x, "n": times}, {"y": a, "z": b, "w": c}


def until(draw, n):
    x = draw(n)
    chosen_ones = x[x > 0.5]
    a, b = x.copy(), x.copy()
    for k in range(1, n):
        if x[k] > 2:
            break
        a[k] = a[k - 1] * 0.5 + x[k]
        if x[k] >= 0:
            b[:k] = b[1 : k + 1] + a[k]
    y = np.zeros(n, np.float32)
    y[: len(chosen_ones)] = chosen_ones
    return {"x": x, "limit": 0.5}, {"y": y, "z": a + b, "n": np.array([len(chosen_ones)], np.int32)}


def eliminated(draw, n, m):
    a, b = draw(n, n) * 0.1 + 3 * np.eye(n, dtype=np.float32), draw(n, m)
    x, lower = b.copy(), a.copy()
    for k in range(n):
        x[k] /= lower[k, k]
        x[k + 1 :] -= lower[k + 1 :, k : k + 1] * x[k]
        lower[k] *= 0.5
    return {"a": a, "b": b}, {"y": x, "m": lower}


def nested(draw, m, n):
    x = draw(m, n)
    a, s = x.copy(), np.zeros(m, np.float32)
    a[0] *= 2
    for i in range(m):
        first = a[i, 0]
        for j in range(1, n):
            a[i, j] = 0.5 * a[i, j - 1] + a[i, j]
        s[i] = first + a[i].sum()
    old = a.copy()
    a[:, 0], a[:, 1] = s, old[:, 0]
    s[0] = old[0, 0]
    return {"x": x}, {"y": a, "s": s}


def dropped(draw, m, n, c):
    x, k = draw(m, n, c), (draw(m, n) * 50).clip(-128, 127).astype(np.int8)
    top, low = x.max(2), (x * 2).min(2)
    mean = top.mean(1)
    before = np.pad(low[:, :-1], ((0, 0), (1, 0)), constant_values=3)
    wanted = {"hi": top, "part": (top - low) / (abs(top) + 1), "near": top + before}
    wanted["rows"] = ((top - mean[:, None]) * low).sum(1) + mean.clip(0)
    wanted["counts"] = k.sum(1, dtype=np.int32) + (mean > 0)
    return {"x": x, "k": k}, wanted


def few(draw, b, n, k):
    a, bb, p, w = draw(b, n, k), draw(b, k, n), draw(n, k, 3), draw(3, 3)
    d, e = draw(n, 2), draw(2, 5)
    i, j = (draw(b, 4, k) * 9).astype(np.int32), (draw(b, k, 6) * 9).astype(np.int32)
    given = {"a": a, "b": bb, "p": p, "w": w, "d": d, "e": e, "i": i, "j": j}
    return given, {"c": a @ bb, "q": p @ w, "r": p @ w.T + 1, "f": d @ e, "k": i @ j}


def wide(draw, r, c):
    edges = np.array([0, 1, -1, 2**31, -(2**31), 2**32, 2**32 - 1, -(2**32), 2**62, 2**63 - 1, -(2**63), 0x80000000, 0x7FFFFFFF80000000], np.int64)
    x, y, k = (edges[(np.abs(draw(*shape)) * 1000).astype(int) % len(edges)] for shape in [(r, c), (r, c), (c,)])
    counts = x.view(np.uint64) + k.view(np.uint64)
    return {"x": x, "y": y, "k": k.view(np.uint64)}, {"sums": x + y, "differences": x - y, "counts": counts}


def beyond(x, outside, *places):
    """Elements of `x` at these positions along each axis; one value beyond the edges."""
    places = np.ix_(*places)
    inside = np.logical_and.reduce(np.broadcast_arrays(*[(at >= 0) & (at < n) for at, n in zip(places, x.shape, strict=True)]))
    return np.where(inside, x[tuple(at.clip(0, n - 1) for at, n in zip(places, x.shape, strict=True))], np.asarray(outside, x.dtype))


def blurred(draw, h, w):
    x, i, j = draw(h, w), np.arange(h), np.arange(w)
    return {"x": x}, {"y": sum(beyond(x, 0, i + dy - 1, j + dx - 1) for dy in range(3) for dx in range(3))}


def dilated(draw, h, w):
    x, i, j = draw(h, w).astype(np.float16), np.arange(h), np.arange(w)
    return {"x": x}, {"y": beyond(x, 1, i - 5, j - 20) + beyond(x, -1, i + 3, j + 35)}


def halved(draw, h, w):
    x, i, j = draw(2 * h, 2 * w), np.arange(h), np.arange(w)
    return {"x": x}, {"y": sum(beyond(x, 0.5, 2 * i - 1, 2 * j + dx - 1) for dx in range(3))}


def volume(draw, *shape):
    x = draw(*shape)
    d, i, j = map(np.arange, shape)
    return {"x": x}, {"y": sum(beyond(x, 2, d + k - 1, i + 1, j - k) for k in range(3))}


def sharpened(draw, h, w):
    x, b = draw(h, w), (draw(h, w) * 50).clip(-128, 127).astype(np.int8)
    y = 9 * x[1:-1, 1:-1] - sum(x[i : i + h - 2, j : j + w - 2] for i in range(3) for j in range(3))
    return {"x": x, "b": b}, {"y": y, "c": b[:-2] ^ b[1:-1] ^ b[2:]}


def convolved(draw, h, w):
    x, k, i, j = draw(h, w), draw(3, 3), np.arange(h), np.arange(w)
    return {"x": x, "w": k}, {"y": sum(beyond(x, 1, i + dy - 1, j + dx - 1) * k[dy, dx] for dy in range(3) for dx in range(3))}


def of_few_bits(draw, h, w):
    x, b, i, j = draw(h, w) > 0, (draw(h, w) * 50).clip(-128, 127).astype(np.int8), np.arange(h), np.arange(w)
    return {"x": x, "b": b}, {"y": beyond(x, True, i - 1, j - 3).astype(np.int32), "c": beyond(b, 7, i + 1, j - 2)}


def upwards(draw, h):
    x, k, i = draw(h, 8), (draw(h, 8) * 1e12).astype(np.int64), np.arange(h)
    return {"x": x, "k": k}, {"y": beyond(x, 3, i - 1, [2])[:, 0] + 1, "z": beyond(k, 9, i - 2, np.arange(8))}


# What makes arguments and results, the file, and for each case its lengths.
def rings(draw, h, w, s):
    x, rows, cols = draw(h, w), np.arange(h), np.arange(w)
    c = np.roll(x, 1, 0) + 2 * x + x[(rows + s) % h]
    return {"x": x, "s": s}, {"y": c * c[:, (cols + 3) % w] - c[:, (2 * w - 1 - cols) % w]}


def edges(draw, h, w):
    x, rows, cols = (100 * draw(h, w)).astype(np.int32), np.arange(h), np.arange(w)
    y = x[np.clip(rows - 2, 0, h - 1)] - x[np.minimum(rows + 3, h - 1)] + x[:, np.clip(w + 1 - cols, 0, w - 1)]
    return {"x": x}, {"y": y + x[:, np.maximum(cols - 1, 0)][np.clip(2 * rows - 1, 0, h - 1)]}


def joined(draw, rows, more, columns):
    a, b = draw(rows, columns), draw(more, columns)
    forth, back = np.concatenate([a, b]), np.concatenate([b, a])
    y = np.maximum(forth - np.roll(back, -1, 1), 0.5 * back)
    return {"a": a, "b": b}, {"y": y, "z": forth * forth + np.concatenate([a * a, np.exp(b)])}


def wide_turned(draw, a, b):
    x, y, z = ((draw(*shape) * 1e5).astype(np.int64) for shape in ((b, a), (b, a), (a, b)))
    return {"x": x, "y": y, "z": z}, {"m": x.T @ y, "n": x.T @ y @ z}


def rotated(draw, s, h, d):
    x, cosine, sine = draw(2 * s, h, 2 * d).astype(np.float16), draw(s, d), draw(s, d)
    a, b, later = x[:s, :, :d].astype("f4"), x[:s, :, d:].astype("f4"), x[s:].astype("f4")
    c, t = cosine[:, None], sine[:, None]
    y = np.concatenate([a * c - b * t, a * t + b * c], 2)
    return {"x": x, "c": cosine, "s": sine}, {"y": y, "z": later * y, "e": np.exp(later) - (later * y).sum(1, keepdims=True)}


def bordered(draw, h, w, n):
    x = np.round(4 * draw(h, w)).astype(np.float16)
    y = x
    for _ in range(n):
        p = np.pad(y, ((2, 1), (1, 3)), constant_values=1)
        y = np.float16(0.25) * (p[:h, :w] + p[3 : h + 3, 4 : w + 4] + p[2 : h + 2, 1 : w + 1] + p[1 : h + 1, 2 : w + 2])
    return {"x": x, "n": n}, {"y": y}


def notations(draw, b, i, j):
    a, w, c = draw(b, i), draw(i, j), draw(b, j)
    crossed = np.einsum("bi,ib->i", a, w @ c.T)
    wanted = {"bilinear": ((a @ w) * c).sum(1), "chain": (w @ c.T) * a.sum(1), "crossed": crossed, "columns": (a * a).sum(0)}
    return {"a": a, "w": w, "b": c}, wanted


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


def after(a, b, axis):
    a, b = np.moveaxis(a, axis, 0).astype("f8"), np.moveaxis(b, axis, 0).astype("f8")
    p, q = np.ones(a.shape), np.zeros(a.shape)
    for t in range(len(a)):
        p[t] = a[t] * (p[t - 1] if t else 1)
        q[t] = b[t] + a[t] * (q[t - 1] if t else 0)
    return np.moveaxis(p, 0, axis).astype("f4"), np.moveaxis(q, 0, axis).astype("f4")


def recurrences(draw, t, c):
    a, b = np.abs(draw(t, c)) / (1 + np.abs(draw(t, c))), draw(t, c)
    p, q = after(a, b, 0)
    h = b
    for _ in range(3):
        h = after(a, h, 0)[1] / 4
    return {"a": a, "b": b}, {"p": p, "q": q, "along": after(a, b, 1)[1], "twice": h}


def three_axes(draw, b, t, c):
    x, a, h, k = draw(b, t, c), draw(b, t, c) / 4, draw(b, t, c).astype(np.float16), (draw(b, t, c) * 9000).astype(np.int64)
    wanted = {"middle": after(a / 2, x, 1)[1], "front": np.maximum.accumulate(k, 0), "last": np.maximum.accumulate(h, 2)}
    return {"x": x, "a": a, "h": h, "k": k}, wanted


def best(draw, t, c):
    x = draw(t, c)
    v, i = np.maximum.accumulate(x, 0), np.zeros((t, c), np.int32)
    for n in range(1, t):
        i[n] = np.where(x[n] > v[n - 1], n, i[n - 1])
    return {"x": x}, {"v": v, "i": i}


def shuffled(draw, b, c, h, w):
    x = draw(b, 4 * c, h, w)
    return {"x": x}, {"y": x.reshape(b, c, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(b, c, 2 * h, 2 * w)}


def unshuffled(draw, b, c, h, w):
    x = draw(b, c, 3 * h, 2 * w).astype(np.float16)
    return {"x": x}, {"y": x.reshape(b, c, h, 3, w, 2).transpose(0, 1, 3, 5, 2, 4).reshape(b, 6 * c, h, w)}


def pools(draw, b, c, h, w):
    x, half, k = draw(b, c, 2 * h, 3 * w), draw(b, h, 4 * w).astype(np.float16), (draw(b, 2 * h, w) * 99).astype(np.int32)
    wanted = {
        "most": x.reshape(b, c, h, 2, w, 3).max((3, 5)),
        "least": x.reshape(b, c, 2 * h, w, 3).min(4, keepdims=True),
        "means": half.reshape(b, h, w, 4).astype("f4").mean(3).astype(np.float16),
        "sums": k.reshape(b, h, 2, w).sum(2, dtype=np.int32),
        "products": x.reshape(b, c, h, 2, 3 * w).prod(3),
    }
    return {"x": x, "h": half, "k": k}, wanted


def pooled_twice(draw, h, w):
    x = draw(2 * h, 2 * w)
    across = x.reshape(h, 2, w, 2).max(3)
    z = np.exp(x).reshape(h, 2, w, 2).max((1, 3)) - across[:, 1]
    return {"x": x}, {"rows": across.reshape(2 * h, w), "y": across.sum(1), "z": z}


def colours(draw, n, h, w):
    x, u, c = draw(n, h, w, 3), draw(n, 4, h, w).astype(np.float16), (draw(n, h, w, 2) * 20).astype(np.int8)
    planes = x.transpose(0, 3, 1, 2)
    wanted = {"planes": planes, "pixels": u.transpose(0, 2, 3, 1), "turned": 2 * x.transpose(3, 0, 1, 2)}
    return {"x": x, "u": u, "c": c}, {**wanted, "bytes": c.transpose(0, 3, 1, 2), "grey": x.mean(3) + planes[:, 1]}


def read_once(draw, r, c):
    a, b, k = draw(r, c), draw(r, c), (draw(r, c) * 1e12).astype(np.int64)
    return {"a": a, "b": b, "k": k}, {"re": a * a - b * b, "im": 2 * a * b, "e": np.exp(a), "wide": k * 3, "rest": k - 7}


def permuted(draw, *shape):
    x, h = draw(*shape), draw(*shape).astype(np.float16)
    turned = np.exp(x.transpose(2, 3, 1, 0)) + np.arange(shape[0], dtype=np.float32)
    both = (x + h.astype("f4")).transpose(3, 1, 2, 0)
    return {"x": x, "h": h}, {"first": x.transpose(3, 0, 2, 1), "middle": 2 * h.transpose(0, 3, 2, 1), "turned": turned, "both": both}


def entropy(draw, r, c):
    z, t = draw(r, c), (np.arange(r, dtype=np.int32) * 7) % c
    away = z - z.max(1, keepdims=True)
    s = np.exp(away).sum(1, keepdims=True)
    target = np.float32(0.9) * (t[:, None] == np.arange(c)) + np.float32(0.1 / c)
    return {"z": z, "t": t}, {"loss": -((away - np.log(s)) * target).sum(1), "grad": (np.exp(away) / s - target).astype("f4")}


def overwritten(draw, r, c):
    z, m = draw(r, c), draw(r, 1)
    return {"z": z, "m": m}, {"a": ((z - m) ** 2).sum(1, keepdims=True), "b": np.exp(z - m) + z + 1, "z": z + 1, "m": m * 2}


CASES = {
    "recurrences": (recurrences, "scans", [(7, 130), (1, 1), (33, 70), (600, 9), (40, 300)]),
    "three_axes": (three_axes, "scans", [(2, 7, 70), (1, 1, 1), (3, 33, 9), (2, 530, 3)]),
    "best": (best, "scans", [(7, 130), (1, 1), (60, 33), (600, 9)]),
    "shuffled": (shuffled, "short_axes", [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 33, 70), (1, 1, 2, 600)]),
    "unshuffled": (unshuffled, "short_axes", [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 17, 70), (1, 1, 2, 600)]),
    "pools": (pools, "short_axes", [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 17, 70), (3, 1, 2, 600)]),
    "pooled_twice": (pooled_twice, "short_axes", [(5, 7), (1, 1), (33, 70), (2, 600)]),
    "colours": (colours, "short_axes", [(2, 5, 7), (1, 1, 1), (3, 17, 70), (1, 2, 600)]),
    "permuted": (permuted, "short_axes", [(2, 3, 5, 7), (1, 1, 1, 1), (3, 17, 2, 70), (65, 2, 3, 33)]),
    "entropy": (entropy, "short_axes", [(5, 7), (1, 1), (33, 70), (3, 5000)]),
    "overwritten": (overwritten, "short_axes", [(5, 7), (1, 1), (33, 600)]),
    "read_once": (read_once, "short_axes", [(5, 7), (1, 1), (33, 70), (9, 600)]),
    "rings": (rings, "shifts", [(37, 70, 5), (1, 1, 0), (2, 3, 1), (9, 1, 9), (3, 130, 7)]),
    "edges": (edges, "shifts", [(37, 70), (1, 1), (2, 3), (9, 1), (70, 33)]),
    "joined": (joined, "shifts", [(17, 40, 70), (1, 1, 1), (40, 3, 33), (0, 5, 9), (7, 7, 1)]),
    "wide_turned": (wide_turned, "products", [(5, 37), (1, 1), (19, 3), (9, 70)]),
    "rotated": (rotated, "shifts", [(5, 3, 7), (1, 1, 1), (97, 9, 33), (103, 33, 16)]),
    "bordered": (bordered, "shifts", [(37, 70, 3), (1, 1, 2), (2, 5, 1), (65, 3, 2)]),
    "group_norm": (group_norm, "images", [(2, 8, 5, 7), (1, 4, 1, 1), (3, 12, 9, 33)]),
    "batch_norm": (batch_norm, "images", [(3, 5, 4, 7), (1, 1, 1, 1), (5, 3, 17, 31)]),
    "pooled": (pooled, "images", [(3, 5, 7, 7), (1, 1, 1, 1), (2, 9, 1, 129), (2, 3, 65, 1)]),
    "to_one": (to_one, "images", [(3, 5, 7, 7), (1, 1, 1, 1), (2, 9, 33, 65)]),
    "group_norm_last": (group_norm_last, "images", [(2, 35, 8), (1, 1, 4), (3, 301, 132)]),
    "folds_apart": (folds_apart, "images", [(3, 5, 7, 9), (1, 1, 1, 1), (17, 2, 65, 4), (2, 33, 3, 130)]),
    "mixed": (mixed, "images", [(3, 5, 7), (1, 1, 1), (2, 1, 130), (9, 33, 1)]),
    "of_bytes": (of_bytes, "images", [(3, 5, 7), (1, 1, 1), (4, 33, 66)]),
    "replaced": (scatters(None, lambda n, k: ((n,), k), 0, np.float32), "positions", [(5000, 301), (1, 3), (7, 1), (33, 1500)]),
    "added": (scatters(np.add, lambda n, k: ((n,), k), 0, np.float32), "positions", [(9001, 301), (1, 3), (7, 1), (33, 1500), (70, 5000)]),
    "largest_in_rows": (scatters(max, lambda b, n, k: ((b, n), k), 1, np.int16), "positions", [(3, 301, 65), (1, 1, 1), (2, 5000, 9)]),
    "least_in_columns": (scatters(min, lambda n, b, k: ((n, b), k), 0, np.float32), "positions", [(35, 3, 17), (1, 1, 1), (130, 9, 33)]),
    "bytes_replaced": (scatters(None, lambda a, n, b, k: ((a, n, b), k), 1, np.uint8), "positions", [(2, 35, 3, 17), (1, 1, 1, 1)]),
    "histogram": (histogram, "positions", [(35, 301), (1, 1), (5000, 2100)]),
    "changed_in_place": (scatters(np.add, lambda n, k: ((n,), k), 0, np.float32, "x"), "positions", [(3501, 301), (1, 1)]),
    "depthwise": (depthwise, "images", [(3, 7, 9), (1, 1, 1), (2, 33, 65)]),
    "product": (product, "products", [(1000, 530, 20), (1, 1, 1), (833, 1, 7), (70, 1100, 33)]),
    "of_turned": (of_turned, "products", [(1000, 300, 20), (1, 1, 1), (70, 530, 7)]),
    "notations": (notations, "products", [(70, 33, 20), (1, 1, 1), (17, 130, 5)]),
    "of_batches": (of_batches, "products", [(2, 900, 300, 9), (1, 1, 1, 1), (3, 65, 33, 70)]),
    "gated": (gated, "products", [(1000, 300, 20), (1, 1, 1), (65, 530, 33)]),
    "of_computed": (of_computed, "products", [(1000, 300, 20), (1, 1, 1), (65, 530, 33)]),
    "of_every_third": (of_every_third, "products", [(70, 33, 300), (1, 1, 1), (130, 140, 7)]),
    "of_every_second": (of_every_second, "products", [(70, 33, 300), (1, 1, 1), (130, 140, 7)]),
    "folded": (folded, "rows", [(3, 5, 7), (1, 1, 1), (2, 33, 66), (7, 16, 16), (1, 70, 3), (2, 3, 1)]),
    "folded_row": (folded_row, "rows", [(1,), (7,), (16,), (35,), (130,)]),
    "mean": (mean, "rounds", [(37, 300), (1, 1), (16, 5000), (9, 60000)]),
    "discounted": (discounted, "rounds", [(37, 300), (1, 1), (16, 65)]),
    "ahead": (ahead, "rounds", [(37, 300), (1, 1), (8, 129)]),
    "in_turn": (in_turn, "rounds", [(3, 19, 70), (1, 1, 1), (2, 8, 600)]),
    "known": (known, "rounds", [(300,), (1,), (6000,)]),
    "apart": (apart, "rounds", [(37, 300), (1, 1), (300, 9)]),
    "ordered": (ordered, "rounds", [(37, 70), (1, 1)]),
    "late": (late, "rounds", [(37, 70), (1, 5), (3, 600)]),
    "around": (around, "rounds", [(3, 19, 70), (1, 1, 1), (50, 3, 33)]),
    "taken": (taken, "positions", [(70, 300, 1500), (1, 1, 1), (9, 2100, 3), (300, 40, 801)]),
    "replaced_far": (scatters(None, lambda n, k: ((n,), k), 0, np.float32, position=np.int64), "positions", [(5000, 301), (1, 3), (33, 1500)]),
    "picked": (picked, "positions", [(2, 300, 5, 7), (1, 1, 1, 1), (1, 40, 511, 511), (2, 3, 9, 5000), (1, 2, 5000, 3)]),
    "backwards": (backwards, "positions", [(1,), (301,), (20001,)]),
    "taken_twice": (taken_twice, "positions", [(70, 65, 9, 33), (1, 1, 1, 1)]),
    "named_alike": (named_alike, "rows", [(13, 150), (1, 1), (65, 64)]),
    "framed": (framed, "rows", [(3101, 5), (3100, 33), (801, 126), (2, 1), (800, 300)]),
    "beside": (beside, "rows", [(3101, 32), (3201, 5), (771, 128), (800, 129), (1, 1)]),
    "differences": (differences, "rows", [(3101, 5), (3073, 34), (770, 129), (2, 2)]),
    "running": (running, "rows", [(1, 700), (9, 513), (3, 130), (17, 1300), (1, 1), (3101, 33)]),
    "recurring": (recurring, "boxes", [(37, 300), (2, 1), (9, 65)]),
    "moved": (moved, "boxes", [(300, 7), (1, 3), (33, 0)]),
    "kept": (kept, "boxes", [(70, 9), (1, 3)]),
    "in_turns": (in_turns, "boxes", [(5, 70, 8), (1, 1, 3), (3, 33, 1)]),
    "chosen": (chosen, "boxes", [(70, 19), (1, 3), (33, 40)]),
    "until": (until, "boxes", [(33,), (1,), (200,)]),
    "eliminated": (eliminated, "boxes", [(19, 70), (1, 1), (33, 9)]),
    "nested": (nested, "boxes", [(5, 9), (1, 2), (3, 33)]),
    "dropped": (dropped, "boxes", [(19, 70, 3), (1, 1, 1), (301, 33, 4), (3, 1300, 7)]),
    "few": (few, "boxes", [(37, 3, 3), (1, 1, 1), (5, 8, 65), (3, 17, 9), (2, 6, 1)]),
    "wide": (wide, "rows", [(37, 130), (1, 1), (3, 1), (300, 9)]),
    "blurred": (blurred, "edges", [(37, 130), (16, 64), (5, 3), (1, 1), (70, 65)]),
    "dilated": (dilated, "edges", [(19, 150), (3, 30), (1, 1), (9, 64)]),
    "halved": (halved, "edges", [(19, 70), (2, 3), (1, 1), (16, 64)]),
    "volume": (volume, "edges", [(3, 9, 70), (2, 17, 5), (1, 1, 1)]),
    "sharpened": (sharpened, "edges", [(37, 130), (3, 3), (200, 33), (9, 700), (1000, 20)]),
    "convolved": (convolved, "edges", [(37, 130), (1, 1), (16, 64), (70, 65)]),
    "of_few_bits": (of_few_bits, "edges", [(19, 70), (3, 200), (1, 1)]),
    "upwards": (upwards, "edges", [(150,), (1,), (64,)]),
    "in_place": (in_place, "images", [(3, 5, 7), (1, 1, 1), (2, 33, 130)]),
}  # fmt: skip


def far(name, got, wanted):
    """Says how a result differs, or nothing; sums of reals may be of another order."""
    if got.shape != wanted.shape:
        return f"{name}: the shape is {got.shape}, not {wanted.shape}"
    exact = not np.issubdtype(wanted.dtype, np.floating)
    near = np.array_equal(got, wanted) if exact else np.allclose(got, wanted, rtol=2e-3, atol=2e-3 * max(1, np.abs(wanted).max()))
    return None if near else f"{name}: differs by up to {np.abs(got.astype(np.float64) - wanted).max():.3g}"


def compare(tools, name, lengths, target):
    make, file, _ = CASES[name]
    rng = np.random.default_rng(1)
    given, wanted = make(lambda *shape: rng.standard_normal(shape).astype(np.float32), *lengths)
    how = ["--target", target, *(["--sim"] if target[0] == "a" else [])]
    results = run_on_arrays(tools, FOLDER / f"{file}.ptl", name, given, wanted, how)
    if isinstance(results, Outcome):
        return results.stdout + results.stderr
    return "\n".join(filter(None, (far(key, results[key], np.asarray(value)) for key, value in wanted.items()))) or None


def main():
    build, texts = pathlib.Path(sys.argv[1]), sys.argv[2:]
    cases = [
        Case(f"whole_arrays/{name}/{'x'.join(map(str, lengths))}/{target}", lambda n=name, s=lengths, t=target: compare(tools, n, s, t))
        for name, (_, _, all_lengths) in CASES.items()
        for lengths in all_lengths
        for target in TARGETS
    ]
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(build).keeping(folder)  # a program is run with arrays of several shapes
        return run_cases("whole_arrays", [case for case in cases if not texts or any(text in case.name for text in texts)])


if __name__ == "__main__":
    sys.exit(main())
