"""Every request and notification with parameters of every wrong type: an answer, error or not, and no crash."""
import itertools
import socket
import subprocess

from client import broken
from features import methods, params
from session import ROOT, Place

WRONG = [None, True, -1, 1.5, 1e300, 2**63, "", "text", [], [1], {}, {"uri": 1}, {"textDocument": None}]
NOTIFICATIONS = [
    "initialized", "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave",
    "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders",
    "ptl/virtualDocumentOpened", "ptl/virtualDocumentClosed", "$/cancelRequest", "$/setTrace", "window/workDoneProgress/cancel"]
TEXT = (ROOT / "examples" / "04_matmul.ptl").read_text()
# Timelines are simulated anew for each request, so they are short ones.
SIZES = {"M": 256, "N": 256, "K": 256}
URI = "untitled:a"
WHERE = {"start": {"line": 3, "character": 2}, "end": {"line": 5, "character": 1}}


def variants(good: dict):
    """The whole wrong; each member wrong or missing, and each member of a member."""
    yield from WRONG
    for key in good:
        yield {k: v for k, v in good.items() if k != key}
        for wrong in WRONG:
            yield {**good, key: wrong}
        if isinstance(good[key], dict):
            for inner, wrong in itertools.product(good[key], WRONG):
                yield {**good, key: {**good[key], inner: wrong}}


def ask_all(client, method, good):
    identities = [(client.start_request(method, each), each) for each in variants(good)]
    for identity, each in identities:
        if wrong := broken(client.reply(identity)):
            return f"{method} with {each}: {wrong}"
    return None


def with_client(place, work):
    with place.server() as client:
        client.initialize(initializationOptions={"sizes": SIZES})
        client.open(URI, TEXT)
        try:
            problem = work(client)
            client.status()
            return problem or (None if client.stop() == 0 else "the exit code is not 0")
        except Exception as error:
            return f"{type(error).__name__} {error}, exit code {client.process.poll()}"


def requests_case(place, names):
    def work(client):
        for name in names:
            try:
                problem = ask_all(client, name, params(URI, WHERE))
            except Exception as error:
                return f"{name}: {type(error).__name__} {error}, exit code {client.process.wait(5)}"
            if problem:
                return problem
        return None
    return with_client(place, work)


def notifications_case(place):
    document = {"uri": URI, "languageId": "ptl", "version": 2, "text": TEXT}
    good = {"textDocument": document, "uri": URI, "id": 1, "settings": {}, "changes": [{"uri": URI, "type": 1}],
            "contentChanges": [{"range": WHERE, "text": ""}], "event": {"added": [{"uri": "x"}], "removed": [{"uri": 1}]}}

    def work(client):
        for name in NOTIFICATIONS:
            for each in variants(good):
                client.notify(name, each)
            for wrong in WRONG:
                client.notify(name, {**good, "contentChanges": [wrong], "changes": [wrong]})
                client.notify(name, {**good, "contentChanges": [{"range": wrong, "text": wrong}]})
                client.notify(name, {**good, "contentChanges": [{"range": {"start": wrong, "end": wrong}, "text": "x"}]})
            client.status()
        return None
    return with_client(place, work)


def initialize_case(place):
    good = {"processId": 1, "rootUri": "file:///", "capabilities": {"general": {}, "textDocument": {}, "workspace": {}},
            "initializationOptions": {}, "workspaceFolders": [], "locale": "de", "trace": "off"}
    good.pop("rootUri")
    for each in variants(good):
        with place.server() as client:
            if wrong := broken(client.ask("initialize", each)):
                return f"{each}: {wrong}"
            client.notify("exit")
            if client.exit_code() not in (0, 1):
                return f"{each}: exit code {client.exit_code()}"
    return None


def command_line_case(place):
    """Words that are wrong, and a port that is taken."""
    def outcome(*arguments):
        done = subprocess.run([place.bin / "ptl-lsp", *arguments], capture_output=True, env=place.environment(), timeout=60,
                              stdin=subprocess.DEVNULL)
        return done.returncode, (done.stdout + done.stderr).decode()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        wanted = {("--nonsense",): (2, "nonsense"), ("--port",): (2, "usage"), ("--port", "x"): (2, "a whole number from 0 to 65535"),
                  ("--port", "70000"): (2, "a whole number from 0 to 65535"), ("--port", port): (3, port), ("--check", "none.ptl"): (3, "none.ptl"),
                  ("--version",): (0, "ptl-lsp"), ("--help",): (0, "--stdio")}
        for words, (code, text) in wanted.items():
            got = outcome(*words)
            if got[0] != code or text not in got[1]:
                return f"{words}: {got}"
    with place.server("--port", "0", port=0) as one, place.server("--port", "0", port=0) as two:
        for client in (one, two):
            client.initialize()
        if one.stop() or two.stop():
            return "two servers at once: an exit code is not 0"
    return None


def cases(place: Place, long: bool, seed: int):
    every = methods()
    for start in range(0, len(every), 12):
        part = every[start:start + 12]
        yield f"requests {part[0]} to {part[-1]}", lambda p=part: requests_case(place, p)
    yield "command line", lambda: command_line_case(place)
    yield "notifications", lambda: notifications_case(place)
    yield "initialize", lambda: initialize_case(place)
