"""Fits the coefficients of machines/a2.json that come from measurements: `fit.py [BUILD_FOLDER]`.

Prints each fit with its residuals, and beside it what the machine file has. The rows used here are never among those that
predict.py judges by. With a build folder those that only show in whole kernels are fitted too, by simulating them.
"""

import copy
import json
import os
import sys
import tempfile

import numpy as np
import predict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLOCK = 1.85e3  # cycles per microsecond of a 910B1

# Cycles of one TLOAD, global memory to the vector buffer: measurements beside PTO-ISA's cost model (tests/costmodel).
LOADS = [("f32 128 x 128", 65536, 1, 776), ("i16 128 x 127", 32512, 1, 519), ("u8 128 x 127", 16256, 1, 392)]
LOADS_CHECK = [("f32 256 x 64 in 8 boxes", 65536, 8, 2624), ("i16 64 x 128 in 32 boxes", 16384, 32, 8576),
               ("f32 64 x 128 in 32 boxes", 32768, 32, 8704)]

# GEMM 3072 on 24 cores (PTO-ISA, gemm_performance): the shares of 206.7 us and how often each core does what.
GEMM_US, TILES, STEPS = 206.7, 12, 12 * 48
M_SHARE, EXTRACT_SHARE, STORE_SHARE = 0.790, 0.620, 0.058

# The softmax stage of PTO-ISA's flash-attention cost model, of 64 x 256 f32 on a vector core, fitted on devices: cycles, and what it
# is made of. A check only. Reductions of single tiles measured there (492 cycles for 64 x 64) do not agree with it.
SOFTMAX, STAGE = 2489, ["tmuls", "trowmax", "trowexpandsub", "texp", "trowsum", "tcvt"]


# What only shows in whole kernels: where it stands in the file, between which values it lies, the row that it is fitted to, and rows to
# compare. Attention on 16 cores waits for the hub most of the time, the more the longer; the library's on all cores waits for L2.
SIMULATED = [
    ("signal between cores", "control", "signal", (0, 100), "attention 2048 x 8192",
     ["attention 2048 x 1024", "attention 2048 x 2048", "attention 2048 x 4096", "attention 1024 x 2048"]),
    ("L2, bytes per cycle", "memory", "l2Rate", (2000, 4000), "attention 4096",
     ["attention 2048", "attention 8192", "attention 16384", "attention 32768"]),
]


def show(name, values, machine):
    print(f"{name:34} fitted {values:9.2f}   machine file {machine:9.2f}")


def residual(name, measured, predicted, use):
    print(f"  {use:5} {name:28} measured {measured:6}  predicted {predicted:8.1f}  {100 * (predicted / measured - 1):+5.1f} %")


def fit_simulated(ptlc, machine, rows, name, part, figure, bounds, fitted, checks):
    """By bisection, to half a per cent of what lies between the bounds; then what rows say that it is not fitted to."""
    with tempfile.TemporaryDirectory() as folder:

        def simulated(row, value):
            changed = copy.deepcopy(machine)
            changed["costs"][part][figure]["value"] = value
            path = os.path.join(folder, "machine.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(changed, file)
            return predict.simulate(ptlc, rows[row], folder, ["--machine", path])["us"]

        low, high = bounds
        rises = simulated(fitted, low) < simulated(fitted, high)
        while high - low > (bounds[1] - bounds[0]) * 0.005:
            middle = (low + high) / 2
            low, high = (middle, high) if (simulated(fitted, middle) < rows[fitted]["us"]) == rises else (low, middle)
        best = (low + high) / 2
        show(name, best, machine["costs"][part][figure]["value"])
        for row in [fitted] + checks:
            residual(row, rows[row]["us"], simulated(row, best), "fit" if row == fitted else "check")


def main():
    with open(os.path.join(ROOT, "machines", "a2.json"), encoding="utf-8") as file:
        machine = json.load(file)
    costs = machine["costs"]
    paths = {(path["from"], path["to"]): path for path in costs["paths"]}
    matrix = np.array([[count, size] for _, size, count, _ in LOADS], dtype=float)
    cycles = np.array([row[3] for row in LOADS], dtype=float)
    head, slope = np.linalg.lstsq(matrix, cycles, rcond=None)[0]
    show("gm -> vec, latency", head, paths["gm", "vec"]["latency"])
    show("gm -> vec, bytes per cycle", 1 / slope, paths["gm", "vec"]["bytesPerCycle"])
    for use, rows in (("fit", LOADS), ("check", LOADS_CHECK)):
        for name, size, count, measured in rows:
            predicted = head * count + slope * size
            residual(name, measured, predicted, use)
    total = GEMM_US * CLOCK
    show("product, head", total * M_SHARE / STEPS - 512, costs["product"]["head"])
    # 16 KiB to `left` and 32 KiB to `right`; the hardware's widths are 256 and 128 bytes per cycle.
    both = total * EXTRACT_SHARE / STEPS - 16384 / 256 - 32768 / 128
    show("mat -> left and right, head", both / 2, paths["mat", "left"]["head"])
    store = total * STORE_SHARE / TILES
    known = paths["acc", "gm"]["head"]
    show("acc -> gm, bytes per cycle", 131072 / (store - known), paths["acc", "gm"]["bytesPerCycle"])
    rows = [costs["instructions"][name] for name in STAGE]
    stage = sum(row["head"] + 256 * row["slope"] + row["tail"] for row in rows)
    print(f"  check softmax of 64 x 256            published {SOFTMAX:5}  predicted {stage:8.1f}  {100 * (stage / SOFTMAX - 1):+5.1f} %")
    if len(sys.argv) > 1:
        ptlc = os.path.join(os.path.abspath(sys.argv[1]), "bin", "ptlc")
        for what in SIMULATED:
            fit_simulated(ptlc, machine, {row["name"]: row for row in predict.published()}, *what)


if __name__ == "__main__":
    main()
