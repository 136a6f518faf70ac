"""The table of support: each operation in each form at each level is compiled for each chip and compared with the reference
executor. `python3 table.py --build build` writes `docs/support.md`; with `--check N` it tries every N-th cell and says what
the page has otherwise."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from control import CONTROL, control_cells
from forms import FORMS, LEVELS, cells
from operations import ELSEWHERE, HELPERS, OPERATIONS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/support.md"
TARGETS = ["cpu", "a2", "a3", "a5"]
PROGRAMS = ["std", "examples"]
KINDS = ["f32", "f16", "bf16"]


def compare(build: pathlib.Path, target: str, files: list) -> dict[str, tuple[str, str]]:
    """What became of each callable of the files: `right`, `refused`, `wrong` or `untried`, and why."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        chip = [] if target == "cpu" else ["--target", target]
        tool = build / "tests/differential/ptl_differential"
        command = [tool, "--std", ROOT / "std", "--samples", "2", *chip, "--report", report, *files]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if not report.exists():
            raise SystemExit(done.stdout + done.stderr)
        lines = [line.split("\t") for line in report.read_text().splitlines() if line.count("\t") >= 2]
        return {name: (status, " ".join(why)) for name, status, *why in lines}


def in_type(text: str, kind: str) -> str:
    """A program with another type of floats: instead of its short ones, or of `f32` where it has none."""
    own = r"\b(f16|bf16)\b" if re.search(r"\b(f16|bf16)\b", text) else r"\bf32\b"
    return re.sub(own, kind, text)


def try_program(build: pathlib.Path, path: pathlib.Path, target: str) -> dict[str, tuple[str, str]]:
    """A file as it is and, where that is still a program, with other types of floats: `name[kind]`."""
    found = compare(build, target, [path])
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            text = in_type(path.read_text(), kind)
            other = pathlib.Path(folder) / f"{kind}.ptl"
            other.write_text(text)
            if path.parent.name == "std" or subprocess.run([build / "bin/ptlc", "check", other], capture_output=True).returncode:
                continue
            for name, result in compare(build, target, [other]).items():
                if "[" not in name:
                    found.setdefault(f"{name}[{kind}]", result)
    return found


def texts_of(level: str) -> dict[str, str]:
    """The cells of a level, by name."""
    return {**{cell.name: cell.text() for cell in cells(level)}, **control_cells(level)}


def try_cells(build: pathlib.Path, level: str, every: int, target: str):
    chosen = {name: text for i, (name, text) in enumerate(texts_of(level).items()) if i % every == 0}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{level}.ptl"
        path.write_text(HELPERS + "\n".join(chosen.values()))
        found = compare(build, target, [path])
    return {name: found.get(name, ("untried", "")) for name in chosen}


class Notes:
    """The footnotes of the page, one for each reason."""

    def __init__(self):
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1


def reason(status: str, why: str, target: str) -> str:
    why = re.sub(r" cannot be compiled for `\w+`$", "", why).replace("`" + target + "`", "the chip")
    return {"refused": "refused: ", "wrong": "differs: ", "untried": "no call was found: "}[status] + why


def mark(results: dict[str, tuple[str, str]], notes: Notes) -> str:
    """One cell: a tick if all executors are right, else what is not, with the numbers of the notes."""
    others = {}
    for target, (status, why) in results.items():
        if status != "right":
            others.setdefault(notes.number(reason(status, why, target)), []).append(target)
    return " ".join(f"{' '.join(targets)} [{number}]" for number, targets in others.items()) or "✓"


def level_table(level: str, results, notes: Notes) -> list[str]:
    lines = [f"## {LEVELS[level][0].upper()}{LEVELS[level][1:]}", "", "| operation | " + " | ".join(FORMS) + " |"]
    lines.append("|---|" + "---|" * len(FORMS))
    known = {cell.name for cell in cells(level)}
    for operation in OPERATIONS:
        row = []
        for form in FORMS:
            name = f"{operation}__{form.replace(' ', '_')}"
            row.append(mark({t: results[level, t][name] for t in TARGETS}, notes) if name in known else "")
        if any(row):
            lines.append(f"| `{operation}` | " + " | ".join(row) + " |")
    return lines + [""]


def control_table(results, notes: Notes) -> list[str]:
    levels = [level for level in LEVELS if control_cells(level)]
    lines = [CONTROL_TITLE, "", "| statement | " + " | ".join(levels) + " |", "|---|" + "---|" * len(levels)]
    for key, row in CONTROL.items():
        names = {level: f"control_{key}__{level}" for level in levels}
        cells = [
            mark({t: results[level, t][name] for t in TARGETS}, notes) if name in control_cells(level) else "" for level, name in names.items()
        ]
        lines.append(f"| {row.title} | " + " | ".join(cells) + " |")
    return lines + [""]


def program_table(results, notes: Notes) -> list[str]:
    lines = ["## The library and the examples", "", "| file | callable | " + " | ".join([*KINDS, "as it is"]) + " |"]
    lines.append("|---|---|" + "---|" * (len(KINDS) + 1))
    for path, by_target in results.items():
        names = sorted({re.sub(r"\[\w+\]$", "", name) for found in by_target.values() for name in found})
        for name in names:
            row = []
            for kind in [*KINDS, None]:
                whole = f"{name}[{kind}]" if kind else name
                tried = {t: found[whole] for t, found in by_target.items() if whole in found}
                row.append(mark(tried, notes) if tried else "")
            lines.append(f"| {path} | `{name}` | " + " | ".join(row) + " |")
    return lines + [""]


CONTROL_TITLE = "## What data decides, and what an update replaced"
HEAD = """# What runs where

Every operation in every form, at every level, compiled for the processor and for the simulated chips a2, a3 and a5 and compared with the
reference executor. The page is written by `./dev docs` from what `tests/support` tries; a test keeps it true. ✓: all four compute it;
otherwise the executors that do not are named, with a note that says why. In an empty cell there is nothing to try: the operation has no
such form, or the program is none with that type of floats.

"""


def page(results, programs) -> str:
    notes = Notes()
    lines = ["| form | what the operand is |", "|---|---|", *(f"| {name} | {text} |" for name, text in FORMS.items()), ""]
    for level in LEVELS:
        lines += level_table(level, results, notes)
    lines += control_table(results, notes)
    lines += program_table(programs, notes)
    if notes.texts:
        lines += ["## Notes", "", *(f"{i + 1}. {text}" for i, text in enumerate(notes.texts)), ""]
    return HEAD + "\n".join(lines)


def check(build: pathlib.Path, every: int) -> int:
    """Cells of the page against what is so now, and its rows against the operations that there are."""
    text = PAGE.read_text()
    sections = {level: text.split(f"## {LEVELS[level][0].upper()}{LEVELS[level][1:]}")[1].split("\n## ")[0] for level in LEVELS}
    notes = re.findall(r"^\d+\. (.*)$", text.split("## Notes")[-1], re.M) if "## Notes" in text else []
    faults = []
    controls = dict(re.findall(r"^\| (.*?) \| (.*) \|$", text.split(CONTROL_TITLE)[-1].split("\n## ")[0], re.M))
    if missing_rows := [row.title for row in CONTROL.values() if row.title not in controls]:
        faults.append(f"the page has no rows for {missing_rows}: `./dev docs` writes it")
    for level in LEVELS:
        rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", sections[level], re.M))
        if set(rows) != {cell.name.split("__")[0] for cell in cells(level)}:
            faults.append(f"{level}: the page has other operations than the records: `./dev docs` writes it")
            continue
        tried = {target: try_cells(build, level, every, target) for target in TARGETS}
        for name in tried[TARGETS[0]]:
            operation, form = name.split("__")
            columns = [f.replace(" ", "_") for f in FORMS]
            if operation.startswith("control_"):
                rows[operation] = controls[CONTROL[operation.removeprefix("control_")].title]
                columns = [each for each in LEVELS if control_cells(each)]
            told = rows[operation].split(" | ")[columns.index(form)]
            now = Notes()
            now.texts = list(notes)
            seen = mark({target: tried[target][name] for target in TARGETS}, now)
            if seen != told:
                faults.append(f"{level}, {operation}, {form}: the page has {told}, now it is {seen} {now.texts[len(notes):]}")
    for fault in faults:
        print(fault)
    return len(faults)


def missing(build: pathlib.Path) -> list[str]:
    """Operations of the records that nothing here tries."""
    records = (build / "ir/ops/coverage.txt").read_text().splitlines()
    known = {*OPERATIONS, *CONTROL, *ELSEWHERE}
    return [name for name in (line.split("\t")[0] for line in records) if name not in known]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--check", type=int, metavar="N")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    for name in missing(build):
        print(f"no cell tries the operation `{name}`")
    if missing(build):
        return 1
    if arguments.check:
        return min(check(build, arguments.check), 1)
    results = {(level, target): try_cells(build, level, 1, target) for level in LEVELS for target in TARGETS}
    programs = {
        str(path.relative_to(ROOT)): {target: try_program(build, path, target) for target in TARGETS}
        for folder in PROGRAMS
        for path in sorted((ROOT / folder).glob("*.ptl"))
    }
    PAGE.write_text(page(results, programs))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
