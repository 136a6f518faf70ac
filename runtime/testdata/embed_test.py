"""Builds and runs examples/embed as its comments say: `embed_test.py PTLC CC LIB_FOLDER`."""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> None:
    ptlc, compiler, libraries = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:

        def run(*command):
            subprocess.run([str(word) for word in command], check=True, env=environment)

        environment = dict(os.environ, PYTHONPATH=str(ROOT / "runtime/python"), PTLC=ptlc, PTL_CACHE=folder)
        library, program = f"{folder}/libsoftmax.so", f"{folder}/embed"
        source = ROOT / "examples/02_softmax.ptl"
        run(ptlc, "build", source, "-D", "softmax_rows.C=100", "-o", library)
        run(compiler, "-std=c11", ROOT / "examples/embed/main.c", f"-I{ROOT}/runtime/include", f"-L{libraries}",
            f"-Wl,-rpath,{libraries}", "-lptl_rt", "-lm", "-o", program)
        run(program, library)
        run(sys.executable, ROOT / "examples/embed/main.py", library)
        run(sys.executable, ROOT / "examples/embed/main.py", source)


if __name__ == "__main__":
    main()
