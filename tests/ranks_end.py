"""Runs on ranks of which one is killed, stopped or lost: all end, the message says what happened, no process is left and no file is
written. `ranks_end.py BUILD`. A plug-in of the tests makes ranks fail at points that are known; all limits here are those of a hang."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid

import numpy as np

from harness import ENVIRONMENT
from ranks import MPIRUN, expect, run_tests

PROGRAM = """pub program gathered[N, M](a: f32[N, M] over chip by N) -> (y: f32[N, M]) at host {
    y = all_gather(a * 2.0, over: chip)
}
pub program stops[N](a: i32[N] over chip by N, b: i32[N] over chip by N) -> (y: i32[N] over chip by N) at host {
    y = a / b
}
"""
# Far more than any run takes: what is not over by then never is.
HANG = 240
# What `mpirun` starts in place of each rank, and what that does with the command of the rank.
UNNOTICED = '"$@" & wait $!; sleep 1000'
OTHERS_COME_LATER = 'if [ "$OMPI_COMM_WORLD_RANK" != 0 ]; then sleep 1; fi; ' + UNNOTICED
NEVER_BEGINS = 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then sleep 1000; fi; exec "$@"'
STOPS_AT_ONCE = 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then kill -STOP $$; fi; exec "$@"'
DIES_AT_ONCE = 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then kill -9 $$; fi; exec "$@"'


def processes_with(mark):
    """The processes that have this in their environment, zombies not counted: these have none."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in file.read_bytes():
                found.append(int(file.parent.name))
        except OSError:
            pass
    return found


class Run:
    """One run on four ranks. `fault`: where the plug-in of the tests fails, as `POINT:RANK:WHAT`; `each`: a command of the shell in
    place of each rank; `by_hand`: `mpirun` is started here, not by `ptlc`."""

    def __init__(self, tools, folder, fault="", each="", by_hand=False, options=()):
        (folder / "program.ptl").write_text(PROGRAM)
        np.save(folder / "a.npy", np.arange(400, dtype=np.float32).reshape(20, 20))
        self.folder, self.before = folder, None
        self.mark = f"PTL_TEST_MARK={uuid.uuid4()}"
        environment = {**ENVIRONMENT, "PTL_TEST_FAULT": fault, "PTL_RANKS": str(tools.build / "tests/libfaulty_ranks.so"),
                       "PTL_TEST_PLUGIN": str(tools.build / "lib/libptl-mpi.so")}
        environment.update([self.mark.split("=")])
        wrapped = []
        if each:
            wrapped = [str(folder / "each")]
            (folder / "each").write_text(f"#!/bin/sh\n{each}\n")
            (folder / "each").chmod(0o755)
            # `ptlc` finds an `mpirun` that puts the wrapper before each rank.
            (folder / "mpirun").write_text(f"#!/usr/bin/python3\nimport os, sys\nat = [word.endswith('/ptlc') for word in sys.argv].index(True)\n"
                                           f"os.execv({shutil.which('mpirun')!r}, ['mpirun', *sys.argv[1:at], {wrapped[0]!r}, *sys.argv[at:]])\n")
            (folder / "mpirun").chmod(0o755)
            if not by_hand:
                environment["PATH"] = f"{folder}:{environment['PATH']}"
        command = [*wrapped, *[str(tools.path("ptlc")), "run", "program.ptl", "--entry", "gathered", "--shape", "chip=4", "a=@a.npy",
                               "-o", "y=y.npy", *options]]
        command = [*MPIRUN, "-n", "4", *command] if by_hand else command[len(wrapped):]
        self.before = sorted(os.listdir(folder))
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def ends(self):
        """Its code and what it said."""
        timer = threading.Timer(HANG, self.kill)
        timer.start()
        try:
            out, err = self.process.communicate()
        finally:
            hung = not timer.is_alive()
            timer.cancel()
        expect(not hung, f"no end after {HANG} s", out, err)
        self.out, self.err = out, err
        return self.process.returncode, err

    def kill(self):
        for process in processes_with(self.mark):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def leaves_nothing(self):
        deadline = time.monotonic() + HANG
        while left := processes_with(self.mark):
            expect(time.monotonic() < deadline, "still there:", *[pathlib.Path(f"/proc/{each}/stat").read_text() for each in left])
            time.sleep(0.05)
        expect(sorted(os.listdir(self.folder)) == self.before, os.listdir(self.folder), self.out, self.err)

    def fails(self, *patterns):
        code, err = self.ends()
        expect(code != 0, code, self.out, err)
        for text in patterns:
            expect(re.search(text, err), text, "is not in", code, err)
        self.leaves_nothing()


def gone(chip):
    return rf"E0805.*chip {chip} \(process \d+\) is gone"


def goes_well(tools, folder):
    run = Run(tools, folder)
    code, err = run.ends()
    expect(code == 0 and np.array_equal(np.load(folder / "y.npy"), 2 * np.load(folder / "a.npy")), code, err)


def killed_before_it_comes(tools, folder):
    Run(tools, folder, each=DIES_AT_ONCE).fails("E0805")


def never_comes(tools, folder):
    Run(tools, folder, each=NEVER_BEGINS).fails("E0805.*chip 2 is gone before MPI began")


def stopped_before_it_comes(tools, folder):
    Run(tools, folder, each=STOPS_AT_ONCE).fails("E0805.*chip 2 is gone before MPI began")


def by_hand_stopped_before_it_comes(tools, folder):
    Run(tools, folder, each=STOPS_AT_ONCE, by_hand=True).fails("rank 2 is gone before MPI began")


def keeper_is_stopped(tools, folder):
    """By hand, the process that watches goes on by itself."""
    run = Run(tools, folder, "begun:2:stop", by_hand=True)
    deadline, found = time.monotonic() + HANG, []
    while not found and run.process.poll() is None:
        expect(time.monotonic() < deadline, "there is no keeper")
        # The only process of the run without a terminal's streams.
        found = [each for each in processes_with(run.mark) if os.path.realpath(f"/proc/{each}/fd/2") == "/dev/null"]
        time.sleep(0.02)
    for keeper in found:
        os.kill(keeper, signal.SIGSTOP)
    run.fails("was stopped by a signal")


def killed_before_mpi_begins(tools, folder):
    Run(tools, folder, "begin:2:kill").fails(gone(2))


def killed_when_mpi_has_begun(tools, folder):
    Run(tools, folder, "begun:0:kill").fails(gone(0))


def killed_in_a_transfer(tools, folder):
    Run(tools, folder, "receive2:1:kill").fails(gone(1))


def killed_when_it_is_done(tools, folder):
    """The first rank has the results in a file by then."""
    Run(tools, folder, "finish:0:kill").fails(gone(0))
    Run(tools, folder, "finish:3:kill").fails(gone(3))


def crashes(tools, folder):
    Run(tools, folder, "send1:3:crash").fails(gone(3))


def leaves_silently(tools, folder):
    Run(tools, folder, "receive1:3:exit").fails(gone(3))


def nobody_notices_before_mpi_begins(tools, folder):
    """`mpirun` sees a process that goes on."""
    Run(tools, folder, "begin:2:kill", each=UNNOTICED).fails(gone(2))


def nobody_notices_in_a_transfer(tools, folder):
    Run(tools, folder, "receive1:2:kill", each=UNNOTICED).fails(gone(2))


def stopped(tools, folder):
    Run(tools, folder, "receive1:2:stop").fails(r"E0805.*chip 2 \(process \d+\) was stopped by a signal")


def stopped_before_mpi_begins(tools, folder):
    Run(tools, folder, "begin:1:stop").fails(r"E0805.*chip 1 \(process \d+\) was stopped by a signal")


def mpirun_is_stopped(tools, folder):
    Run(tools, folder, "begin:2:stop-parent").fails(r"E0805.*mpirun \(process \d+\) was stopped by a signal")


def message_is_lost(tools, folder):
    """All wait, and nothing moves."""
    Run(tools, folder, "send1:1:lose", options=["--patience", "2"]).fails("E0805.*no data has arrived for 2 seconds", "waits for chip")


def killed_after_success(tools, folder):
    """What all have done stays done: the first rank has put the results in place when it leaves."""
    run = Run(tools, folder, "leave:0:kill")
    code, err = run.ends()
    expect(code == 0 and np.array_equal(np.load(folder / "y.npy"), 2 * np.load(folder / "a.npy")), code, err)
    (folder / "y.npy").unlink()
    run.leaves_nothing()


def killed_at_the_end(tools, folder):
    """Before the first rank has begun to put results in place, or after it: either there are results, or the run has failed."""
    run = Run(tools, folder, "finished:2:kill")
    code, err = run.ends()
    expect((code == 0) == (folder / "y.npy").exists(), code, err)
    (folder / "y.npy").unlink(missing_ok=True)
    run.leaves_nothing()


def results_cannot_be_written(tools, folder):
    (folder / "y.npy").mkdir()
    run = Run(tools, folder)
    code, err = run.ends()
    expect(code == 1 and "E0002" in err and "E0805" not in err, code, err)
    run.leaves_nothing()


def ptlc_is_killed(tools, folder):
    """While a rank is stopped, so that the run goes on until then."""
    run = Run(tools, folder, "begun:2:stop")
    stopped = lambda: [each for each in processes_with(run.mark)
                       if re.search(r"\) T ", (pathlib.Path("/proc") / str(each) / "stat").read_text())]
    deadline = time.monotonic() + HANG
    while not stopped() and run.process.poll() is None:
        expect(time.monotonic() < deadline, "no rank has begun")
        time.sleep(0.02)
    run.process.kill()
    run.ends()
    # Nobody watches any more: what is stopped needs to go on to see that.
    for each in stopped():
        os.kill(each, signal.SIGCONT)
    run.leaves_nothing()


def interrupted(tools, folder):
    run = Run(tools, folder, "receive1:2:stop")
    deadline = time.monotonic() + HANG
    while len(processes_with(run.mark)) < 6 and run.process.poll() is None:
        expect(time.monotonic() < deadline, "no ranks have begun")
        time.sleep(0.02)
    run.process.send_signal(signal.SIGINT)
    code, err = run.ends()
    expect(code != 0, code, err)
    run.leaves_nothing()


def by_hand(tools, folder):
    """Below an `mpirun` that `ptlc` has not started."""
    Run(tools, folder, "begin:2:kill", by_hand=True).fails()
    Run(tools, folder, "receive1:1:kill", by_hand=True).fails()
    Run(tools, folder, "finish:0:kill", by_hand=True).fails()


def by_hand_unnoticed_in_a_transfer(tools, folder):
    Run(tools, folder, "receive1:2:kill", each=UNNOTICED, by_hand=True).fails(r"rank 2 \(process \d+\) is gone")


def by_hand_unnoticed_at_the_first(tools, folder):
    Run(tools, folder, "begin:0:kill", each=UNNOTICED, by_hand=True).fails(r"rank 0 \(process \d+\) is gone")


def by_hand_others_come_later(tools, folder):
    Run(tools, folder, "begin:0:kill", each=OTHERS_COME_LATER, by_hand=True).fails(r"rank 0 (\(process \d+\) )?is gone")


def by_hand_stopped(tools, folder):
    Run(tools, folder, "receive1:2:stop", by_hand=True).fails(r"rank 2 \(process \d+\) was stopped by a signal")


if __name__ == "__main__":
    # Those that wait longest for the keeper come first: nearly all of the time is waiting, so many runs share it.
    sys.exit(run_tests("ranks_end", pathlib.Path(sys.argv[1]), [
        stopped_before_it_comes, by_hand_stopped_before_it_comes, never_comes, mpirun_is_stopped, by_hand_unnoticed_at_the_first,
        by_hand_others_come_later, by_hand_unnoticed_in_a_transfer, nobody_notices_before_mpi_begins, nobody_notices_in_a_transfer,
        keeper_is_stopped, stopped, stopped_before_mpi_begins, by_hand_stopped, message_is_lost, goes_well, killed_before_it_comes,
        killed_before_mpi_begins, killed_when_mpi_has_begun, killed_in_a_transfer, killed_when_it_is_done, crashes, leaves_silently,
        killed_after_success, killed_at_the_end, results_cannot_be_written, ptlc_is_killed, interrupted, by_hand], at_once=10))
