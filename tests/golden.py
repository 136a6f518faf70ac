#!/usr/bin/env python3
"""Golden tests: `tests/<phase>/<feature>.ptl` (or `.mlir`) with the expected output in `<feature>.out`.

The first lines of a test say what to run:
    // ARGS: check --diagnostics=short %s
runs `ptlc` (for `.mlir`: `ptl-opt`, for `.pto`: `ptl-translate`) in the folder of the test; `%s` is the test file, `%t` an empty folder. Several lines run
one after the other. The `.out` file holds standard output, then `[stderr]` and `[exit N]` sections where there is
something to say. `--update` writes the present output; review the difference like any other change.

A golden answers one question, and a person can read it. A command that asks something else than the others has a name:
    // ARGS[pto_a3]: build --target a3 --emit=pto -o - %s
writes its output into `<feature>.pto_a3.out`. An output that is too long for one file is cut into several, anywhere in the test:
    // PART[pto_a3] vector: func.func @matmul_aiv
What begins with the next line that contains the text `func.func @matmul_aiv` is in `<feature>.pto_a3.vector.out`, up to the next part of `pto_a3`.
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
ARGS = re.compile(r"// ARGS(?:\[(\w+)\])?: (.*)$")
PART = re.compile(r"^// PART\[(\w+)\] (\w+): (.+)$", re.M)


def commands_of(path: pathlib.Path) -> list[tuple[str, str]]:
    """What to run, in order: the name of the question (empty for that of the whole test), and the arguments."""
    commands = []
    for line in path.read_text(errors="replace").splitlines():
        match = ARGS.match(line)
        if not match:
            break
        commands.append((match[1] or "", match[2]))
    return commands


def parts_of(path: pathlib.Path, question: str) -> list[tuple[str, str]]:
    """How the output for `question` is cut: the name of each part, and the text in its first line."""
    return [(part, text) for name, part, text in PART.findall(path.read_text(errors="replace")) if name == question]


def outputs_of(path: pathlib.Path) -> list[pathlib.Path]:
    """The files beside the test that hold what it prints."""
    names = []
    for question in dict.fromkeys(name for name, _ in commands_of(path)):
        stem = f"{path.stem}.{question}" if question else path.stem
        names += [stem] + [f"{stem}.{part}" for part, _ in parts_of(path, question)]
    return [path.with_name(name + ".out") for name in names]


def cut(text: str, parts: list[tuple[str, str]]) -> list[str]:
    """`text` as one piece more than there are parts; empty from the first part on whose mark is missing."""
    pieces, lines = [], text.splitlines(keepends=True)
    begin = 0
    for _, mark in parts:
        # A piece that has begun holds at least its first line, so that a mark may be repeated.
        end = next((i for i in range(begin + 1, len(lines)) if mark in lines[i]), len(lines))
        pieces.append("".join(lines[begin:end]))
        begin = end
    return pieces + ["".join(lines[begin:])]


def render(outcome) -> str:
    text = outcome.stdout
    if text and not text.endswith("\n"):
        text += "\n[no line end]\n"
    if outcome.stderr:
        text += "[stderr]\n" + outcome.stderr
    if outcome.code:
        text += f"[exit {outcome.code}]\n"
    return text


def actual_outputs(tools: Tools, path: pathlib.Path) -> dict[pathlib.Path, str]:
    """What each of `outputs_of` has to hold."""
    texts: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for question, command in commands_of(path):
            words = [w.replace("%s", path.name).replace("%t", folder) for w in shlex.split(command)]
            outcome = tools.run(*words, cwd=path.parent, binary=BINARY[path.suffix])
            text = render(outcome).replace(folder, "%t").replace(str(ROOT), "%root")
            texts[question] = texts.get(question, "") + text
    pieces = [piece for question, text in texts.items() for piece in cut(text, parts_of(path, question))]
    return dict(zip(outputs_of(path), pieces, strict=True))


def golden_case(tools: Tools, path: pathlib.Path, update: bool) -> Case:
    name = str(path.relative_to(ROOT))

    def run():
        differences = []
        for expected_path, actual in actual_outputs(tools, path).items():
            if not actual and expected_path.stem.count(".") == 2:
                differences.append(f"{expected_path.name}: no line of the output contains the text with which this part begins")
                continue
            expected = expected_path.read_text(errors="replace") if expected_path.exists() else ""
            if actual == expected and expected_path.exists():
                continue
            if update:
                expected_path.write_text(actual)
            else:
                differences.append(difference(expected, actual, str(expected_path.relative_to(ROOT))))
        if not differences:
            return None
        commands = "\n".join(f"  {tools.path(BINARY[path.suffix])} {c}" for _, c in commands_of(path))
        rerun = f"run it (in {path.parent.relative_to(ROOT)}):\n{commands}\naccept it: ./dev update-goldens {name}"
        return "\n".join([*differences, rerun])

    return Case(name, run)


def tests() -> list[pathlib.Path]:
    return [p for suffix in BINARY for p in sorted(TESTS.rglob("*" + suffix)) if commands_of(p)]


def stray_outputs() -> list[Case]:
    """An `.out` file whose test is gone checks nothing."""
    known = {output for path in tests() for output in outputs_of(path)}
    stray = [p for p in sorted(TESTS.rglob("*.out")) if p.parent.name != "explain" and p not in known]
    return [Case(str(p.relative_to(ROOT)), lambda: "no test beside this output writes it") for p in stray]


def golden_cases(tools: Tools, update: bool) -> list[Case]:
    return [golden_case(tools, path, update) for path in tests()] + stray_outputs()


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
