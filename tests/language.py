"""The language as its reference says it: `tests/language/*.ptl` and the examples of the reference and the tutorial that
hold tests. Each file checks without warnings and passes `ptlc test` on every executor. Where this build has no
executors (the checker alone was built), only the first half runs, and says so. A file that begins with
`// EXECUTORS: reference` runs on those only."""
import functools
import pathlib
import re
import tempfile

from documents import BLOCK
from harness import ROOT, Case, Tools

EXECUTORS = ["reference", "cpu"]
DOCUMENTS = ["docs/language.md", "docs/tutorial.md"]
TRIAL = 'test "nothing" {\n    expect(true)\n}\n'


def passes(tools: Tools, path: pathlib.Path, *arguments) -> str | None:
    outcome = tools.run(*arguments, path, cwd=path.parent)
    return (outcome.stdout + outcome.stderr) if outcome.code or outcome.stderr else None


def in_file(text: str, run) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "example.ptl"
        path.write_text(text)
        return run(path)


@functools.cache
def has_executor(tools: Tools, executor: str) -> bool:
    return in_file(TRIAL, lambda path: tools.run("test", f"--executor={executor}", path).code) == 0


def executor_cases(tools: Tools, name: str, code: str, run_on) -> list[Case]:
    """`run_on(arguments)` runs `ptlc` with them on the file of that name."""
    listed = re.match(r"// EXECUTORS: (.*)", code)
    executors = listed.group(1).split() if listed else EXECUTORS
    return [
        Case(f"{name}.{executor}", lambda executor=executor: run_on("test", f"--executor={executor}"))
        for executor in executors
        if has_executor(tools, executor)
    ]


def cases(tools: Tools, update: bool) -> list[Case]:
    for executor in EXECUTORS:
        if not has_executor(tools, executor):
            print(f"language: this build has no executor `{executor}`; tests are checked but do not run on it")
    result = []
    for path in sorted((ROOT / "tests/language").glob("*.ptl")):
        name = str(path.relative_to(ROOT))
        result.append(Case(f"{name}.check", lambda path=path: passes(tools, path, "check", "-Werror")))
        result += executor_cases(tools, name, path.read_text(), lambda *args, path=path: passes(tools, path, *args))
    for document in DOCUMENTS:
        text = (ROOT / document).read_text()
        for match in BLOCK.finditer(text):
            code = match.group(2)
            if 'test "' not in code and 'property "' not in code:
                continue
            line = text.count("\n", 0, match.start()) + 1
            result += executor_cases(
                tools,
                f"{document}:{line}",
                code,
                lambda *args, code=code: in_file(code, lambda path: passes(tools, path, *args)),
            )
    return result
