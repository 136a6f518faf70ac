#!/usr/bin/env python3
"""Golden tests: `tests/<phase>/<feature>.ptl` (or `.mlir`) with the expected output in `<feature>.out`.

The first lines of a test say what to run:
    // ARGS: check --diagnostics=short %s
runs `ptlc` (for `.mlir`: `ptl-opt`, for `.pto`: `ptl-translate`) in the folder of the test; `%s` is the test file, `%t` an empty folder. Several lines run
one after the other. The `.out` file holds standard output, then `[stderr]` and `[exit N]` sections where there is
something to say. `--update` writes the present output; review the difference like any other change.
"""
import argparse
import pathlib
import re
import shlex
import sys
import tempfile

import documents
import explain
import explicit
import language
import round_trip
from harness import ROOT, Case, Tools, difference, run_cases

TESTS = ROOT / "tests"
BINARY = {".ptl": "ptlc", ".mlir": "ptl-opt", ".pto": "ptl-translate"}
ARGS = re.compile(r"^// ARGS: (.*)$", re.M)


def commands_of(path: pathlib.Path) -> list[str]:
    with open(path, "rb") as source:
        head = source.read(4096).decode(errors="replace")
    commands = []
    for line in head.splitlines():
        match = ARGS.match(line)
        if not match:
            break
        commands.append(match.group(1))
    return commands


def render(outcome) -> str:
    text = outcome.stdout
    if text and not text.endswith("\n"):
        text += "\n[no line end]\n"
    if outcome.stderr:
        text += "[stderr]\n" + outcome.stderr
    if outcome.code:
        text += f"[exit {outcome.code}]\n"
    return text


def actual_output(tools: Tools, path: pathlib.Path) -> str:
    text = ""
    with tempfile.TemporaryDirectory() as folder:
        for command in commands_of(path):
            words = [w.replace("%s", path.name).replace("%t", folder) for w in shlex.split(command)]
            outcome = tools.run(*words, cwd=path.parent, binary=BINARY[path.suffix])
            text += render(outcome).replace(folder, "%t").replace(str(ROOT), "%root")
    return text


def golden_case(tools: Tools, path: pathlib.Path, update: bool) -> Case:
    name = str(path.relative_to(ROOT))

    def run():
        expected_path = path.with_suffix(".out")
        actual = actual_output(tools, path)
        expected = expected_path.read_text(errors="replace") if expected_path.exists() else ""
        if actual == expected and expected_path.exists():
            return None
        if update:
            expected_path.write_text(actual)
            return None
        commands = "\n".join(f"  {tools.path(BINARY[path.suffix])} {c}" for c in commands_of(path))
        rerun = f"run it (in {path.parent.relative_to(ROOT)}):\n{commands}\naccept it: ./dev update-goldens {name}"
        return f"{difference(expected, actual, name)}\n{rerun}"

    return Case(name, run)


def stray_outputs() -> list[Case]:
    """An `.out` file whose test is gone checks nothing."""
    cases = []
    for out in sorted(TESTS.rglob("*.out")):
        if out.parent.name == "explain":
            continue
        alone = not any(out.with_suffix(suffix).exists() for suffix in BINARY)
        if alone:
            cases.append(Case(str(out.relative_to(ROOT)), lambda: "there is no test beside this output"))
    return cases


def golden_cases(tools: Tools, update: bool) -> list[Case]:
    paths = [p for suffix in BINARY for p in sorted(TESTS.rglob("*" + suffix)) if commands_of(p)]
    return [golden_case(tools, path, update) for path in paths] + stray_outputs()


KINDS = {
    "golden": golden_cases,
    "explain": explain.cases,
    "explicit": explicit.cases,
    "documents": documents.cases,
    "language": language.cases,
    "round_trip": round_trip.cases,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help="build folder")
    parser.add_argument("--update", action="store_true", help="write the present output")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind")
    parser.add_argument("pattern", nargs="?", default="", help="only tests whose name contains this")
    options = parser.parse_args()
    tools = Tools(options.build)
    status = 0
    for kind in options.kind or KINDS:
        cases = [c for c in KINDS[kind](tools, options.update) if options.pattern in c.name]
        status |= run_cases(kind, cases)
    return status


if __name__ == "__main__":
    sys.exit(main())
