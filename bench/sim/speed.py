"""How fast times are simulated and estimated: `speed.py BUILD_FOLDER [--json OUT]`.

Operations of all pipes per second of one core while `ptlc sim` runs, and milliseconds for an estimate, without compiling.
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
RUNS = 3  # the best counts
ROWS = [
    ("gemm 3072", os.path.join(HERE, "gemm.ptl"), "gemm", "M={0} N={0} K={0}", 3072),
    ("matmul 1024", os.path.join(EXAMPLES, "04_matmul.ptl"), "matmul", "M={0} N={0} K={0}", 1024),
    ("matmul 4096", os.path.join(EXAMPLES, "04_matmul.ptl"), "matmul_f16", "M={0} N={0} K={0}", 4096),
    ("attention 8 x 1024", os.path.join(EXAMPLES, "07_flash_attention.ptl"), "flash_attention", "H=8 S={0} T={0} D=128", 1024),
    ("softmax 8192 x 1024", os.path.join(EXAMPLES, "02_softmax.ptl"), "softmax_rows", "R={0} C=1024", 8192),
    ("vector add 16 M", os.path.join(EXAMPLES, "01_vector_add.ptl"), "vector_add", "N={0}", 16777216),
]


def timed(ptlc, path, entry, words, *more):
    """The best time of the phase `simulate` in seconds, and the document."""
    best, document = float("inf"), None
    for _ in range(RUNS):
        done = subprocess.run([ptlc, "sim", path, "--entry", entry, "--target", "a3", "--json", "--time-passes", *words.split(), *more],
                              check=True, capture_output=True, text=True)
        best = min(best, float(re.search(r"([\d.]+) ms\s+simulate", done.stderr).group(1)) / 1000)
        document = json.loads(done.stdout)
    return best, document


def main():
    arguments = sys.argv[1:]
    ptlc = os.path.join(os.path.abspath(arguments.pop(0)), "bin", "ptlc")
    out = arguments[arguments.index("--json") + 1] if "--json" in arguments else None
    results = []
    print(f"{'':24} {'operations':>11} {'seconds':>8} {'M/s':>6} {'us':>9} {'estimate ms':>12} {'error':>7}")
    for name, path, entry, form, length in ROWS:
        compiling, _ = timed(ptlc, path, entry, form.format(1))  # the phase begins with it
        seconds, whole = timed(ptlc, path, entry, form.format(length))
        guess, document = timed(ptlc, path, entry, form.format(length), "--estimate")
        seconds, guess = seconds - compiling, guess - compiling
        (cost,) = document["costs"]
        error = cost["us"] / whole["us"] - 1
        rate = whole["operations"] / seconds / 1e6
        print(f"{name:24} {whole['operations']:11} {seconds:8.3f} {rate:6.2f} {whole['us']:9.2f} {1000 * guess:12.1f} {100 * error:+6.1f}%")
        results.append({"name": name, "operations": whole["operations"], "seconds": seconds, "rate": rate,
                        "estimate_seconds": guess, "error": error})
    if out:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
