"""How much of a trace of requests pools of several sizes find, beside a plain list of what was used last.

    trace.py BUILD_FOLDER --trace FILE [--blocks N ...]

A line of the trace is a request, JSON with `hash_ids`: its blocks in order, each of which stands for all before it, too, as Mooncake publishes them. The pool is
the one of `runtime/pool`, in files of its own; the list is an `OrderedDict`. Both have to find the same blocks, else the exit code is 1.
"""

import argparse
import json
import pathlib
import subprocess
import sys
from collections import OrderedDict

ROOMS = [1_000, 10_000, 30_000, 50_000, 100_000]


def requests_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["hash_ids"] for line in lines if line.strip()]


def found_by_list(requests, room, last_first=True):
    """The blocks at the front of requests that a list of the last used has. A request uses its blocks; the last of them counts as used first, so that a block
    leaves before those in front of it (`last_first`), or as it stands in the list of plain caches, block by block."""
    used, found = OrderedDict(), 0
    for blocks in requests:
        for block in blocks:
            if block not in used:
                break
            found += 1
        for block in reversed(blocks) if last_first else blocks:
            used[block] = None
            used.move_to_end(block)
        while len(used) > room:
            used.popitem(last=False)
    return found


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("build")
    words.add_argument("--trace", required=True)
    words.add_argument("--blocks", nargs="+", type=int, help="room of pools, in blocks")
    given = words.parse_args()
    requests = requests_of(given.trace)
    blocks = sum(map(len, requests))
    distinct = len({block for request in requests for block in request})
    rooms = given.blocks or [*ROOMS, distinct]
    print(f"{len(requests)} requests, {blocks} blocks, {distinct} distinct")
    pool = subprocess.run([pathlib.Path(given.build) / "bench/ptl_pool_bench", "--trace", given.trace, *map(str, rooms)], check=True, text=True, stdout=subprocess.PIPE)
    found = dict(map(int, line.split()) for line in pool.stdout.splitlines())
    print(f"{'room':>9} {'pool':>9} {'list':>9} {'in order':>9}")
    for room in rooms:
        there = found_by_list(requests, room)
        shares = [count / blocks for count in (found[room], there, found_by_list(requests, room, last_first=False))]
        print(f"{room:9} " + " ".join(f"{share:9.5f}" for share in shares) + ("" if found[room] == there else "   the pool differs"))
    return int(any(found[room] != found_by_list(requests, room) for room in rooms))


if __name__ == "__main__":
    sys.exit(main())
