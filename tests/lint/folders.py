"""Writes docs/folders.md: what each folder of the table in docs/architecture.md is, what it may include, who includes it, and where to begin to read.

    folders.py            writes the page
    folders.py --check    says where the page has another list of folders than the table, or names a file that is gone

Where to begin: the five headers by which most other folders enter it; of those that as many enter by, what most files include. A
folder with fewer headers has its largest sources, too. Their order changes with every include that is written, so that a page that
names other files than a new one would is no fault.
"""
import collections
import pathlib
import re
import subprocess
import sys

import layers

PAGE = layers.ROOT / "docs/folders.md"
HEAD = """# The folders

What each folder is, what it may include, which folders include it, and the files to read first: the headers by which most other folders
enter it, and the sources of folders that have few. Drawn by `python3 tests/lint/folders.py` from the table of [architecture.md](architecture.md#folders-and-who-may-include-whom) and from the sources.
"""


def sources() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.cpp", "*.h"], cwd=layers.ROOT, capture_output=True, text=True, check=True).stdout.split()
    listed = [path for path in listed if not path.startswith("editors/") and (layers.ROOT / path).exists()]
    return sorted(set(listed) - layers.test_files(listed))


COMMENT = r"(?:^[ \t]*///?[^\n]*\n)+"


def contract(path: str) -> str:
    """The first sentence of the comment that a file begins with; of headers without one, of what has the header's name, else of what
    comes first."""
    text = (layers.ROOT / path).read_text(errors="replace")
    name = pathlib.Path(path).stem.replace("_", "")
    places = [rf"\A{COMMENT}", r"\A/\*.*?\*/"]
    if not path.endswith(".cpp"):
        places += [rf"{COMMENT}(?=(?:template [^\n]*\n)?(?:class|struct) (?i:{name})\b)", COMMENT]
    match = next(filter(None, (re.search(place, text, re.M | re.S) for place in places)), None)
    if not match:
        return ""
    words = " ".join(re.sub(r"^\s*(///?|/\*+|\*+/?)\s?", "", line) for line in match.group(0).removesuffix("*/").splitlines()).strip()
    # The form of a table's rows is set off by spaces.
    sentence = re.split(r"(?<=[.!?])\s|;\s|:?\s{2,}", words.removeprefix(f"{pathlib.Path(path).name}: "))[0].rstrip(".")
    # A parenthesis that the end of the sentence would cut is left out.
    return sentence[: sentence.rindex("(")].rstrip() if sentence.count("(") > sentence.count(")") else sentence


def include_counts(paths, rows):
    """Of each header: how often it is included, with the folders that do; of each folder: those that include something of it."""
    weights, entered, users = collections.Counter(), collections.defaultdict(set), collections.defaultdict(set)
    for path in paths:
        own = layers.layer_of(path, rows)
        for target in layers.INCLUDE.findall((layers.ROOT / path).read_text(errors="replace")):
            folder = layers.layer_of(target, rows)
            if not folder:
                continue
            weights[target] += 1
            if folder != own:
                entered[target].add(own)
                users[folder].add(own)
    return weights, entered, users


def read_first(folder, paths, rows, weights, entered) -> list[str]:
    """Five files at the most, of which sources say what they are."""
    headers = [path for path in weights if layers.layer_of(path, rows) == folder and (layers.ROOT / path).exists()]
    first = sorted(headers, key=lambda path: (-len(entered[path]), -weights[path], path))
    stems = {path.rsplit(".", 1)[0] for path in first}
    others = [path for path in paths if layers.layer_of(path, rows) == folder and path not in first and path.rsplit(".", 1)[0] not in stems and contract(path)]
    return [*first, *sorted(others, key=lambda path: (-(layers.ROOT / path).stat().st_size, path))][:5]


def section(folder, what, rows, first, users) -> str:
    allowed = sorted(rows[folder] - {folder})
    lines = [f"## {folder}", "", what[0].upper() + what[1:] + ".", ""]
    readme = layers.ROOT / folder / "README.md"
    if readme.exists():
        lines.append(f"- More: [{folder}/README.md](../{folder}/README.md)")
    lines.append("- May include: " + ("everything above it in the table" if "*" in allowed else ", ".join(f"`{name}`" for name in allowed) or "the C++ standard library only"))
    if users[folder]:
        lines.append("- Included by: " + ", ".join(f"`{name}`" for name in sorted(users[folder])))
    if first:
        lines.append("- Read first:")
    for path in first:
        says = contract(path)
        lines.append(f"  - [{path[len(folder) + 1:]}](../{path})" + (f": {says}" if says else ""))
    return "\n".join(lines) + "\n"


def check(rows) -> int:
    text = PAGE.read_text() if PAGE.exists() else ""
    named = set(re.findall(r"^## (\S+)$", text, re.M))
    problems = [f"docs/folders.md lacks `{folder}`" for folder in sorted(set(rows) - named)]
    problems += [f"docs/folders.md: no folder `{folder}` in the table" for folder in sorted(named - set(rows))]
    problems += [f"docs/folders.md names `{path}`, which is gone" for path in re.findall(r"\]\(\.\./([^)]+)\)", text) if not (layers.ROOT / path).exists()]
    print("\n".join(problems) or f"{len(named)} folders have their section")
    return 1 if problems else 0


def main() -> int:
    rows = layers.read_table()
    if "--check" in sys.argv[1:]:
        return check(rows)
    paths = sources()
    weights, entered, users = include_counts(paths, rows)
    PAGE.write_text(HEAD + "\n" + "\n".join(section(folder, what, rows, read_first(folder, paths, rows, weights, entered), users)
                                            for folder, what, _ in layers.folders()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
