"""What NumPy makes of the programs of boxes.ptl, loops that replace parts of what they carry."""

import numpy as np


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


CASES = {
    "recurring": (recurring, [(37, 300), (2, 1), (9, 65)]),
    "moved": (moved, [(300, 7), (1, 3), (33, 0)]),
    "kept": (kept, [(70, 9), (1, 3)]),
    "in_turns": (in_turns, [(5, 70, 8), (1, 1, 3), (3, 33, 1)]),
    "chosen": (chosen, [(70, 19), (1, 3), (33, 40)]),
    "until": (until, [(33,), (1,), (200,)]),
    "eliminated": (eliminated, [(19, 70), (1, 1), (33, 9)]),
    "nested": (nested, [(5, 9), (1, 2), (3, 33)]),
    "dropped": (dropped, [(19, 70, 3), (1, 1, 1), (301, 33, 4), (3, 1300, 7)]),
    "few": (few, [(37, 3, 3), (1, 1, 1), (5, 8, 65), (3, 17, 9), (2, 6, 1)]),
}  # fmt: skip
