"""Products, streams, reductions and orderings on this processor, beside the best that is installed.

    run.py BUILD_FOLDER [--threads 1,2] [--rounds 15] [--least] [--busy] [--json FILE] [GROUP or part of a row's name ...]

Everything of a row runs in one process, turn by turn, and medians are printed: seconds, the ratio to the fastest peer, and the
share of the machine's limit (multiply-adds of floats, reading, or copying past the caches), which takes its turns with them.
Peers that are missing are named, with the package that has them; `--install` installs them.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("names", nargs="*", help="groups, or parts of the names of rows")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, one run each")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--least", action="store_true", help="the least of all rounds instead of the median: where others use the machine, too")
    parser.add_argument("--busy", action="store_true", help="count processor time instead of what passes: for one thread, where others use its core, too")
    parser.add_argument("--json", help="write what was measured to this file, too")
    parser.add_argument("--install", action="store_true", help="install the peers that are missing")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_intermixed_args()


# Threads of a library go on looking for work when they have none, and take a core from whoever comes next: those of OpenBLAS for 2^26 ticks
# of the processor's clock, 26 ms.
REST = 0.04


def interleaved(calls, rounds, middle=statistics.median, clock=time.perf_counter, rest=0):
    """Median seconds of each call, or what `middle` makes of those of all rounds; they take turns, so that the machine's moods hit all alike. Short calls are
    repeated. A turn begins `rest` seconds after the one before it, with a call that is not counted."""
    repeats = {}
    for name, call in calls.items():
        call()
        start = clock()
        call()
        repeats[name] = max(1, min(1000, int(2e-3 / max(1e-9, clock() - start))))
    seconds = {name: [] for name in calls}
    # Who comes after whom changes from round to round: one finds in the caches what the one before has left there.
    order, draw = list(calls), random.Random(0)
    for _ in range(rounds):
        draw.shuffle(order)
        for name in order:
            call, count = calls[name], range(repeats[name])
            if rest:
                time.sleep(rest)
                call()
            start = clock()
            for _ in count:
                call()
            seconds[name].append((clock() - start) / len(count))
    return {name: middle(times) for name, times in seconds.items()}


def is_right(row):
    """Whether PTL's result is that of the peer; rows without a check are compared by tests."""
    import numpy as np

    if not row.check:
        return True
    ours, theirs, tolerance = row.check()
    scale = float(np.abs(theirs).max()) or 1.0
    difference = float(np.abs(ours.astype(np.float64) - np.asarray(theirs, np.float64)).max())
    return difference <= tolerance * scale


def rate_of(limits, name, seconds):
    """What a second holds where a call takes so many: multiply-adds as two operations, bytes read, bytes read and written."""
    return {"fma": limits.operations, "read": limits.bytes, "copy": 2 * limits.bytes}[name] / seconds


def beside(times, ours):
    """The fastest peer's time, name and ratio, or that no peer of the row is installed."""
    if not times:
        return f"{'':11}  {'(no peer)':12} {'':6}"
    best = min(times, key=times.get)
    return f"{times[best] * 1e6:9.1f}us  {best:12} {times[best] / ours:6.2f}"


def measure(options, threads, folder):
    os.environ.update(PTL_NUM_THREADS=str(threads), PTLC=os.path.join(os.path.abspath(options.build), "bin", "ptlc"),
                      PTL_STD=os.path.join(ROOT, "std"), PTL_CACHE=os.path.join(folder, "cache"))  # fmt: skip
    sys.path[:0] = [HERE, os.path.join(ROOT, "runtime", "python")]
    import ptl
    from limits import Limits
    from peers import Peers
    from rows import GROUPS, NEED_TORCH

    peers = Peers(threads)
    for name in peers.absent:
        print(f"absent: {name} (package {Peers.PACKAGES[name]}; --install installs it)")
    library = ptl.load(os.path.join(HERE, "programs.ptl"))
    limits, middle = Limits(folder, threads), min if options.least else statistics.median
    clock = time.process_time if options.busy else time.perf_counter
    rest = REST if threads > 1 else 0
    limit_calls = {"fma": limits.fma, "read": limits.read, "copy": limits.copy}
    times = interleaved(limit_calls, options.rounds, middle, clock, rest)
    rates = {name: rate_of(limits, name, times[name]) / 1e9 for name in times}
    print(f"{threads} threads: {rates['fma']:.0f} GFLOP/s, reading {rates['read']:.1f} GB/s, copying {rates['copy']:.1f} GB/s")
    print(f"{'work':44} {'PTL':>11} {'best peer':>11}  {'':12} {'ratio':>6} {'goal':>5} {'limit':>6}")
    results = []
    for group, make in GROUPS.items():
        wanted = not options.names or group in options.names
        if group in NEED_TORCH and not peers.torch:
            if wanted:
                print(f"left out: {group}, whose only peer is torch")
            continue
        for row in make(library, peers):
            if not wanted and not any(name in row.name for name in options.names):
                continue
            # The limit takes its turns, too: what memory gives changes from minute to minute where others use it.
            times = interleaved({**row.calls, **({"limit": limit_calls[row.limit]} if row.limit else {})}, options.rounds, middle, clock, rest)
            ours, limit = times.pop("ptl"), times.pop("limit", None)
            share = row.amount / ours / rate_of(limits, row.limit, limit) if row.limit else None
            right = is_right(row)
            print(f"{row.name:44} {ours * 1e6:9.1f}us {beside(times, ours)} "
                  f"{row.goal:5.1f} {'' if share is None else format(share, '6.0%')}{'' if right else '  WRONG'}", flush=True)  # fmt: skip
            results.append({"threads": threads, "row": row.name, "goal": row.goal, "ptl": ours, "peers": times,
                            "limit": row.limit, "share": share, "right": right})  # fmt: skip
    return results


def main():
    options = read_options()
    # Before NumPy is loaded, which may bring OpenBLAS along.
    sys.path.insert(0, os.path.join(ROOT, "bench"))
    import openblas_core

    openblas_core.settle()
    if options.install:
        from peers import Peers

        packages = [Peers.PACKAGES[name] for name in Peers(1).absent]
        if packages:
            subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *packages], check=True)
    counts = [int(count) for count in options.threads.split(",")]
    if options.busy and counts != [1]:
        sys.exit("--busy counts the work of one thread: it needs --threads 1")
    if not options.child and len(counts) > 1:
        # The number of threads is settled when a process starts.
        arguments = [word for word in sys.argv[1:] if word != "--install"]
        for count in counts:
            subprocess.run([sys.executable, os.path.abspath(__file__), *arguments, f"--threads={count}", "--child"], check=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        results = measure(options, counts[0], folder)
    if options.json:
        with open(options.json, "a", encoding="utf-8") as file:
            for result in results:
                file.write(json.dumps(result) + "\n")
    if not all(result["right"] for result in results):
        sys.exit("a result is wrong")


if __name__ == "__main__":
    main()
