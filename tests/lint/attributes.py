"""Attributes of the dialect are declared in ir/ops/attributes.td, are named by `attrs::` everywhere else, and who sets and reads each is true."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECLARATIONS = ROOT / "ir" / "ops" / "attributes.td"
FOLDERS = ("ir", "passes", "codegen", "compile", "runtime", "driver", "lsp", "machines", "bench", "tests")
ROW = re.compile(
    r'Ptl_Attribute<"(?P<name>\w+)", \w+, \[[^\]]*\], \[[^\]]*\],\s*"(?P<meaning>[^"]*)",\s*'
    r"\[(?P<set>[^\]]*)\],\s*\[(?P<read>[^\]]*)\]"
)
# What gives or takes an attribute by a name of the dialect that stands there as text.
BY_TEXT = re.compile(r'(?:get|set|has|remove)\w*Attr\w*(?:<[\w:]+>)?\((?:[^()"]|\([^()]*\))*"(ptl\.\w+)"')
USE = re.compile(r"\battrs::(\w+)(?:\.(\w+)\()?")
SETTERS, READERS = ("set",), ("of", "isOn", "take")


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def declared(text: str) -> dict[str, dict[str, set[str]]]:
    """By the name in C++: who sets and who reads it."""
    return {
        camel(row["name"]): {"name": {row["name"]}, "set": set(re.findall(r'"([^"]+)"', row["set"])), "read": set(re.findall(r'"([^"]+)"', row["read"]))}
        for row in ROW.finditer(text)
    }


def texts_of(code: str, names: set[str]) -> list[tuple[int, str]]:
    """Names of attributes that stand in code as text: by line."""
    found = [(match.start(1), match[1]) for match in BY_TEXT.finditer(code)]
    found += [(match.start(1), match[1]) for match in re.finditer(r'"(ptl\.(\w+))"', code) if match[2] in names]
    return sorted({(code.count("\n", 0, place) + 1, name) for place, name in found})


def uses_of(code: str) -> list[tuple[str, str]]:
    return [(match[1], match[2] or "") for match in USE.finditer(code)]


def folder_of(path: str, folders: list[str]) -> str:
    return max((each for each in folders if path.startswith(each + "/")), key=len, default="")


def self_test() -> list[str]:
    names = {"why", "pipeline"}
    wrong = ['op->setAttr("ptl.fresh", b.getUnitAttr());', 'f.getArgAttrOfType<StringAttr>(g(i), "ptl.other")', 'for (auto *a : {"ptl.why"})', 'op->hasAttr("ptl.x")']
    right = ['make("ptl.convert", to, x)', 'add("why: ptl.why")', "attrs::why.of(op)", 'name.starts_with("ptl.")']
    problems = [f"not found: {code}" for code in wrong if not texts_of(code, names)]
    problems += [f"found: {code}" for code in right if texts_of(code, names)]
    if uses_of("attrs::why.set(op, attrs::ids.of(op)); f(attrs::dim)") != [("why", "set"), ("ids", "of"), ("dim", "")]:
        problems.append("uses are not told apart")
    return problems


def main() -> int:
    problems = self_test()
    rows = declared(DECLARATIONS.read_text())
    names = {name for row in rows.values() for name in row["name"]}
    table = re.findall(r"^\| `([\w/]+)` \|", (ROOT / "docs" / "architecture.md").read_text(), re.M)
    mentions: dict[str, set[str]] = {each: set() for each in rows}
    for path in sorted(each for folder in FOLDERS for each in (ROOT / folder).rglob("*") if each.suffix in (".h", ".cpp")):
        place, code = str(path.relative_to(ROOT)), path.read_text()
        problems += [f"{place}:{line}: `{name}` as text: an attribute is named by `attrs::`, and declared in ir/ops/attributes.td" for line, name in texts_of(code, names)]
        if place.startswith("tests/") or path.stem.endswith("_test") or place == "ir/dialect/attributes.h":
            continue
        folder = folder_of(place, table)
        for accessor, method in uses_of(code):
            if accessor not in rows:
                continue
            mentions[accessor].add(folder)
            says = rows[accessor]
            wanted = ["set"] if method in SETTERS else ["read"] if method in READERS else ["set", "read"]
            if not any(folder in says[each] for each in wanted):
                problems.append(f"{place}: `{folder}` is not among those of which ir/ops/attributes.td says that they {' or '.join(wanted)} `{accessor}`")
    for accessor, row in rows.items():
        problems += [f"ir/ops/attributes.td: `{folder}` is said to use `{accessor}`, and does not" for folder in sorted((row["set"] | row["read"]) - mentions[accessor])]
    if len(rows) != DECLARATIONS.read_text().count("  Ptl_Attribute<"):
        problems.append("ir/ops/attributes.td: a row that is not understood")
    print("\n".join(sorted(set(problems))) or f"{len(rows)} attributes are named by their declarations alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
