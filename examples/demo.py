"""Runs the examples on .npy files through the command line and compares the results with NumPy."""

import os
import statistics
import subprocess
import sys
import time

import numpy as np
import ptl

FOLDER = sys.argv[1]
EXAMPLES = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def run(file, entry, output, **arguments):
    """`ptlc run` on files: arrays go in and come out as .npy."""
    command = ["ptlc", "run", os.path.join("examples", file), "--entry", entry]
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            path = os.path.join(FOLDER, f"{name}.npy")
            np.save(path, value)
            value = "@" + path
        command.append(f"{name}={value}")
    path = os.path.join(FOLDER, f"{output}.out.npy")
    subprocess.run(command + ["-o", f"{output}={path}"], check=True, cwd=os.path.dirname(EXAMPLES))
    return np.load(path)


def report(what, actual, expected, limit):
    error = float(np.max(np.abs(actual.astype(np.float64) - expected), initial=0.0))
    verdict = "agrees" if error <= limit else "DIFFERS"
    print(f"  {what:<42} {str(actual.shape):<16} max error {error:.2e}  {verdict}")
    if error > limit:
        sys.exit(1)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v, scale):
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    return softmax(q @ k.transpose(0, 2, 1) * scale) @ v


def small_examples():
    a, b = normal(100003), normal(100003)
    report("vector_add", run("01_vector_add.ptl", "vector_add", "c", a=a, b=b), a.astype(float) + b, 1e-6)
    x = normal(37, 1000)
    report("softmax_rows", run("02_softmax.ptl", "softmax_rows", "y", x=x), softmax(x.astype(float)), 1e-6)
    gamma = normal(1000)
    scale = 1 / np.sqrt((x.astype(float) ** 2).mean(axis=1, keepdims=True) + 1e-6)
    report("rms_norm", run("03_rms_norm.ptl", "rms_norm", "y", x=x, gamma=gamma, eps=1e-6), x * scale * gamma, 1e-5)
    a, b = normal(300, 257), normal(257, 129)
    report("matmul, f32", run("04_matmul.ptl", "matmul", "c", a=a, b=b), a.astype(float) @ b, 1e-4)
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((65, 300), (300, 77)))
    report("matmul, i8", run("04_matmul.ptl", "matmul_i8", "c", a=a, b=b), a.astype(int) @ b.astype(int), 0)


def flash_attention():
    heads, queries, keys, depth = 4, 1000, 1000, 64
    q, k, v = normal(heads, queries, depth), normal(heads, keys, depth), normal(heads, keys, depth)
    scale = depth**-0.5
    result = run("07_flash_attention.ptl", "flash_attention", "o", q=q, k=k, v=v, scale=scale)
    report("flash_attention, S = T = 1000, D = 64, H = 4", result, attention(q, k, v, scale), 1e-5)

    library = ptl.load(os.path.join(EXAMPLES, "07_flash_attention.ptl"))
    library.flash_attention(q, k, v, scale=scale)
    seconds = []
    for _ in range(9):
        start = time.perf_counter()
        library.flash_attention(q, k, v, scale=scale)
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    flops = 4 * heads * queries * keys * depth
    print(f"  the same from Python, median of {len(seconds)} calls: {median * 1e3:.1f} ms, {flops / median / 1e9:.1f} GFLOP/s")


small_examples()
flash_attention()
