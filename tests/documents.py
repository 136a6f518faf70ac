"""Every example a reader meets compiles: ```ptl blocks of the documents, the standard library and the examples, which are
also formatted as `ptlc fmt` would. Blocks marked ```ptl-fragment are pieces of a file and are not compiled."""
import pathlib
import re
import tempfile

from harness import ROOT, Case, Tools

BLOCK = re.compile(r"^```ptl *([^\n]*)\n(.*?)^```$", re.M | re.S)


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


def cases(tools: Tools, update: bool) -> list[Case]:
    result = []
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
