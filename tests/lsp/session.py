"""What the tests of the server share: where the programs are, servers with an environment of their own."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import ROOT, in_words  # noqa: E402  (found by the path above)

from client import Client  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").glob("*.ptl"))


class Place:
    """A build, and a folder for what a test writes."""

    def __init__(self, build, folder):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.folder = pathlib.Path(folder)

    def environment(self):
        return {**os.environ, "PTL_STD": str(ROOT / "std"), "XDG_CACHE_HOME": str(self.folder / "cache"),
                "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}

    def server(self, *arguments, program=None, **more) -> Client:
        return Client([program or self.bin / "ptl-lsp", *arguments], env=self.environment(), cwd=self.folder, **more)

    def check(self, path, text: str) -> list[dict]:
        """What `ptlc check` says about a text; the file is written."""
        pathlib.Path(path).write_bytes(text.encode("utf-8"))
        return self.check_files([path])

    def check_files(self, paths) -> list[dict]:
        """The same of files, each for itself."""
        done = subprocess.run([self.bin / "ptlc", "check", "--diagnostics=json", "--error-limit", "0", *paths],
                              capture_output=True, env=self.environment(), timeout=60)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"ptlc check: exit {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
        return json.loads(done.stdout)["diagnostics"]


def uri_of(path) -> str:
    return pathlib.Path(path).as_uri()


def resident(pid) -> int:
    """Bytes of memory that a process has now."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def peak(pid) -> int:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
