"""Programs on ranks of MPI: results beside NumPy, `mpirun` by hand, and programs that stop. `ranks.py BUILD`.
Skipped, with the reason, where there is no MPI."""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

from harness import ENVIRONMENT, ROOT, Tools, expect, in_folders, run_cases

MLP = ROOT / "examples/cluster/mlp.ptl"
TWO_LEVELS = ROOT / "codegen/parts/testdata/two_levels.ptl"
QUOTIENT = """pub program quotient[N](a: i32[N] over chip by N, b: i32[N] over chip by N) -> (y: i32[N] over chip by N) at host {
    y = a / b
}
"""
MOVED = """pub program moved[R, C](x: f32[R, C] over chip by C, z: f32[R, C] partial(+) over chip)
    -> (a: f32[R, C], b: f32[R, C] over chip by R, c: f32[R, C], d: f32[R, C] over chip by C) at host {
    a = all_gather(x, over: chip)
    b = all_to_all(x, over: chip, by: R)
    c = all_reduce(z, over: chip)
    d = reduce_scatter(z, over: chip, by: C)
}
"""
# What each rank does depends on its range and on how many there are; rows are multiplied while others come.
OWN = """pub program own[B, D](x: f32[B, D] over chip by B, w: f32[D, D]) -> (y: f32[B, D] over chip by B, z: f32[B, D]) at host
where D % chips == 0 or chips > 2
{
    var rows = x
    parallel c in parts(B, over: chip) {
        for i in 0..c.len { rows[c.start + i, :] = x[c, :][i, :] * f32(chips) + f32(c.start) }
        if c.start > 1 { rows[c, :] = rows[c, :] - sum(x[c, :], axis: 0) }
    }
    y = rows
    let all = all_gather(rows, over: chip)
    z = all @ w
}
schedule own { all { chunks 3 } }
"""
MPIRUN = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


def numbers(folder, **shapes):
    """Whole numbers, whose sums are exact; saved as NAME.npy."""
    arrays = {}
    for name, shape in shapes.items():
        arrays[name] = np.random.default_rng(len(arrays)).integers(-3, 4, shape).astype(np.float32)
        np.save(folder / f"{name}.npy", arrays[name])
    return arrays


def arguments(names):
    return [f"{name}=@{name}.npy" for name in names]


def training_step(x, t, up, down, rate):
    hidden = np.maximum(x @ up, 0)
    error = hidden @ down - t
    return up - x.T @ np.where(hidden > 0, error @ down.T, 0) * rate, down - hidden.T @ error * rate


def agrees_with_numpy(tools, folder):
    arrays = numbers(folder, x=(5, 4), t=(5, 3), up=(4, 6), down=(6, 3))
    expected = training_step(**arrays, rate=np.float32(0.5))
    for shape in ("host=1,chip=1", "host=2,chip=1", "host=1,chip=3", "host=2,chip=2", "host=2,chip=4"):
        done = tools.run("run", TWO_LEVELS, "--entry", "training_step", "--shape", shape, *arguments(arrays), "rate=0.5",
                         "-o", "new_up=up1.npy", "-o", "new_down=down1.npy", cwd=folder)
        expect(done.code == 0, shape, done)
        for name, array in zip(("up1", "down1"), expected):
            expect(np.array_equal(np.load(folder / f"{name}.npy"), array), shape, name)
            os.remove(folder / f"{name}.npy")


def moves_large_arrays(tools, folder):
    """Messages of 160 to 480 KB, which do not go through rings, in one run and in many; those of five parts do."""
    (folder / "moved.ptl").write_text(MOVED)
    arrays = numbers(folder, x=(599, 601), z=(599, 601))
    for count in (3, 5):
        done = tools.run("run", "moved.ptl", "--entry", "moved", "--shape", f"chip={count}", *arguments(arrays),
                         *(word for name in "abcd" for word in ("-o", f"{name}={name}.npy")), cwd=folder)
        expect(done.code == 0, count, done)
        for name, of in zip("abcd", "xxzz"):
            expect(np.array_equal(np.load(folder / f"{name}.npy"), arrays[of]), count, name)


def own_ranges(tools, folder):
    (folder / "own.ptl").write_text(OWN)
    x, w = numbers(folder, x=(7, 4), w=(4, 4)).values()
    for chips in (1, 2, 3, 4, 5, 8):
        expected, block = x.copy(), -(-len(x) // chips)
        for begin in range(0, len(x), block):
            rows = x[begin:begin + block]
            expected[begin:begin + block] = rows * chips + begin - (rows.sum(0) if begin > 1 else 0)
        for how in ([], ["--in-process"]):
            done = tools.run("run", "own.ptl", "--entry", "own", "--shape", f"chip={chips}", *how, "x=@x.npy", "w=@w.npy", "-o", "y=y.npy",
                             "-o", "z=z.npy", cwd=folder)
            expect(done.code == 0, chips, how, done)
            expect(np.array_equal(np.load(folder / "y.npy"), expected), chips, how)
            expect(np.array_equal(np.load(folder / "z.npy"), expected @ w), chips, how)
        done = tools.run("run", "own.ptl", "--entry", "own", "x=@x.npy", "w=@w.npy", f"chips={chips}", "-o", "y=y.npy", "-o", "z=z.npy", cwd=folder)
        expect(done.code == 0 and np.array_equal(np.load(folder / "y.npy"), expected), chips, done)


def mpirun_by_hand(tools, folder):
    arrays = numbers(folder, x=(7, 10))
    command = ["run", str(TWO_LEVELS), "--entry", "serving_layout", "--shape", "host=2,chip=2", "w=@x.npy", "-o", "v=v.npy"]
    run = lambda count: subprocess.run([*MPIRUN, "-n", str(count), str(tools.path("ptlc")), *command], cwd=folder,
                                       env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
    done = run(4)
    expect(done.returncode == 0, done)
    expect(np.array_equal(np.load(folder / "v.npy"), arrays["x"]))
    done = run(3)
    expect(done.returncode != 0 and "the shape has 4 parts, and there are 3 ranks" in done.stderr, done)


def processors_differ(tools, folder):
    """Ranks that would compile for processors of different kinds say so before they begin, once; the reference executor needs none."""
    numbers(folder, x=(7, 10))
    rank = lambda *how: ["-n", "1", str(tools.path("ptlc")), "run", str(TWO_LEVELS), "--entry", "serving_layout", "--shape",
                         "host=1,chip=2", *how, "w=@x.npy", "-o", "v=v.npy"]
    run = lambda first, second: subprocess.run([*MPIRUN, *rank(*first), ":", *rank(*second)], cwd=folder, env=ENVIRONMENT,
                                               capture_output=True, text=True, timeout=100)
    done = run(["--cpu", "x86-64-v2"], ["--cpu", "x86-64-v2+popcnt"])
    expect(done.returncode != 0 and done.stderr.count("the processors of the ranks differ") == 1, done)
    expect("rank 0 has `x86-64-v2`, and rank 1 `x86-64-v2` with other features" in done.stderr, done)
    expect(not (folder / "v.npy").exists())
    for how in (["--cpu", "x86-64-v2"], ["--target", "reference"]):
        done = run(how, how)
        expect(done.returncode == 0, how, done)


def says_what_computes(tools, folder):
    """Which code computed what, by the first rank alone, and only if asked."""
    arrays = numbers(folder, x=(7, 10))
    for how, said in (([], "by the reference executor"), (["--target", "cpu"], "by compiled code")):
        for place in ([], ["--in-process"]):
            run = lambda *more: tools.run("run", MLP, "--entry", "training_step", "--shape", "2", *place, *how, *more, "x=ones", "t=ones",
                                          "w=ones", "rate=0.5", "B=6", "D=3", "F=2", cwd=folder)
            done = run("--time-passes")
            expect(done.code == 0 and f"computed {said}" in done.stderr, how, place, done)
            lines = [line for line in done.stderr.splitlines() if "computed by" in line]
            expect(all("mlp.ptl:" in line for line in lines) and len(lines) == len(set(lines)), lines)
            expect("computed by" not in run().stderr, how, place)


def printed_once(tools, folder):
    done = tools.run("run", MLP, "--entry", "training_step", "--shape", "4", "x=ones", "t=ones", "w=ones", "rate=0.5",
                     "B=6", "D=3", "F=2", cwd=folder)
    alone = tools.run("run", MLP, "--entry", "training_step", "--shape", "4", "--in-process", "x=ones", "t=ones", "w=ones",
                      "rate=0.5", "B=6", "D=3", "F=2", cwd=folder)
    expect(done.code == 0 and done.stdout == alone.stdout, done, alone)


def one_stops(tools, folder):
    """All end, with the part and the line, and nothing is written."""
    (folder / "quotient.ptl").write_text(QUOTIENT)
    np.save(folder / "a.npy", np.arange(8, dtype=np.int32))
    np.save(folder / "b.npy", np.array([1, 1, 1, 1, 0, 1, 1, 1], np.int32))
    said = []
    # Compiled code stops, too, and the reference executor says why.
    for way in ([], ["--target", "cpu"], ["--target", "reference"], ["--in-process", "--target", "cpu"]):
        done = tools.run("run", "quotient.ptl", "--entry", "quotient", "--shape", "chip=4", *way, "a=@a.npy", "b=@b.npy", "-o", "y=y.npy",
                         cwd=folder)
        expect(done.code == 5 and "chip 2" in done.stderr and "quotient.ptl:2:" in done.stderr, way, done)
        expect(not (folder / "y.npy").exists())
        said.append(done.stderr)
    expect(said == said[:1] * len(said), said)


def compiled_alike(tools, folder):
    """Parts that are compiled have the same bits in one process and on ranks, on any number of threads; rows go by chunks beside products."""
    draw = np.random.default_rng(7).standard_normal
    arrays = {name: draw(shape).astype(np.float32) for name, shape in
              {"x": (301, 96), "w_gate": (96, 210), "w_up": (96, 210), "w_down": (210, 96)}.items()}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    hidden = arrays["x"].astype(np.float64) @ arrays["w_gate"]
    expected = (hidden / (1 + np.exp(-hidden)) * (arrays["x"].astype(np.float64) @ arrays["w_up"])) @ arrays["w_down"]
    for entry in ("tensor_parallel", "sequence_parallel"):
        first = None
        for way in (["--in-process"], [], ["-j", "1"], ["-j", "3"]):
            done = tools.run("run", MLP, "--entry", entry, "--shape", "chip=3", "--target", "cpu", *way, *arguments(arrays), "-o", "y=y.npy", cwd=folder)
            expect(done.code == 0, entry, way, done)
            y = np.load(folder / "y.npy")
            expect(np.allclose(y, expected, rtol=1e-4, atol=1e-3), entry, way)
            first = y if first is None else first
            expect(np.array_equal(y, first), entry, way)


def no_standard_input(tools, folder):
    numbers(folder, x=(5, 3))
    done = tools.run("run", "-", "--entry", "stdin", "--shape", "chip=2", "x=@x.npy", cwd=folder, stdin="""
pub program stdin[N, M](x: f32[N, M] over chip by N) -> (y: f32[N, M] over chip by N) at host {
    y = x + x
}
""")
    expect(done.code == 2 and "MPI ranks cannot read standard input" in done.stderr, done)


def has_mpi(build):
    return shutil.which("mpirun") and (build / "lib/libptl-mpi.so").exists()


def run_tests(kind, build, tests, at_once=None):
    if not has_mpi(build):
        print("skipped: there is no MPI (libopenmpi-dev, openmpi-bin), or ptlc was built without it")
        return 77
    tools = Tools(build).in_processes()
    return run_cases(kind, in_folders(kind, tests, lambda test, folder: test(tools, folder)), at_once)


if __name__ == "__main__":
    sys.exit(run_tests("ranks", pathlib.Path(sys.argv[1]), [agrees_with_numpy, moves_large_arrays, own_ranges, mpirun_by_hand, processors_differ, says_what_computes, printed_once, one_stops, compiled_alike, no_standard_input]))
