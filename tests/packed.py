"""Programs whose parameters and results are `i4` and `f4e2m1`, two in a byte, against NumPy on all executors that have the types;
`packed.py BUILD`."""

import pathlib
import sys
import tempfile

import numpy as np

from blocks import FOUR, POWERS, call, differs
from harness import Case, Tools, run_cases

INTEGERS = """
import std.quant: quantize_rows
/// Weights of 16-bit rows.
pub program linear4[M, K, N](x: f16[M, K], w: i4[K, N], s: f32[N]) -> (y: f32[M, N]) { y = f32(x @ f16(w)) * s }
/// Products of integers.
pub program exact[M, K, N](x: i8[M, K], w: i4[K, N]) -> (y: i32[M, N]) { y = x @ i8(w) }
/// Rows that are quantised on the way.
pub fn dynamic[M, K, N](x: f32[M, K], w: i4[K, N], s: f32[N]) -> f32[M, N] {
    let (q, scale) = quantize_rows(x)
    return f32(q @ i8(w)) * scale * s
}
/// Tiles of weights, unpacked where they are used.
pub kernel tiled[M, K, N](x: f16[M, K], w: i4[K, N]) -> (y: f32[M, N])
where BN % 2 == 0
tune BN = 48
{
    parallel i in tiles(M, 64), j in tiles(N, BN) {
        var acc = zeros(f32[i, j])
        for k in tiles(K, 32) { acc += x[i, k] @ f16(w[k, j]) }
        y[i, j] = acc
    }
}
/// Groups of 32 rows have a scale for each column.
pub program grouped[M, G, N](x: bf16[M, 32 * G], w: i4[32 * G, N], s: f32[G, N]) -> (y: f32[M, N]) {
    let q = reshape(f32(w), [G, 32, N]) * s[:, new, :]
    y = f32(x) @ reshape(q, [32 * G, N])
}
/// Packed results of a kernel.
pub kernel quantise[M, N](x: f32[M, N], s: f32[N]) -> (w: i4[M, N])
{
    parallel i in tiles(M, 16), j in tiles(N, 64) { w[i, j] = i4(x[i, j] / s[j][new, :], round: .even) }
}
/// A program that passes packed arrays to kernels, and takes parts that cut bytes.
pub program mixed[M, N](x: f32[M, N], s: f32[N], v: i4[M, N]) -> (w: i4[M, N], part: i8[M, N - 3], one: i32[1])
where N >= 4, M >= 2
{
    w = quantise(x, s)
    part = i8(v[:, 1:N - 2]) + i8(v[:, 3:N])
    one = full(i32[1], i32(v[1, 2]))
}
/// Changed in place; arithmetic wraps at four bits.
pub kernel count[N](w: inout i4[N], by: i32)
{
    parallel i in tiles(N, 512) { w[i] += i4(by) }
}
/// Leading axes, and a table that indices choose rows of.
pub fn rows_of[V, N, B](table: i4[V, N], ids: i32[B]) -> f16[B, N] where all(ids >= 0), all(ids < V) { return f16(table[ids, :]) }
/// The gated layer of a feed-forward network, all weights packed.
pub program gated[T, D, F](
    x: f16[T, D], gate: i4[D, F], up: i4[D, F], down: i4[F, D], a: f32[F], b: f32[F], c: f32[D]
) -> (y: f32[T, D]) {
    let g = linear4(x, gate, a)
    let h = f16(g / (1 + exp(-g)) * linear4(x, up, b))
    y = linear4(h, down, c)
}
"""
FLOATS = """
import std.mx
pub program numbers[M, N](w: f4e2m1[M, N]) -> (y: f32[M, N]) { y = f32(w) }
pub program codes[M, N](x: f32[M, N]) -> (w: f4e2m1[M, N]) { w = f4e2m1(x) }
/// `mxfp4` weights as files have them: elements and their scales.
pub program mxfp4[M, N, B](x: bf16[M, 32 * B], w: f4e2m1[N, 32 * B], s: f8e8m0[N, B]) -> (y: f32[M, N]) {
    y = x @ bf16(mx.dequantize_mx(w, s)).T
}
pub program both[M, N, B](a: f4e2m1[M, 32 * B], s: f8e8m0[M, B], b: f4e2m1[N, 32 * B], t: f8e8m0[N, B]) -> (y: f32[M, N]) {
    y = scaled_dot(a, s, b, t)
}
pub kernel tiles_of[M, N](w: f4e2m1[M, N]) -> (y: f16[M, N], same: f4e2m1[M, N])
{
    parallel i in tiles(M, 16), j in tiles(N, 64) {
        y[i, j] = f16(w[i, j])
        same[i, j] = w[i, j]
    }
}
"""


def packed(w):
    """Numbers or codes two to a byte, the even position in the lower four bits."""
    w = np.asarray(w).astype(np.int64) & 15
    return (w[..., ::2] | w[..., 1::2] << 4).astype(np.uint8)


def four(rng, *shape):
    return rng.integers(-8, 8, shape)


def lower(x):
    return (x + 8) % 16 - 8


def silu(x):
    return x / (1 + np.exp(-x))


def integer_cases(rng, m, k, n, groups):
    """Of each program its arguments, and what it gives."""
    x, w, s = (rng.integers(-16, 17, (m, k)) / 8).astype(np.float16), four(rng, k, n), rng.random(n).astype(np.float32) + 0.1
    wide = x.astype(np.float64)
    q = rng.integers(-128, 128, (m, k), dtype=np.int8)
    real = (rng.integers(-32, 33, (m, n)) / 4).astype(np.float32)
    v, table = four(rng, m, n), four(rng, k, n)
    grouped, scales = four(rng, 32 * groups, n), rng.random((groups, n)).astype(np.float32)
    rows = (rng.integers(-8, 9, (m, 32 * groups)) / 4).astype(np.float32)
    half = (rows.view(np.uint32) >> 16).astype(np.uint16)
    up, down, c = four(rng, k, n), four(rng, n, k), rng.random(k).astype(np.float32) / 64
    gates = [wide @ each * s / 8 for each in (w, up)]
    inner = (silu(gates[0]) * gates[1]).astype(np.float16).astype(np.float64)
    ids = rng.integers(0, k, 9).astype(np.int32)
    ones, halves = np.ones(n, np.float32), np.full(n, 0.5, np.float32)
    yield "linear4", {"x": x, "w": packed(w), "s": s}, {"y": wide @ w * s}
    yield "exact", {"x": q, "w": packed(w)}, {"y": q.astype(np.int64) @ w}
    yield "dynamic", {"x": x.astype(np.float32), "w": packed(w), "s": ones}, {"result": rounded_rows(wide) @ w}
    yield "tiled", {"x": x, "w": packed(w)}, {"y": wide @ w}
    dequantised = (grouped.reshape(groups, 32, n) * scales[:, None]).reshape(-1, n)
    yield "grouped", {"x": half, "w": packed(grouped), "s": scales}, {"y": rows.astype(np.float64) @ dequantised}
    nearest = np.clip(np.rint(real / halves), -8, 7)
    yield "quantise", {"x": real, "s": halves}, {"w": packed(nearest)}
    parts = {"w": packed(nearest), "part": v[:, 1:-2] + v[:, 3:], "one": v[1:2, 2]}
    yield "mixed", {"x": real, "s": halves, "v": packed(v).view(np.int8)}, parts
    yield "count", {"w": packed(v[0]), "by": 5}, {"w": packed(lower(v[0] + 5))}
    yield "rows_of", {"table": packed(table), "ids": ids}, {"result": table[ids]}
    weights = {"gate": packed(w), "up": packed(up), "down": packed(down)}
    yield "gated", {"x": x, **weights, "a": s / 8, "b": s / 8, "c": c}, {"y": inner @ down * c}


def rounded_rows(x):
    """What rows of `x` become as `i8` and back."""
    scale = np.abs(x).max(-1, keepdims=True) / 127
    return np.rint((x / scale).astype(np.float32)) * scale


def float_cases(rng, m, n, blocks):
    codes = rng.integers(0, 16, (m, n))
    real = FOUR[codes] * rng.choice([0.9, 1.0, 1.1], (m, n)).astype(np.float32)
    near = np.abs(np.abs(real)[..., None] - FOUR[:8]).argmin(-1) + 8 * np.signbit(real)
    yield "numbers", {"w": packed(codes)}, {"y": FOUR[codes]}
    yield "codes", {"x": real}, {"w": packed(near)}
    a, b = rng.integers(0, 16, (m, 32 * blocks)), rng.integers(0, 16, (n, 32 * blocks))
    s, t = rng.integers(120, 134, (m, blocks), dtype=np.uint8), rng.integers(120, 134, (n, blocks), dtype=np.uint8)
    left, right = ((FOUR[x].reshape(len(x), blocks, 32) * POWERS[y][:, :, None]).reshape(x.shape) for x, y in ((a, s), (b, t)))
    rows = (rng.integers(-8, 9, (m, 32 * blocks)) / 4).astype(np.float32)
    half = (rows.view(np.uint32) >> 16).astype(np.uint16)
    yield "mxfp4", {"x": half, "w": packed(b), "s": t}, {"y": rows.astype(np.float64) @ right.T}
    yield "both", {"a": packed(a), "s": s, "b": packed(b), "t": t}, {"y": left.astype(np.float64) @ right.T}
    yield "tiles_of", {"w": packed(codes)}, {"y": FOUR[codes], "same": packed(codes)}


def compare(tools: Tools, target: str, source: str, cases, wanted: str):
    with tempfile.TemporaryDirectory() as name:
        for entry, given, want in cases:
            if entry != wanted:
                continue
            got = call(tools, pathlib.Path(name), source, entry, target, given, tuple(want))
            if isinstance(got, str):
                return got
            for result, value in zip(got, want.values()):
                value = np.asarray(value)
                exact = value.dtype.kind in "iu"
                if result.shape != value.shape:
                    return f"the shape is {result.shape} and not {value.shape}"
                near = result == value if exact else np.isclose(result, value, 2e-3, 2e-3 * (1 + np.abs(value).max()))
                if not near.all():
                    at = tuple(int(each) for each in np.argwhere(~near)[0])
                    return f"element {at} is {result[at]} and not {value[at]}, and {int((~near).sum())} in all differ"
    return None


def names_of(source: str):
    return [line.split()[2].split("[")[0] for line in source.splitlines() if line.startswith("pub ")]


def odd_lengths(tools: Tools):
    """What no whole bytes hold is told by its name, on every way into a program."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        x, s = np.zeros((4, 7), np.float32), np.ones(7, np.float32)
        got = call(tools, folder, INTEGERS, "quantise", "cpu", {"x": x, "s": s}, ("w",))
        if not isinstance(got, str) or "`N % 2 == 0`" not in got:
            return f"an odd result: {got}"
        got = call(tools, folder, INTEGERS, "linear4", "cpu", {"x": np.zeros((2, 4), np.float16), "w": np.zeros((4, 4), np.uint8), "s": s}, ("y",))
        if not isinstance(got, str) or "`N` is 8" not in got:
            return f"an odd parameter: {got}"
    return None


def shown(tools: Tools):
    """`ptlc run` makes packed arrays and shows their elements."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "shown.ptl"
        path.write_text("pub program same[N](w: i4[N]) -> (y: i4[N], z: i8[N]) {\n    y = w\n    z = i8(w)\n}\n")
        text = tools.run("run", path, "w=random(seed: 3)", "N=8").stdout
        first, second = text.split("z: i8[8]")
        return None if first.strip() == "y: i4[8]\n" + second.strip() else text


def cases(tools: Tools):
    yield Case("odd_lengths", lambda: odd_lengths(tools))
    yield Case("shown", lambda: shown(tools))
    for target in ("reference", "cpu", "a2", "a3", "a5"):
        for entry in names_of(INTEGERS):
            yield Case(
                f"{entry}.{target}",
                lambda target=target, entry=entry: compare(
                    tools, target, INTEGERS, integer_cases(np.random.default_rng(1), 37, 70, 90, 3), entry
                ),
            )
        if target in ("a2", "a3"):  # which have no `f4e2m1`
            continue
        for entry in names_of(FLOATS):
            yield Case(
                f"{entry}.{target}",
                lambda target=target, entry=entry: compare(
                    tools, target, FLOATS, float_cases(np.random.default_rng(2), 21, 50, 3), entry
                ),
            )


if __name__ == "__main__":
    sys.exit(run_cases("packed", list(cases(Tools(pathlib.Path(sys.argv[1]))))))
