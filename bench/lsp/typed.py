#!/usr/bin/env python3
"""An hour of typing, replayed: how often something false is shown, how long something true is not, and how long a key takes.

    typed.py BUILD [LINES ...] [--hours H] [--seed N] [--rests] [--classes] [--hovers N]

Of the hours that a person would need one fifth is programs typed from nothing (`tests/lsp/keys.py`), the rest all that people do with a
text that is there (`activities.py`), in a file of that many lines made of the programs of the repository in words that nobody chose
(`typed_texts.py`). Pauses between keys are left out, unless `--rests` waits for those in which everything is said. A time begins
before the bytes of a key are written and ends when the last byte of its diagnostics is read; what the server's process computes for a key
is said, too, since a busy machine does not change it much. `--hovers` then asks, at rest, about so many declarations for the first time.
"""
import argparse
import gc
import importlib.util
import pathlib
import random
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "lsp"))
# The programs of measuring and of testing have the same names.
MEASURING = importlib.util.spec_from_file_location("measuring", HERE / "run.py")
measuring = importlib.util.module_from_spec(MEASURING)
MEASURING.loader.exec_module(measuring)
TYPED = importlib.util.spec_from_file_location("typing_tests", HERE.parent.parent / "tests" / "lsp" / "typed.py")
typed = importlib.util.module_from_spec(TYPED)
TYPED.loader.exec_module(typed)
import session  # noqa: E402  (found by the path above)
from client import Text, encode  # noqa: E402
from keys import declarations  # noqa: E402
from typed_texts import document, in_other_words, sources  # noqa: E402


class Place(session.Place):
    """Its servers know when a message was read."""

    def server(self, *arguments, **more):
        return measuring.Timed([self.bin / "ptl-lsp", *arguments], env=self.environment(), cwd=self.folder, **more)


class Player(typed.Player):
    """Notes how long each key takes."""
    times, processor = [], []

    def press(self, key):
        typed, client = self.typed, self.typed.client
        typed.version += 1
        change = typed.text.edit(key.begin, key.end, key.text)
        message = encode({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": typed.uri, "version": typed.version}, "contentChanges": [change]}})
        client.arrived.clear()
        spent = measuring.processor_time(client.process.pid)
        began = time.perf_counter()
        client.send_bytes(message)
        found = client.wait_for(lambda m: m["method"] == "textDocument/publishDiagnostics" and m["params"].get("version") == typed.version)
        self.times.append(1000 * (found["at"] - began))
        self.processor.append(1000 * (measuring.processor_time(client.process.pid) - spent))
        return [each for each in found["params"]["diagnostics"] if each["severity"] < 3]


def load():
    """How busy the machine is."""
    with open("/proc/loadavg") as file:
        return file.read().split()[0]


def replay(place, lines, options, known):
    choose = random.Random(options.seed)
    tally, seconds, number = typed.Tally(), 3600 * options.hours, 0
    Player.times, Player.processor, spent = [], [], 0.0
    while spent < seconds / 5:
        number += 1
        text = choose.choice([text for text in known if text.count("\n") < 80])
        spent += typed.whole_file(place, number, text, options.seed + number, tally, Player, options.rests).seconds
    while spent < seconds:
        number += 1
        text = document(place, lines, choose, known)
        some = min(900.0, seconds - spent)
        spent += typed.edited_file(place, f"{lines}_{number}.ptl", text, options.seed + number, tally, some, Player, options.rests).seconds
    times, processor = sorted(Player.times), sorted(Player.processor)
    print(f"{lines:>6} lines, {tally.keys} keys of {spent / 60:.0f} minutes: p50 {measuring.quantile(times, 0.5):.2f} ms, p90 {measuring.quantile(times, 0.9):.2f} ms, "
          f"p99 {measuring.quantile(times, 0.99):.2f} ms, longest {times[-1]:.1f} ms (load {load()}), processor time "
          f"p50 {measuring.quantile(processor, 0.5):.2f} ms, p99 {measuring.quantile(processor, 0.99):.2f} ms; false at the cursor {100 * tally.at_cursor / tally.keys:.2f} %, "
          f"elsewhere {tally.elsewhere}; {tally.slips} slips that stayed, not shown after {tally.late} keys"
          + (f"; in {tally.in_pauses} of {tally.pauses} pauses something that the finished text has not" if options.rests else ""))
    if options.classes:
        tally.classes.update({row: len(found) for row, found in tally.examples.items() if row[1] == "late"})
        for row, count in tally.classes.most_common(40):
            print(f"    {count:>4} {' '.join(row)}")
            for example in tally.examples[row][:3]:
                print("         ", example)
    for problem in tally.problems[:10]:
        print("   ", problem)


def hovers(place, lines, options, known):
    """Hovers of names in declarations that nobody has asked about, with nothing typed."""
    choose = random.Random(options.seed)
    text = document(place, lines, choose, known)
    ranges = declarations(text)
    times, processor, cursor = [], [], Text(text)
    with typed.Typed(place, f"hovers_{lines}.ptl", text) as each:
        for begin, end in choose.sample(ranges, min(options.hovers, len(ranges))):
            time.sleep(0.3)
            at = begin + choose.choice([found.start() for found in re.finditer(r"\b[A-Za-z]\w*\b", text[begin:end])])
            client = each.client
            client.next_id += 1
            message = encode({"jsonrpc": "2.0", "id": client.next_id, "method": "textDocument/hover",
                              "params": {"textDocument": {"uri": each.uri}, "position": cursor.position(at)}})
            spent = measuring.processor_time(client.process.pid)
            began = time.perf_counter()
            client.send_bytes(message)
            times.append(1000 * (client.reply(client.next_id)["at"] - began))
            processor.append(1000 * (measuring.processor_time(client.process.pid) - spent))
    times.sort()
    processor.sort()
    print(f"{lines:>6} lines, {len(times)} first hovers at rest: p50 {measuring.quantile(times, 0.5):.2f} ms, p90 {measuring.quantile(times, 0.9):.2f} ms, "
          f"longest {times[-1]:.2f} ms (load {load()}), processor time p50 {measuring.quantile(processor, 0.5):.2f} ms, longest {processor[-1]:.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("lines", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rests", action="store_true", help="wait in the long pauses")
    parser.add_argument("--classes", action="store_true", help="list what was false, by activity and code")
    parser.add_argument("--hovers", type=int, default=0, help="so many hovers")
    options = parser.parse_intermixed_args()
    gc.disable()
    with tempfile.TemporaryDirectory(prefix="ptl-typed-") as folder:
        place = Place(options.build, folder)
        known = sources(place)
        for lines in options.lines:
            others = in_other_words(place, known, random.Random(options.seed))
            if options.hours > 0:
                replay(place, lines, options, others)
            if options.hovers:
                hovers(place, lines, options, others)
            gc.collect()


if __name__ == "__main__":
    main()
