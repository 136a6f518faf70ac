"""What NumPy makes of the programs of shifts.ptl, elements from beside."""

import numpy as np


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


CASES = {
    "rings": (rings, [(37, 70, 5), (1, 1, 0), (2, 3, 1), (9, 1, 9), (3, 130, 7)]),
    "edges": (edges, [(37, 70), (1, 1), (2, 3), (9, 1), (70, 33)]),
    "joined": (joined, [(17, 40, 70), (1, 1, 1), (40, 3, 33), (0, 5, 9), (7, 7, 1)]),
    "rotated": (rotated, [(5, 3, 7), (1, 1, 1), (97, 9, 33), (103, 33, 16)]),
    "bordered": (bordered, [(37, 70, 3), (1, 1, 2), (2, 5, 1), (65, 3, 2)]),
}  # fmt: skip
