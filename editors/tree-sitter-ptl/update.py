"""Renews what this grammar takes from the compiler's tables: `update.py WORDS.JSON [--check]`.

WORDS.JSON is what `ptl-tblgen -gen-words` writes. Renewed are `src/words.def` and the lists between
`generated` and `end` comments in the queries. With --check nothing is written; the exit code is 1
if something is stale.
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def reserved_words() -> list[str]:
    table = (ROOT / "frontend/lex/tokens.def").read_text()
    return sorted(re.findall(r'^KEYWORD\(\w+, "(\w+)"\)', table, re.M))


def words_def(words: dict) -> str:
    lines = [
        "// Reserved words and element types, sorted. Written by update.py from the compiler's tables.",
        "#ifndef RESERVED",
        "#define RESERVED(WORD)",
        "#endif",
        "#ifndef ELEMENT",
        "#define ELEMENT(WORD)",
        "#endif",
    ]
    rows = [(word, "RESERVED") for word in reserved_words()]
    rows += [(word, "ELEMENT") for word in words["elementTypes"]]
    lines += [f"{macro}({word})" for word, macro in sorted(rows)]
    lines += ["#undef RESERVED", "#undef ELEMENT", ""]
    return "\n".join(lines)


def word_list(words: dict) -> list[str]:
    names = sorted({name for group in words["groups"].values() for name in group})
    lines, line = [], " "
    for name in names:
        if len(line) + len(name) + 3 > 100:
            lines.append(line)
            line = " "
        line += f' "{name}"'
    return lines + [line]


def renewed_query(text: str, words: dict) -> str:
    body = "\n".join(word_list(words))
    return re.sub(r"(; generated\n).*?(  ; end\n)", lambda m: m[1] + body + "\n" + m[2], text, flags=re.S)


def main() -> int:
    words = json.loads(pathlib.Path(sys.argv[1]).read_text())
    check = "--check" in sys.argv
    wanted = {HERE / "src/words.def": words_def(words)}
    for query in sorted((HERE / "queries").glob("*.scm")):
        wanted[query] = renewed_query(query.read_text(), words)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is stale: run editors/tree-sitter-ptl/update.py")
        else:
            path.write_text(wanted[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
