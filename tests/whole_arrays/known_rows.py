"""What NumPy makes of the programs of known_rows.ptl, what is known of each row beside what is made of its elements."""

import numpy as np


def centred(x, axes, margin):
    d = x - x.mean(axes, keepdims=True)
    return d, 1 / np.sqrt((d * d).mean(axes, keepdims=True) + margin)


def normalised(draw, b, c):
    x, g, shift = draw(b, c), draw(c), draw(c)
    d, s = centred(x, 1, 1e-5)
    return {"x": x, "g": g, "b": shift}, {"y": d * s * g + shift, "mean": x.mean(1), "scale": s[:, 0]}


def known_first(draw, b, c):
    x = draw(b, c)
    d, s = centred(x, 1, 1e-5)
    return {"x": x}, {"m": x.mean(1, keepdims=True), "v": np.sqrt((d * d).mean(1)), "y": d * s}


def softmax(draw, b, c):
    x = draw(b, c)
    e = np.exp(x - x.max(1, keepdims=True))
    t = e.sum(1, keepdims=True)
    return {"x": x}, {"y": e / t, "l": x.max(1) + np.log(t[:, 0])}


def softmax_gradient(draw, b, c):
    y, dy = np.abs(draw(b, c)), draw(b, c)
    s = (y * dy).sum(1, keepdims=True)
    d = y * (dy - s)
    return {"y": y, "dy": dy}, {"dx": d, "db": d.sum(0), "t": s[:, 0]}


def norm_gradient(draw, b, c):
    x, g, dy = draw(b, c), draw(c), draw(b, c)
    d, s = centred(x, 1, 1e-2)
    h, dh = d * s, dy * g
    dx = s * (dh - dh.mean(1, keepdims=True) - h * (dh * h).mean(1, keepdims=True))
    return {"x": x, "g": g, "dy": dy}, {"dx": dx, "dg": (dy * h).sum(0)}


def norm_gradient_kept(draw, b, c):
    x, g, dy, m, s = draw(b, c), draw(c), draw(b, c), draw(b), np.abs(draw(b))
    h, dh = (x - m[:, None]) * s[:, None], dy * g
    dx = s[:, None] * (dh - dh.mean(1, keepdims=True) - h * (dh * h).mean(1, keepdims=True))
    return {"x": x, "g": g, "dy": dy, "m": m, "s": s}, {"dg": (dy * h).sum(0), "db": dy.sum(0), "dx": dx, "t": h.sum()}


def products(draw, b, c):
    x, y, z = draw(b, c), draw(b, c), draw(b, c)
    p, q = x * y, x * y + z
    r = q / (1 + np.abs(q).sum(1, keepdims=True))
    return {"x": x, "y": y, "z": z}, {"r": r, "c": p.sum(0), "most": q.max(), "w": p - p.max(0)}


def of_planes(draw, n, h, c):
    x, g = draw(n, h, c), draw(c)
    d, s = centred(x, (1, 2), 1e-2)
    return {"x": x, "g": g}, {"y": d * s * g, "m": x.mean((1, 2)), "s": s}


def of_others(draw, b, c, d):
    x, z = draw(b, c), draw(b, d)
    s = (x * x).sum(1, keepdims=True)
    return {"x": x, "z": z}, {"a": z / (s + 1), "n": np.sqrt(s)[:, 0], "b": x * s}


def searched(draw, b, c):
    # Few different values, so that some are equal.
    x, k, h = np.round(draw(b, c) * 2), (draw(b, c) * 3).astype(np.int32), np.round(draw(b, c)).astype(np.float16)
    x[::3, c // 2], x[::5, 0], h[::2, -1], h[1::4, 0] = np.nan, -np.inf, np.nan, np.inf
    k[::4] = -(2**31)
    wanted = {"most": x.argmax(1), "least": x.argmin(1)[:, None], "of_numbers": k.argmax(1), "of_halves": h.argmin(1)}
    return {"x": x, "k": k, "h": h}, {name: value.astype(np.int32) for name, value in wanted.items()}


def nearest(draw, a, b):
    x = draw(a, b, 3)
    return {"x": x}, {"y": np.abs(x).argmin(2).astype(np.int32)}


def folded_together(draw, b, c):
    x, y, k = draw(b, c), draw(b, c), (draw(b, c) * 100).astype(np.int32)
    wanted = {"s": x.sum(1), "m": x.max(1), "d": (x * y).mean(1), "p": (y - x).min(1, keepdims=True)}
    wanted |= {"cs": (x + y).sum(0), "cm": x.min(0), "cd": (x * y * y).sum(0)}
    t = x - x.mean(1, keepdims=True) - y * np.abs(x).mean(1, keepdims=True)
    of_numbers = {"ks": k.sum(1).astype(np.int32), "kl": k.min(0), "km": k.max(0)}
    return {"x": x, "y": y, "k": k}, wanted | {"t": t} | of_numbers


def planes_together(draw, n, h, c):
    x, y = draw(n, h, c), draw(n, h, c)
    wanted = {"a": (x * y).sum(1), "b": x.max(1), "c": x.sum((1, 2)), "d": (x + y).max((1, 2))}
    return {"x": x, "y": y}, wanted | {"e": x.sum(0), "f": (x * y).min(0)}


def quantised(draw, b, c):
    # Halves of the scale are no ties: the quotients of others differ by less than what rounding sees.
    x = np.round(draw(b, c) * 8)
    s = (np.abs(x).max(1, keepdims=True) / np.float32(127) + np.float32(0.01)).astype(np.float32)
    return {"x": x}, {"q": np.rint(np.clip(x / s, -100, 100)).astype(np.int8), "s": s}


def kept(draw, b, c):
    x, g = draw(b, c), draw(c)
    d, s = centred(x, 1, 1e-2)
    return {"x": x, "g": g}, {"m": x.mean(1, keepdims=True), "h": d, "y": d * s * g}


def of_columns(draw, b, c):
    x = draw(b, c)
    return {"x": x}, {"c": x.mean(0, keepdims=True), "y": x - x.mean(0), "t": x.max(keepdims=True), "z": x - x.max()}


def in_place(draw, b, c):
    x = draw(b, c)
    s = np.abs(x).max(1, keepdims=True)
    return {"x": x}, {"s": s, "z": 2 * s, "x": x / (s + 1)}


def overwritten(draw, b, c):
    x, s = draw(b, c), draw(b, 1)
    t = x.sum(1, keepdims=True)
    return {"x": x, "s": s}, {"y": x * s + x / (np.abs(t) + 1), "s": t}


def many_rows(draw):
    x, g = np.round(draw(520, 33) * 8), draw(33)
    s = (np.abs(x).max(1, keepdims=True) / np.float32(127) + np.float32(0.01)).astype(np.float32)
    d, scale = centred(x, 1, 1e-2)
    wanted = {"q": np.rint(np.clip(x / s, -100, 100)).astype(np.int8), "s": s, "m": x.mean(1), "r": scale[:, 0]}
    return {"x": x, "g": g}, wanted | {"h": d * scale, "y": d * scale * g}


def many_others(draw):
    x, p, c = draw(640, 50), draw(20, 30, 40), draw(9, 600)
    s, b, k = np.abs(x).max(1, keepdims=True), p.mean(2, keepdims=True), c.max(0, keepdims=True)
    return {"x": x, "p": p, "c": c}, {"s": s, "x": x / (s + 1), "b": b, "e": np.exp(p - b), "k": k, "z": (c - k) * 2}


ROWS = [(1, 1), (5, 7), (3, 300), (70, 33), (130, 8)]
CASES = {
    "normalised": (normalised, ROWS),
    "known_first": (known_first, ROWS),
    "softmax": (softmax, ROWS),
    "softmax_gradient": (softmax_gradient, ROWS),
    "norm_gradient": (norm_gradient, ROWS[1:]),
    "norm_gradient_kept": (norm_gradient_kept, ROWS[1:]),
    "products": (products, ROWS),
    "folded_together": (folded_together, [*ROWS, (40, 2), (33, 24)]),
    "planes_together": (planes_together, [(1, 1, 1), (3, 5, 7), (33, 2, 40)]),
    "of_planes": (of_planes, [(1, 1, 1), (3, 5, 7), (33, 2, 40)]),
    "of_others": (of_others, [(1, 1, 1), (5, 7, 300), (40, 300, 3)]),
    "searched": (searched, [(1, 1), (40, 2), (5, 7), (33, 24), (17, 25), (3, 300)]),
    "nearest": (nearest, [(1, 1), (5, 7), (3, 40)]),
    "quantised": (quantised, ROWS),
    "kept": (kept, ROWS[1:]),
    "of_columns": (of_columns, [*ROWS, (3000, 20)]),
    "in_place": (in_place, [*ROWS, (2, 9000)]),
    "overwritten": (overwritten, ROWS),
    "many_rows": (many_rows, [()]),
    "many_others": (many_others, [()]),
}
