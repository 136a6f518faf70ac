"""Fixes are safe. `tests/fixes/<Kind>.ptl` is a program that is offered a fix of that kind, `<Kind>.fixed.ptl` what the fix makes of it; every
row of `frontend/base/fixes.def` has one. A fix that is certain is made by `ptlc check --fix`, one that is not is left and counted. And
certain fixes never change what a program means: the programs of the suites, written as one would elsewhere, become themselves again,
and what is wrong in the suites does not become worse. `fixes.py BUILD [PATTERN]`, with PTL_UPDATE set the `.fixed.ptl` take over what comes out."""
import json
import os
import pathlib
import random
import re
import sys
import tempfile

import explain
from harness import ROOT, Case, Tools, difference, run_cases

TABLE = ROOT / "frontend/base/fixes.def"
EXAMPLES = ROOT / "tests/fixes"
ROW = re.compile(r'^FIX\((\w+), (Certain|Maybe), "', re.M)
# Offered by what compiles for a chip.
ON_CHIPS = {"SmallerTile": ["--target", "a3"], "FewerCopies": ["--target", "a3"]}


def diagnostics(tools: Tools, path: pathlib.Path, arguments=()) -> list[dict]:
    outcome = tools.run("check", "--diagnostics=json", *arguments, path)
    start = outcome.stdout.find('{\n  "version"')
    return json.loads(outcome.stdout[max(start, 0) :])["diagnostics"]


def errors_of(found: list[dict]) -> list[str]:
    return [each["code"] for each in found if each["severity"] == "error"]


def applied(text: str, fix: dict) -> str:
    data = text.encode()
    for edit in sorted(fix["edits"], key=lambda edit: edit["begin"]["offset"], reverse=True):
        data = data[: edit["begin"]["offset"]] + edit["text"].encode() + data[edit["end"]["offset"] :]
    return data.decode()


def example(tools: Tools, kind: str, safety: str):
    source, fixed = EXAMPLES / f"{kind}.ptl", EXAMPLES / f"{kind}.fixed.ptl"
    if not source.exists():
        return f"write {source.relative_to(ROOT)}: a program that is offered this fix"
    text, arguments = source.read_text(), ON_CHIPS.get(kind, [])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "example.ptl"
        path.write_text(text)
        found = diagnostics(tools, path, arguments)
        fixes = [fix for each in found for fix in each["fixes"] if fix["kind"] == kind]
        if not fixes or any(fix["safety"] != safety for fix in fixes):
            return f"no fix of the kind that is {safety}: {[each['message'] for each in found]} {fixes}"
        after = applied(text, fixes[0]) if safety == "maybe" else ""
        outcome = tools.run("check", "--fix", *arguments, path)
        made = path.read_text()
        if safety == "certain":
            after = made
            if outcome.code or not re.search(r"[1-9]\d* fix(es)? applied$", outcome.stderr):
                return f"exit code {outcome.code} after `--fix`:\n{outcome.stderr}"
        else:
            if made != text:
                return "`--fix` makes a fix that is not certain:\n" + difference(text, made, source.name)
            if (outcome.code == 0) != (not errors_of(found)) or "that may change the meaning of the program not applied" not in outcome.stderr:
                return f"exit code {outcome.code} after `--fix`:\n{outcome.stderr}"
            shown = tools.run("check", "--show-fixes", *arguments, path).stdout
            if f"maybe: {fixes[0]['title']}\n- " not in shown and f"maybe: {fixes[0]['title']}\n+ " not in shown:
                return f"`--show-fixes` does not show it:\n{shown}"
        if os.environ.get("PTL_UPDATE"):
            fixed.write_text(after)
        if not fixed.exists() or fixed.read_text() != after:
            return difference(fixed.read_text() if fixed.exists() else "", after, fixed.name)
        path.write_text(after)
        left = diagnostics(tools, path, arguments)
        if len(errors_of(left)) >= max(len(errors_of(found)), 1):
            return f"what the fix makes has as many errors: {[each['message'] for each in left]}"
    return None


# ---- Programs of the suites -------------------------------------------------------------------------

# Word by word; comments and texts stay.
PIECE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|[A-Za-z_][A-Za-z_0-9]*|\s+|<=|>=|!=|==|->|\*\*|\d[\w.]*|.', re.S)
FOREIGN = {"and": "&&", "or": "||", "<=": "≤", ">=": "≥", "!=": "≠", "->": "=>"}


def written_elsewhere(text: str, generator: random.Random) -> str:
    """The program as people write it who come from elsewhere; every change has a certain fix."""
    pieces = PIECE.findall(text)
    for at, piece in enumerate(pieces):
        before = next((each for each in reversed(pieces[:at]) if not each.isspace()), "")
        if generator.random() < 0.4:
            continue
        if piece in FOREIGN and not (piece == "->" and before != ")"):
            pieces[at] = FOREIGN[piece]
        elif piece == "fn" and (at == 0 or pieces[at - 1].endswith("\n")):
            pieces[at] = generator.choice(["def", "func", "function"])
        elif piece == "else" and pieces[at + 1 : at + 3] == [" ", "if"]:
            pieces[at : at + 3] = ["elif", "", ""]
        elif piece.startswith("// ") and not piece.startswith("///"):
            pieces[at] = "#" + piece[2:]
        elif piece in ("axis", "rtol", "atol") and pieces[at + 1] == ":":
            pieces[at + 1] = "="
    return "".join(pieces)


def suite() -> list[pathlib.Path]:
    folders = ["examples", "std", "tests/language"]
    return [path for folder in folders for path in sorted((ROOT / folder).glob("*.ptl"))]


def comes_back(tools: Tools, path: pathlib.Path):
    text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        # What a program imports stays where it is.
        copy = pathlib.Path(folder) / path.name
        for seed in range(2):
            copy.write_text(written_elsewhere(text, random.Random(f"{path.name}{seed}")))
            outcome = tools.run("check", "--fix", "-I", path.parent, "--error-limit=1000", copy)
            if copy.read_text() != text:
                return f"seed {seed}:\n{difference(text, copy.read_text(), path.name)}\n{outcome.stderr[-2000:]}"
    return None


def imports_come_back(tools: Tools, path: pathlib.Path):
    """Without its imports of functions of the library a program gets them again, and checks."""
    text = path.read_text()
    bare = re.sub(r"^import std\.\w+(: [a-z0-9_, ]+)?\n", "", text, flags=re.M)
    if bare == text:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / path.name
        copy.write_text(bare)
        outcome = tools.run("check", "--fix", "-I", path.parent, copy)
        again = tools.run("build", "--emit=checked", copy, "-I", path.parent)
        wanted = tools.run("build", "--emit=checked", path)
        if outcome.code or again.stdout != wanted.stdout:
            return f"{copy.read_text()[:500]}\n{outcome.stderr}{difference(wanted.stdout, again.stdout, path.name)}"
    return None


def no_worse(tools: Tools, name: str, text: str):
    """Certain fixes add no error to a program that is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "example.ptl"
        path.write_text(text)
        before = errors_of(diagnostics(tools, path))
        outcome = tools.run("check", "--fix", path)
        after = errors_of(diagnostics(tools, path))
        if len(after) > len(before):
            return f"{before} became {after}:\n{difference(text, path.read_text(), name)}"
        if (outcome.code != 0) != bool(after):
            return f"exit code {outcome.code} with the errors {after}"
    return None


def others_stay(tools: Tools):
    """What a file imports is changed only where it is named itself."""
    with tempfile.TemporaryDirectory() as folder:
        own, other = pathlib.Path(folder) / "own.ptl", pathlib.Path(folder) / "other.ptl"
        wrong = "pub fn sign_of(n: int) -> int {\n    if n {\n        return 1\n    }\n    return 0\n}\n"
        other.write_text(wrong)
        own.write_text('import "other.ptl": sign_of\n\n' + wrong.replace("sign_of", "own_sign") +
                       "\nfn both(n: int) -> int { return sign_of(n) + own_sign(n) }\n")
        outcome = tools.run("check", "--fix", own)
        if other.read_text() != wrong or "if n != 0" not in own.read_text():
            return f"`--fix` changes {'what is imported' if other.read_text() != wrong else 'nothing'}\n{outcome.stderr}"
        if "1 fix applied; 1 fix not applied to imported files" not in outcome.stderr:
            return outcome.stderr
        outcome = tools.run("check", "--fix", own, other)
        return None if outcome.code == 0 and "if n != 0" in other.read_text() else outcome.stderr


def main() -> int:
    tools = Tools(pathlib.Path(sys.argv[1]))
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    rows = ROW.findall(TABLE.read_text())
    cases = [Case(f"fixes/{kind}", lambda k=kind, s=safety: example(tools, k, s.lower())) for kind, safety in rows]
    known = {kind for kind, _ in rows}
    strays = [path.name for path in EXAMPLES.glob("*.ptl") if path.name.split(".")[0] not in known]
    cases.append(Case("fixes/strays", lambda: f"examples of no kind: {strays}" if strays else None))
    cases.append(Case("fixes/others stay", lambda: others_stay(tools)))
    for path in suite():
        name = path.relative_to(ROOT)
        cases.append(Case(f"fixes/comes back/{name}", lambda p=path: comes_back(tools, p)))
        cases.append(Case(f"fixes/imports/{name}", lambda p=path: imports_come_back(tools, p)))
    wrong = {path.name: path.read_text() for path in sorted((ROOT / "tests/language/errors").glob("*.ptl"))}
    for page in sorted((ROOT / "frontend/base/explain").glob("E*.md")):
        blocks = explain.BLOCK.findall(explain.section(page.read_text(), "Fails"))
        if len(blocks) == 1:
            wrong[page.stem] = blocks[0][1]
    cases += [Case(f"fixes/no worse/{name}", lambda n=name, t=text: no_worse(tools, n, t)) for name, text in wrong.items()]
    return run_cases("fixes", [case for case in cases if pattern in case.name])


if __name__ == "__main__":
    sys.exit(main())
