"""How long ranks take to start and end, and what memory each has: `start.py BUILD [RANKS ...]`. Least of seven runs of a program that adds a few
numbers; memory is that of a run in the middle of computing, without what ranks share with each other (PSS)."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAM = """pub program added[N](x: f32[N] partial(+) over chip) -> (y: f32[N]) at host {
    y = all_reduce(x, over: chip)
}
pub program goes_on[N](x: f32[N] over chip by N, times: int) -> (y: f32[N] over chip by N) at host {
    var all = x
    for _i in 0..times { all = all * 0.5 + all_reduce(sum(all, axis: 0), over: chip) }
    y = all
}
"""


def ranks_of(process):
    """The processes of a run that are ranks."""
    mine = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
            if b"PTL_START_MARK=%d\0" % os.getpid() in environment and b"OMPI_COMM_WORLD_RANK=" in environment:
                mine.append(entry)
        except OSError:
            pass
    return mine


def kilobytes(entry, name):
    for line in (entry / "smaps_rollup").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def main():
    ptlc = pathlib.Path(sys.argv[1]).resolve() / "bin/ptlc"
    environment = {**os.environ, "PTL_START_MARK": str(os.getpid())}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "start.ptl"
        file.write_text(PROGRAM)
        run = lambda entry, count, *words: subprocess.Popen([str(ptlc), "run", str(file), "--entry", entry, "--shape", f"chip={count}", "x=ones", *words],
                                                            env=environment, stdout=subprocess.DEVNULL)
        print(f"{'ranks':>5} {'seconds':>8} {'MB of a rank':>13}")
        for count in map(int, sys.argv[2:] or ("1", "2", "4", "8", "16")):
            least = float("inf")
            for _round in range(7):
                begin = time.monotonic()
                if run("added", count, "N=16").wait():
                    sys.exit("the run has failed")
                least = min(least, time.monotonic() - begin)
            process = run("goes_on", count, "N=1024", "times=1000000000")
            memory = []
            while not memory and process.poll() is None:
                time.sleep(0.5 + least)
                memory = [kilobytes(entry, "Pss") for entry in ranks_of(process)]
            process.terminate()
            process.wait()
            print(f"{count:5} {least:8.2f} {sum(memory) / max(len(memory), 1) / 1e3:13.1f}", flush=True)


if __name__ == "__main__":
    main()
