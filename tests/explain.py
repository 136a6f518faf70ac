"""The pages of `ptlc explain`: both examples of each are compiled, and the table, the pages and the places that
report agree. The message of each failing example is a golden: `tests/explain/<CODE>.out`."""
import pathlib
import re
import tempfile

from harness import ROOT, Case, Tools, difference

TABLE = ROOT / "frontend/base/diagnostics"
PAGES = ROOT / "frontend/base/explain"
GOLDENS = ROOT / "tests/explain"
ROW = re.compile(r'^DIAG\("([EW]\d{4})",\s*(\w+),\s*(\w+),\s*"([^"]*)"', re.M)
BLOCK = re.compile(r"^```ptl ?([^\n]*)\n(.*?)^```$", re.M | re.S)
REPORTING_FOLDERS = ["frontend", "machines", "ir", "passes", "codegen", "runtime", "compile", "driver", "lsp"]


def table_rows() -> dict[str, tuple[str, str]]:
    """Code → (name, severity)."""
    rows = {}
    for path in sorted(TABLE.glob("*.def")):
        for code, name, severity, _ in ROW.findall(path.read_text()):
            rows[code] = (name, severity)
    return rows


def reported_names() -> set[str]:
    """Names of diagnostics that some source reports."""
    names = set()
    for folder in REPORTING_FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".h", ".def", ".inc") and not path.name.endswith("_test.cpp"):
                names.update(re.findall(r"DiagId::(\w+)", path.read_text(errors="replace")))
    return names


def section(page: str, title: str) -> str:
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return match.group(1) if match else ""


def write_example(folder: pathlib.Path, text: str) -> tuple[pathlib.Path, list[str]]:
    """Writes the blocks of a section: the last is the example, those named before it are files that it imports. The
    words after `ptl` are a file name, or the command to use (`test`, `run …`) instead of `check`."""
    example, command = folder / "example.ptl", ["check"]
    for info, code in BLOCK.findall(text):
        if info.endswith(".ptl"):
            path = folder / info
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        else:
            example.write_text(code)
            command = info.split() or command
    return example, command


def fails_case(tools: Tools, code: str, severity: str, page: str, update: bool) -> Case:
    def run():
        golden = GOLDENS / f"{code}.out"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            example, command = write_example(folder, section(page, "Fails"))
            kind = severity.lower()
            found, outcome = tools.codes(example, kind, command[0], command[1:])
            if set(found) != {code}:
                return f"reports {sorted(set(found)) or 'nothing'}, not exactly {code}\n{outcome.stderr}"
            if kind == "warning":
                errors, _ = tools.codes(example, "error", command[0], command[1:])
                if errors:
                    return f"a warning's example has errors: {errors}"
            shown = tools.run(*command, example.name, cwd=folder)
            if shown.code in (4, -1) or shown.code < 0:
                return f"exit code {shown.code}\n{shown.stderr}"
            # Where the library lies differs from one checkout to the next.
            text = shown.stderr.replace(str(ROOT), "%root")
            if update:
                GOLDENS.mkdir(exist_ok=True)
                golden.write_text(text)
                return None
            expected = golden.read_text() if golden.exists() else ""
            if expected != text:
                accept = f"accept it: ./dev update-goldens explain/{code}"
                return f"{difference(expected, text, golden.name)}\n{accept}"
        return None

    return Case(f"explain/{code}.fails", run)


def repaired_case(tools: Tools, code: str, severity: str, page: str) -> Case:
    def run():
        with tempfile.TemporaryDirectory() as name:
            example, command = write_example(pathlib.Path(name), section(page, "Repaired"))
            errors, outcome = tools.codes(example, "error", command[0], command[1:])
            if errors or outcome.code not in (0, 1):
                return f"reports {errors}, exit code {outcome.code}\n{outcome.stderr}"
            if severity == "Warning" and code in tools.codes(example, "warning", command[0], command[1:])[0]:
                return f"still reports {code}"
        return None

    return Case(f"explain/{code}.repaired", run)


def page_case(code: str, rows: dict, reported: set[str]) -> Case:
    def run():
        if code not in rows:
            return "the page has no row in frontend/base/diagnostics"
        page = PAGES / f"{code}.md"
        if not page.exists():
            return f"write the page {page.relative_to(ROOT)}"
        text = page.read_text()
        problems = []
        if not text.startswith(f"# {code}: "):
            problems.append(f"the page does not start with `# {code}: `")
        both = section(text, "Fails") and section(text, "Repaired")
        if not both and not section(text, "When"):
            problems.append("the page has neither `## Fails` and `## Repaired` nor `## When`")
        if rows[code][0] not in reported:
            problems.append(f"nothing reports DiagId::{rows[code][0]}")
        return "\n".join(problems) or None

    return Case(f"explain/{code}.page", run)


def cases(tools: Tools, update: bool) -> list[Case]:
    rows, reported = table_rows(), reported_names()
    all_codes = sorted(set(rows) | {path.stem for path in PAGES.glob("*.md")})
    result = [page_case(code, rows, reported) for code in all_codes]
    for code in all_codes:
        page = PAGES / f"{code}.md"
        if code not in rows or not page.exists() or not section(page.read_text(), "Fails"):
            continue
        text, severity = page.read_text(), rows[code][1]
        result.append(fails_case(tools, code, severity, text, update))
        result.append(repaired_case(tools, code, severity, text))
    return result
