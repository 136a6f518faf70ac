"""Compiled code on arrays that are not dense: rows apart, every other column, transposed, repeated, empty."""

import os
import pathlib
import sys
import tempfile

import numpy as np

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = tempfile.TemporaryDirectory()
os.environ.update(PTLC=str(BUILD / "bin/ptlc"), PTL_STD=str(ROOT / "std"), PTL_CACHE=FOLDER.name)
sys.path.insert(0, str(ROOT / "runtime/python"))
import ptl  # noqa: E402  (found by the path above)

SOURCE = """
pub kernel tiled[M, N, S, T](x: f32[M, N] strides [S, T]) -> (y: f32[M, N])
{
    parallel i in tiles(M, 8), j in tiles(N, 16) { y[i, j] = x[i, j] * 2.0 + 1.0 }
}

pub kernel product[M, K, N, A, B](a: f32[M, K] strides [A, 1], b: f32[K, N] strides [1, B]) -> (c: f32[M, N])
{
    parallel i in tiles(M, 24), j in tiles(N, 40) {
        var acc = zeros(f32[i, j])
        for k in tiles(K, 16) { acc += a[i, k] @ b[k, j] }
        c[i, j] = acc
    }
}

pub program rows[M, N, S](x: f32[M, N] strides [S, 1]) -> (y: f32[M, 1])
{
    y = sum(x * x, axis: 1)
}
"""


def views():
    """Arrays of every kind of layout, with the name of each."""
    base = np.arange(60 * 50, dtype=np.float32).reshape(60, 50) / 100
    yield "rows apart", base[::3, :17]
    yield "columns apart", base[:21, ::2]
    yield "both apart", base[1::4, 1::3]
    yield "transposed", base.T[:33, :19]
    yield "one row again and again", np.broadcast_to(base[0, :23], (9, 23))
    yield "no rows", base[:0, ::2]
    yield "one element", base[5:6, 7:8]


def main():
    path = pathlib.Path(FOLDER.name) / "strided.ptl"
    path.write_text(SOURCE, encoding="utf-8")
    library = ptl.load(str(path))
    passed, failed = 0, 0

    def expect(name, actual, wanted, tolerance=1e-4):
        nonlocal passed, failed
        good = actual.shape == wanted.shape and np.allclose(actual, wanted, rtol=tolerance, atol=tolerance)
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAILED {name}")

    for name, x in views():
        expect(f"tiled, {name}", library.tiled(x), x * 2 + 1)
        expect(f"rows, {name}", library.rows(np.ascontiguousarray(x)[:, : x.shape[1]]), (x * x).sum(1, keepdims=True))
    a = np.random.default_rng(1).standard_normal((90, 70)).astype(np.float32)
    expect("rows, cut out", library.rows(a[::2, 3:40]), (a[::2, 3:40] ** 2).sum(1, keepdims=True))
    expect("product", library.product(a[:, 5:55], a[:61, 10:60].T), a[:, 5:55] @ a[:61, 10:60].T)
    try:  # A stride is a dimension, so it is not negative.
        library.tiled(a[::-1])
        expect("reversed rows are refused", a[:0], a)
    except ptl.errors.ShapeError:
        passed += 1
    print(f"strided: {passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
