"""Compiling a source file once per content: `ptlc build` behind a cache."""

import atexit
import contextlib
import functools
import hashlib
import itertools
import json
import os
import pathlib
import platform
import shutil
import stat
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
    if base == "off":
        return pathlib.Path(_folder_of_process())
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ptl")
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        usable = _is_private(base) and os.access(base, os.W_OK | os.X_OK)
    except OSError:
        usable = False
    return pathlib.Path(base if usable else _folder_of_process())


def _is_private(path):
    """Whether nobody but this user can have written there: what is found is loaded into this process."""
    info = os.stat(path, follow_symlinks=os.path.isdir(path))
    return info.st_uid == os.geteuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@functools.cache
def _folder_of_process():
    """What is kept for this process alone, where the cache is off or cannot be used."""
    folder = tempfile.mkdtemp(prefix="ptl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _limit():
    given = os.environ.get("PTL_CACHE_LIMIT", "")
    return (int(given) if given.isdecimal() else 256) << 20


def _keep_limit(folder, newest):
    """Removes what was not used for longest until the rest is within the limit; `ptlc` counts these files, too."""
    files = []
    for entry in os.scandir(folder):
        if entry.name.endswith((".so", ".json", ".code")):
            with contextlib.suppress(OSError):  # another process has removed it
                info = entry.stat(follow_symlinks=False)
                files.append((info.st_mtime_ns, info.st_size, entry.path))
    size = sum(file[1] for file in files)
    for _, taken, path in sorted(files):
        if size <= _limit():
            break
        if path not in newest:
            with contextlib.suppress(OSError):
                os.unlink(path)
            size -= taken


def _identity(compiler):
    """Names the build of the compiler: of `ptlc`, and of the program beside it that makes code."""
    folder = pathlib.Path(os.path.realpath(compiler)).parent
    files = [compiler]
    files += [path for path in (folder / "ptlc-ir",) if path.exists()]
    return [(str(path), info.st_mtime_ns, info.st_size) for path in files for info in [os.stat(path)]]


@functools.cache
def _processor():
    """Names the processor that `ptlc build` makes code for: a home folder may be shared by machines that differ."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as text:
            lines = itertools.takewhile(str.strip, text)  # those of the first processor
            return [line for line in lines if line.split(":")[0].strip() in ("model name", "flags", "Features", "CPU part")]
    except OSError:
        return [platform.machine()]


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
        tool, content = _identity(compiler), _digest(source)
    except OSError as error:
        raise errors.LoadError(f"cannot read `{error.filename}`: {error.strerror}") from None
    key = json.dumps([source, content, tool, _processor(), os.environ.get("PTL_STD"), sorted(defines)])
    base = _cache() / hashlib.sha256(key.encode()).hexdigest()[:32]
    library, record = base.with_suffix(".so"), base.with_suffix(".json")
    # Imported files are not part of the key, because only the compiler knows them.
    if library.exists() and _is_private(library) and _is_current(record):
        for path in (library, record):  # the time of its last use
            with contextlib.suppress(OSError):
                os.utime(path)
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
    _keep_limit(base.parent, (str(library), str(record)))
    return str(library)
