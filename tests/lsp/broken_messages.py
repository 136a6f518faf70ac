"""Fuzzing of the protocol: good messages with bytes changed, cut, doubled and mixed. The server stays and answers."""
import json
import random
import re

from client import Gone, encode
from features import COMPILES, methods, params
from session import ROOT, Place

TEXT = (ROOT / "examples" / "02_softmax.ptl").read_text()
URI = "untitled:a"
ODD = [None, True, -1, 0, 2**31, 2**64, 1e308, "", "\u0000", "é𝄞", [], {}, [[]], "file:///", "untitled:a", 0.5]


class Fuzzer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.methods = [m for m in methods() if m not in COMPILES] + [
            "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave",
            "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles", "$/cancelRequest", "initialized",
            "workspace/didChangeWorkspaceFolders", "initialize"]

    def where(self):
        def position():
            return {"line": self.random.randint(0, 40), "character": self.random.randint(0, 60)}
        return {"start": position(), "end": position()}

    def good(self) -> dict:
        where = self.where()
        more = {"contentChanges": [{"range": where, "text": self.random.choice(["x", "}", "\n", "", "fn f("])}]}
        value = params(URI, where, more)
        value["textDocument"] = {"uri": URI, "version": self.random.randint(1, 99), "languageId": "ptl", "text": TEXT}
        message = {"jsonrpc": "2.0", "method": self.random.choice(self.methods), "params": value}
        if not message["method"].startswith(("textDocument/did", "$/", "initialized")):
            message["id"] = self.random.randint(1, 50)
        return message

    def change_value(self, value, depth=0):
        """One place of a JSON value becomes another value."""
        if isinstance(value, (dict, list)) and value and self.random.random() < 0.85 and depth < 8:
            key = self.random.choice(list(value)) if isinstance(value, dict) else self.random.randrange(len(value))
            copy = dict(value) if isinstance(value, dict) else list(value)
            if self.random.random() < 0.15:
                del copy[key]
            else:
                copy[key] = self.change_value(value[key], depth + 1)
            return copy
        return self.random.choice(ODD)

    def change_bytes(self, data: bytes) -> bytes:
        copy = bytearray(data)
        for _ in range(self.random.randint(1, 6)):
            at = self.random.randrange(len(copy) + 1)
            roll = self.random.random()
            if roll < 0.4 and at < len(copy):
                copy[at] = self.random.randrange(256)
            elif roll < 0.6:
                copy[at:at] = bytes(self.random.randrange(256) for _ in range(self.random.randint(1, 9)))
            elif roll < 0.8:
                del copy[at:at + self.random.randint(1, 30)]
            else:
                copy[at:at] = copy[at:at + self.random.randint(1, 60)]
        return bytes(copy)

    def message(self) -> bytes:
        roll = self.random.random()
        good = self.good()
        if roll < 0.55:
            return encode(self.change_value(good))
        if roll < 0.7:
            return encode([self.change_value(good), self.good(), self.random.choice(ODD)])
        body = json.dumps(good).encode()
        if roll < 0.88:
            broken = self.change_bytes(body)
            return b"Content-Length: %d\r\n\r\n" % len(broken) + broken
        header = self.random.choice([b"Content-Length: %d\r\n\r\n", b"content-length:%d\n\n", b"X: y\r\nContent-Length: %d\r\n\r\n"])
        if roll < 0.95:
            return header % len(body) + body
        # A header that is broken: what follows is read as headers until one fits.
        changed = self.change_bytes(header % len(body))
        # A server waits for a body as long as it was told; the test does not.
        return b"" if re.search(rb"\d{7}", changed) else changed + b"\r\n\r\n"


SENTINEL = {"jsonrpc": "2.0", "id": "sentinel", "method": "ptl/status"}


def is_alive(client, filler) -> bool:
    """Whether the server answers; a broken length may make it take what comes next for a body, so that comes more than once."""
    for _ in range(40):
        client.send(SENTINEL)
        if client.reply("sentinel", 0.5) is not None:
            while client.replies.pop(json.dumps("sentinel"), None):
                pass
            return True
        # More bytes than any length that the fuzzer can have made, in messages that do no harm.
        client.send_bytes(filler)
    return False


def fuzz(place: Place, count: int, seed: int):
    fuzzer = Fuzzer(seed)
    filler = encode({"jsonrpc": "2.0", "method": "$/filler"}) * 2000
    errors = place.folder / f"errors_{seed}.txt"
    client, sent = None, []
    starts = 0
    try:
        for number in range(count):
            if client is None:
                client = place.server(errors=open(errors, "wb"))
                client.initialize(initializationOptions={"hover": {"ir": False}})
                client.open(URI, TEXT)
                starts += 1
            sent = sent[-30:] + [fuzzer.message()]
            client.send_bytes(sent[-1])
            if number % 50 == 49:
                if not is_alive(client, filler):
                    return f"message {number}, seed {seed}: the server does not answer any more"
                client.arrived.clear()
                client.replies.clear()
        return None
    except Gone:
        code = client.process.wait(10)
        (place.folder / f"last_{seed}.bin").write_bytes(b"".join(sent))
        return (f"message {number}, seed {seed}: the server ended with {code}\n{errors.read_text(errors='replace')[:800]}\n"
                f"the last messages: {[each[:300] for each in sent[-3:]]}")
    finally:
        if client:
            client.kill()


def nested(place: Place):
    """Messages nested deeper than a stack is long are refused, whatever part of them is."""
    with place.server() as client:
        client.initialize()
        for deep in (b"[" * 200000 + b"]" * 200000, b'{"a":' * 200000 + b"1" + b"}" * 200000):
            for message in (b'{"jsonrpc":"2.0","id":%s,"method":"ptl/status"}', b'{"jsonrpc":"2.0","id":5,"method":"ptl/status","params":%s}',
                            b'{"jsonrpc":"2.0","id":1,"result":%s}', b"%s"):
                body = message % deep
                client.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                answer = client.reply(None)
                if answer is None or answer["error"]["code"] != -32600:
                    return f"{message}: {answer}"
        client.open(URI, "// " + "[" * 100000)
        client.status()
        return None if client.stop() == 0 else "the exit code is not 0"


def cases(place: Place, long: bool, seed: int):
    yield "nested deeper than a stack", lambda: nested(place)
    each, parts = (1000, 20) if long else (250, 4)
    for part in range(parts):
        yield f"{each} messages, seed {seed + part}", lambda s=seed + part: fuzz(place, each, s)
