"""The programs of examples/models beside NumPy, on every executor: `models.py BUILD_FOLDER [TEXT ...]`, cases whose names have a TEXT.

Inputs and results come from examples/models/reference.py. Lengths are small and odd, so that the last tiles are short ones.
"""

import importlib.util
import pathlib
import sys

import numpy as np
from harness import ROOT, Case, Outcome, Tools, run_cases
from run_arrays import run_on_arrays

FOLDER = ROOT / "examples" / "models"
TARGETS = ("cpu", "reference", "a2", "a3", "a5")


def references():
    spec = importlib.util.spec_from_file_location("reference", FOLDER / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MODELS


def far(name, got, wanted, tolerance):
    """Says how a result differs, or nothing. Whole numbers are positions, which are equal or wrong."""
    if got.shape != wanted.shape:
        return f"{name}: the shape is {got.shape}, not {wanted.shape}"
    if np.issubdtype(wanted.dtype, np.integer):
        return None if np.array_equal(got, wanted) else f"{name}: {np.sum(got != wanted)} of {wanted.size} positions differ"
    finite = np.isfinite(wanted)
    if not np.array_equal(got[~finite], wanted[~finite]):
        return f"{name}: what is not finite differs"
    size = np.sqrt(np.mean(wanted[finite] ** 2))
    error = np.max(np.abs(got[finite].astype(np.float64) - wanted[finite])) / size
    return None if error <= tolerance else f"{name}: the error is {error:.3g} of the root mean square, more than {tolerance}"


def compare(tools, name, target):
    function, lengths, tolerance = references()[name]
    given, wanted = function(np.random.default_rng(1), **lengths)
    how = ["--target", target, *(["--sim"] if target[0] == "a" else [])]
    results = run_on_arrays(tools, FOLDER / f"{name}.ptl", name, {**lengths, **given}, wanted, how)
    if isinstance(results, Outcome):
        return results.stdout + results.stderr
    faults = [far(key, results[key], np.asarray(value), tolerance) for key, value in wanted.items()]
    return "\n".join(filter(None, faults)) or None


def missing():
    """Every program has a reference, and every reference a program."""
    names = {path.stem for path in FOLDER.glob("*.ptl")}
    return f"without their other half: {sorted(names ^ set(references()))}" if names != set(references()) else None


def main():
    tools, texts = Tools(pathlib.Path(sys.argv[1])), sys.argv[2:]
    cases = [Case(f"models/{name}/{target}", lambda n=name, t=target: compare(tools, n, t)) for name in references() for target in TARGETS]
    cases.append(Case("models/references", missing))
    return run_cases("models", [case for case in cases if not texts or any(text in case.name for text in texts)])


if __name__ == "__main__":
    sys.exit(main())
