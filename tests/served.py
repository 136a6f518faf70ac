"""Commands of `ptlc` in a process that stays (`ptlc-ir --commands`): to start one takes several times as long as most commands do."""
import json
import os
import select
import subprocess
import threading
import time
from typing import Optional

# Those that need the compiler; the others start in milliseconds.
COMMANDS = ("bench", "build", "check", "lower", "run", "sim", "test", "tune")
MOST = 500  # commands for one process


class Ended(Exception):
    """The process has ended, or did not answer in time."""


class Server:
    """One process; used by one thread."""

    process = None  # until it has begun

    def __init__(self, program, environment: dict):
        self.process = subprocess.Popen([program, "--commands"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment)
        self.buffer, self.count = b"", 0

    def __del__(self):
        self.end()

    def end(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def _more(self, deadline: float) -> None:
        ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
        part = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
        if not part:
            raise Ended
        self.buffer += part

    def _bytes(self, count: int, deadline: float) -> bytes:
        while len(self.buffer) < count:
            self._more(deadline)
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def run(self, arguments: list[str], folder: str, seconds: float) -> Optional[tuple[int, bytes, bytes]]:
        """The exit code and what was printed; nothing for what needs a process of its own."""
        self.count += 1
        deadline = time.monotonic() + seconds
        try:
            self.process.stdin.write(json.dumps({"arguments": arguments, "folder": folder}).encode() + b"\n")
        except BrokenPipeError:
            raise Ended from None
        while b"\n" not in self.buffer:
            self._more(deadline)
        head = json.loads(self._bytes(self.buffer.index(b"\n") + 1, deadline))
        if "unserved" in head:
            return None
        return head["code"], self._bytes(head["out"], deadline), self._bytes(head["err"], deadline)


_of_thread = threading.local()


def served(program, environment: dict, arguments: list[str], folder: str, seconds: float) -> Optional[tuple[int, bytes, bytes]]:
    """Runs a command in the process of this thread for the environment. Nothing for what needs a process of its own. Raises `Ended` if the
    process has ended at it: only a process of its own tells why."""
    if not arguments or arguments[0] not in COMMANDS:
        return None
    servers = _of_thread.__dict__.setdefault("servers", {})
    key = str(program), tuple(sorted(environment.items()))
    server = servers.get(key)
    if server is None or server.count >= MOST:
        server = servers[key] = Server(program, environment)
    try:
        return server.run(arguments, folder, seconds)
    except Ended:
        servers.pop(key).end()
        raise
