"""What NumPy makes of the programs of short_axes.ptl, axes of a few elements."""

import numpy as np


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


def short_folds(draw, *shape):
    x, h, k = draw(*shape), draw(*shape).astype(np.float16), (draw(*shape) * 9).astype(np.int32)
    wanted = {"sums": x.sum(2), "means": x.mean(2, keepdims=True), "most": h.max(2), "least": k.min(2)}
    wanted |= {"squares": (x * x).sum(2), "bytes": k.astype(np.int8).max(2), "part": x[:, :, 1:].sum(2)}
    return {"x": x, "h": h, "k": k}, {**wanted, "centred": x - x.mean(2, keepdims=True)}


CASES = {
    "shuffled": (shuffled, [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 33, 70), (1, 1, 2, 600)]),
    "unshuffled": (unshuffled, [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 17, 70), (1, 1, 2, 600)]),
    "pools": (pools, [(2, 3, 5, 7), (1, 1, 1, 1), (1, 2, 17, 70), (3, 1, 2, 600)]),
    "pooled_twice": (pooled_twice, [(5, 7), (1, 1), (33, 70), (2, 600)]),
    "colours": (colours, [(2, 5, 7), (1, 1, 1), (3, 17, 70), (1, 2, 600)]),
    "permuted": (permuted, [(2, 3, 5, 7), (1, 1, 1, 1), (3, 17, 2, 70), (65, 2, 3, 33)]),
    "short_folds": (short_folds, [(1, 1, 2), (2, 50, 2), (1, 100, 3), (3, 33, 5), (2, 17, 8), (2, 40, 9), (5, 3, 4)]),
    "entropy": (entropy, [(5, 7), (1, 1), (33, 70), (3, 5000)]),
    "overwritten": (overwritten, [(5, 7), (1, 1), (33, 600)]),
    "read_once": (read_once, [(5, 7), (1, 1), (33, 70), (9, 600)]),
}  # fmt: skip
