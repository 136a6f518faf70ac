"""The values that commands are given, and those that messages name when a program stops. `command_values.py BUILD`."""
import decimal
import pathlib
import sys

import numpy

from harness import Tools, expect, in_folders, run_cases

STOPS = """kernel asserts[N](x: f32[N], n: int) -> (y: f32[N])
{
    assert(n < 4, "n is too large")
    parallel r in tiles(N, 4) { y[r] = x[r] }
}

kernel bounds[N](x: f32[N], n: int) -> (y: f32[N])
{
    parallel r in tiles(N, 4) { y[r] = x[r] + x[n] }
}

kernel requires[N](x: f32[N], n: int) -> (y: f32[N])
where n < 4
{
    parallel r in tiles(N, 4) { y[r] = x[r] }
}

program steps[N](x: f32[N], n: int) -> (y: f32[1])
{
    y[0] = sum(x[n:5:5])
}

program ranges[N](x: f32[N], n: int) -> (y: f32[1])
{
    y[0] = sum(x[n..5])
}

program filled[N](x: f32[N], n: int) -> (y: f32[1])
{
    y[0] = sum(zeros(f32[N - n]))
}

program repeated[N](x: f32[N], n: int) -> (y: f32[1])
{
    y[0] = sum(broadcast(x[0:1], [N - n]))
}

program counted[N](x: f32[N], n: int) -> (y: f32[1])
{
    y[0] = f32(sum(index(N - n)))
}

program padded[N](x: f32[N], n: int) -> (y: f32[1])
{
    y[0] = sum(pad(x, before: [N - n], value: 1.0))
}

program stepping[N](x: f32[N], n: int) -> (y: f32[1])
{
    var total = 0.0
    for i in 0..N step 9 - n { total += x[i] }
    y[0] = total
}

kernel cut[N](x: f32[N], n: int) -> (y: f32[1])
{
    parallel _i in 0..1 {
        var total = 0.0
        for r in tiles(N, 9 - n) { total += f32(r.start) }
        y[0] = total + x[0]
    }
}

kernel divided[N](x: f32[N], n: int) -> (y: f32[N])
{
    parallel r in tiles(N, 4) { y[r] = x[r] * f32(N / (9 - n) + N % (9 - n) + cdiv(N, 9 - n)) }
}
"""
NUMBERS = """const HEADS = 4

kernel doubled[N, T: float](x: T[N], n: int) -> (y: T[N])
tune B = 64
{
    parallel r in tiles(N, B) { y[r] = x[r] * T(n) * T(HEADS) }
}

test "doubled" { expect(true) }
"""


def stopped_programs(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "stops.ptl").write_text(STOPS)
    wanted = {
        "asserts": (3, "n is too large: `n` is 9"),
        "bounds": (9, "9 is outside of 0..8"),
        "requires": (13, "`n < 4`: `n` is 9"),
        # Neither is empty, though no position is left.
        "steps": (20, "a slice ends at 5, before its start 9"),
        "ranges": (25, "a slice ends at 5, before its start 9"),
        "filled": (30, "the extent `N - n` is -1"),
        "repeated": (35, "the extent `N - n` is -1"),
        "counted": (40, "the extent `N - n` is -1"),
        "padded": (45, "`pad` by a negative number of elements"),
        "stepping": (51, "the step of a range is 0"),
        "cut": (59, "the size of a tile is 0"),
    }
    for target in ("cpu", "reference"):
        for entry, (line, reason) in wanted.items():
            command = ["run", "stops.ptl", "--entry", entry, "--target", target, "--diagnostics=short"]
            command += ["x=random()", "N=8"]
            outcome = tools.run(*command, "n=9", cwd=folder)
            expect(outcome.code == 5, command, outcome)
            expect(outcome.stderr.startswith(f"stops.ptl:{line}:"), command, outcome)
            expect(reason in outcome.stderr and f"`{entry}`" in outcome.stderr, command, outcome)
            expect(tools.run(*command, "n=3", cwd=folder).code == 0, command, "3 is allowed")
    divided = ["run", "stops.ptl", "--entry", "divided", "x=random()", "N=8", "n=9"]
    expect(tools.run(*divided, cwd=folder).code == 0, "a division by zero gives some number")
    for target in (("reference",), ("a2", "--sim"), ("a5", "--sim")):
        stopped = tools.run(*divided, "--target", *target, cwd=folder)
        expect(stopped.code == 5 and "division by zero" in stopped.stderr, target, stopped)
    for entry, reason in (("stepping", "the step of a range is 0"), ("cut", "the size of a tile is 0")):
        stopped = tools.run("run", "stops.ptl", "--entry", entry, "x=random()", "N=8", "n=9", "--target", "a2", "--sim", cwd=folder)
        expect(stopped.code == 5 and reason in stopped.stderr, entry, stopped)
    expect(tools.run("run", "stops.ptl", "--entry", "asserts", cwd=folder).code == 1, "arguments are missing")
    expect(tools.run("run", "stops.ptl", "--entry", "nothing", cwd=folder).code == 1)
    expect(tools.run("run", cwd=folder).code == 2)
    expect(tools.run("run", "stops.ptl", "--unknown", cwd=folder).code == 2)
    # A device is not here; the simulated chip stops as the others do.
    expect(tools.run("run", "stops.ptl", "--target", "a3", cwd=folder).code == 3)
    for entry in ("requires", "filled", "repeated", "counted", "padded"):
        simulated = ["run", "stops.ptl", "--entry", entry, "--target", "a3", "--sim", "x=random()", "N=8", "n=9"]
        expect(tools.run(*simulated, cwd=folder).code == 5, simulated)


def values_of_conditions(tools: Tools, folder: pathlib.Path) -> None:
    (folder / "values.ptl").write_text("""fn third[N](x: f32[N], i: i32) -> f32
where N <= 64
{
    assert(i > 2 or N == 3)
    return x[2]
}
program calls[N](x: f32[N], i: i32) -> (y: f32[N])
where N > 2
{
    y[..] = x + third(x, i)
}
kernel k[N](x: f32[N], n: int, t: f32) -> (y: f32[N])
where N <= 100
{
    assert(n + N < 100, "{0} braces")
    assert(t < 1.0 and N != 7)
    parallel r in tiles(N, 4) {
        assert(r.start < 6)
        y[r] = x[r]
    }
}
""")
    wanted = {
        ("--entry=calls", "N=9", "i=1"): "`i > 2 or N == 3` does not hold: `i` is 1, `N` is 9",
        ("--entry=calls", "N=70", "i=7"): "`third` needs `N <= 64`: `N` is 70",
        ("n=3", "N=200", "t=0"): "`N <= 100`: `N` is 200",
        ("n=3", "N=98", "t=0"): "{0} braces: `n + N` is 101, `n` is 3, `N` is 98",
        ("n=3", "N=8", "t=2.5"): "`t < 1.0 and N != 7` does not hold: `t` is 2.5, `N` is 8",
        ("n=3", "N=12", "t=0"): "`r.start < 6` does not hold: `r.start` is 8",
    }
    for target in ("cpu", "reference"):
        for values, reason in wanted.items():
            command = ["run", "values.ptl", "--target", target, "x=random()"]
            command += [] if values[0].startswith("--entry") else ["--entry=k"]
            outcome = tools.run(*command, *values, cwd=folder)
            expect(outcome.code == 5 and reason in outcome.stderr, target, values, outcome)


def tunables_given(tools: Tools, folder: pathlib.Path) -> None:
    """A tunable that decides a value has the value of `-D` on every executor."""
    (folder / "blocks.ptl").write_text("""kernel counted[N](x: f32[N]) -> (y: i32[1] = 0)
where B <= 8
tune B = 4, TWICE: bool = false, C: [1, 2] = 1
{
    parallel i in tiles(N, B) {
        atomic y[0] += 1
        static if TWICE { for j in tiles(i, C) { atomic y[0] += i32(sum(x[j]), round: .even) } }
    }
}
""")
    for target in (("cpu",), ("reference",), ("a3", "--sim")):
        for given, wanted in (((), 3), (("-D", "B=2"), 5), (("-D", "counted.B=1", "-D", "counted.TWICE=1"), 18)):
            command = ["run", "blocks.ptl", "--target", *target, "x=ones", "N=9", "-o", "y=y.npy", *given]
            outcome = tools.run(*command, cwd=folder)
            expect(outcome.code == 0 and numpy.load(folder / "y.npy")[0] == wanted, command, outcome)
        for given, reason in (("B=0", "`0` is not a value for it"), ("C=3", "`3` is not in its domain"), ("B=9", "`B <= 8`")):
            wrong = tools.run("run", "blocks.ptl", "--target", *target, "x=ones", "N=9", "-D", given, cwd=folder)
            expect(wrong.code in (1, 5) and reason in wrong.stderr, target, given, wrong)


def scalars_given(tools: Tools, folder: pathlib.Path) -> None:
    """A number is the value of its parameter, to the last one that the type has, or it is refused."""
    for elem, fine, wrong in (
        ("u64", (0, 2**63, 2**64 - 1), (-1, 2**64, "1.5")),
        ("i64", (-(2**63), 2**63 - 1, "1e3", "9007199254740993.0"), (2**63, -(2**63) - 1, "1e19", "9223372036854775807.5")),
        ("int", (-(2**63), 2**63 - 1), (2**63, "0.5")),
        ("u8", (0, 255), (-1, 256)),
        ("i8", (-128, 127), (-129, 128)),
        ("bool", ("true", 0, 1), (2, -1)),
    ):
        stored = "i64" if elem == "int" else elem
        (folder / "given.ptl").write_text(f"pub program given(s: {elem}) -> (y: {stored}[1]) {{ y = full({stored}[1], {'i64(s)' if elem == 'int' else 's'}) }}\n")
        for given in fine:
            done = tools.run("run", "given.ptl", f"s={given}", "-o", "y=y.npy", cwd=folder)
            wanted = True if given == "true" else int(decimal.Decimal(given)) if isinstance(given, str) else given
            expect(done.code == 0 and int(numpy.load(folder / "y.npy")[0]) == wanted, elem, given, done)
        for given in wrong:
            done = tools.run("run", "given.ptl", f"s={given}", cwd=folder)
            expect(done.code == 1 and "is not a value of" in done.stderr, elem, given, done)


def numbers(tools: Tools, folder: pathlib.Path) -> None:
    """Half of a number is never taken for it: the text that is wrong is named, whichever option it stands in."""
    (folder / "n.ptl").write_text(NUMBERS)
    run = ["run", "n.ptl", "--entry", "doubled"]
    lone = "9223372036854775808"
    wrong = {
        # what `-D` gives, with and without an entry, to a constant, a dimension, a tunable and an element type
        "12x": [["check", "--cost", "n.ptl", "--target", "a3", "-D", "N=12x"], ["check", "n.ptl", "-D", "HEADS=12x"],
                [*run, "x=ones", "N=4", "n=1", "-D", "B=12x"], ["sim", "n.ptl", "--target", "a3", "-D", "N=12x"],
                ["build", "n.ptl", "--emit=tile", "-o", "-", "-D", "doubled.T=12x"], ["tune", "n.ptl", "--target", "a3", "-D", "N=64,12x"],
                # arguments
                [*run, "x=ones", "N=12x", "n=1"], [*run, "x=ones", "N=4", "n=12x"], [*run, "x=random(seed: 12x)", "N=4", "n=1"],
                # options
                *([*run, option, "12x", "x=ones", "N=4", "n=1"] for option in ("--seed", "-j", "--threads", "--patience", "--shape", "--error-limit")),
                ["run", "n.ptl", "-O12x"], ["test", "n.ptl", "--samples", "12x"], ["debug", "n.ptl", "--seed=12x"],
                ["tune", "n.ptl", "--budget", "12x"], ["check", "n.ptl", "--cost", "--budget=12x"], ["check", "n.ptl", "--rounds=12x"],
                ["sim", "n.ptl", "--found-pages", "12x"], ["mcp", "--port", "12x"], ["sim", "n.ptl", "--target", "cloudmatrix384", "--entry", "doubled", "--shape", "chip=12x"]],
        lone: [["check", "n.ptl", "-D", f"HEADS={lone}"], [*run, "--seed", lone, "x=ones", "N=4", "n=1"], [*run, "x=ones", f"N={lone}", "n=1"]],
        "-1": [["test", "n.ptl", "--samples", "-1"], [*run, "--patience=-1", "x=ones", "N=4", "n=1"]],
        "65536": [["mcp", "--port", "65536"]],
        "4294967297": [["test", "n.ptl", "--samples", "4294967297"]],
        "": [["check", "n.ptl", "-D", "HEADS="], ["test", "n.ptl", "--samples="]],
        "f32": [["check", "n.ptl", "-D", "N=f32"], ["check", "n.ptl", "-D", "HEADS=f32"]],
        "8": [["check", "n.ptl", "-D", "T=8"]],
    }  # fmt: skip
    for text, calls in wrong.items():
        for call in calls:
            outcome = tools.run(*call, cwd=folder)
            expect(outcome.code in (1, 2) and text in outcome.stderr and not outcome.stdout, call, outcome)
    right = [["check", "n.ptl", "-D", "HEADS=8", "-D", "N=4", "-D", "T=f32", "-D", "doubled.B=32"],
             ["check", "n.ptl", "-D", "HEADS"], [*run, "x=ones", "N=4", "n=-3", "--seed", "0", "-j", "0"]]  # fmt: skip
    for call in right:
        outcome = tools.run(*call, cwd=folder)
        expect(outcome.code == 0 and not outcome.stderr, call, outcome)
    # A module of the block level names its arguments itself.
    blocks = tools.run("build", "n.ptl", "--target", "a3", "--emit=block", "-o", "-", "-D", "doubled.T=f32", cwd=folder)
    (folder / "n.pto").write_text(blocks.stdout)
    outcome = tools.run("sim", "n.pto", "--target", "a3", "N=12x", cwd=folder)
    expect(outcome.code != 0 and "`N=12x` is not NAME=NUMBER" in outcome.stderr, outcome)
    # The environment is asked last, and work goes on without what it says.
    for name in ("PTL_NUM_THREADS", "PTL_STREAM_BYTES"):
        outcome = tools.run(*run, "x=ones", "N=4", "n=1", cwd=folder, env={name: "12x"})
        expect(outcome.code == 0 and f"{name}=12x is ignored" in outcome.stderr, name, outcome)
    outcome = tools.run("cache", cwd=folder, env={"PTL_CACHE": str(folder / "kept"), "PTL_CACHE_LIMIT": "12x"})
    expect("PTL_CACHE_LIMIT=12x is ignored" in outcome.stderr, outcome)
    outcome = tools.run(*run, "--shape", "chip=2", "x=ones", cwd=folder, env={"OMPI_COMM_WORLD_SIZE": "2x"})
    expect(outcome.code != 0 and ("2x" in outcome.stderr or "libptl-mpi" in outcome.stderr), outcome)
    outcome = tools.run("--port", "12x", binary="ptl-lsp")
    expect(outcome.code == 2 and "`--port 12x`" in outcome.stderr, outcome)
    outcome = tools.run("debug", "n.ptl", cwd=folder, stdin="break 12x\nquit\n")
    expect("`12x` is not the number of a line" in outcome.stdout, outcome)


TESTS = [stopped_programs, values_of_conditions, tunables_given, scalars_given, numbers]


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1])).in_processes()
    return run_cases("command_values", in_folders("command_values", TESTS, lambda test, folder: test(tools, folder)))


if __name__ == "__main__":
    sys.exit(main())
