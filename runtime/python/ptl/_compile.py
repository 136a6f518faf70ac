"""Compiling a source file once per content: `ptlc build` behind a cache."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import errors


def _compiler():
    named = os.environ.get("PTLC")
    if named:
        return named
    package = pathlib.Path(__file__).resolve().parent
    # A wheel carries its compiler. In an installation the package lies in lib/python3/dist-packages, and the compiler that came
    # with it in bin.
    for candidate in (package / "_compiler" / "bin" / "ptlc", package.parents[3] / "bin" / "ptlc"):
        if candidate.exists():
            return str(candidate)
    found = shutil.which("ptlc")
    if found:
        return found
    # A checkout: the package lies in runtime/python/ptl, builds in build/.
    root = package.parents[2]
    for candidate in (root / "build" / "bin" / "ptlc", root / "build" / "driver" / "ptlc"):
        if candidate.exists():
            return str(candidate)
    raise errors.LoadError("cannot find `ptlc`: put it on PATH or name it in PTLC")


def _cache():
    base = os.environ.get("PTL_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ptl")
    os.makedirs(base, exist_ok=True)
    return pathlib.Path(base)


def _digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def _dependencies(text):
    """The files of a Make rule `target: file file \\`."""
    _, _, files = text.replace("\\\n", " ").partition(": ")
    # Blanks inside names are escaped.
    return [name.replace("\0", " ") for name in files.replace("\\ ", "\0").split()]


def _is_current(record):
    try:
        return all(_digest(path) == digest for path, digest in json.loads(record.read_text()).items())
    except (OSError, ValueError):
        return False


def library_for(source, defines):
    """The path of the compiled library of `source` with the variants `defines` ask for."""
    source = os.path.abspath(source)
    compiler = _compiler()
    try:
        tool, content = os.stat(compiler), _digest(source)
    except OSError as error:
        raise errors.LoadError(f"cannot read `{error.filename}`: {error.strerror}") from None
    key = json.dumps([source, content, compiler, tool.st_mtime_ns, tool.st_size, sorted(defines)])
    base = _cache() / hashlib.sha256(key.encode()).hexdigest()[:32]
    library, record = base.with_suffix(".so"), base.with_suffix(".json")
    # Imported files are not part of the key, because only the compiler knows them.
    if library.exists() and _is_current(record):
        return str(library)
    with tempfile.TemporaryDirectory(dir=base.parent) as folder:
        built, rule = os.path.join(folder, "lib.so"), os.path.join(folder, "lib.d")
        command = [compiler, "build", source, "-o", built, "-MD", f"-MF={rule}"]
        run = subprocess.run(command + [f"-D{define}" for define in sorted(defines)], capture_output=True, text=True)
        if run.returncode != 0:
            raise errors.CompileError((run.stderr or run.stdout).strip() or f"`ptlc` ended with {run.returncode}")
        files = {source}
        if os.path.exists(rule):
            files.update(_dependencies(pathlib.Path(rule).read_text()))
        digests = {name: _digest(name) for name in files if os.path.exists(name)}
        new_record = os.path.join(folder, "lib.json")
        pathlib.Path(new_record).write_text(json.dumps(digests))
        os.replace(built, library)
        os.replace(new_record, record)
    return str(library)
