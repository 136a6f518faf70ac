"""Seeds faults into every kernel of the examples and of tests/chips, as compiled for chips, and says how many the prover finds:
`mutate.py BUILD_FOLDER [--seconds N] [--targets a2,a3,a5] [--json OUT] [NAME ...]`. Exits with 1 if a fault that changes some execution
is not found. What takes longer than the limit (600 s a kernel) is said to be left out, and counts as not found.
`--prove N`: seeds nothing, but says for each file how long the proofs of its kernels take, the shortest of N runs of each."""

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


def prove(tool, text, folder, runs):
    """What a proof says of itself, with the time of the shortest of some runs."""
    file = folder / "kernel.mlir"
    file.write_text(text)
    results = [subprocess.run([tool, "--prove", str(file)], capture_output=True, text=True) for _ in range(runs)]
    return min((json.loads(run.stdout) for run in results), key=lambda result: result["milliseconds"])


def proof_times(paths, options, tool, ptlc, folder):
    """A row of a table for each file and target."""
    missed = 0
    print("| Kernels of | Chip | Kernels | Executions | Operations in all | Milliseconds | The longest |\n|---|---|---|---|---|---|---|")
    for path in paths:
        for target in options.targets.split(","):
            texts = {text for entry in CALLABLE.findall(path.read_text()) for text in emit(ptlc, path, entry, target)}
            results = [prove(tool, text, folder, options.prove) for text in sorted(texts)]
            missed += sum(not result["proved"] for result in results)
            times = [result["milliseconds"] for result in results]
            if results:
                counts = [sum(result[key] for result in results) for key in ("instances", "events")]
                print(f"| `{path.stem}` | {target} | {len(results)} | {counts[0]:,} | {counts[1]:,} | {sum(times):.1f} | {max(times):.1f} |", flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--targets", default="a2,a3,a5")
    parser.add_argument("--json")
    parser.add_argument("--prove", type=int, metavar="N")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    bin_folder = pathlib.Path(options.build).resolve() / "bin"
    folder = pathlib.Path(tempfile.mkdtemp())
    paths = sorted((ROOT / "examples").glob("*.ptl")) + sorted((ROOT / "tests/chips").glob("*.ptl"))
    if options.names:
        paths = [path for path in paths if any(name in path.stem for name in options.names)]
    if options.prove:
        missed = proof_times(paths, options, str(bin_folder / "ptl-mutate"), str(bin_folder / "ptlc"), folder)
        os.unlink(folder / "kernel.mlir")
        os.rmdir(folder)
        return missed != 0
    rows, known, missed, late, start = [], set(), 0, 0, time.monotonic()
    for path in paths:
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
