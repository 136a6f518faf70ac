"""After every edit of a random sequence the server has the client's text, and its diagnostics are those of a
fresh `ptlc check`. Requests come right behind edits, and none answers an internal error. What the server keeps between
requests about whole files is what another that never saw the edits says."""
import pathlib
import random

from client import Text, broken
from edits import RandomEdits
from features import COMPILES, methods, params
from session import EXAMPLES, Place, uri_of



def place_of(text: Text, offset: int):
    """A byte of the text as the server gives it: the carriage return of a line end is no character."""
    data = text.text.encode("utf-8")
    start = data.rfind(b"\n", 0, offset) + 1
    end = data.find(b"\n", start)
    line = data[start:end if end >= 0 else len(data)]
    if end >= 0 or line.endswith(b"\r"):
        line = line.removesuffix(b"\r")
    before = line[:offset - start].decode("utf-8", "replace")
    return data.count(b"\n", 0, offset), text.units(before)


def expected(text: Text, path, found) -> list:
    """`ptlc`'s diagnostics in the protocol's words."""
    rows = []
    for each in found:
        if each["file"] != str(path):
            continue
        message = each["message"] + ("\n" + each["label"] if each["label"] else "")
        message += "".join(f"\nnote: {note}" for note in each["notes"])
        message += "".join(f"\nhelp: {help}" for help in each["helps"])
        rows.append((place_of(text, each["begin"]["offset"]), place_of(text, each["end"]["offset"]),
                     each["code"], message))
    return sorted(rows)


# The requests whose answers are made of parts that are kept.
KEPT = ("textDocument/inlayHint", "textDocument/semanticTokens/full", "textDocument/documentSymbol", "textDocument/foldingRange",
        "textDocument/codeLens", "textDocument/documentLink")


def without_names(answer):
    """An answer without what only its own server understands."""
    if isinstance(answer, list):
        return [without_names(each) for each in answer]
    if isinstance(answer, dict):
        return {key: without_names(value) for key, value in answer.items()
                if key != "resultId" and not (key == "data" and "position" in answer)}
    return answer


def given(diagnostics) -> list:
    def key(position):
        return position["line"], position["character"]
    return sorted((key(d["range"]["start"]), key(d["range"]["end"]), d["code"], d["message"]) for d in diagnostics)


class Run:
    def __init__(self, place: Place, example: pathlib.Path, encoding, seed):
        self.place, self.random = place, random.Random(seed)
        self.path = place.folder / f"{encoding}_{example.name}"
        self.uri = uri_of(self.path)
        whole = example.read_text()
        self.text = Text(whole, encoding)
        self.edits = RandomEdits(seed, whole)
        self.methods = [m for m in methods() if m not in COMPILES]
        self.version, self.log = 1, []
        self.client = place.server()
        self.capabilities = {"general": {"positionEncodings": [encoding]},
                        "textDocument": {"publishDiagnostics": {"relatedInformation": True}}}
        answer = self.client.initialize(self.capabilities, initializationOptions={"hover": {"ir": False}})
        self.gives_text = "text" in answer["capabilities"].get("experimental", {}).get("ptl", {})
        self.client.open(self.uri, whole)

    def change(self):
        """One notification with one edit or several."""
        self.version += 1
        if self.random.random() < 0.02:
            changes = [{"text": self.text.text}]
        else:
            count = 1 if self.random.random() < 0.7 else self.random.randint(2, 5)
            changes = [self.text.edit(*self.edits.next(self.text.text)) for _ in range(count)]
        self.log.append(changes)
        self.client.change(self.uri, self.version, changes)

    def start_feature(self):
        size = len(self.text.text)
        begin = self.random.randint(0, size)
        where = self.text.range(begin, min(size, begin + self.random.randint(0, 40)))
        method = self.random.choice(self.methods)
        return method, where, self.client.start_request(method, params(self.uri, where))

    def compare(self):
        """Nothing, or what differs."""
        want = expected(self.text, self.path, self.place.check(self.path, self.text.text))
        for how, diagnostics in (
            ("published", self.client.diagnostics(self.uri, self.version)),
            ("pulled", self.client.request("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})["items"]),
        ):
            got = given(diagnostics)
            if got != want:
                missing = [row for row in want if row not in got]
                extra = [row for row in got if row not in want]
                return f"{how} diagnostics differ\n  missing: {missing[:5]}\n  not in ptlc's: {extra[:5]}"
        if self.gives_text:
            text = self.client.request("ptl/text", {"textDocument": {"uri": self.uri}})
            if text != {"version": self.version, "text": self.text.text}:
                return "the server has another text"
        return None

    def compare_kept(self):
        """Nothing, or what a server that knows this text alone says otherwise."""
        lines = self.text.text.count("\n") + 1
        wanted = {"textDocument": {"uri": self.uri},
                  "range": {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}}
        with self.place.server() as fresh:
            fresh.initialize(self.capabilities, initializationOptions={"hover": {"ir": False}})
            fresh.open(self.uri, self.text.text)
            for method in KEPT:
                old, new = (without_names(client.request(method, wanted)) for client in (self.client, fresh))
                if old == new:
                    continue
                if isinstance(old, list):
                    old, new = next((pair for pair in zip(old, new) if pair[0] != pair[1]), (old[-1:], new[-1:]))
                return f"{method} differs\n  kept: {str(old)[:400]}\n  fresh: {str(new)[:400]}"
        return None

    def step(self):
        self.change()
        method, where, identity = self.start_feature()
        problem = self.compare() or (self.compare_kept() if self.random.random() < 0.1 else None)
        wrong = broken(self.client.reply(identity))
        return f"{method} at {where}: {wrong}" if wrong else problem

    def go(self, steps):
        with self.client:
            for number in range(steps):
                try:
                    problem = self.step()
                except Exception as error:
                    problem = f"{type(error).__name__}: {error} (exit code {self.client.process.poll()})"
                if problem:
                    self.path.with_suffix(".failed.ptl").write_bytes(self.text.text.encode())
                    return f"edit {number}: {problem}\n  last change: {self.log[-1]}\n  text: {self.path.with_suffix('.failed.ptl')}"
            code = self.client.stop()
            return None if code == 0 else f"exit code {code}"


def cases(place: Place, long: bool, seed: int):
    steps = 1000 if long else 40
    encodings = ("utf-16", "utf-8", "utf-32")
    for index, example in enumerate(EXAMPLES):
        encoding = encodings[index % 3]
        yield (f"{example.stem}, {steps} edits, {encoding}, seed {seed + index}",
               lambda e=example, c=encoding, s=seed + index: Run(place, e, c, s).go(steps))
