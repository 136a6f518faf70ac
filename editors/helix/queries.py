"""Writes the queries for Helix, made from those of tree-sitter-ptl: queries.py FOLDER [--first-match].

Helix has its own names for what it colours. From 25.07 on the last pattern that matches decides, as in
our queries; before, the first: --first-match turns the patterns around.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "tree-sitter-ptl/queries"

# Longest first: `@keyword.function` before `@keyword`.
SCOPES = {
    "variable.member": "variable.other.member",
    "function.call": "function",
    "function.method.call": "function.method",
    "module": "namespace",
    "boolean": "constant.builtin.boolean",
    "number.float": "constant.numeric.float",
    "number": "constant.numeric.integer",
    "string.escape": "constant.character.escape",
    "string.special.path": "string.special.path",
    "comment.documentation": "comment.block.documentation",
    "keyword.import": "keyword.control.import",
    "keyword.repeat": "keyword.control.repeat",
    "keyword.conditional": "keyword.control.conditional",
    "keyword.return": "keyword.control.return",
    "keyword.type": "keyword.storage.type",
    "keyword.modifier": "keyword.storage.modifier",
}

TEXTOBJECTS = """[
  (function_declaration body: (_) @function.inside)
  (kernel_declaration body: (_) @function.inside)
  (program_declaration body: (_) @function.inside)
] @function.around

(struct_declaration) @class.around
(parameters (parameter) @parameter.inside)
(arguments (_) @parameter.inside)
[(line_comment) (block_comment) (doc_comment)] @comment.inside
(test_declaration) @test.around
"""

INJECTIONS = """([(line_comment) (block_comment)] @injection.content
  (#set! injection.language "comment"))
"""


def patterns(text: str) -> list[str]:
    """The patterns of a query at its top level, comments left out."""
    text = re.sub(r"^\s*;.*$", "", text, flags=re.M)
    found, depth, start, in_string = [], 0, None, False
    for at, sign in enumerate(text):
        if sign == '"' and text[at - 1] != "\\":
            in_string = not in_string
            if depth == 0 and in_string:
                found.append([at, None])
        elif in_string:
            continue
        elif sign in "([":
            if depth == 0:
                found.append([at, None])
            depth += 1
        elif sign in ")]":
            depth -= 1
    ends = [start for start, _ in found[1:]] + [len(text)]
    return [text[start:end].strip() for (start, _), end in zip(found, ends)]


def highlights(first_match: bool) -> str:
    found = patterns((SOURCE / "highlights.scm").read_text())
    if first_match:
        found.reverse()
    names = "|".join(re.escape(name) for name in sorted(SCOPES, key=len, reverse=True))
    text = "\n".join(found) + "\n"
    return re.sub(rf"@({names})(?![\w.])", lambda match: "@" + SCOPES[match[1]], text)


def indents() -> str:
    """What opens and closes an indented part; the rest of the captures is Neovim's alone."""
    text = (SOURCE / "indents.scm").read_text()
    lists = re.findall(r"^(\[\n(?:  .*\n)+\]) @indent\.(begin|branch)$", text, re.M)
    names = {"begin": "indent", "branch": "outdent"}
    return "\n\n".join(f"{nodes} @{names[kind]}" for nodes, kind in lists) + "\n"


def main() -> int:
    arguments = [each for each in sys.argv[1:] if not each.startswith("--")]
    if len(arguments) != 1:
        print(__doc__.strip())
        return 2
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "highlights.scm").write_text(highlights("--first-match" in sys.argv))
    (folder / "indents.scm").write_text(indents())
    (folder / "textobjects.scm").write_text(TEXTOBJECTS)
    (folder / "injections.scm").write_text(INJECTIONS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
