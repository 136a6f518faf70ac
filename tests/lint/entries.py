"""What libuv is given by the language server cannot throw: each function for it is an `Entry` (lsp/server/callback.h)."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A function that libuv calls has a handle or a request of its own as its first parameter.
HANDLE = r"uv_(?!loop_t)\w+_t\s*\*"
LAMBDA = re.compile(r"(Entry\s*(?:\w+\s*)?\(\s*)?\[\]\s*\(\s*" + HANDLE)
FUNCTION = re.compile(r"^(?:static\s+)?void\s+[\w:]+\(\s*" + HANDLE, re.M)
KEPT = re.compile(r"std::function<[^;]*>\s+\w+_?;")


def problems_of(path: pathlib.Path) -> list[str]:
    text = path.read_text()

    def place(match):
        return f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"

    found = [f"{place(m)}: a function for libuv that is no `Entry`" for m in LAMBDA.finditer(text) if not m[1]]
    found += [f"{place(m)}: a named function for libuv: make it a lambda in an `Entry`" for m in FUNCTION.finditer(text)]
    if path.name not in ("callback.h", "background.h"):  # what they keep is called within a `try`
        found += [f"{place(m)}: a `std::function` that is kept to be called later: make it a `Callback`" for m in KEPT.finditer(text)]
    return found


def self_test() -> list[str]:
    wrong = ["auto f = [](uv_timer_t *timer) {};", "static_cast<void>([]( uv_stream_t *, ssize_t, const uv_buf_t *) {});"]
    right = ["Entry f([](uv_timer_t *timer) {});", "uv_close(h, Entry([](uv_handle_t *handle) {}));", "auto f = [](uv_file file) {};", "auto f = [](uv_loop_t *loop) {};"]
    found = [f"not found: {text}" for text in wrong if all(m[1] for m in LAMBDA.finditer(text))]
    return found + [f"found: {text}" for text in right if any(not m[1] for m in LAMBDA.finditer(text))]


def main() -> int:
    files = sorted(path for path in (ROOT / "lsp" / "server").glob("*.[ch]*") if not path.stem.endswith("_test"))
    problems = self_test() + [each for path in files for each in problems_of(path)]
    print("\n".join(problems) or f"{len(files)} files give libuv nothing that throws")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
