"""Every request of the server, with parameters that fit, made from the server's own tables."""
import re

from session import ROOT

ROW = re.compile(r'^METHOD\("([^"]+)"', re.M)


def methods() -> list[str]:
    """The names in the tables of the server, in their order."""
    names = []
    for table in ("methods.def", "deferred_methods.def"):
        for name in ROW.findall((ROOT / "lsp" / "server" / table).read_text()):
            if name not in names:
                names.append(name)
    return names


# Those that start other programs are asked for by tests of their own.
COMPILES = ("ptl/preview", "ptl/ledger", "ptl/cost", "ptl/timeline", "ptl/stages", "ptl/virtualDocument", "ptl/previewHover",
            "workspace/textDocumentContent", "workspace/executeCommand")


def params(uri, where, more=None):
    """What any request about a place of a file may want; `where` is a range."""
    item = {"name": "f", "kind": 12, "uri": uri, "range": where, "selectionRange": where}
    return {
        "textDocument": {"uri": uri}, "position": where["start"], "positions": [where["start"]], "range": where,
        "ranges": [where], "newName": "renamed", "ch": "}", "query": "a", "previousResultId": "", "item": item,
        "previousResultIds": [], "uri": uri, "files": [], "label": "x", "kind": 1, "title": "x",
        "options": {"tabSize": 4, "insertSpaces": True}, "stage": "tile", "command": "ptl.none", "arguments": [],
        "context": {"diagnostics": [], "includeDeclaration": True, "triggerKind": 1}, **(more or {})}
