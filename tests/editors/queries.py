"""The queries for Helix and Zed fit the grammar: queries.py BUILD."""
import ctypes
import ctypes.util
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ERRORS = ["none", "syntax", "node type", "field", "capture", "structure", "language"]


class Grammar:
    def __init__(self, parser: pathlib.Path):
        library = ctypes.util.find_library("tree-sitter")
        if not library:
            sys.exit("FAILED: there is no libtree-sitter here; install the package `libtree-sitter0`")
        self.runtime = ctypes.CDLL(library)
        make = ctypes.CDLL(str(parser)).tree_sitter_ptl
        make.restype = ctypes.c_void_p
        self.language = ctypes.c_void_p(make())
        self.runtime.ts_query_new.restype = ctypes.c_void_p
        self.runtime.ts_query_pattern_count.argtypes = [ctypes.c_void_p]

    def patterns(self, query: pathlib.Path) -> int:
        """How many patterns a query has; 0, told, if it does not fit."""
        text = query.read_bytes()
        offset, error = ctypes.c_uint32(), ctypes.c_int()
        made = self.runtime.ts_query_new(self.language, text, len(text), ctypes.byref(offset), ctypes.byref(error))
        if not made:
            line = text[: offset.value].count(b"\n") + 1
            print(f"FAILED: {query}:{line}: {ERRORS[error.value]}: {text.splitlines()[line - 1].decode()}")
            return 0
        return self.runtime.ts_query_pattern_count(made)


def main() -> int:
    grammar = Grammar(pathlib.Path(sys.argv[1]).resolve() / "editors/parser/ptl.so")
    queries = sorted((ROOT / "editors/zed/languages/ptl").glob("*.scm"))
    with tempfile.TemporaryDirectory() as folder:
        for order in ([], ["--first-match"]):
            out = pathlib.Path(folder) / ("first" if order else "last")
            subprocess.run([sys.executable, ROOT / "editors/helix/queries.py", out, *order], check=True)
            queries += sorted(out.glob("*.scm"))
        counts = {query: grammar.patterns(query) for query in queries}
        ours = grammar.patterns(ROOT / "editors/tree-sitter-ptl/queries/highlights.scm")
        ok = all(counts.values())
        for query, count in counts.items():
            if query.name == "highlights.scm" and count != ours:
                print(f"FAILED: {query} has {count} patterns, not {ours}")
                ok = False
    print(f"{len(counts)} queries, {sum(counts.values())} patterns")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
