"""Programs on arrays of NumPy, which not every test has."""

import tempfile

import numpy as np

from harness import Tools


def run_on_arrays(tools: Tools, file, entry, inputs, outputs, how=()):
    """Runs a program as its users do, with arrays in files: the results by name, or the `Outcome` of a run that failed.

    `inputs`: arrays, scalars and lengths by name; `how`: further options, such as the target.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for name, value in inputs.items():
            if isinstance(value, np.ndarray):
                np.save(f"{folder}/{name}.npy", value)
                value = f"@{folder}/{name}.npy"
            words.append(f"{name}={value}")
        for name in outputs:
            words += ["-o", f"{name}={folder}/{name}.out.npy"]
        outcome = tools.run("run", file, "--entry", entry, "--convert", *how, *words)
        if outcome.code != 0:
            return outcome
        return {name: np.load(f"{folder}/{name}.out.npy") for name in outputs}
