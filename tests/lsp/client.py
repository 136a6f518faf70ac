"""A small client of a language server: frames, requests, what the server says in between.

Standard library only; one thread. Messages are read while something is awaited, and kept until asked for.
"""
import json
import os
import select
import socket
import subprocess
import time

INTERNAL = -32603  # the code of an error of the server itself
TIMEOUT = 30  # seconds for one answer; a loaded machine is slow


class Gone(Exception):
    """The server closed its side."""


class Failure(Exception):
    """An answer that is an error: `code`, `message`."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code, self.message = error.get("code"), error.get("message")


def broken(answer):
    """What is wrong with an answer to a request that the server may refuse; None if nothing is."""
    if answer is None:
        return "no answer"
    error = answer.get("error", {})
    return str(error) if error.get("code") == INTERNAL else None


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def encode(message) -> bytes:
    return frame(json.dumps(message, separators=(",", ":")).encode("utf-8", "surrogatepass"))


# What an editor of today says about itself: all that changes answers is on.
FULL = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"workspaceEdit": {"documentChanges": True}},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "hover": {"contentFormat": ["markdown"]},
        "completion": {"completionItem": {"snippetSupport": True, "labelDetailsSupport": True}},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
                       "resolveSupport": {"properties": ["edit"]}},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
}


class Client:
    """One server and the talk with it.

    `answers` says what requests of the server get, by method; others get null.
    """

    def __init__(self, command, env=None, cwd=None, port=None, errors=None):
        self.process = subprocess.Popen(
            [str(word) for word in command], env=env, cwd=cwd, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors or subprocess.DEVNULL)
        self.socket = None
        if port is not None:
            number = int(self.process.stdout.readline())
            self.socket = socket.create_connection(("127.0.0.1", number), timeout=TIMEOUT)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.input = self.output = self.socket.fileno()
        else:
            self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.buffer = bytearray()
        self.arrived = []  # notifications and requests of the server that nobody asked for yet
        self.replies = {}
        self.answers = {}
        self.next_id = 0
        self.ended = False

    # ---- Bytes ----

    def send_bytes(self, data: bytes):
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self.input, view):]
        except (BrokenPipeError, ConnectionResetError):
            raise Gone() from None

    def read_more(self, deadline) -> bool:
        """Reads what is there; False when nothing came before the deadline."""
        if self.ended:
            raise Gone()
        left = max(0.0, deadline - time.monotonic())
        if not select.select([self.output], [], [], left)[0]:
            return False
        try:
            data = os.read(self.output, 1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            self.ended = True
            raise Gone()
        self.buffer += data
        while message := self.take_message():
            self.receive(message)
        return True

    def take_message(self):
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        header = bytes(self.buffer[:end]).decode("ascii")
        length = next(int(line.split(":")[1]) for line in header.split("\r\n") if line.lower().startswith("content-length:"))
        if len(self.buffer) < end + 4 + length:
            return None
        body = bytes(self.buffer[end + 4 : end + 4 + length])
        del self.buffer[: end + 4 + length]
        return json.loads(body.decode("utf-8"))

    def receive(self, message):
        if "method" not in message:
            self.replies.setdefault(json.dumps(message.get("id")), []).append(message)
            return
        if "id" in message:
            result = self.answers.get(message["method"])
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self.arrived.append(message)

    # ---- Messages ----

    def send(self, message):
        self.send_bytes(encode(message))

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def start_request(self, method, params=None):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.next_id

    def reply(self, identity, timeout=TIMEOUT):
        """The whole answer to a request; None when there was none in time."""
        key, deadline = json.dumps(identity), time.monotonic() + timeout
        while True:
            if waiting := self.replies.get(key):
                message = waiting.pop(0)
                if not waiting:
                    del self.replies[key]
                return message
            if not self.read_more(deadline) and time.monotonic() >= deadline:
                return None

    def ask(self, method, params=None, timeout=TIMEOUT):
        """The whole answer, error or not."""
        answer = self.reply(self.start_request(method, params), timeout)
        if answer is None:
            raise TimeoutError(f"no answer to {method} in {timeout} s")
        return answer

    def request(self, method, params=None, timeout=TIMEOUT):
        answer = self.ask(method, params, timeout)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer.get("result")

    def wait_for(self, accepts, timeout=TIMEOUT):
        """The first message of the server that is accepted, of those not yet asked for."""
        deadline = time.monotonic() + timeout
        seen = 0
        while True:
            for index in range(seen, len(self.arrived)):
                if accepts(self.arrived[index]):
                    return self.arrived.pop(index)
            seen = len(self.arrived)
            if not self.read_more(deadline) and time.monotonic() >= deadline:
                return None

    def diagnostics(self, uri, version=None, timeout=TIMEOUT):
        """The diagnostics that are published for a version of a file."""
        def accepts(message):
            params = message.get("params") or {}
            return (message["method"] == "textDocument/publishDiagnostics" and params["uri"] == uri
                    and (version is None or params.get("version") == version))
        found = self.wait_for(accepts, timeout)
        if found is None:
            raise TimeoutError(f"no diagnostics of {uri}, version {version}")
        return found["params"]["diagnostics"]

    # ---- The life of a session ----

    def initialize(self, capabilities=None, **more):
        """Errors come at once, unless the options say that they wait until the typing rests."""
        options = more.get("initializationOptions")
        if options is None or isinstance(options, dict):
            more["initializationOptions"] = {"diagnostics": {"whileTyping": True}, **(options or {})}
        result = self.request("initialize", {"processId": os.getpid(), "rootUri": None,
                                             "capabilities": FULL if capabilities is None else capabilities, **more})
        self.notify("initialized", {})
        return result

    def open(self, uri, text, version=1, language="ptl"):
        self.notify("textDocument/didOpen", {
            "textDocument": {"uri": uri, "languageId": language, "version": version, "text": text}})

    def change(self, uri, version, changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def status(self):
        return self.request("ptl/status")

    def close_input(self):
        if self.socket:
            self.socket.shutdown(socket.SHUT_WR)
        else:
            self.process.stdin.close()

    def exit_code(self, timeout=TIMEOUT):
        return self.process.wait(timeout)

    def stop(self) -> int:
        """Ends the session in order; the exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.exit_code()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.socket):
            if stream:
                stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


# ---- Texts ----


UNITS = {
    "utf-8": lambda text: len(text.encode("utf-8")),
    "utf-16": lambda text: len(text) + sum(c > "\uffff" for c in text),
    "utf-32": len,
}


class Text:
    """A document as a client has it: positions are made from offsets in its characters."""

    def __init__(self, text, encoding="utf-16"):
        self.text, self.units = text, UNITS[encoding]

    def position(self, offset):
        line = self.text.count("\n", 0, offset)
        start = self.text.rfind("\n", 0, offset) + 1
        return {"line": line, "character": self.units(self.text[start:offset])}

    def range(self, begin, end):
        return {"start": self.position(begin), "end": self.position(end)}

    def edit(self, begin, end, replacement):
        """Replaces characters; the change in the protocol's words."""
        change = {"range": self.range(begin, end), "text": replacement}
        self.text = self.text[:begin] + replacement + self.text[end:]
        return change
