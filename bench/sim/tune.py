"""What `ptlc tune` finds beside an exhaustive search of the same space: `tune.py BUILD [--target a3] [NAME...]`.

The space is the product of all values that the search tried of anything and that can be had: the tunables, and each item that a schedule can
have, but for fewer cores, which are tried beside the best. Every schedule of items is put into the file, and all values of the tunables are
predicted with it; what is predicted within a twentieth of the least is simulated whole, and so is what `tune` found. A time more than three
hundredths above the least is a failure, and so are more than ten seconds of one processor.
"""

import argparse
import itertools
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
EXAMPLES = FOLDER.parents[1] / "examples"
ROWS = {
    "matmul": (EXAMPLES / "04_matmul.ptl", "matmul_f16", {"M": 1024, "N": 1024, "K": 1024}),
    "flash_attention": (EXAMPLES / "07_flash_attention.ptl", "flash_attention", {"H": 4, "S": 512, "T": 512, "D": 64}),
    "odd tiles": (FOLDER / "odd_tiles_tuned.ptl", "odd_tiles", {"M": 1536, "N": 1536, "K": 1536}),
}
MOST, SECONDS, NEAR = 1.03, 10.0, 1.05


class Search:
    def __init__(self, ptlc, target, row, folder):
        self.ptlc, self.target = ptlc, target
        self.path, self.entry, self.sizes = row
        self.text = self.path.read_text()
        self.changed = pathlib.Path(folder) / self.path.name

    def ask(self, command, path, *words):
        asked = [self.ptlc, command, path, "--entry", self.entry, "--target", self.target, "--json", *words]
        done = subprocess.run(asked, capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def tune(self, path, *words):
        return self.ask("tune", path, "--no-cache", *words, *(f"-D{name}={value}" for name, value in self.sizes.items()))

    def with_schedule(self, items):
        self.changed.write_text(f"{self.text}\nschedule {self.entry} on {self.target} {{ {', '.join(items)} }}\n" if items else self.text)
        return self.changed

    def simulated(self, values, items):
        schedule = [*(f"{name} = {value}" for name, value in values.items()), *items]
        found = self.ask("sim", self.with_schedule(schedule), *(f"{name}={value}" for name, value in self.sizes.items()))
        return found["us"] if found else float("inf")

    def exhaustive(self, tries):
        """All choices with the times that are predicted for them."""
        values = {}
        for each in tries:
            for item in each.get("items", []) if each["fits"] else []:
                values.setdefault(what(item), set()).add(item)
        values.pop("cores", None)
        choices = [[None, *sorted(found)] for found in values.values()]
        for items in itertools.product(*choices):
            items = [item for item in items if item]
            found = self.tune(self.with_schedule(items), "--budget", "60")
            for each in found["tries"] if found else []:
                # What else the search tried with these items has its own turn.
                if each["fits"] and each.get("items", []) == found["default"].get("items", []):
                    yield each["us"], each["values"], items


def what(item):
    """Of what an item is a choice: `pipeline k 3` of `pipeline k`."""
    words = item.split()
    return words[0] if words[0] == "cores" else " ".join(words[:2])


def compare(search, name):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tuned = search.tune(search.path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    best = tuned["best"]
    mine = search.simulated(best["values"], best.get("items", []))
    today = search.simulated(tuned["default"]["values"], [])
    all_choices = sorted(search.exhaustive(tuned["tries"]), key=lambda each: each[0])
    near = [each for each in all_choices if each[0] <= NEAR * all_choices[0][0]]
    least, values, items = min((search.simulated(values, items), values, items) for _, values, items in near)
    ratio = mine / min(least, mine)
    is_bad = ratio > MOST or seconds > SECONDS
    print(f"{name}: today {today:.2f} us, tuned {mine:.2f} us in {seconds:.1f} s of processor time; the least of {len(all_choices)} choices, "
          f"{len(near)} of them simulated, is {least:.2f} us ({values} {items}): {100 * (ratio - 1):.1f} % above it{'  <--' if is_bad else ''}",
          flush=True)
    return is_bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--target", default="a3")
    parser.add_argument("names", nargs="*", choices=[[], *ROWS])
    options = parser.parse_args()
    ptlc = os.path.abspath(options.build / "bin" / "ptlc")
    with tempfile.TemporaryDirectory() as folder:
        bad = [name for name in options.names or ROWS if compare(Search(ptlc, options.target, ROWS[name], folder), name)]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
