"""Every example a reader meets compiles: ```ptl blocks of the documents, the standard library and the examples, which are
also formatted as `ptlc fmt` would. Blocks marked ```ptl-fragment are pieces of a file, which the test `recipes` puts into their places."""
import pathlib
import re
import tempfile

from harness import ROOT, Case, Tools

BLOCK = re.compile(r"^```ptl(?!-fragment) *([^\n]*)\n(.*?)^```$", re.M | re.S)


def block_case(tools: Tools, name: str, code: str) -> Case:
    def run():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "example.ptl"
            path.write_text(code)
            outcome = tools.run("check", path, cwd=folder)
        return outcome.stderr if outcome.code else None

    return Case(name, run)


def file_cases(tools: Tools, path: pathlib.Path) -> list[Case]:
    name = str(path.relative_to(ROOT))

    def command_case(label: str, *arguments: str) -> Case:
        def run():
            outcome = tools.run(*arguments, path, cwd=ROOT)
            return (outcome.stdout + outcome.stderr) if outcome.code or outcome.stderr else None

        return Case(f"{name}.{label}", run)

    return [
        command_case("check", "check", "-Werror"),
        command_case("fmt", "fmt", "--check"),
        command_case("test", "test"),
    ]


def versions_case() -> Case:
    """The table of PTOAS' versions in the documents says what the table of the printer does."""
    def run():
        rows = []
        for kind, since, rest in re.findall(r"^(CHANGE|RENAMED)\((\d+), (.*)\)$", (ROOT / "codegen/pto/ptoas_versions.def").read_text(), re.M):
            words = re.findall(r'"([^"]*)"', rest)
            if kind == "CHANGE":
                rows.append(f"| 0.{since} | {words[0] or 'all'} | {words[1]} |")
            elif since != "0":
                rows.append(f"| 0.{since} | all | `{words[0]}` is called `{words[1]}` |")
        text = (ROOT / "docs/machines.md").read_text()
        shown = re.findall(r"^\| 0\.\d+ \|.*$", text[text.index("## Versions of PTOAS"):], re.M)
        return None if shown == rows else f"docs/machines.md has\n{shown}\nthe table has\n{rows}"

    return Case("docs/machines.md: versions of PTOAS", run)


def cases(tools: Tools, update: bool) -> list[Case]:
    result = [versions_case()]
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if not path.exists():
            continue
        text = path.read_text()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            result.append(block_case(tools, f"{path.relative_to(ROOT)}:{line}", match.group(2)))
    for folder in ("std", "examples"):
        for path in sorted((ROOT / folder).rglob("*.ptl")):
            result += file_cases(tools, path)
    return result
