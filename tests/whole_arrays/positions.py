"""What NumPy makes of the programs of positions.ptl, elements by positions that are data."""

import numpy as np


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


CASES = {
    "replaced": (scatters(None, lambda n, k: ((n,), k), 0, np.float32), [(5000, 301), (1, 3), (7, 1), (33, 1500)]),
    "added": (scatters(np.add, lambda n, k: ((n,), k), 0, np.float32), [(9001, 301), (1, 3), (7, 1), (33, 1500), (70, 5000)]),
    "largest_in_rows": (scatters(max, lambda b, n, k: ((b, n), k), 1, np.int16), [(3, 301, 65), (1, 1, 1), (2, 5000, 9)]),
    "least_in_columns": (scatters(min, lambda n, b, k: ((n, b), k), 0, np.float32), [(35, 3, 17), (1, 1, 1), (130, 9, 33)]),
    "bytes_replaced": (scatters(None, lambda a, n, b, k: ((a, n, b), k), 1, np.uint8), [(2, 35, 3, 17), (1, 1, 1, 1)]),
    "histogram": (histogram, [(35, 301), (1, 1), (5000, 2100)]),
    "changed_in_place": (scatters(np.add, lambda n, k: ((n,), k), 0, np.float32, "x"), [(3501, 301), (1, 1)]),
    "taken": (taken, [(70, 300, 1500), (1, 1, 1), (9, 2100, 3), (300, 40, 801)]),
    "replaced_far": (scatters(None, lambda n, k: ((n,), k), 0, np.float32, position=np.int64), [(5000, 301), (1, 3), (33, 1500)]),
    "picked": (picked, [(2, 300, 5, 7), (1, 1, 1, 1), (1, 40, 511, 511), (2, 3, 9, 5000), (1, 2, 5000, 3)]),
    "backwards": (backwards, [(1,), (301,), (20001,)]),
    "taken_twice": (taken_twice, [(70, 65, 9, 33), (1, 1, 1, 1)]),
}  # fmt: skip
