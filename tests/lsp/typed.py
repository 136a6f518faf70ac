"""What a person at the keyboard sees: errors that wait until a line is written, hovers at once, lenses that are short and say
for which lengths they speak. Keys are typed as people type them (keys.py)."""
import collections
import pathlib
import random
import re
import time

from activities import Slip, next_activity
from chips import Talk
from client import FULL, Text
from keys import Typist
from random_edits import expected, given
from session import Place, uri_of, in_words
from typed_texts import callees_first, document, in_other_words, sources

WAITS = {"diagnostics": {"whileTyping": False}}
KERNEL = """kernel scale[R, static C](x: f32[R, C]) -> (y: f32[R, C])
{
    parallel r in tiles(R, 16) {
        let rows = x[r, :]
        y[r, :] = exp(rows)
    }
}

bench "scale" {
    scale(zeros(f32[768, 512]))
}

test "scale is exp" {
    expect_close(scale(zeros(f32[4, 64])), ones(f32[4, 64]))
}
"""
REST = 1.2  # seconds: longer than the server waits


class Typed:
    """One file that somebody types in."""

    def __init__(self, place: Place, name, text, options=None):
        self.client_path = place.folder / name
        self.uri = uri_of(self.client_path)
        self.text, self.version = Text(text), 1
        self.client = place.server()
        self.client.initialize(FULL, initializationOptions={**WAITS, **(options or {})})
        self.client.open(self.uri, text)
        self.first = self.client.diagnostics(self.uri, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.kill()

    def start(self, key):
        self.version += 1
        self.client.change(self.uri, self.version, [self.text.edit(key.begin, key.end, key.text)])

    def press(self, key):
        """The errors and warnings that are shown after a key."""
        self.start(key)
        return [each for each in self.client.diagnostics(self.uri, self.version) if each["severity"] < 3]

    def after_rest(self):
        """What comes when nobody types, or None when nothing does."""
        found = self.client.wait_for(lambda m: m["method"] == "textDocument/publishDiagnostics" and m["params"]["uri"] == self.uri, REST)
        return found and found["params"]["diagnostics"]


def signature(diagnostic):
    return diagnostic.get("code"), diagnostic["message"]


class Tally:
    """How often something was said that the finished text has not, and how long something true was not said."""

    def __init__(self):
        self.keys, self.at_cursor, self.elsewhere, self.slips, self.late = 0, 0, 0, 0, 0
        self.in_pauses, self.pauses = 0, 0
        self.classes, self.examples, self.problems = collections.Counter(), {}, []

    def note(self, shown, line, allowed, kind, context=""):
        """What is shown after a key; `allowed` counts the findings of the finished text."""
        self.keys += 1
        left, false = collections.Counter(allowed), []
        for each in shown:
            if left[signature(each)] > 0:
                left[signature(each)] -= 1
            else:
                false.append(each)
        here = [each for each in false if each["range"]["start"]["line"] == line]
        self.at_cursor += bool(here)
        self.elsewhere += len(false) > len(here)
        for each in false:
            row = (kind, each["code"], "at the cursor" if each in here else "elsewhere")
            self.classes[row] += 1
            self.examples.setdefault(row, []).append((line, each["range"]["start"]["line"], each["message"].split("\n")[0], context))

    def add(self, other):
        for name in ("keys", "at_cursor", "elsewhere", "slips", "late", "in_pauses", "pauses"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.classes += other.classes
        self.problems += other.problems


class Player:
    """Presses the keys of activities, and counts what is said meanwhile."""

    def __init__(self, place: Place, typed: Typed, tally: Tally, rests=False):
        self.place, self.typed, self.tally, self.rests = place, typed, tally, rests
        self.seconds = 0.0  # that a person would have needed
        self.path = pathlib.Path(typed.client_path)

    def fresh(self):
        """The findings of a fresh check of the present text, as rows of `random_edits.py`."""
        return expected(self.typed.text, self.path, self.place.check(self.path, self.typed.text.text))

    def counted(self, rows):
        return collections.Counter((code, message) for _, _, code, message in rows)

    def press(self, key):
        return self.typed.press(key)

    def play(self, name, keys, allowed, missing=None):
        """`missing` says of a key and what is shown whether something true is not said."""
        for key in keys:
            self.seconds += key.pause
            shown = self.press(key)
            at = key.cursor
            text = self.typed.text.text
            self.tally.note(shown, text.count("\n", 0, at), allowed, name, text[max(0, at - 30):at] + "|" + text[at:at + 10])
            if missing and missing(shown):
                self.tally.late += 1
                self.tally.examples.setdefault((name, "late", ""), []).append(text[max(0, at - 30):at] + "|" + text[at:at + 10])
            if self.rests and key.pause > 0.8:
                self.rest(allowed)

    def rest(self, allowed):
        """A pause in which everything is said: what of that is not of the finished text?"""
        self.tally.pauses += 1
        found = self.typed.after_rest() or []
        self.tally.in_pauses += bool(collections.Counter(signature(each) for each in found if each["severity"] < 3) - allowed)

    def finish(self, name):
        """After a pause exactly what a fresh check finds is said."""
        typed = self.typed
        if typed.client.status()["held"]:
            typed.after_rest()
        # Asked for, because nothing comes where nothing was held.
        got = given(typed.client.request("textDocument/diagnostic", {"textDocument": {"uri": typed.uri}})["items"])
        if got != (want := self.fresh()):
            self.tally.problems.append(f"{name}: said {got[:3]}, found {want[:3]}")

    def activity(self, typist, allowed):
        """One of `activities.py`, after which the text is as before."""
        before = typist.text
        name, keys = next_activity(typist)
        self.play(name, keys, allowed)
        if typist.text != before or self.typed.text.text != before:
            self.tally.problems.append(f"{name}: the text is another one")

    def slip(self, typist, allowed):
        """A slip that stays is told as soon as its line is left, and stays told until it is mended."""
        slip = Slip(typist)
        keys = slip.left()
        if not keys:
            return
        keys = list(keys)
        self.play("slip", keys[:1], allowed)
        found = self.fresh()
        wrong, line = self.counted(found), self.typed.text.text.count("\n", 0, slip.at)
        true = {(code, message) for (begin, _), _, code, message in found if begin == line and code.startswith("E")} - set(allowed)
        self.tally.slips += bool(true)
        self.play("slip", keys[1:], wrong, lambda shown: not true <= {signature(each) for each in shown})
        # The text is the finished one again, and what that has is true.
        self.play("slip mended", slip.mended(), allowed)


def whole_file(place: Place, number, text, seed, tally, player=Player, rests=False):
    """A program is typed from nothing."""
    text = callees_first(text)
    with Typed(place, f"whole_{number}.ptl", "") as typed:
        typist, playing = Typist(seed, ""), player(place, typed, tally, rests)
        final = Typist(seed, "")
        for _ in final.write(text):
            pass
        typed.text.text, empty = final.text, typed.text.text
        allowed = playing.counted(playing.fresh())
        typed.text.text = empty
        playing.play("whole file", typist.write(text), allowed)
        if typed.text.text.split() != text.split():
            tally.problems.append(f"typed something else:\n{typed.text.text}")
        playing.finish("whole file")
        return playing


def edited_file(place: Place, name, text, seed, tally, seconds, player=Player, rests=False):
    """People work on a file for a while."""
    with Typed(place, name, text) as typed:
        typist, playing = Typist(seed, text), player(place, typed, tally, rests)
        allowed = playing.counted(playing.fresh())
        number = 0
        while playing.seconds < seconds:
            number += 1
            if number % 8 == 0:
                playing.slip(typist, allowed)
            else:
                playing.activity(typist, allowed)
            if number % 20 == 0:
                playing.finish(name)
        playing.finish(name)
        return playing


def replayed(place: Place, long: bool, seed: int):
    """No false error at the cursor in 95 % of the keys, none elsewhere, none too late, and in the end what a fresh check says."""
    choose, tally = random.Random(seed), Tally()
    known = in_other_words(place, sources(place, choose, 100 if long else 24), choose)
    for number in range(20 if long else 3):
        whole_file(place, number, choose.choice([text for text in known if text.count("\n") < 40]), seed + number, tally)
    for number in range(6 if long else 1):
        edited_file(place, f"edited_{number}.ptl", document(place, 200, choose, known), seed + number, tally, 600 if long else 240)
    if tally.keys < 1000:
        return f"only {tally.keys} keys"
    if tally.at_cursor > 0.05 * tally.keys or tally.elsewhere > 0 or tally.late > 0 or tally.problems:
        return (f"of {tally.keys} keys {tally.at_cursor} showed a false error at the cursor, {tally.elsewhere} elsewhere; {tally.late} did not show "
                f"a true one: {tally.problems[:3]} {list(tally.examples.items())[:6]}")
    return None


def errors_wait(place: Place):
    """They come after a pause, after an edit elsewhere, or at once by the setting or after other changes."""
    at = lambda piece: KERNEL.index(piece) + len(piece)
    with Typed(place, "waits.ptl", KERNEL) as typed:
        key = lambda begin, text: Typist(1, "").edit(begin, begin, text)
        if found := typed.press(key(at("exp(rows"), " + sca")):
            return f"at the cursor: {found}"
        if typed.client.status()["held"] != 1:
            return "nothing is said to be held"
        rested = typed.after_rest()
        if not rested or [each["code"] for each in rested if each["severity"] == 1] != ["E0201"]:
            return f"after a pause: {rested}"
        if found := typed.press(key(typed.text.text.index("+ sca") + 5, "l")):
            return f"the typing went on: {found}"
        elsewhere = typed.press(key(typed.text.text.index("expect_close") - 4, "// "))
        if [each["code"] for each in elsewhere if each["severity"] == 1] != ["E0201"]:
            return f"after an edit elsewhere: {elsewhere}"
        # Not typed: two places at once.
        typed.version += 1
        changes = [typed.text.edit(0, 0, "kernel"), typed.text.edit(0, 0, "// ")]
        typed.client.change(typed.uri, typed.version, changes)
        if not typed.client.diagnostics(typed.uri, typed.version):
            return "after a change of two places nothing is said"
    with Typed(place, "at_once.ptl", KERNEL, {"diagnostics": {"whileTyping": True}}) as typed:
        if [each["code"] for each in typed.press(key(at("exp(rows"), " + sca"))] != ["E0201"]:
            return "not at once by the setting"
    return None


def pulled(place: Place):
    """A client that asks for diagnostics is told to ask again."""
    wants = {**FULL, "textDocument": {**FULL["textDocument"], "diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
    uri = uri_of(place.folder / "pulled.ptl")
    with place.server() as client:
        client.initialize(wants, initializationOptions=WAITS)
        client.open(uri, KERNEL)
        ask = lambda: [each["code"] for each in client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]]
        if ask():
            return "wrong at first"
        text = Text(KERNEL)
        at = KERNEL.index("exp(rows") + len("exp(rows")
        client.change(uri, 2, [text.edit(at, at, " + sca")])
        if ask():
            return "at the cursor"
        client.arrived.clear()
        if not client.wait_for(lambda m: m["method"] == "workspace/diagnostic/refresh", REST + 2):
            return "not told to ask again"
        return None if ask() == ["E0201"] else "not said after a pause"


def hover_at_once(place: Place):
    """The first answer waits for nobody; IR is in a later one, or in an answer of its own."""
    def texts(client, method, position):
        answer = client.request(method, {"textDocument": {"uri": uri}, "position": position})
        return answer["contents"]["value"] if answer else ""

    uri = uri_of(place.folder / "hover.ptl")
    at = Text(KERNEL).position(KERNEL.index("exp(rows"))
    with place.server() as client:
        client.initialize(FULL)
        client.open(uri, KERNEL)
        time.sleep(0.4)
        begin = time.monotonic()
        first = texts(client, "textDocument/hover", at)
        took = time.monotonic() - begin
        if "f32[r, C]" not in first or "ptl.exp" in first or took > 1:
            return f"not at once: {took} s, {first}"
        end = time.monotonic() + 60
        while "ptl.exp" not in (later := texts(client, "textDocument/hover", at)):
            if time.monotonic() > end:
                return f"no IR: {later}"
            time.sleep(0.05)
        # What was known of the older text is not shown.
        text = Text(KERNEL)
        client.change(uri, 2, [text.edit(KERNEL.index("exp(rows"), KERNEL.index("exp(rows") + 3, "abs")])
        if "ptl." in (stale := texts(client, "textDocument/hover", at)):
            return f"of an older text: {stale}"
    with place.server() as client:
        client.initialize({**FULL, "experimental": {"ptl": {"hoverIr": True}}})
        client.open(uri, KERNEL)
        time.sleep(0.4)
        ir = texts(client, "ptl/hoverIr", at)
        if "ptl.exp" not in ir or "ptl.exp" in texts(client, "textDocument/hover", at) or ir != texts(client, "ptl/hoverIr", at):
            return f"in two answers: {ir}"
        if texts(client, "ptl/hoverIr", {"line": 1, "character": 0}):
            return "of nothing"
    return None


def same_lengths(place: Place):
    """What the lens says is what previews, memory maps and timelines are for, whatever has set it."""
    for name, settings, wanted, other in (
            ("sizes", {"sizes": {"C": 256, "R": 64}}, {"C": 256, "R": 64}, False),
            ("own", {"sizes": {"scale": {"C": 128}, "other.C": 64}}, {"C": 128, "R": 768}, False),
            ("bindings", {"preview": {"bindings": {"C": 1024}}}, {"C": 1024, "R": 768}, False),
            ("both", {"sizes": {"scale.C": 256}, "preview": {"bindings": {"scale.C": 64}}}, {"C": 256, "R": 768}, False),
            ("bench", {}, {"C": 512, "R": 768}, False),
            ("assumed", {}, {}, True)):
        text = KERNEL[: KERNEL.index("bench")] if other else KERNEL
        with Talk(place, f"lengths_{name}", text) as talk:
            talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["a3"], "advice": {"enabled": False}, **settings}}})
            talk.settled()
            (lens,), (short,) = talk.sizes(), talk.short()
            if other:
                if "C = 128 (assumed)" not in lens or "R = " not in lens or "~" not in short:
                    return f"assumed: {lens}, {short}"
                if problem := assumed_everywhere(talk, lens):
                    return problem
                continue
            predicted = {dim: int(value) for dim, value in re.findall(r"(\w+) = (\d+)", lens)}
            if predicted != wanted or "assumed" in lens or "~" in short:
                return f"{name}: {lens}, {short}"
            ask = lambda method, **more: talk.client.request(method, {**talk.document, "entry": "scale", "target": "a3", **more})
            shown = ask("ptl/preview", stage="memory")
            if f"C = {wanted['C']}" not in shown["note"]:
                return f"{name}: the memory map is for {shown['note']}"
            cost, timeline = ask("ptl/cost"), ask("ptl/timeline")
            if {size["name"]: size["value"] for size in cost["sizes"]} != wanted or abs(cost["us"] - timeline["timeline"]["us"]) > 0.01:
                return f"{name}: costs for {cost['sizes']}, timeline of {timeline['timeline']['us']} µs, not {cost['us']}"
            if problem := said_everywhere(talk, wanted):
                return f"{name}: {problem}"
            chosen = ask("ptl/preview", stage="memory", bindings={"C": 64})
            if "C = 64" not in chosen["note"]:
                return f"{name}: asked for 64, and got {chosen['note']}"
    return None


def shown_lengths(talk):
    """What a person reads of lengths in the hover, the graph, the timeline, and in the preview of each stage."""
    ask = lambda method, **more: talk.client.request(method, {**talk.document, "entry": "scale", "target": "a3", **more})
    at = talk.text.position(talk.text.text.index("scale"))
    hover = talk.client.request("textDocument/hover", {**talk.document, "position": at})["contents"]["value"]
    page = ask("ptl/timeline", form="page")["page"]
    graph = ask("ptl/preview", stage="graph:svg@a3")["text"]
    notes = {stage: ask("ptl/preview", stage=stage)["note"] for stage in ("tile", "block@a3", "pto@a3", "cpp@a3", "memory@a3", "memory:svg@a3")}
    return hover, re.search(r"scale\[([^\]]*)\] on a3", page).group(1), graph, notes


def said_everywhere(talk, wanted):
    """The lengths that the lens says, none of them called assumed."""
    hover, timeline, graph, notes = shown_lengths(talk)
    for dim, value in wanted.items():
        if f"`{dim} = {value}`" not in hover or f"{dim}={value}" not in timeline.split(", ") or not re.search(rf"\b{dim} = {value}\b", graph):
            return f"{dim} is not {value} in {hover}, {timeline}, {graph[:400]}"
    if "assumed" in hover + timeline + graph or "~" in hover:
        return f"assumed: {hover}, {timeline}"
    wrong = {stage: note for stage, note in notes.items() if f"C = {wanted['C']}" not in note or "assumed" in note}
    return f"previews are for {wrong}" if wrong else None


def assumed_everywhere(talk, lens):
    """Each length of the lens is called assumed by all who say it, and times that it decides are marked."""
    hover, timeline, graph, notes = shown_lengths(talk)
    for dim, value in re.findall(r"(\w+) = (\d+)", lens):
        if not re.search(rf"`{dim} = {value}` \(assumed\)", hover) or f"{dim}={value} (assumed)" not in timeline.split(", "):
            return f"{dim} = {value} is not assumed in {hover}, {timeline}"
        if f"{dim} = {value} (assumed)" not in graph:
            return f"{dim} = {value} is not assumed in {graph[:600]}"
    if times := re.findall(r"(?<![~\d.])\b[\d.]+ [µm]s\b", hover + graph.split("</text>")[0]):
        return f"{times} are not marked: {hover}, {graph[:300]}"
    wrong = {stage: note for stage, note in notes.items() if "C = 128 (assumed)" not in note}
    return f"previews do not call it assumed: {wrong}" if wrong else None


def lengths_to_choose(place: Place):
    with Talk(place, "choose", KERNEL) as talk:
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["a3"], "sizes": {"scale.R": 5}}}})
        answer = talk.client.request("ptl/sizes", {**talk.document, "entry": "scale"})
        if answer != {"entry": "scale", "dims": [{"name": "R", "static": False, "value": 5}, {"name": "C", "static": True}],
                      "calls": [{"caller": 'bench "scale"', "sizes": {"R": 768, "C": 512}},
                                {"caller": 'test "scale is exp"', "sizes": {"R": 4, "C": 64}}]}:
            return f"{answer}"
        at = talk.text.position(KERNEL.index("rows"))
        if talk.client.request("ptl/sizes", {**talk.document, "position": at}) != answer:
            return "not by a position"
    return None


def broken_kernels(place: Place):
    """A lens above a text that was never right says so, and later what is true."""
    with Talk(place, "broken", KERNEL.replace("exp(rows)", "exp(row)")) as talk:
        talk.settled()
        if talk.short() != ["a3 ✗ has errors (E0201)"]:
            return f"{talk.short()}"
        talk.edit("exp(row)", "exp(rows)")
        talk.settled()
        if not talk.short()[0].startswith("a3 ✓ "):
            return f"repaired: {talk.short()}"
    return None


def targets_offered(place: Place):
    """Above the first kernel, as long as nothing is chosen."""
    two = KERNEL + "\n" + KERNEL.split("\n\nbench")[0].replace("scale", "other") + "\n"
    with Talk(place, "offered", two, targets=()) as talk:
        offers = lambda: [(lens["range"]["start"]["line"], lens["command"]["title"], lens["command"]["arguments"])
                          for lens in talk.client.request("textDocument/codeLens", talk.document)
                          if lens.get("command", {}).get("command") == "ptl.chooseTargets"]
        if offers() != [(0, "Choose chips…", [talk.uri])]:
            return f"{offers()}"
        known = talk.client.request("ptl/targets", {})
        if not {"a2", "a3", "a5"} <= set(known["chips"]) or known["chosen"]:
            return f"{known}"
        talk.client.notify("workspace/didChangeConfiguration", {"settings": {"ptl": {"targets": ["cpu", "a3"]}}})
        if offers() or talk.client.request("ptl/targets", {})["chosen"] != ["cpu", "a3"]:
            return f"still offered: {offers()}"
        # This processor has no timeline: the first chip is meant.
        if talk.client.request("ptl/timeline", {**talk.document, "entry": "scale"})["target"] != "a3":
            return "another timeline"
    return None


def cases(place: Place, long: bool, seed: int):
    yield from in_words((errors_wait, pulled, hover_at_once, same_lengths, lengths_to_choose, broken_kernels, targets_offered), place)
    yield "replayed", lambda: replayed(place, long, seed)
