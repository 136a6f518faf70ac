"""Checkpoints of programs on parts: runs that are killed at points that are known, and go on with other numbers of ranks. `checkpoints.py BUILD [KILLS [SEED]]`;
with a number, so many kills at random points beside the few of the suite. No checkpoint but the unfinished one is lost, and results are those of
an undisturbed run."""
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from harness import ENVIRONMENT, ROOT, Tools, in_folders, run_cases
from ranks import MPIRUN, expect, has_mpi

TRAINING = ROOT / "codegen/parts/testdata/training.ptl"
LEFT = ROOT / "codegen/parts/testdata/left_loops.ptl"
SHAPES = {4: "host=2,chip=2", 3: "host=1,chip=3", 8: "host=2,chip=4"}
STEPS, EVERY = 14, 3
HANG = 240  # far more than a run takes


class Training:
    """A program in a folder with what it reads."""

    def __init__(self, tools, folder, steps=STEPS):
        self.tools, self.folder, self.steps = tools, folder, steps
        draw = lambda seed, *shape: np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
        self.arrays = {"x": draw(1, 5, 4), "t": draw(2, 5, 4), "up0": draw(3, 4, 7), "down0": draw(4, 7, 4),
                       "mixed0": np.random.default_rng(5).integers(-9, 9, (7, 4)).astype(np.int32)}
        shutil.copy(TRAINING, folder / "training.ptl")
        for name, array in self.arrays.items():
            np.save(folder / f"{name}.npy", array)

    def words(self, steps=None):
        return ["run", "training.ptl", *[f"{name}=@{name}.npy" for name in self.arrays], "rate=0.01", f"steps={self.steps if steps is None else steps}",
                *[word for name in ("up", "down", "mixed", "loss", "seen") for word in ("-o", f"{name}={name}.npy")]]

    def run(self, *options, steps=None, env=None):
        try:
            done = subprocess.run([str(self.tools.path("ptlc")), *self.words(steps), *options], cwd=self.folder, env={**ENVIRONMENT, **(env or {})},
                                  capture_output=True, text=True, timeout=HANG)
        except subprocess.TimeoutExpired as hung:
            raise AssertionError(f"no end after {HANG} s: {options} {hung.stderr}")
        return done

    def saved(self):
        return sorted(int(path.name[5:]) for path in (self.folder / "run").glob("step-*") if path.name[5:].isdigit())

    def begun(self):
        return sorted(int(re.match(r"\.step-(\d+)\.", path.name)[1]) for path in (self.folder / "run").glob(".step-*.part"))

    def expected(self, steps=None):
        """As NumPy computes it: step by step, all in one place."""
        x, t, up, down, mixed = (self.arrays[name] for name in ("x", "t", "up0", "down0", "mixed0"))
        loss = np.float32(0)
        for step in range(self.steps if steps is None else steps):
            hidden = np.maximum(x @ up, 0)
            error = hidden @ down - t
            back = np.where(hidden > 0, error @ down.T, 0)
            up, down = up - x.T @ back * np.float32(0.01), down - hidden.T @ error * np.float32(0.01)
            loss = (error * error).sum() / 2
            with np.errstate(over="ignore"):
                mixed = mixed * np.int32(5) + (mixed * mixed).sum(0, keepdims=True, dtype=np.int32) + np.int32(step)
        return {"up": up, "down": down, "mixed": mixed, "loss": loss, "seen": np.int32(self.steps if steps is None else steps)}

    def is_right(self, *shown):
        for name, array in self.expected().items():
            found = np.load(self.folder / f"{name}.npy")
            agree = np.array_equal(found, np.broadcast_to(array, found.shape)) if found.dtype == np.int32 else np.allclose(found, array, rtol=1e-4, atol=1e-5)
            expect(agree, *shown, name, found, array)

    def check(self, folder, code=0, message=""):
        done = self.tools.run("check", "--checkpoint", folder, "training.ptl", cwd=self.folder)
        expect(done.code == code and message in done.stderr, folder, done)


def killed(tools, training, kill, ranks):
    """One run that is killed there, if it comes there; whether it was."""
    where, fault = kill
    env = {"PTL_RANKS": str(tools.build / "tests/libfaulty_ranks.so"), "PTL_TEST_PLUGIN": str(tools.build / "lib/libptl-mpi.so")}
    env |= {"PTL_TEST_FAULT": fault} if where == "message" else {"LD_PRELOAD": str(tools.build / "tests/libkill_at_file.so"), "PTL_TEST_KILL": fault}
    before = training.saved()
    done = training.run("--shape", SHAPES[ranks], *(["--resume"] if (training.folder / "run").exists() else []), env=env)
    after, begun = training.saved(), training.begun()
    # What was there is there still, or later ones are; what was begun is at most the next one, of ranks that are ahead the one behind it.
    expect(not before or (after and after[-1] >= before[-1]), kill, ranks, before, after, done)
    expect(len(after) >= min(2, len(before)), kill, ranks, before, after, done)
    latest = after[-1] if after else 0
    expect(all(each <= latest + 2 * EVERY for each in begun), kill, ranks, begun, after, done)
    for each in after:
        training.check(f"run/step-{each}")
    if done.returncode == 0:
        training.is_right(kill, ranks, done)
        expect(not begun and after[-1] == training.steps // EVERY * EVERY, begun, after)
    else:
        expect("is gone" in done.stderr, kill, ranks, done)
    return done.returncode != 0


def goes_on(tools, training, ranks, *shown):
    done = training.run("--shape", SHAPES[ranks], "--resume")
    expect(done.returncode == 0, *shown, ranks, done)
    training.is_right(*shown, ranks, done)


def killed_while_a_checkpoint_is_written(tools, folder):
    """Each rank, at each kind of operation on files; then with other numbers of ranks."""
    training = Training(tools, folder)
    times = sum(killed(tools, training, ("file", fault), ranks) for fault, ranks in (("1:3", 4), ("0:14", 3), ("5:8", 8), ("0:31", 4)))
    expect(times >= 3, "so few kills", times)
    goes_on(tools, training, 3)


def killed_between_checkpoints(tools, folder):
    training = Training(tools, folder)
    times = sum(killed(tools, training, ("message", fault), ranks) for fault, ranks in (("receive9:0:kill", 4), ("send41:3:kill", 8), ("finish:2:kill", 3)))
    expect(times == 3, "so few kills", times)
    goes_on(tools, training, 8)


def on_other_shapes_in_one_process(tools, folder):
    training = Training(tools, folder)
    done = training.run("--shape", "host=2,chip=3", "--in-process", steps=7)
    expect(done.returncode == 0 and training.saved() == [3, 6], done)
    training.check("run")
    done = training.run("--shape", "host=1,chip=8", "--in-process", steps=8)
    expect(done.returncode == 5 and "has checkpoints of an earlier run" in done.stderr, done)
    done = training.run("--shape", "host=1,chip=8", "--in-process", "--resume")
    expect(done.returncode == 0 and training.saved() == [9, 12], done)
    training.is_right()


def loops_that_are_left(tools, folder):
    """A run that has left its loop has ended: what goes on from its checkpoints ends in the same way, on any shape, also if it may go round more often."""
    shutil.copy(LEFT, folder / "left.ptl")
    x = np.random.default_rng(7).integers(-9, 10, (5, 3)).astype(np.float32)
    x[2, 1] = 12
    np.save(folder / "x.npy", x)

    def settled(limit, steps):
        rows, count = x.copy(), 0
        for _ in range(steps):
            if np.abs(rows).max() < limit:
                break
            rows, count = rows * np.float32(0.5), count + 1
        return rows + 1, np.int32(count)

    def given_up(limit, steps):
        y, rounds = np.zeros_like(x), np.int32(0)
        for i in range(steps):
            rounds = np.int32(i)
            if np.float32(12 * i) > limit:
                return y, rounds
            y = y + x
        return y * 100, rounds

    shapes = [["--shape", "chip=3", "--in-process"], ["--shape", "chip=8", "--in-process"], ["--shape", "chip=1", "--in-process"]]
    if has_mpi(tools.build):
        shapes[1] = ["--shape", "chip=2"]
    for entry, expected in (("settles", settled), ("gives_up", given_up)):
        # Left in a round that is saved, in one that is not, in the first one, and not at all.
        for limit, steps in ((4, 20), (2, 20), (40, 20), (60, 20), (0.001, 6)):
            shutil.rmtree(folder / "run", ignore_errors=True)
            runs = [(min(steps, 3), []), (steps, ["--resume"]), (steps, ["--resume"]), (steps + 1 if limit > 0.001 else steps, ["--resume"])]
            for (most, words), shape in zip(runs, [shapes[0], shapes[1], shapes[2], shapes[0]]):
                done = tools.run("run", "left.ptl", "--entry", entry, *shape, *words, "x=@x.npy", f"limit={limit}", f"steps={most}", "-o", "y=y.npy",
                                 "-o", "rounds=rounds.npy", cwd=folder)
                expect(done.code == 0, entry, limit, most, shape, done)
                y, rounds = expected(limit, most)
                expect(np.array_equal(np.load(folder / "y.npy"), y) and np.load(folder / "rounds.npy") == rounds, entry, limit, most, shape, words)


def a_flipped_bit_is_noticed(tools, folder):
    training = Training(tools, folder)
    expect(training.run("--shape", "host=2,chip=2", "--in-process", steps=7).returncode == 0)
    file = folder / "run/step-6/part-1.safetensors"
    data = bytearray(file.read_bytes())
    data[-5] ^= 8
    file.write_bytes(data)
    training.check("run/step-6", 1, "E0817")
    training.check("run/step-3")
    done = training.run("--shape", "host=1,chip=3", "--resume", *([] if has_mpi(tools.build) else ["--in-process"]))
    expect(done.returncode == 0 and done.stderr.count("W1801") == 1 and "`part-1.safetensors` was changed after it was written" in done.stderr, done)
    training.is_right(done)


def programs_that_do_not_fit(tools, folder):
    """Said before anything runs: no rank is started."""
    training = Training(tools, folder)
    expect(training.run("--shape", "host=2,chip=2", "--in-process", steps=4).returncode == 0)
    text = TRAINING.read_text()
    for changed, message in ((text.replace("last", "recent"), "the loop carries `recent: f32[1, 1]`, which it does not have"),
                          (text.replace("var mix = mixed0", "var mix = i64(mixed0)").replace("mixed: i32[F, D]", "mixed: i64[F, D]")
                           .replace("+ i32(step)", "+ i64(step)"), "carries `mix: i64[7, 4]`, and it has `mix: i32[7, 4]`"),
                          (text.replace("0..steps checkpoint", "1..steps step 5 checkpoint"), "which the loop does not come to"),
                          (text.replace("program train", "program trained"), "it belongs to the program `train`")):
        (folder / "training.ptl").write_text(changed)
        training.check("run", 1, message)
        done = training.run("--shape", "host=1,chip=3", "--resume")
        expect(done.returncode != 0 and message in done.stderr, done)


def where_none_are_saved(tools, folder):
    training = Training(tools, folder)
    for target in ("cpu", "reference"):
        done = training.run("--target", target)
        expect(done.returncode == 0 and "W1801" in done.stderr and not (folder / "run").exists(), done)
        training.is_right(done)
        done = training.run("--target", target, "--resume")
        expect(done.returncode == 2 and "add `--shape`" in done.stderr, done)


def ranks_that_see_other_files(tools, folder):
    """Machines without a common file system: here two working folders, each with a folder for checkpoints of its own."""
    places = [folder / name for name in ("one", "other")]
    for place in places:
        place.mkdir()
        training = Training(tools, place)
    ranks = [["-n", "1", "-wdir", str(place), str(tools.path("ptlc")), *training.words(), "--shape", "host=1,chip=2"] for place in places]
    done = subprocess.run([*MPIRUN, *ranks[0], ":", *ranks[1]], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=HANG)
    expect(done.returncode != 0 and "chip 1 does not see the folder `run` of host 0, chip 0" in done.stderr, done)
    expect(not training.saved(), "a checkpoint without the share of the first rank")


def random_kills(count, seed):
    """At any rank and any of its messages or operations on files, one after the other, until a run comes to its end; then anew."""
    def case(tools, folder):
        dice, times, runs, training = random.Random(seed), 0, 0, None
        while times < count:
            if not training:
                place = pathlib.Path(tempfile.mkdtemp(dir=folder))
                training = Training(tools, place, 30)
            ranks = dice.choice((4, 3, 8))
            rank = dice.randrange(ranks)
            kill = ("file", f"{rank}:{dice.randrange(1, 60)}") if dice.random() < 0.6 else \
                ("message", f"{dice.choice(('send', 'receive', 'settle'))}{dice.randrange(1, 200)}:{rank}:kill")
            runs += 1
            if killed(tools, training, kill, ranks):
                times += 1
                print(f"{times}: {kill} of {ranks}; saved {training.saved()}, begun {training.begun()}", flush=True)
            else:
                training = None
        if training:
            goes_on(tools, training, dice.choice((4, 3, 8)))
        print(f"{times} kills in {runs} runs", flush=True)
    return case


if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1])
    tools = Tools(build).in_processes()
    tests = [on_other_shapes_in_one_process, loops_that_are_left, a_flipped_bit_is_noticed, programs_that_do_not_fit, where_none_are_saved]
    if has_mpi(build):
        tests += [ranks_that_see_other_files, killed_while_a_checkpoint_is_written, killed_between_checkpoints]
    if len(sys.argv) > 2:
        kills = random_kills(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
        kills.__name__ = "random_kills"
        tests = [kills]
    sys.exit(run_cases("checkpoints", in_folders("checkpoints", tests, lambda test, folder: test(tools, folder))))
