#!/usr/bin/env python3
"""An hour of typing, replayed: how often something false is shown, and how long a key takes to its diagnostics.

    typed.py BUILD [LINES ...] [--hours H] [--seed N] [--rests]

The keys are those of `tests/lsp/keys.py`: declarations typed from nothing, names changed by hand, brackets that are missing for a
while, in a file of that many lines made of the examples. Pauses between keys are left out, unless `--rests` waits for those in
which everything is said; the hours are those that a person would need. A time begins before the bytes of a key are written and ends when the
last byte of its diagnostics is read.
"""
import argparse
import gc
import pathlib
import random
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "lsp"))
from keys import Typist, declarations  # noqa: E402  (found by the path above)
from session import EXAMPLES, Place  # noqa: E402
from typed import Tally, Typed, signature  # noqa: E402

NAME = re.compile(r"^(?:pub )?(?:manual )?(?:kernel|program|fn|const|type|struct) (\w+)", re.M)
TEXT = re.compile(r'^(test|property|bench) "', re.M)


def document(lines):
    """The examples, again and again with other names, until there are so many lines."""
    imports, parts, count = [], [], 0
    for number in range(10_000):
        text = EXAMPLES[number % len(EXAMPLES)].read_text()
        for line in re.findall(r"^import .*\n", text, re.M):
            if line not in imports:
                imports.append(line)
        text = re.sub(r"^import .*\n", "", text, flags=re.M)
        for name in set(NAME.findall(text)):
            text = re.sub(rf"\b{name}\b", f"{name}_{number}", text)
        text = TEXT.sub(rf'\1 "{number} ', text)
        parts.append(text)
        count += text.count("\n")
        if count >= lines:
            break
    return "".join(imports) + "\n" + "\n".join(parts)


def replay(place, lines, hours, seed, rests):
    text = document(lines)
    choose, tally, times, typed_for = random.Random(seed), Tally(), [], 0.0
    number = 0
    while typed_for < 3600 * hours:
        number += 1
        begin, end = choose.choice(declarations(text))
        typist = Typist(seed * 10_000 + number, text)
        start, keys = typist.again(begin, end)
        with Typed(place, f"{lines}_{number}.ptl", start) as typed:
            allowed = {signature(each) for each in typed.first}

            def press_all(keys, renamed=None):
                nonlocal typed_for
                for key in keys:
                    typed_for += key.pause
                    if rests and key.pause > 0.9:
                        time.sleep(1.0)
                        typed.client.status()
                        typed.client.arrived.clear()
                    change = typed.text.edit(key.begin, key.end, key.text)
                    typed.version += 1
                    began = time.perf_counter()
                    typed.client.change(typed.uri, typed.version, [change])
                    shown = typed.client.diagnostics(typed.uri, typed.version)
                    times.append(1000 * (time.perf_counter() - began))
                    tally.note([each for each in shown if each["severity"] < 3],
                               typed.text.text.count("\n", 0, key.cursor), allowed, renamed)

            press_all(keys)
            press_all(typist.broken(begin, end))
            old, keys = typist.rename(begin, end)
            press_all(keys, old)
    times.sort()
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    print(f"{lines:>6} lines, {tally.keys} keys of {typed_for / 60:.0f} minutes: p50 {at(0.5):.2f} ms, p99 {at(0.99):.2f} ms, "
          f"false at the cursor {100 * tally.at_cursor / tally.keys:.2f} %, elsewhere {tally.elsewhere}")
    for example in tally.examples[:5]:
        print("   ", example)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("lines", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rests", action="store_true", help="wait in the long pauses")
    options = parser.parse_intermixed_args()
    gc.disable()
    with tempfile.TemporaryDirectory(prefix="ptl-typed-") as folder:
        for lines in options.lines:
            replay(Place(options.build, folder), lines, options.hours, options.seed, options.rests)
            gc.collect()


if __name__ == "__main__":
    main()
