"""How much of the time of movements `ptlc run --shape` hides behind products: `hidden.py BUILD [ROUNDS]`. Links take a time of their own, during which cores go on
(`slow_links.cpp`), so this can be seen on a machine with as many cores as ranks. Each program runs with such links and without, in turn; hidden is
what the links were busy for and the run did not get longer by. Medians."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = """pub program gathered[S, D, F](x: f32[S, D] over chip by S, w: f32[D, F], rounds: int) -> (y: f32[S, F]) at host {
    var sums = zeros(f32[S, F])
    for _i in 0..rounds { sums = sums * 0.5 + all_gather(x, over: chip) @ w }
    y = sums
}
pub program scattered[S, D, F](x: f32[S, F] over chip by F, w: f32[F, D] over chip by F, rounds: int) -> (y: f32[S, D] over chip by S) at host {
    var sums = zeros(f32[S, D])
    for _i in 0..rounds { sums = sums * 0.5 + reduce_scatter(x @ w, over: chip, by: S) }
    y = sums
}
pub program added[S, D, F](x: f32[S, F] over chip by F, w: f32[F, D] over chip by F, rounds: int) -> (y: f32[S, D]) at host {
    var sums = zeros(f32[S, D])
    for _i in 0..rounds { sums = sums * 0.5 + all_reduce(x @ w, over: chip) }
    y = sums
}
"""
NAMES = {"gathered": "all_gather, then product", "scattered": "product, then reduce_scatter", "added": "product, then all_reduce"}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    environment = {**os.environ, "PTL_RANKS": str(build / "bench/libslow_links.so"), "PTL_LINK_PLUGIN": str(build / "lib/libptl-mpi.so")}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "hidden.ptl"
        file.write_text(PROGRAM)

        def run(entry, rate):
            begin = time.monotonic()
            made = subprocess.run(
                [build / "bin/ptlc", "run", file, "--entry", entry, "--shape", "chip=2", "x=ones", "w=ones", "S=1024", "D=512", "F=2048", "rounds=4", "-o", f"y={folder}/y.npy"],
                env={**environment, **({"PTL_LINK_MBS": str(rate)} if rate else {})}, capture_output=True, text=True, check=True)
            seconds = time.monotonic() - begin
            busy = re.search(r"link busy for ([0-9.]+) s", made.stderr)
            return seconds, float(busy[1]) if busy else 0.0

        print(f"{'':30} {'MB/s':>5} {'link s':>7} {'run s':>7} {'without':>8}  hidden")
        for entry, name in NAMES.items():
            for rate in (4, 8):
                slow, fast, links = [], [], []
                for _round in range(rounds):
                    seconds, busy = run(entry, rate)
                    slow.append(seconds)
                    links.append(busy)
                    fast.append(run(entry, 0)[0])
                longer = statistics.median(s - f for s, f in zip(slow, fast))
                link = statistics.median(links)
                print(f"{name:30} {rate:5} {link:7.2f} {statistics.median(slow):7.2f} {statistics.median(fast):8.2f} {100 * (1 - longer / link):6.0f} %", flush=True)


if __name__ == "__main__":
    main()
