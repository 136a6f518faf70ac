"""Manual kernels on the simulators of chips: each gives what the program beside it gives on the CPU, is proved, is written as text that
is accepted and written as itself again, and the prover finds the faults that `ptl-mutate` seeds into it."""

import json
import pathlib
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from explicit import renamed_difference  # noqa: E402
from harness import ROOT, Case, Tools, run_cases  # noqa: E402

COMPARE = re.compile(r"^// COMPARE: (\w+) (\w+) (.*)$", re.M)
CLAUSE = re.compile(r"\bfor ((?:\w+, )*\w+)$", re.M)
OUTPUT = re.compile(r"-> \((\w+):")


def run_entry(tools, path, entry, arguments, name, *options):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npy"
        done = tools.run("run", path, "--entry", entry, *arguments, "-o", f"{name}={out}", *options)
        if done.code != 0:
            return None, f"{entry} {' '.join(options)}: exit code {done.code}\n{done.stderr}"
        return np.load(out), None


def result_case(tools, path, machine, entry, expected, arguments):
    def run():
        name = OUTPUT.search(path.read_text()).group(1)
        wanted, problem = run_entry(tools, path, expected, arguments, name)
        if problem:
            return problem
        found, problem = run_entry(tools, path, entry, arguments, name, "--target", machine, "--sim")
        if problem:
            return problem
        if not np.allclose(found, wanted, rtol=1e-3, atol=1e-4):
            return f"differs by up to {np.abs(found.astype(np.float64) - wanted).max()}"
        return None

    return Case(f"manual/{path.stem}.{machine}", run)


def mutation_case(tools, path, machine, entry):
    def run():
        built = tools.run("build", path, "--entry", entry, "--target", machine, "--emit=block", "-o", "-")
        if built.code != 0:
            return f"exit code {built.code}\n{built.stderr}"
        with tempfile.TemporaryDirectory() as folder:
            block = pathlib.Path(folder) / "block.mlir"
            block.write_text(built.stdout)
            done = tools.run(block, binary="ptl-mutate")
        if done.code != 0:
            return done.stdout + done.stderr
        summary = json.loads(done.stdout)
        return None if summary["proved"] and summary["killed"] > 10 else done.stdout

    return Case(f"manual/{path.stem}.{machine}.mutants", run)


# Its text has the waits at the end of each point, since both kinds of cores leave events set there.
GROWS = "ahead"


def text_case(tools, path, machine, entry):
    """What is added when a kernel is compiled, such as waits for events that are left set, is not in its text, which would have it twice."""

    def run():
        lower = ("lower", "--to", "manual", "--target", machine, "--entry", entry, "--diagnostics=short")
        given = tools.run(*lower, path)
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "lowered.ptl"
            text.write_text(given.stdout)
            checked = tools.run("check", "--diagnostics=short", text)
            again = tools.run(*lower, text)
        for each in (given, checked, again):
            if each.code or each.stderr:
                return f"{each.stderr}\n{given.stdout}"
        return renamed_difference(given.stdout, again.stdout) if path.stem != GROWS else None

    return Case(f"manual/{path.stem}.{machine}.text", run)


# Entries of the language's tests whose text is accepted, though it is not the same when it is written out again.
ACCEPTED = (
    ("appended", "decode"),  # a length has another name where it is computed
    ("arrays", "row_sums"),  # only strides name a dimension
    ("few_rounds", "counted"),  # sums that kernels know as numbers
    ("few_rounds", "by_channel"),  # numbers of matrices in an array of several axes
    ("folds", "step", "step...=1"),  # a promise about a function
    ("indexing", "turned_in_tiles", "turned_in_tiles.C=512"),  # rows at places that data decide
    ("recurrences", "selective_any"),  # a result that only rounds of a loop write
    ("recurrences", "reread"),  # and one that they read, too
    ("slots", "counted"),  # arguments on lines of their own
    ("carried", "in_fields"),  # results that nobody reads
    ("carried", "in_a_while"),  # a condition that takes statements
)


def accepted_case(tools, name, entry, *values):
    def run():
        path = ROOT / "tests/language" / f"{name}.ptl"
        defines = [word for value in values for word in ("-D", value)]
        given = tools.run("lower", "--to", "manual", "--target", "a3", "--entry", entry, path, "--diagnostics=short", *defines)
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "lowered.ptl"
            text.write_text(given.stdout)
            checked = tools.run("check", "--diagnostics=short", text)
        return given.stderr + checked.stderr or None

    return Case(f"manual/{name}.{entry}.text", run)


def cases(tools):
    for path in sorted((ROOT / "tests/manual").glob("*.ptl")):
        text = path.read_text()
        entry, expected, arguments = COMPARE.search(text).groups()
        arguments = arguments.split()
        machines = CLAUSE.search(text).group(1).split(", ")
        for machine in machines:
            yield result_case(tools, path, machine, entry, expected, arguments)
            yield text_case(tools, path, machine, entry)
        yield mutation_case(tools, path, machines[0], entry)
    for name, entry, *values in ACCEPTED:
        yield accepted_case(tools, name, entry, *values)


if __name__ == "__main__":
    sys.exit(run_cases("manual", list(cases(Tools(pathlib.Path(sys.argv[1]))))))
