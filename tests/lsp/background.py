"""What the server does beside its loop: it goes on answering, takes requests back, and never gives edits of another text."""
import pathlib

from client import encode
from session import ROOT, Place, uri_of, in_words

CANCELLED, MODIFIED = -32800, -32801
UNIT = (ROOT / "examples" / "02_softmax.ptl").read_text().split("test ")[0].replace("= ", "=  ")
OPTIONS = {"options": {"tabSize": 4, "insertSpaces": True}}
EMPTY = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


def long_text(units=1000):
    """Formatting it takes longer than many answers: some 20,000 lines."""
    return "".join(UNIT.replace("softmax", f"softmax{number}") for number in range(units))


class Talk:
    """A session with a long file, and requests on their way."""

    def __init__(self, place: Place, name: str):
        self.folder = place.folder / name
        self.folder.mkdir()
        self.path = self.folder / "long.ptl"
        self.uri = uri_of(self.path)
        self.document = {"textDocument": {"uri": self.uri}}
        self.client = place.server()
        self.client.initialize(rootUri=uri_of(self.folder), initializationOptions={"hover": {"ir": False}})

    def __enter__(self):
        self.client.open(self.uri, long_text())
        return self

    def __exit__(self, *_):
        self.client.kill()

    def format(self):
        """A request that has been begun, but cannot have ended."""
        identity = self.client.start_request("textDocument/formatting", {**self.document, **OPTIONS})
        self.client.status()
        return identity

    def code(self, identity):
        answer = self.client.reply(identity)
        return answer.get("error", {}).get("code") if answer else "no answer"


def eventually(attempt, wanted):
    """On a loaded machine the work may end before the message that was to meet it comes: then once more."""
    for _ in range(20):
        code = attempt()
        if code is not None:
            return None if code == wanted else f"{code}, not {wanted}"
    return f"never {wanted}"


def answers_meanwhile(place):
    with Talk(place, "meanwhile") as talk:
        for _ in range(20):
            slow = talk.format()
            hover = talk.client.start_request("textDocument/hover", {**talk.document, "position": {"line": 5, "character": 4}})
            talk.client.reply(hover)
            waited = str(slow) in talk.client.replies
            edits = talk.client.reply(slow)["result"]
            if len(edits) < 1000:
                return f"{len(edits)} edits"
            if not waited:
                return None
        return "the hover waited for the formatting"


def cancelled(place):
    with Talk(place, "cancelled") as talk:
        client = talk.client

        def while_it_is_made():
            slow = talk.format()
            client.notify("$/cancelRequest", {"id": slow})
            return talk.code(slow)

        def while_others_are_made():
            several = [talk.format() for _ in range(12)]
            for each in several[1:]:
                client.notify("$/cancelRequest", {"id": each})
            codes = [talk.code(each) for each in several]
            return codes[-1] if codes[0] is None else "the first"

        def with_the_request():
            client.next_id += 1
            request = {"jsonrpc": "2.0", "id": client.next_id, "method": "textDocument/formatting",
                       "params": {**talk.document, **OPTIONS}}
            cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": client.next_id}}
            client.send_bytes(encode(request) + encode(cancel))
            return talk.code(client.next_id)

        for attempt in (while_it_is_made, while_others_are_made, with_the_request):
            if problem := eventually(attempt, CANCELLED):
                return f"{attempt.__name__}: {problem}"
        client.status()
        return f"a second answer: {client.replies}" if client.replies else None


def edited(place):
    with Talk(place, "edited") as talk:
        def by_a_change():
            slow = talk.format()
            talk.client.change(talk.uri, 2, [{"range": EMPTY, "text": "// more\n"}])
            return talk.code(slow)

        def by_the_disk():
            talk.path.write_text("const N = 1\n")
            talk.client.open(talk.uri, long_text())
            slow = talk.format()
            talk.client.notify("textDocument/didClose", talk.document)
            return talk.code(slow)

        return eventually(by_a_change, MODIFIED) or eventually(by_the_disk, MODIFIED)


def range_of_lines(place):
    with Talk(place, "range") as talk:
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 5000, "character": 0}}
        identity = talk.client.start_request("textDocument/rangeFormatting", {**talk.document, **OPTIONS, "range": whole})
        talk.client.change(talk.uri, 2, [{"range": EMPTY, "text": "// more\n"}])
        code = talk.code(identity)
        if code not in (MODIFIED, None):
            return f"a range, edited meanwhile: {code}"
        edits = talk.client.request("textDocument/rangeFormatting", {**talk.document, **OPTIONS, "range": whole})
        lines = [each["range"]["start"]["line"] for each in edits]
        return None if lines and max(lines) <= 5000 else f"edits up to line {max(lines, default=None)}"


def project(place):
    """Files that the client has not opened: looked for at each request, read again when they change."""
    with Talk(place, "project") as talk:
        client, other = talk.client, talk.folder / "below" / "other.ptl"
        other.parent.mkdir()

        def names():
            found = client.request("workspace/symbol", {"query": "needle"})
            return sorted(each["name"] for each in found)

        def write(*wanted):
            other.write_text("".join(f"pub fn {name}(x: f32[4]) -> f32[4] {{\n    return x\n}}\n" for name in wanted))

        if names():
            return "found what is not there"
        write("needle_a")
        if names() != ["needle_a"]:
            return f"a new file: {names()}"
        for number in range(20):
            write("needle_b", f"needle_{number}")
            client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(other), "type": 2}]})
        if names() != ["needle_19", "needle_b"]:
            return f"a changed file: {names()}"
        # Positions of an old text are not answered; requests without one are.
        asked = {**talk.document, "position": {"line": 3, "character": 4}, "context": {"includeDeclaration": True}}
        client.status()
        references = client.start_request("textDocument/references", asked)
        symbols = client.start_request("workspace/symbol", {"query": "needle"})
        client.change(talk.uri, 2, [{"range": EMPTY, "text": "// more\n"}])
        if talk.code(references) not in (MODIFIED, None):
            return "references, edited meanwhile"
        if len(client.reply(symbols)["result"]) != 2:
            return "symbols, edited meanwhile"
        cancelled_one = client.start_request("workspace/symbol", {"query": "needle"})
        client.notify("$/cancelRequest", {"id": cancelled_one})
        return None if talk.code(cancelled_one) in (CANCELLED, None) else "cancelled"


def the_end(place):
    """What was asked before the client closed its side is still answered."""
    with Talk(place, "end") as talk:
        slow = talk.format()
        symbols = talk.client.start_request("workspace/symbol", {"query": "softmax7"})
        talk.client.close_input()
        if talk.code(slow) is not None or talk.code(symbols) is not None:
            return "not answered"
        return None if talk.client.exit_code() == 1 else "the exit code is not 1"


def cases(place: Place, long: bool, seed: int):
    pathlib.Path(place.folder).mkdir(parents=True, exist_ok=True)
    yield from in_words((answers_meanwhile, cancelled, edited, range_of_lines, project, the_end), place)
