"""Many random edits in one process: its memory stays what it was.

200,000 edits in the long form. Requests that read come in between, and files are opened and closed.
"""
import random
import time

from client import Text
from edits import RandomEdits
from features import COMPILES, methods, params
from session import EXAMPLES, Place, peak, resident, uri_of

MEBI = 1 << 20


def endure(place: Place, edits: int, seed: int):
    chooser = random.Random(seed)
    asked = [m for m in methods() if m not in COMPILES]
    with place.server(errors=open(place.folder / "errors.txt", "wb")) as client:
        client.initialize({"textDocument": {"publishDiagnostics": {}}}, initializationOptions={"hover": {"ir": False}})
        documents = []
        for example in EXAMPLES:
            text = Text(example.read_text())
            uri = uri_of(place.folder / example.name)
            client.open(uri, text.text)
            documents.append([uri, text, RandomEdits(seed, text.text), 1])
        sizes, start = [], time.monotonic()
        for number in range(edits):
            document = documents[number // 100 % len(documents)]
            uri, text, source, _ = document
            # Everything has an end: now and then the file is as it was.
            if number % 2000 // len(documents) == 0 and number % 100 == 0:
                text.text, source.undo = source.whole, []
                changes = [{"text": text.text}]
            else:
                changes = [text.edit(*source.next(text.text))]
            document[3] += 1
            client.change(uri, document[3], changes)
            if number % 10 == 0:
                at = chooser.randint(0, len(text.text))
                method = chooser.choice(asked)
                answer = client.ask(method, params(uri, text.range(at, min(len(text.text), at + 20))))
                if answer.get("error", {}).get("code") == -32603:
                    return f"edit {number}: {method}: {answer['error']}"
                client.arrived.clear()
            if number % 5000 == 4999:
                client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
                client.open(uri, text.text, document[3])
            if number % max(1, edits // 20) == 0:
                client.status()
                sizes.append(resident(client.process.pid))
        for uri, text, _, version in documents:
            given = client.request("ptl/text", {"textDocument": {"uri": uri}})
            if given != {"version": version, "text": text.text}:
                return f"the server has another text of {uri}"
        highest = peak(client.process.pid)
        seconds = time.monotonic() - start
        code = client.stop()
    early, late = max(sizes[1:5]), max(sizes[-4:])
    print(f"{edits} edits in {seconds:.0f} s; resident MiB at the start {sizes[0] / MEBI:.1f}, after a fifth {early / MEBI:.1f}, "
          f"at the end {late / MEBI:.1f}, highest {highest / MEBI:.1f}")
    if late > early * 1.1 + 2 * MEBI:
        return f"memory grows: {[round(size / MEBI, 1) for size in sizes]} MiB"
    return None if code == 0 else f"exit code {code}"


def cases(place: Place, long: bool, seed: int):
    edits = 200_000 if long else 2_000
    yield f"{edits} edits", lambda: endure(place, edits, seed)
