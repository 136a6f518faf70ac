"""Plain products on simulated chips against NumPy, at sizes of one tile, of several, and of parts of one; `products.py BUILD`.

How large tiles are is decided when a kernel runs, so sizes on both sides of each decision are tried.
"""

import pathlib
import sys
import tempfile

import numpy as np

from harness import Case, Tools, run_cases

SOURCE = """
fn rounded[M, N, K](a: f16[M, K], b: f16[K, N]) -> f16[M, N] { return f16(a @ b) }
fn short[M, N, K](a: bf16[M, K], b: bf16[K, N]) -> bf16[M, N] { return bf16(a @ b) }
fn exact[M, N, K](a: i8[M, K], b: i8[K, N]) -> i32[M, N] { return a @ b }
fn turned[M, N, K](a: i8[K, M], b: i8[K, N]) -> i32[M, N] { return transpose(a) @ b }
fn plain[M, N, K](a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return a @ b }
fn left[M, N, K](a: f16[K, M], b: f16[K, N]) -> f32[M, N] { return transpose(a) @ b }
fn right[M, N, K](a: f16[M, K], b: f16[N, K]) -> f32[M, N] { return a @ transpose(b) }
fn batched[B, M, N, K](a: f16[B, M, K], b: f16[B, K, N]) -> f32[B, M, N] { return a @ b }
fn wide[M, N, K](a: f16[M, K], b: f16[K, 3 * N]) -> f32[M, 3 * N] { return a @ b }
fn fused[M, N, K](a: f16[M, K], b: f16[K, N]) -> f32[N, M] { return transpose(max(a @ b, 0.0) + f32(index(0..N))) }
fn known(a: f16[200, 700], b: f16[700, 900]) -> f32[200, 900] { return a @ b }
"""
# Elements of the operands, and how far the result may be off, beside its own size.
ENTRIES = {
    "rounded": (np.float16, 2e-3),
    "short": (np.float32, 2e-2),
    "exact": (np.int8, 0),
    "turned": (np.int8, 0),
    "plain": (np.float32, 1e-4),
    "left": (np.float16, 1e-4),
    "right": (np.float16, 1e-4),
    "batched": (np.float16, 1e-4),
    "wide": (np.float16, 1e-4),
    "fused": (np.float16, 1e-4),
    "known": (np.float16, 1e-4),
}
SIZES = [(1, 1, 1), (17, 100, 129), (129, 257, 65), (1000, 777, 333), (128, 256, 512), (1, 2000, 40), (2000, 1, 40), (0, 5, 3), (5, 0, 3), (5, 7, 0)]
# Few tiles beside a long contracted axis, which pieces share; the last one has as many tiles as are few, and one has too many.
LONG = [(17, 5, 4099), (1, 33, 2500), (2, 1, 2048), (300, 200, 2113), (300, 300, 2049), (0, 5, 2500)]


def operands(entry: str, elem, m: int, n: int, k: int):
    """Both operands, and the matrices that are multiplied."""
    rng = np.random.default_rng(m * 7 + n * 3 + k)

    def draw(*shape):
        # Long sums of small integers are exact in any order.
        least, most = (-2, 3) if k > 2000 and elem != np.int8 else (-8, 8)
        numbers = rng.integers(least, most, shape) if elem == np.int8 or k > 2000 else rng.standard_normal(shape)
        # What `bf16` holds, too.
        return (np.round(numbers * 8) / 8).clip(-4, 4).astype(elem) if entry == "short" else numbers.astype(elem)

    if entry == "batched":
        a, b = draw(3, m, k), draw(3, k, n)
        return a, b, a, b
    if entry in ("left", "turned"):
        a, b = draw(k, m), draw(k, n)
        return a, b, a.T, b
    if entry == "right":
        a, b = draw(m, k), draw(n, k)
        return a, b, a, b.T
    a, b = draw(m, k), draw(k, 3 * n if entry == "wide" else n)
    return a, b, a, b


def multiply(tools: Tools, entry: str, target: str, sizes: tuple[int, int, int]) -> str | None:
    elem, tolerance = ENTRIES[entry]
    a, b, left, right = operands(entry, elem, *sizes)
    wanted = left.astype(np.float64) @ right.astype(np.float64)
    if entry == "fused":
        wanted = (np.maximum(wanted, 0) + np.arange(wanted.shape[1])).T
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "products.ptl").write_text(SOURCE)
        np.save(folder / "a.npy", a)
        np.save(folder / "b.npy", b)
        done = tools.run(
            "run", folder / "products.ptl", "--entry", entry, f"a=@{folder}/a.npy", f"b=@{folder}/b.npy",
            "--convert", "--target", target, "--sim", "-o", f"result={folder}/c.npy",
        )  # fmt: skip
        if done.code:
            return done.stderr
        actual = np.load(folder / "c.npy")
    if actual.dtype == np.uint16:  # the bits of `bf16`
        actual = (actual.astype(np.uint32) << 16).view(np.float32)
    if actual.shape != wanted.shape:
        return f"the result has the shape {actual.shape} and not {wanted.shape}"
    far = np.abs(actual.astype(np.float64) - wanted) > tolerance * (1 + np.abs(wanted))
    return f"{np.count_nonzero(far)} of {far.size} elements are wrong" if far.any() else None


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))
    cases = []
    for entry in ENTRIES:
        for target in ("a2", "a5"):
            for sizes in [(200, 900, 700)] if entry == "known" else SIZES + LONG:
                name = f"{entry} {' x '.join(map(str, sizes))} on {target}"
                run = lambda entry=entry, target=target, sizes=sizes: multiply(tools, entry, target, sizes)
                cases.append(Case(name, run))
    return run_cases("products", cases)


if __name__ == "__main__":
    sys.exit(main())
