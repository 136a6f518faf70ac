"""Seeds faults into every kernel of the examples and of tests/chips, as compiled for chips, and says how many the prover finds:
`mutate.py BUILD_FOLDER [--seconds N] [--targets a2,a3,a5] [--json OUT] [NAME ...]`. Exits with 1 if a fault that changes some execution
is not found. What takes longer than the limit (600 s a kernel) is said to be left out, and counts as not found."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALLABLE = re.compile(r"^(?:pub )?(?:manual )?(?:kernel|program) (\w+)", re.M)
# What the compiler proposes for an entry that leaves something open.
DEFINE = re.compile(r"-D ((?:\w|\.)+=\w+)")


def emit(ptlc, path, entry, target):
    """The modules of an entry, one for each kernel; nothing for what a chip refuses."""
    command = [ptlc, "build", str(path), "--entry", entry, "--target", target, "--emit=block"]
    defines = []
    for _ in range(8):
        run = subprocess.run(command + defines, capture_output=True, text=True, cwd=ROOT)
        if run.returncode == 0:
            return ["module" + text for text in re.split(r"^module\b", run.stdout, flags=re.M)[1:]]
        found = [define for define in DEFINE.findall(run.stderr) if define not in defines]
        if not found:
            return []
        for define in found:
            name, _, value = define.partition("=")
            defines += ["-D", define if not value.isdigit() else f"{name}=64"]
    return []


def mutate(tool, text, folder, seconds):
    file = folder / "kernel.mlir"
    file.write_text(text)
    try:
        run = subprocess.run([tool, str(file)], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--targets", default="a2,a3,a5")
    parser.add_argument("--json")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    bin_folder = pathlib.Path(options.build).resolve() / "bin"
    folder = pathlib.Path(tempfile.mkdtemp())
    paths = sorted((ROOT / "examples").glob("*.ptl")) + sorted((ROOT / "tests/chips").glob("*.ptl"))
    rows, known, missed, late, start = [], set(), 0, 0, time.monotonic()
    for path in paths:
        if options.names and not any(name in path.stem for name in options.names):
            continue
        for entry in CALLABLE.findall(path.read_text()):
            for target in options.targets.split(","):
                for number, text in enumerate(emit(str(bin_folder / "ptlc"), path, entry, target)):
                    if text in known:
                        continue
                    known.add(text)
                    result = mutate(str(bin_folder / "ptl-mutate"), text, folder, options.seconds)
                    name = f"{path.stem}.{entry}.{number} {target}"
                    if not result:
                        late += 1
                        print(f"{name:52} longer than {options.seconds:g} s", flush=True)
                        continue
                    counts = [result.get(key, 0) for key in ("killed", "harmless", "survived")]
                    missed += counts[2] + (not result["proved"])
                    rows.append({"kernel": name, **result})
                    print(f"{name:52} {'' if result['proved'] else 'NOT PROVED '}"
                          f"killed {counts[0]:5} harmless {counts[1]:5} survived {counts[2]}", flush=True)
                    for mutant in result.get("mutants", []):
                        print("    " + mutant["change"], flush=True)
    killed, harmless, another, survived = (
        sum(row.get(key, 0) for row in rows) for key in ("killed", "harmless", "another", "survived")
    )
    print(f"{len(rows)} kernels in {time.monotonic() - start:.0f} s: {killed} faults found, {survived} not; {harmless} changes "
          f"of no consequence, {another} that make another program; {late} kernels left out")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))
    os.unlink(folder / "kernel.mlir")
    os.rmdir(folder)
    return missed != 0 or late != 0


if __name__ == "__main__":
    sys.exit(main())
