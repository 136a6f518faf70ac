"""Who may include whom: reads the table of docs/architecture.md and checks every include of a source file.

A row of the table is `| folders | what | may include |`; folders are in backticks. A folder may always include itself. The rows
go from the ground up, and no folder includes one of a later row, whatever its last column says. `*` in the last column allows all that
stands above. Words of the last column that name no folder name libraries (`MLIR`, `LLVM`): includes of these are checked too.
Tests (`*_test.cpp`, and headers that only tests include) may include anything.
"""
import collections
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


def test_files(paths) -> set[str]:
    """Of these files the tests, and the headers that nothing else includes."""
    tests = {path for path in paths if path.endswith("_test.cpp") or path.startswith("tests/")}
    users = collections.defaultdict(set)
    for path in paths:
        for target in INCLUDE.findall((ROOT / path).read_text(errors="replace")):
            users[target].add(path)
    while helpers := {path for path in paths if users[path] and users[path] <= tests} - tests:
        tests |= helpers
    return tests


def check_table(rows) -> list[str]:
    order = list(rows)
    problems = []
    for place, folder in enumerate(order):
        for name in sorted(rows[folder] - {"*", *LIBRARIES.values()}):
            if name not in rows:
                problems.append(f"docs/architecture.md: `{folder}` may include `{name}`, which is no folder of the table and no library")
            elif order.index(name) > place:
                problems.append(f"docs/architecture.md: `{folder}` may include `{name}`, whose row comes later")
    return problems


def check_file(path: str, rows) -> list[str]:
    layer = layer_of(path, rows)
    if not layer:
        return [f"{path}: its folder is not in the table of docs/architecture.md"]
    order = list(rows)
    problems = []
    text = (ROOT / path).read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        target = match.group(1)
        library = next((name for prefix, name in LIBRARIES.items() if target.startswith(prefix)), None)
        wanted = library or layer_of(target, rows)
        is_above = bool(library) or (wanted in rows and order.index(wanted) <= order.index(layer))
        if not wanted or is_above and (wanted in rows[layer] or "*" in rows[layer]):
            continue
        line = text.count("\n", 0, match.start()) + 1
        why = "" if is_above else ", whose row comes later"
        problems.append(f"{path}:{line}: `{layer}` may not include {target} ({wanted}{why})")
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
    listed = [path for path in listed if not path.startswith("editors/tree-sitter-ptl/src/") and (ROOT / path).exists()]
    problems = check_table(rows)
    for path in sorted(set(listed) - test_files(listed)):
        problems += check_file(path, rows)
    print("\n".join(problems) or f"{len(listed)} files include only what their folder may")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
