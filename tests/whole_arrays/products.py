"""What NumPy makes of the programs of products.ptl, products of many tiles."""

import numpy as np


def product(draw, m, n, k):
    a, b = draw(m, k), draw(k, n)
    return {"a": a, "b": b}, {"c": a @ b}


def of_turned(draw, m, n, k):
    a, b = draw(k, m), draw(n, k)
    return {"a": a, "b": b}, {"c": (a.T @ b.T).T}


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


def wide_turned(draw, a, b):
    x, y, z = ((draw(*shape) * 1e5).astype(np.int64) for shape in ((b, a), (b, a), (a, b)))
    return {"x": x, "y": y, "z": z}, {"m": x.T @ y, "n": x.T @ y @ z}


def notations(draw, b, i, j):
    a, w, c = draw(b, i), draw(i, j), draw(b, j)
    crossed = np.einsum("bi,ib->i", a, w @ c.T)
    wanted = {"bilinear": ((a @ w) * c).sum(1), "chain": (w @ c.T) * a.sum(1), "crossed": crossed, "columns": (a * a).sum(0)}
    return {"a": a, "w": w, "b": c}, wanted


def in_chunks(draw, m, n, k):
    a, b, bias = draw(m, k), draw(k, n), draw(n)
    return {"a": a, "b": b, "bias": bias}, {"c": np.maximum(a @ b + bias, 0), "d": a @ b * 2}


def in_known_chunks(draw, m):
    a, b, x = draw(m, 640), draw(640, 24), draw(16, 640)
    return {"a": a, "b": b, "x": x}, {"c": a @ b, "d": x @ b}


CASES = {
    "in_chunks": (in_chunks, [(70, 90, 1000), (1, 1, 1), (17, 300, 65), (3, 5, 130)]),
    "in_known_chunks": (in_known_chunks, [(70,), (1,)]),
    "wide_turned": (wide_turned, [(5, 37), (1, 1), (19, 3), (9, 70)]),
    "product": (product, [(1000, 530, 20), (1, 1, 1), (833, 1, 7), (70, 1100, 33)]),
    "of_turned": (of_turned, [(1000, 300, 20), (1, 1, 1), (70, 530, 7)]),
    "notations": (notations, [(70, 33, 20), (1, 1, 1), (17, 130, 5)]),
    "of_batches": (of_batches, [(2, 900, 300, 9), (1, 1, 1, 1), (3, 65, 33, 70)]),
    "gated": (gated, [(1000, 300, 20), (1, 1, 1), (65, 530, 33)]),
    "of_computed": (of_computed, [(1000, 300, 20), (1, 1, 1), (65, 530, 33)]),
    "of_every_third": (of_every_third, [(70, 33, 300), (1, 1, 1), (130, 140, 7)]),
    "of_every_second": (of_every_second, [(70, 33, 300), (1, 1, 1), (130, 140, 7)]),
}  # fmt: skip
