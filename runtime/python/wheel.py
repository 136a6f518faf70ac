"""Writes a wheel of the module `ptl` that carries the compiler: `wheel.py BUILD FOLDER`. Needs what was built and nothing else."""
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parent / "ptl"
# Starts the compiler without importing the package, which would load NumPy first.
SCRIPT = """#!python
import importlib.util, os, pathlib, sys

folder = pathlib.Path(importlib.util.find_spec("ptl").origin).parent
os.execv(folder / "_compiler/bin/ptlc", ["ptlc", *sys.argv[1:]])
"""
METADATA = """Metadata-Version: 2.1
Name: ptl
Version: {version}
Summary: Compiler and runtime of PTL, the Parallel Tile Language, for NumPy arrays and PyTorch tensors
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

{description}
"""
DESCRIPTION = """`ptl.load("kernels.ptl")` compiles a file of kernels and programs and calls them on NumPy arrays; `ptlc` is the compiler.
`ptl.torch.load` makes operators of PyTorch of them, with gradients; `%load_ext ptl` brings `%%ptl` to notebooks.
Compiled libraries are written with the system's linker (`ld.lld` or `ld`).
"""
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same input makes the same wheel


def version_of(build):
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", (build / "CMakeCache.txt").read_text(), re.M).group(1)


def tag():
    """The C library of the machine that built is the oldest one that is known to do."""
    _, version = platform.libc_ver()
    return f"py3-none-manylinux_{version.replace('.', '_')}_{platform.machine()}"


def files_of(build, stage):
    """What lies in the package, by its name there, with whether it is a program."""
    for component in ("compiler", "runtime"):
        subprocess.run(["cmake", "--install", build, "--prefix", stage, "--strip", "--component", component], check=True,
                       stdout=subprocess.DEVNULL)
    for path in PACKAGE.glob("*.py"):
        yield f"ptl/{path.name}", path.read_bytes(), False
    # Loaded where Python is new enough for it.
    for path in (pathlib.Path(build) / "lib" / "python").glob("*.so"):
        yield f"ptl/{path.name}", path.read_bytes(), False
    for path in stage.rglob("*"):
        if path.is_file():
            yield f"ptl/_compiler/{path.relative_to(stage)}", path.read_bytes(), path.parent.name == "bin"


def write(build, folder):
    version, wheel_tag = version_of(build), tag()
    info = f"ptl-{version}.dist-info"
    path = folder / f"ptl-{version}-{wheel_tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as stage, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        record = []

        def add(name, data, is_program=False):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, data)
            data = data.encode() if isinstance(data, str) else data
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")

        for name, data, is_program in sorted(files_of(build, pathlib.Path(stage))):
            add(name, data, is_program)
        add(f"ptl-{version}.data/scripts/ptlc", SCRIPT, True)
        add(f"{info}/METADATA", METADATA.format(version=version, description=DESCRIPTION))
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: ptl {version}\nRoot-Is-Purelib: false\nTag: {wheel_tag}\n")
        add(f"{info}/licenses/LICENSE", (PACKAGE.parents[2] / "LICENSE").read_bytes())
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", EPOCH), "\n".join(record) + f"\n{info}/RECORD,,\n")
    return path


if __name__ == "__main__":
    print(write(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])))
