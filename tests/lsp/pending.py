"""Requests on their way when their document is closed, deleted, renamed or edited, and when the worker dies: each is answered
once, and the server goes on. Every request of the tables is asked; the worker is held while it happens, so those that need it
do wait. Then the same by chance, with a worker whose answers are spoilt. `./dev fuzz-server` does this with sanitizers."""
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import time

from client import INTERNAL, Gone, Text, broken
from features import methods, params
from session import Place, uri_of

KERNEL = """kernel rows[R](x: f32[R, 64]) -> (y: f32[R, 64])
{
    parallel r in tiles(R, 8) {
        let e = exp(x[r, :] - NUMBER.0)
        y[r, :] = e / sum(e, axis: 1)
    }
}
"""
IMPORTED = "pub fn half(x: f32) -> f32 {\n    return x * 0.5\n}\n"
IR = "ptl.func @f(%x: !ptl.tensor<4xf32>) -> !ptl.tensor<4xf32> {\n  return %x : !ptl.tensor<4xf32>\n}\n"
FAILED_STEP = "a step failed"


def with_worker(place: Place, name: str, script: str) -> Place:
    """The server with another program as its worker."""
    folder = place.folder / name
    (folder / "bin").mkdir(parents=True)
    shutil.copy(place.bin / "ptl-lsp", folder / "bin")
    worker = folder / "bin" / "ptlc-ir"
    worker.write_text(script)
    worker.chmod(0o755)
    return Place(folder, folder)


def spoiling(place: Place, name: str, seed: int) -> Place:
    script = pathlib.Path(__file__).with_name("spoilt_worker.py")
    return with_worker(place, name, f"#!/bin/sh\nexec {sys.executable} {script} {place.bin / 'ptlc-ir'} {seed}\n")


class Talk:
    """A session, its documents and its worker, which can be held."""

    def __init__(self, place: Place, name: str):
        self.folder = place.folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.errors = self.folder / "errors.txt"
        with open(self.errors, "wb") as errors:
            self.client = place.server(errors=errors)
        self.client.initialize(rootUri=uri_of(self.folder), initializationOptions={"targets": ["a3"]})
        self.count, self.texts, self.held = 0, {}, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
        self.client.kill()

    # ---- Documents ----

    def open(self, on_disk: bool):
        """A new document with a kernel of its own; its URI."""
        self.count += 1
        text = KERNEL.replace("NUMBER", str(self.count))
        if on_disk:
            (self.folder / f"other{self.count}.ptl").write_text(IMPORTED)
            text = f"import other{self.count}: half\n" + text
            path = self.folder / f"doc{self.count}.ptl"
            path.write_text(text)
        uri = uri_of(self.folder / f"doc{self.count}.ptl") if on_disk else f"untitled:doc{self.count}"
        self.client.open(uri, text)
        self.texts[uri] = text
        return uri

    def open_ir(self):
        self.count += 1
        uri = f"untitled:dump{self.count}.mlir"
        self.client.open(uri, IR, language="mlir")
        return uri

    def path(self, uri):
        return self.folder / uri.rpartition("/")[2] if uri.startswith("file:") else None

    def close(self, uri):
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def delete(self, uri):
        path = self.path(uri)
        for each in (path, path and self.folder / path.name.replace("doc", "other")):
            if each and each.exists():
                each.unlink()
                self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(each), "type": 3}]})
        self.close(uri)

    def rename(self, uri):
        path, new = self.path(uri), uri + "x"
        if path and path.exists():
            new = uri_of(path.rename(path.with_name("new" + path.name)))
        self.close(uri)
        self.client.open(new, self.texts[uri])
        self.texts[new] = self.texts[uri]

    def empty(self, uri):
        self.client.change(uri, 2, [{"text": "\n"}])

    def grow(self, uri):
        self.client.change(uri, 2, [{"text": "// é\n" + self.texts[uri].replace("sum(e", "max(e")}])

    # ---- The worker ----

    def worker(self):
        """Its process, which may just have ended."""
        return self.client.status()["worker"]["pid"]

    def ready(self):
        """Waits for a worker that answers."""
        for _ in range(300):
            if "result" in self.client.ask("ptl/stages") and "result" in self.client.ask("ptl/preview", self.preview()):
                return
            time.sleep(0.1)
        raise TimeoutError("the worker does not come back")

    def preview(self):
        """Of a text that no worker has died of."""
        self.count += 1
        uri = f"untitled:ready{self.count}"
        self.client.open(uri, KERNEL.replace("NUMBER", str(self.count)))
        return {"textDocument": {"uri": uri}, "entry": "rows", "stage": "tile"}

    def signal(self, number):
        try:
            os.kill(self.held, number)
        except (ProcessLookupError, TypeError):
            pass

    def hold(self):
        self.held = self.worker()
        self.signal(signal.SIGSTOP)

    def release(self):
        self.signal(signal.SIGCONT)
        self.held = None

    def kill_worker(self, _uri=None):
        self.held = self.held or self.worker()
        self.signal(signal.SIGKILL)

    # ---- Requests ----

    def asked(self, uri) -> list:
        """Every request, about the kernel of a document."""
        text = Text(self.texts[uri])
        begin = text.text.index("exp(")
        where = text.range(begin, begin + 3)
        preview = f"ptl-ir:/a.rows.tile.mlir?uri={uri.replace(':', '%3A')}&entry=rows&stage=tile"
        own = {
            "ptl/virtualDocument": {"uri": preview}, "ptl/previewHover": {"uri": preview},
            "workspace/textDocumentContent": {"uri": preview},
            "workspace/executeCommand": {"command": "ptl.server.showPreview", "arguments": [uri, "rows"]},
            "codeAction/resolve": {"data": {"uri": uri, "version": 1, "explicit": "rows", "stage": "explicit",
                                            "begin": text.text.index("kernel"), "end": len(text.text)}},
        }
        good = params(uri, where, {"entry": "rows", "bindings": {}, "target": "a3"})
        return [(method, {**good, **own.get(method, {})}) for method in methods()]

    def start(self, uri, ir=None) -> dict:
        """Asks everything; the methods by the ids of the requests."""
        asked = self.asked(uri)
        if ir:
            asked += [(method, params(ir, {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 6}}))
                      for method in ("textDocument/hover", "textDocument/definition")]
        return {self.client.start_request(method, value): method for method, value in asked}

    def waiting(self, started) -> set:
        self.client.status()
        return {method for identity, method in started.items() if json.dumps(identity) not in self.client.replies}

    def missing(self, started):
        """What is wrong with the answers, or None."""
        for identity, method in started.items():
            if wrong := broken(self.client.reply(identity)):
                return f"{method}: {wrong}"
        self.client.status()
        twice = [method for identity, method in started.items() if json.dumps(identity) in self.client.replies]
        if twice:
            return f"a second answer to {twice}"
        return self.complaint()

    def complaint(self):
        log = self.errors.read_text(errors="replace")
        return log[:2000] if FAILED_STEP in log or "Sanitizer" in log else None


def nothing(_uri):
    pass


# What happens to a document, or to the worker, while requests about it wait.
EVENTS = {
    "closed": lambda talk: talk.close, "deleted": lambda talk: talk.delete, "renamed": lambda talk: talk.rename,
    "emptied": lambda talk: talk.empty, "edited": lambda talk: talk.grow, "worker killed": lambda talk: talk.kill_worker,
    "closed, worker killed": lambda talk: lambda uri: (talk.close(uri), talk.kill_worker()),
    "nothing": lambda talk: nothing,
}


def every_request(place: Place, event: str):
    """All at once, about a document on disk and about one that is on none."""
    with Talk(place, "every " + event.replace(", ", " ")) as talk:
        try:
            for on_disk in (False, True):
                talk.ready()
                uri, ir = talk.open(on_disk), talk.open_ir()
                # What a hover keeps back right after an edit.
                time.sleep(0.3)
                talk.hold()
                started = talk.start(uri, ir)
                EVENTS[event](talk)(uri)
                waiting = talk.waiting(started) if "killed" not in event else None
                talk.release()
                if problem := talk.missing(started):
                    return f"{uri}: {problem}"
                if waiting is not None and not {"ptl/preview", "ptl/cost", "ptl/ledger", "ptl/timeline", "ptl/previewHover",
                                                "workspace/textDocumentContent"} <= waiting:
                    return f"{uri}: only {waiting} waited"
                talk.close(ir)
            return None if talk.client.stop() == 0 and not talk.complaint() else f"the end: {talk.errors.read_text()}"
        except Gone:
            return f"the server ended with {talk.client.process.wait(10)}: {talk.errors.read_text(errors='replace')[:2000]}"


def one_by_one(place: Place):
    """Those that wait for the worker, alone: the first that fails hides no other."""
    with Talk(place, "alone") as talk:
        talk.ready()
        try:
            for method in ("ptl/preview", "ptl/cost", "ptl/ledger", "codeAction/resolve", "ptl/timeline"):
                uri = talk.open(False)
                talk.hold()
                identity = talk.client.start_request(method, dict(talk.asked(uri))[method])
                talk.close(uri)
                waiting = talk.waiting({identity: method})
                talk.release()
                answer = talk.client.reply(identity)
                if not waiting or answer is None:
                    return f"{method}: {answer}"
                code = answer.get("error", {}).get("code")
                if code == INTERNAL or (code is None and method != "ptl/timeline"):
                    return f"{method}: {answer}"
            return talk.complaint()
        except Gone:
            return f"{method}: the server ended with {talk.client.process.wait(10)}"


class Storm:
    """Requests and events by chance."""

    def __init__(self, talk: Talk, seed: int):
        self.talk, self.random = talk, random.Random(seed)
        self.started, self.open = {}, []

    def request(self):
        uri = self.random.choice(self.open)
        for method, value in self.random.sample(self.talk.asked(uri), self.random.choice([1, 1, 2, 6])):
            self.started[self.talk.client.start_request(method, value)] = method

    def cancel(self):
        if self.started:
            self.talk.client.notify("$/cancelRequest", {"id": self.random.choice(list(self.started))})

    def event(self):
        name = self.random.choice([each for each in EVENTS if "killed" not in each])
        uri = self.random.choice(self.open)
        EVENTS[name](self.talk)(uri)
        if name not in ("edited", "emptied", "nothing"):
            self.open.remove(uri)

    def hold(self):
        self.talk.release() if self.talk.held else self.talk.hold()

    def settings(self):
        targets = self.random.choice([[], ["a3"], ["a2", "a5"], ["none"]])
        self.talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": targets}}})

    def show(self):
        uri = self.random.choice(self.open)
        shown = dict(self.talk.asked(uri))["ptl/virtualDocument"]["uri"]
        self.talk.client.notify(f"ptl/virtualDocument{self.random.choice(['Opened', 'Closed'])}", {"uri": shown})

    def step(self):
        while len(self.open) < 2:
            self.open.append(self.talk.open(self.random.random() < 0.5))
        weights = {self.request: 10, self.cancel: 2, self.event: 3, self.hold: 2, self.settings: 0.5, self.show: 1,
                   self.talk.kill_worker: 0.5}
        self.random.choices(list(weights), list(weights.values()))[0]()

    def go(self, steps: int):
        number = 0
        try:
            for number in range(steps):
                self.step()
            self.talk.release()
            if problem := self.talk.missing(self.started):
                return problem
            return None if self.talk.client.stop() == 0 else "the exit code is not 0"
        except Gone:
            return f"step {number}: the server ended with {self.talk.client.process.wait(10)}: {self.talk.errors.read_text(errors='replace')[:2000]}"


def storm(place: Place, seed: int, steps: int, is_spoilt: bool):
    where = spoiling(place, f"spoilt {seed}", seed) if is_spoilt else place
    with Talk(where, f"storm {seed}") as talk:
        problem = Storm(talk, seed).go(steps)
        return f"seed {seed}: {problem}" if problem else None


def is_alive(pid) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def orphans(place: Place):
    """A worker that computes ends when its server is killed."""
    worker = f"#!/bin/sh\nexec {place.bin / 'ptlc-ir'} --fault hang:optimise --timeout 600000\n"
    with Talk(with_worker(place, "hanging", worker), "orphans") as talk:
        talk.client.start_request("ptl/preview", {**talk.preview(), "stage": "asm"})
        for _ in range(100):
            if talk.client.status()["worker"]["step"] == "translate":  # the last before
                break
            time.sleep(0.05)
        else:
            return "the worker does not get so far"
        pid = talk.worker()
        talk.client.process.kill()
        for _ in range(100):
            if not is_alive(pid):
                return None
            time.sleep(0.02)
        os.kill(pid, signal.SIGKILL)
        return "the worker outlives its server by two seconds"


def cases(place: Place, long: bool, seed: int):
    for event in EVENTS:
        yield f"every request, {event}", lambda e=event: every_request(place, e)
    yield "one by one, closed", lambda: one_by_one(place)
    yield "a worker ends with its server", lambda: orphans(place)
    steps, storms = (300, 12) if long else (80, 2)
    for each in range(storms):
        yield (f"by chance, seed {seed + each}, {'a spoilt' if each % 2 else 'the'} worker",
               lambda s=seed + each, spoilt=each % 2: storm(place, s, steps, spoilt))
