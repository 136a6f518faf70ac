"""Programs on whole arrays beside NumPy, on every executor: `whole_arrays.py BUILD_FOLDER [TEXT ...]`, cases whose names have a TEXT.

The passes for chips give such programs other axes, other orders and other instructions than they are written in. Lengths are odd and
small, and 1, so that each of these has a last tile, and none. Beside each file of programs, NAME.ptl, stands NAME.py with its `CASES`: by program, what
gives arguments and wanted results, and the lengths that it is given.
"""

import importlib.util
import pathlib
import sys
import tempfile

import numpy as np
from harness import ROOT, Case, Outcome, Tools, run_cases
from run_arrays import run_on_arrays

FOLDER = ROOT / "tests" / "whole_arrays"
TARGETS = ("cpu", "reference", "a2", "a3", "a5")


def cases_of(path):
    """The cases of a file of programs, by program."""
    spec = importlib.util.spec_from_file_location(f"cases_of_{path.stem}", path.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


def far(name, got, wanted):
    """Says how a result differs, or nothing; sums of reals may be of another order."""
    if got.shape != wanted.shape:
        return f"{name}: the shape is {got.shape}, not {wanted.shape}"
    exact = not np.issubdtype(wanted.dtype, np.floating)
    near = np.array_equal(got, wanted) if exact else np.allclose(got, wanted, rtol=2e-3, atol=2e-3 * max(1, np.abs(wanted).max()))
    return None if near else f"{name}: differs by up to {np.abs(got.astype(np.float64) - wanted).max():.3g}"


def compare(tools, path, name, make, lengths, target):
    rng = np.random.default_rng(1)
    given, wanted = make(lambda *shape: rng.standard_normal(shape).astype(np.float32), *lengths)
    how = ["--target", target, *(["--sim"] if target[0] == "a" else [])]
    results = run_on_arrays(tools, path, name, given, wanted, how)
    if isinstance(results, Outcome):
        return results.stdout + results.stderr
    return "\n".join(filter(None, (far(key, results[key], np.asarray(value)) for key, value in wanted.items()))) or None


def main():
    build, texts = pathlib.Path(sys.argv[1]), sys.argv[2:]
    cases = [
        Case(f"whole_arrays/{name}/{'x'.join(map(str, lengths))}/{target}", lambda p=path, n=name, m=make, s=lengths, t=target: compare(tools, p, n, m, s, t))
        for path in sorted(FOLDER.glob("*.ptl"))
        for name, (make, all_lengths) in cases_of(path).items()
        for lengths in all_lengths
        for target in TARGETS
    ]
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(build).keeping(folder)  # a program is run with arrays of several shapes
        return run_cases("whole_arrays", [case for case in cases if not texts or any(text in case.name for text in texts)])


if __name__ == "__main__":
    sys.exit(main())
