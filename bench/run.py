"""The benchmarks behind `./dev bench`: each figure beside its peer, measured in one run, medians.

    run.py BUILD_FOLDER [NAME ...]

OpenBLAS (Debian's libopenblas0) is the peer of products; where it is not installed the ratio is left out.
"""

import ctypes
import ctypes.util
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import openblas_core

openblas_core.settle()  # before NumPy is loaded, which may bring OpenBLAS along
import numpy as np  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PTLC = os.path.join(BUILD, "bin", "ptlc")
os.environ.update(PTLC=PTLC, PTL_STD=os.path.join(ROOT, "std"))
sys.path.insert(0, os.path.join(ROOT, "runtime", "python"))
import ptl  # noqa: E402  (found by the path above)


def interleaved(candidates, rounds):
    """Median seconds of each candidate; they take turns, so that the machine's moods hit all alike."""
    seconds = {name: [] for name in candidates}
    for call in candidates.values():
        call()
    for _ in range(rounds):
        for name, call in candidates.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def process(*command):
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def attention_kernels():
    """Dense tile-level code: two attention kernels per 45 lines, each with bounds to prove."""
    source = open(os.path.join(ROOT, "examples", "07_flash_attention.ptl"), encoding="utf-8").read()
    return source[source.index("pub kernel"):source.index("test ")].replace("pub kernel", "kernel")


def library_code():
    """The library's modules, with their tests."""
    return "\n".join(open(os.path.join(ROOT, "std", name), encoding="utf-8").read()
                     for name in ("nn.ptl", "linalg.ptl", "quant.ptl"))


def thousand_lines(folder, name, body):
    """A file of at least 1,000 lines: the text several times, with other names each time."""
    declared = re.findall(r"\b(?:fn|kernel|program) (\w+)", body)
    text, copy = "", 0
    while text.count("\n") < 1000:
        once = re.sub(r"\b(" + "|".join(declared) + r")\b", rf"\1_{copy}", body)
        text += re.sub(r'^(test|property) "', rf'\1 "{copy}: ', once, flags=re.M)
        copy += 1
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path, text.count("\n")


def bench_check(folder):
    library, library_lines = thousand_lines(folder, "library.ptl", library_code())
    attention, attention_lines = thousand_lines(folder, "attention.ptl", attention_kernels())
    times = interleaved({"library": process(PTLC, "check", library), "attention": process(PTLC, "check", attention),
                         "start": process(PTLC, "explain", "E0001")}, 21)
    print(f"ptlc check, whole process: {times['library'] * 1e3:.1f} ms for {library_lines} lines of library code, "
          f"{times['attention'] * 1e3:.1f} ms for {attention_lines} lines of attention kernels, "
          f"{times['start'] * 1e3:.1f} ms to start only")


def bench_first_result(folder):
    arguments = ["a=random(seed: 1)", "b=random(seed: 2)", "M=64", "N=64", "K=64"]
    run = [PTLC, "run", os.path.join(ROOT, "examples", "04_matmul.ptl"), "--entry", "matmul", *arguments]
    os.environ["PTL_CACHE"] = os.path.join(folder, "cache")
    times = interleaved({"run": process(*run, "--no-cache"), "again": process(*run)}, 11)
    print(f"matmul from source to first result, whole process: {times['run'] * 1e3:.0f} ms; with code kept from before: "
          f"{times['again'] * 1e3:.1f} ms")


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def openblas(a, b, c):
    """A call of sgemm on the arrays, or None without OpenBLAS."""
    name = ctypes.util.find_library("openblas")
    if not name:
        return None
    blas = ctypes.CDLL(name)
    n = ctypes.c_int(a.shape[0])
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    return lambda: blas.cblas_sgemm(101, 111, 111, n, n, n, one, pointer(a), n, pointer(b), n, zero, pointer(c), n)


def bench_matmul(folder):
    n = 1024
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    library = ptl.load(os.path.join(ROOT, "examples", "04_matmul.ptl"))
    c = np.empty((n, n), np.float32)
    candidates = {"ptl": lambda: library.matmul(a, b, c=c)}
    peer = openblas(a, b, c)
    if peer:
        candidates["openblas"] = peer
    times = interleaved(candidates, 21)
    rates = {name: 2 * n**3 / t / 1e9 for name, t in times.items()}
    line = f"matmul f32 {n}^3: {rates['ptl']:.0f} GFLOP/s"
    if peer:
        line += f", OpenBLAS {rates['openblas']:.0f} GFLOP/s, ratio {rates['ptl'] / rates['openblas']:.2f}"
    print(line)


def bench_softmax(folder):
    n = 4096
    x = np.random.default_rng(1).standard_normal((n, n)).astype(np.float32)
    y = np.empty_like(x)
    library = ptl.load(os.path.join(ROOT, "examples", "02_softmax.ptl"))
    workers = os.cpu_count() or 1
    parts = list(zip(np.array_split(x, workers), np.array_split(y, workers)))
    with ThreadPoolExecutor(workers) as pool:
        copy = lambda: list(pool.map(lambda part: np.copyto(part[1], part[0]), parts))  # noqa: E731
        times = interleaved({"ptl": lambda: library.softmax_rows(x, y=y), "copy": copy}, 21)
    rates = {name: 2 * x.nbytes / t / 1e9 for name, t in times.items()}
    print(f"softmax f32 {n} x {n}: {rates['ptl']:.1f} GB/s, copying the same bytes on {workers} cores "
          f"{rates['copy']:.1f} GB/s, ratio {rates['ptl'] / rates['copy']:.2f}")


def bench_lsp(folder):
    """`bench/lsp/run.py` alone prints all that is measured."""
    spec = importlib.util.spec_from_file_location("lsp_run", os.path.join(ROOT, "bench", "lsp", "run.py"))
    lsp = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lsp)
    sizes = [1000, 10000]
    for line in lsp.summary(lsp.run(BUILD, sizes, 60, 3, True), sizes):
        print(line)


# What the lengths of generic examples are compiled for.
CHIP_LENGTHS = {
    "02_softmax": ("softmax_rows.C=1024",), "06_rope": ("rope.D=128",),
    "07_flash_attention": ("flash_attention.D=128", "flash_attention_causal.D=128"),
    "11_paged_attention": ("paged_attention.S=128", "paged_attention.D=128"),
}  # fmt: skip


def long_kernel(statements):
    """A kernel of that many statements, each on the last few results."""
    lines = [f"let t{i} = " + (f"max(t{i - 1}, t{max(0, i - 5)})" if i % 3 == 0 else f"t{i - 1} * y + {i % 7}.5")
             for i in range(1, statements)]
    return ("pub kernel long[N](a: f32[N], b: f32[N]) -> (c: f32[N])\n"
            "{ parallel r in tiles(N, 64) { let y = b[r] ; let t0 = a[r]\n"
            + "\n".join(lines) + f"\nc[r] = t{statements - 1}\n}} }}\n")


def bench_chip(folder):
    """From source to `.pto`; generated kernels show how the time grows."""
    build = lambda *file: process(PTLC, "build", *file, "--target", "a3", "--emit=pto", "-o", os.devnull)  # noqa: E731
    files = sorted(file[:-4] for file in os.listdir(os.path.join(ROOT, "examples")) if file.endswith(".ptl"))
    examples = {name: build(os.path.join(ROOT, "examples", name + ".ptl"),
                            *(word for length in CHIP_LENGTHS.get(name, ()) for word in ("-D", length)))
                for name in files}  # fmt: skip
    times = interleaved(examples, 11)
    print("source to .pto for a3, whole process: " + ", ".join(f"{name} {t * 1e3:.0f} ms" for name, t in times.items()))
    sizes = (100, 300, 1000, 3000, 10000)
    candidates = {}
    for size in sizes:
        path = os.path.join(folder, f"long{size}.ptl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(long_kernel(size))
        candidates[size] = build(path)
    start = interleaved({"start": examples["01_vector_add"]}, 5)["start"]
    times = interleaved(candidates, 5)
    print("source to .pto, statements of one kernel: "
          + ", ".join(f"{size}: {times[size] * 1e3:.0f} ms ({(times[size] - start) / size * 1e6:.0f} us each)" for size in sizes))


BENCHES = {"check": bench_check, "first-result": bench_first_result, "matmul": bench_matmul, "softmax": bench_softmax,
           "chip": bench_chip, "lsp": bench_lsp}


def main():
    chosen = sys.argv[2:] or list(BENCHES)
    unknown = [name for name in chosen if name not in BENCHES]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]}; there are {', '.join(BENCHES)}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PTL_CACHE"] = os.path.join(folder, "cache")
        for name in chosen:
            BENCHES[name](folder)


main()
