"""Renews the word lists of the modes for Emacs and Vim: `words.py WORDS.JSON [--check]`.

WORDS.JSON is what `ptl-tblgen -gen-words` writes; reserved words come from the lexer's table, those
that are words by position only from the parser. With --check nothing is written; the exit code is 1
if something is stale.
"""
import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LITERALS = {"true", "false", "inf", "nan"}


def groups(words: dict) -> dict[str, list[str]]:
    table = (ROOT / "frontend/lex/tokens.def").read_text()
    reserved = set(re.findall(r'^KEYWORD\(\w+, "(\w+)"\)', table, re.M))
    builtins = {name for names in words["groups"].values() for name in names}
    parsers = [path for path in (ROOT / "frontend/parse").glob("parse_*.cpp") if "_test" not in path.name]
    asked = {word for path in parsers for word in re.findall(r'Word\("([a-z]\w+)"', path.read_text())}
    return {
        "keywords": sorted(reserved - LITERALS),
        "contextual": sorted(asked - reserved - builtins - set(words["elementTypes"]) - {"elif"}),
        "literals": sorted(reserved & LITERALS),
        "types": sorted(words["elementTypes"]),
        "builtins": sorted(builtins - reserved),
    }


def emacs(lists: dict[str, list[str]]) -> str:
    lines = [";;; ptl-words.el --- Words of PTL  -*- lexical-binding: t; -*-", "",
             ";; Written by editors/words.py from the compiler's tables.", "", ";;; Code:", ""]
    for name, words in lists.items():
        quoted = " ".join(f'"{word}"' for word in words)
        text = textwrap.fill(quoted, 90, initial_indent="  '(", subsequent_indent="    ")
        lines += [f"(defconst ptl-words-{name}", text + f")", f'  "Words of PTL: {name}.")', ""]
    return "\n".join(lines + ["(provide 'ptl-words)", ";;; ptl-words.el ends here", ""])


def vim(lists: dict[str, list[str]]) -> str:
    lines = ['" Words of PTL. Written by editors/words.py from the compiler\'s tables.']
    for name, words in lists.items():
        if name == "contextual":  # A word here only where something other than an operator or a bracket follows.
            lines.append("syntax match ptlContextual /\\<\\(" + "\\|".join(words) + "\\)\\>\\ze\\s\\+[0-9A-Za-z_@{]/")
            continue
        lines.append(textwrap.fill(" ".join(words), 90, initial_indent=f"syntax keyword ptl{name.title()} ",
                                   subsequent_indent="  \\ "))
    return "\n".join(lines + [""])


def main() -> int:
    lists = groups(json.loads(pathlib.Path(sys.argv[1]).read_text()))
    wanted = {HERE / "emacs/ptl-words.el": emacs(lists), HERE / "neovim/syntax/ptl-words.vim": vim(lists)}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{path.relative_to(ROOT)} is stale: run editors/words.py")
        else:
            path.write_text(wanted[path])
    return 1 if "--check" in sys.argv and stale else 0


if __name__ == "__main__":
    sys.exit(main())
