"""Talks with the real server, written down: `transcripts/*.txt`, one server and one empty folder each.

Lines that begin with `#` say why. A step is a line that begins with one of these words, with what belongs to it on the lines
below, up to the next step:

    server ARGUMENTS       starts the server (else `--stdio` when the first message goes out); `--port 0` connects
    begin {…}              `initialize` with these capabilities (and `"more"` parameters), and `initialized`
    file NAME              writes a file into the folder; its text follows, each line behind `| `
    open NAME              the same text as a document of the editor; NAME may be a URI, behind it may stand a language
    change NAME N […]      the changes of version N
    --> METHOD {…}         a request; `id=…` behind the method chooses its id
    ==> METHOD {…}         a notification
    <-- {…}                the answer to the last request, or `id=…` to another one; `none` waits for nothing to come
    <== METHOD {…}         a notification or request of the server comes, perhaps behind others of that method
    raw "…"                bytes, with Python's escapes; `$frame(…)` stands for a message with its header
    answer METHOD {…}      what a request of the server gets from now on
    quiet                  the server has said nothing that was not awaited
    close, kill worker     the client closes its side; the compiler's process dies
    remove NAME            a program or a file is not there
    pause SECONDS
    exit CODE              the server ends so

JSON is matched as a part: members that are not written may be there. `"…"` is anything, `"…text…"` any string that has the text,
`["…", A, B]` a list that has A and B, `"absent"` a member that is not there. `$/` is the URI of the folder,
`"$answer/result/…"` what stands there in the last answer.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time

from client import TIMEOUT, Gone, encode
from session import Place, uri_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import difference  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "transcripts"
STEP = re.compile(r"^(server|begin|file|open|change|-->|==>|<--|<==|raw|answer|quiet|close|kill|remove|pause|exit)\b|^(-->|==>|<--|<==)")
ANY = "…"


# ---- Matching ----


def matches(actual, wanted) -> bool:
    if wanted == ANY:
        return True
    if isinstance(wanted, str) and len(wanted) > 2 and wanted[0] == wanted[-1] == ANY:
        return isinstance(actual, str) and wanted[1:-1] in actual
    if isinstance(wanted, dict):
        return isinstance(actual, dict) and all(
            key not in actual if value == "absent" else key in actual and matches(actual[key], value)
            for key, value in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(actual, list):
            return False
        if wanted and wanted[0] == ANY:
            return all(any(matches(a, w) for a in actual) for w in wanted[1:])
        return len(actual) == len(wanted) and all(map(matches, actual, wanted))
    return type(actual) is type(wanted) and actual == wanted


def cut(actual, wanted):
    """The part of an answer that a transcript is about."""
    if matches(actual, wanted):
        return wanted
    if isinstance(wanted, dict) and isinstance(actual, dict) and wanted:
        kept = {key: cut(actual[key], value) for key, value in wanted.items() if key in actual}
        return kept or actual
    if isinstance(wanted, list) and isinstance(actual, list) and len(actual) == len(wanted):
        return list(map(cut, actual, wanted))
    if isinstance(wanted, list) and isinstance(actual, list) and wanted and isinstance(wanted[0], dict):
        return [cut(each, wanted[0]) for each in actual]
    return actual


def written(value, width=116, indent="") -> str:
    """JSON that is short where it can be."""
    short = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(short) <= width or not value or not isinstance(value, (dict, list)):
        return short
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(k, ensure_ascii=False)}: {written(v, width, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(parts) + "\n" + indent + "}"
    return "[\n" + ",\n".join(inner + written(v, width, inner) for v in value) + "\n" + indent + "]"


# ---- Steps ----


class Step:
    def __init__(self, lines, number):
        self.lines, self.number = lines, number
        self.word, _, rest = lines[0].partition(" ")
        self.rest = rest

    def text(self) -> str:
        return "\n".join(line[2:] for line in self.lines[1:] if line.startswith("|"))

    def words(self, count):
        """The first words of the line, and the JSON behind them."""
        body = "\n".join([self.rest] + [line for line in self.lines[1:] if not line.startswith("#")])
        words = []
        while len(words) < count and body and body[0] not in "{[\"":
            word, _, body = body.partition(" ") if " " in body.split("\n")[0] else body.partition("\n")
            words.append(word)
            body = body.lstrip()
        return words, json.loads(body) if body.strip() else None


def steps_of(text: str) -> list:
    """Steps, and between them the lines that are none."""
    parts, current = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if STEP.match(line):
            current = Step([line], number)
            parts.append(current)
        elif current and line.strip() and not line.startswith("#"):
            current.lines.append(line)
        else:
            parts.append(line)
            current = None
    return parts


class Mismatch(Exception):
    pass


class Talk:
    """One transcript with its server."""

    def __init__(self, place: Place, folder: pathlib.Path, update: bool):
        self.place, self.folder, self.update = place, folder, update
        self.client, self.last_id, self.last_answer = None, None, None
        self.answers, self.program = {}, None

    def known(self, value):
        """Names of the folder and members of the last answer, as they are this time."""
        text = json.dumps(value).replace("$/", uri_of(self.folder) + "/")
        return json.loads(re.sub(r'"\$answer/([^"]*)"', lambda m: json.dumps(self.member(m.group(1).split("/"))), text))

    def member(self, names):
        value = self.last_answer
        for name in names:
            value = value[int(name) if isinstance(value, list) else name]
        return value

    def unknown(self, value):
        return json.loads(json.dumps(value).replace(uri_of(self.folder) + "/", "$/"))

    def uri(self, name):
        return name if ":" in name else uri_of(self.folder / name)

    def server(self, arguments=("--stdio",)):
        port = 0 if "--port" in arguments else None
        place = Place(self.place.bin.parent, self.folder)
        self.client = place.server(*arguments, program=self.program, port=port)
        self.client.answers = self.answers

    def run(self, step: Step):
        if step.word == "server":
            return self.server(step.rest.split())
        handler = getattr(self, "step_" + {"-->": "ask", "==>": "tell", "<--": "answered", "<==": "told"}.get(step.word, step.word))
        if not self.client and step.word not in ("file", "remove", "answer", "pause"):
            self.server()
        return handler(step)

    def step_begin(self, step):
        _, value = step.words(0)
        more = self.known((value or {}).pop("more", {})) if value else {}
        self.client.initialize(value or {}, **more)

    def step_file(self, step):
        path = self.folder / step.rest
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((step.text() + "\n").encode())

    def step_open(self, step):
        name, _, language = step.rest.partition(" ")
        self.client.open(self.uri(name), step.text() + "\n", 1, language or "ptl")

    def step_change(self, step):
        (name, version), changes = step.words(2)
        self.client.change(self.uri(name), int(version), changes)

    def step_ask(self, step):
        words, value = step.words(2)
        if len(words) == 2:
            self.last_id = json.loads(words[1].removeprefix("id="))
            message = {"jsonrpc": "2.0", "id": self.last_id, "method": words[0]}
            self.client.send(message if value is None else {**message, "params": self.known(value)})
        else:
            self.last_id = self.client.start_request(words[0], self.known(value))

    def step_tell(self, step):
        words, value = step.words(1)
        self.client.notify(words[0], self.known(value))

    def expect(self, step, actual, wanted, head):
        actual = self.unknown(actual)
        if matches(actual, wanted):
            return
        if not self.update:
            text = difference(written(wanted), written(cut(actual, wanted)), "answer")
            raise Mismatch(f"line {step.number}: {head}\n{text}\n  all of it: {json.dumps(actual)[:600]}")
        step.lines = (head + " " + written(cut(actual, wanted))).split("\n")

    def step_answered(self, step):
        words, wanted = step.words(1)
        identity, head = self.last_id, "<--"
        if words and words[0].startswith("id="):
            identity, head = json.loads(words[0][3:]), "<-- " + words[0]
        elif words == ["none"]:
            if self.client.reply(identity, 0.2) is not None:
                raise Mismatch(f"line {step.number}: there is an answer")
            return
        actual = self.client.reply(identity)
        if actual is None:
            raise Mismatch(f"line {step.number}: no answer; of others: {list(self.client.replies)}")
        self.last_answer = actual
        self.expect(step, {k: v for k, v in actual.items() if k not in ("jsonrpc", "id")}, wanted, head)

    def step_told(self, step):
        """Earlier words of the same kind are passed over: how many come depends on the machine's pace."""
        words, wanted = step.words(1)
        seen = []

        def accepts(message):
            if message["method"] != words[0]:
                return False
            seen.append(message)
            return matches(self.unknown(message.get("params")), wanted)
        found = self.client.wait_for(accepts, 2 if self.update else TIMEOUT)
        self.client.arrived = [m for m in self.client.arrived if not any(m is each for each in seen)]
        if not seen:
            raise Mismatch(f"line {step.number}: no {words[0]} came")
        self.expect(step, (found or seen[-1]).get("params"), wanted, "<== " + words[0])

    def step_raw(self, step):
        # The text has Python's escapes; what is not ASCII goes out as UTF-8.
        text = json.loads('"' + step.rest.strip()[1:-1].replace("\\x", "\\u00").replace("\\'", "'") + '"')
        data = b"".join(
            encode(json.loads(part[7:-1])) if part.startswith("$frame(") else part.encode("latin-1")
            for part in re.split(r"(\$frame\(.*?\)(?=\$|\r|\n|$))", text))
        self.client.send_bytes(data)

    def step_answer(self, step):
        words, value = step.words(1)
        self.answers[words[0]] = self.known(value)

    def step_quiet(self, step):
        self.client.reply(self.client.start_request("ptl/status"))
        time.sleep(0.05)
        self.client.reply(self.client.start_request("ptl/status"))
        if self.client.arrived or self.client.replies:
            raise Mismatch(f"line {step.number}: {self.client.arrived[:2]} {list(self.client.replies.values())[:2]}")

    def step_close(self, step):
        self.client.close_input()

    def step_kill(self, step):
        pid = self.client.status()["worker"]["pid"]
        os.kill(pid, signal.SIGKILL)

    def step_remove(self, step):
        """The server alone in another folder has no worker beside it."""
        if step.rest != "worker":
            return (self.folder / step.rest).unlink()
        self.program = self.folder / "bin" / "ptl-lsp"
        self.program.parent.mkdir()
        shutil.copy(self.place.bin / "ptl-lsp", self.program)

    def step_pause(self, step):
        time.sleep(float(step.rest))

    def step_exit(self, step):
        code = self.client.exit_code()
        if code != int(step.rest):
            raise Mismatch(f"line {step.number}: the exit code is {code}")


def run_transcript(place: Place, path: pathlib.Path, update: bool):
    text = path.read_text()
    parts = steps_of(text)
    with tempfile.TemporaryDirectory(dir=place.folder) as folder:
        talk = Talk(place, pathlib.Path(folder), update)
        step = None
        try:
            for step in parts:
                if isinstance(step, Step):
                    talk.run(step)
            if talk.client and talk.client.process.poll() not in (None, 0, 1):
                return f"the server ended with {talk.client.process.poll()}"
        except Mismatch as mismatch:
            return f"{mismatch}\naccept it: tests/lsp/run.py BUILD transcripts --update {path.stem}"
        except (Gone, TimeoutError) as error:
            code = talk.client.process.poll()
            return f"line {step.number}: {step.lines[0]}: {type(error).__name__} {error}; exit code {code}"
        finally:
            if talk.client:
                talk.client.kill()
    if update:
        path.write_text("\n".join("\n".join(p.lines) if isinstance(p, Step) else p for p in parts) + "\n")
    return None


def cases(place: Place, update: bool):
    for path in sorted(FOLDER.glob("*.txt")):
        yield f"transcripts/{path.name}", lambda p=path: run_transcript(place, p, update)
