"""Who may include whom: reads the table of docs/architecture.md and checks every include of a source file.

A row of the table is `| folders | what | may include |`; folders are in backticks. A folder may always include itself.
`*` in the last column allows everything of the project but `lsp/server`. Words of the last column that name no folder name libraries
(`MLIR`, `LLVM`): includes of these are checked too. Tests (`*_test.cpp`) may include anything.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
LIBRARIES = {"mlir/": "MLIR", "llvm/": "LLVM", "clang/": "Clang", "nlohmann/": "nlohmann/json", "uv.h": "libuv"}


def folders() -> list[tuple[str, str, set[str]]]:
    """The rows of the table, one for each folder: its name, what it is, and what it may include."""
    rows = []
    for line in (ROOT / "docs/architecture.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`"):
            continue
        allowed = set(re.findall(r"`([^`]+)`", cells[2]))
        rows += [(folder, cells[1], allowed | {folder}) for folder in re.findall(r"`([^`]+)`", cells[0])]
    return rows


def read_table() -> dict[str, set[str]]:
    return {folder: allowed for folder, _, allowed in folders()}


def layer_of(path: str, rows) -> str:
    """The longest folder of the table that holds `path`."""
    found = [folder for folder in rows if path.startswith(folder + "/")]
    return max(found, key=len, default="")


def check_file(path: str, rows) -> list[str]:
    layer = layer_of(path, rows)
    if not layer:
        return [f"{path}: its folder is not in the table of docs/architecture.md"]
    problems = []
    text = (ROOT / path).read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        target = match.group(1)
        library = next((name for prefix, name in LIBRARIES.items() if target.startswith(prefix)), None)
        wanted = library or layer_of(target, rows)
        if not wanted or wanted in rows[layer]:
            continue
        if "*" in rows[layer] and wanted != "lsp/server":
            continue
        line = text.count("\n", 0, match.start()) + 1
        problems.append(f"{path}:{line}: `{layer}` may not include {target} ({wanted})")
    return problems


def main() -> int:
    rows = read_table()
    if not rows:
        print("docs/architecture.md has no table of folders")
        return 1
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.cpp", "*.h"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    problems = []
    for path in listed:
        generated = path.startswith("editors/tree-sitter-ptl/src/")
        if path.endswith("_test.cpp") or path.startswith("tests/") or generated or not (ROOT / path).exists():
            continue
        problems += check_file(path, rows)
    print("\n".join(problems) or f"{len(listed)} files include only what their folder may")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
