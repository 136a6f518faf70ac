"""The tests of `ptlc mcp`: `run.py BUILD KIND`, KIND being a module beside this file with a function `main(tools)`."""
import importlib
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Tools:
    def __init__(self, build, folder):
        self.root = HERE.parents[1]
        self.build = pathlib.Path(build).resolve()
        self.ptlc = self.build / "bin" / "ptlc"
        self.folder = folder  # empty, and gone in the end

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def main():
    sys.path.insert(0, str(HERE))
    with tempfile.TemporaryDirectory() as folder:
        importlib.import_module(f"check_{sys.argv[2]}").main(Tools(sys.argv[1], pathlib.Path(folder).resolve()))
    print(f"{sys.argv[2]}: ok")


if __name__ == "__main__":
    main()
