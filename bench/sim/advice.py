"""Predicted beside simulated gains of advice: each advice that `ptlc check --cost` has for the kernels in `poor/`, and for other files, is applied by
its edit. `advice.py BUILD [--target a3] [FILE...]`; a difference of more than a tenth is a failure."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
MOST = 0.10


class Bench:
    def __init__(self, build, target):
        self.ptlc = build / "bin" / "ptlc"
        self.target = target

    def ask(self, command, path, *words):
        done = subprocess.run([self.ptlc, command, path, "--target", self.target, "--json", *words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{path}: {done.stderr}")
        return json.loads(done.stdout)

    def simulated(self, path, cost):
        sizes = [f"{size['name']}={size['value']}" for size in cost["sizes"]]
        return self.ask("sim", path, "--entry", cost["entry"], *sizes)["us"]

    def compare(self, path, folder):
        """The differences of an entry's advice, and prints them."""
        text = path.read_text()
        for cost in self.ask("check", path, "--cost", "--budget", "40")["costs"]:
            before = self.simulated(path, cost)
            print(f"{cost['entry']}: predicted {cost['us']:.2f} us, simulated {before:.2f} us", flush=True)
            for advice in cost.get("advice", []):
                changed = folder / path.name
                changed.write_text(edited(text, advice["edits"]))
                after = self.simulated(changed, cost)
                off = (cost["us"] / advice["us"]) / (before / after) - 1
                print(f"  {advice['kind']:12} {advice['text'][:80]:80} {cost['us'] / advice['us']:7.2f} times as fast, simulated "
                      f"{before / after:7.2f}: {100 * off:+5.1f} %{'  <--' if abs(off) > MOST else ''}", flush=True)
                yield off


def edited(text, edits):
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def place(line, column):
        return starts[line - 1] + column - 1

    for edit in sorted(edits, key=lambda each: -place(each["line"], each["column"])):
        text = text[: place(edit["line"], edit["column"])] + edit["text"] + text[place(edit["endLine"], edit["endColumn"]):]
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--target", default="a3")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    bench = Bench(options.build, options.target)
    with tempfile.TemporaryDirectory() as folder:
        offs = [off for path in options.files or sorted((FOLDER / "poor").glob("*.ptl")) for off in bench.compare(path, pathlib.Path(folder))]
    print(f"{len(offs)} changes, the most that a gain is off is {100 * max(map(abs, offs), default=0):.1f} %")
    return 1 if any(abs(off) > MOST for off in offs) else 0


if __name__ == "__main__":
    sys.exit(main())
