"""Pools of pages: a model that reads prompts and goes on from there, beside NumPy, on all executors; what runs find that earlier ones kept, and what is
left when they are killed. `pools.py BUILD [KILLS [SEED]]`."""
import functools
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import time
import uuid
import zlib

import numpy as np

from harness import ENVIRONMENT, ROOT, Tools, in_folders, run_cases
from ranks import expect, has_mpi
from ranks_end import processes_with

FILE = ROOT / "examples/cluster/prefix_reuse.ptl"
P, S, C, V, D, H, E, T = 5, 4, 7, 11, 6, 4, 3, 3


def drawn(prompt_seed=1, pages=P, same=0):
    """Arguments; the first `same` pages of all prompts are alike."""
    real = lambda seed, *shape: np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    words = lambda seed: np.random.default_rng(seed).integers(0, V, (pages, S)).astype(np.int32)
    prompt = words(prompt_seed)
    prompt[:same] = np.random.default_rng(99).integers(0, V, (P, S)).astype(np.int32)[:same]
    return {"prompt": prompt, "word": np.arange(V, dtype=np.int32), "slot": np.arange(C, dtype=np.int32),
            "place": np.arange(C * S, dtype=np.int32).reshape(C, S), "half": np.arange(2, dtype=np.int32), "turn": np.arange(T, dtype=np.int32),
            "embed": real(2, V, D), "query": real(3, 2, H, D, E), "key": real(4, 2, H, D, E), "value": real(5, 2, H, D, E),
            "out": real(6, 2, H, E, D), "first": np.array([3], dtype=np.int32)}


def generate(prompt, embed, query, key, value, out, first, **_):
    """Token by token, all in one place."""
    tokens, made = [int(word) for word in prompt.ravel()], []
    keys, values = [[], []], [[], []]

    def read(word):
        x = embed[word]
        for layer in range(2):
            keys[layer].append(np.einsum("d,hde->he", x, key[layer]))
            values[layer].append(np.einsum("d,hde->he", x, value[layer]))
            k, v = np.array(keys[layer]), np.array(values[layer])
            score = np.einsum("he,the->ht", np.einsum("d,hde->he", x, query[layer]), k)
            weight = np.exp(score - score.max(1, keepdims=True))
            x = x + np.einsum("he,hed->d", np.einsum("ht,the->he", weight / weight.sum(1, keepdims=True), v), out[layer])
        return x

    for word in tokens:
        read(word)
    word = int(first[0])
    for _turn in range(T):
        word = int((read(word) @ embed.T).argmax())
        made.append(word)
    return np.array(made, dtype=np.int32)


class Model:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def words(self, arrays):
        for name, array in arrays.items():
            np.save(self.folder / f"{name}.npy", array)
        return ["run", str(FILE), "--entry", "generate", *[f"{name}=@{name}.npy" for name in arrays], "-o", "made.npy"]

    def run(self, arrays, *way):
        """What it found and computed, of both pools, after comparing what it gives with NumPy."""
        done = self.tools.run(*self.words(arrays), *way, cwd=self.folder)
        expect(done.code == 0, way, done)
        made, wanted = np.load(self.folder / "made.npy"), generate(**arrays)
        expect(np.array_equal(made, wanted), way, made, wanted)
        counts = re.findall(r"pool (?:low|high): (\d+) pages found, (\d+) computed", done.stderr)
        return [tuple(map(int, each)) for each in counts]


def agrees_with_numpy(tools, folder):
    model = Model(tools, folder)
    for way in (["--target", "cpu"], ["--target", "reference"], *[["--shape", f"chip={chips}", "--in-process"] for chips in (1, 2, 3, 4, 5, 8)]):
        model.run(drawn(), *way)


def finds_prefixes(tools, folder):
    model = Model(tools, folder)
    for chips in (1, 2, 3):
        way = ["--shape", f"chip={chips}", "--in-process", "--pool", f"pool{chips}"]
        expect(model.run(drawn(1, same=3), *way) == [(0, 5), (0, 5)], chips)
        expect(model.run(drawn(1, same=3), *way, "--check-pool") == [(5, 0), (5, 0)], chips)
        expect(model.run(drawn(7, same=3), *way) == [(3, 2), (3, 2)], chips)
        longer = drawn(7, pages=6, same=3)
        found = sum((longer["prompt"][:5] == drawn(7, same=3)["prompt"]).all(1).cumprod())
        expect(model.run(longer, *way) == [(found, 6 - found)] * 2, chips, found)
        other = drawn(1, same=3)
        other["embed"] = other["embed"] * np.float32(2)
        expect(model.run(other, *way) == [(0, 5), (0, 5)], chips)


def on_ranks(tools, folder):
    """Ranks find what ranks kept, and what they keep is found in one process, on as many parts."""
    model = Model(tools, folder)
    for chips in (1, 2, 3, 4):
        way = ["--shape", f"chip={chips}", "--pool", "pool"]
        expect(model.run(drawn(1, same=2), *way) == [(0, 5), (0, 5)], chips)
        expect(model.run(drawn(4, same=2), *way, "--check-pool") == [(2, 3), (2, 3)], chips)
        expect(model.run(drawn(4, same=2), *way, "--in-process") == [(5, 0), (5, 0)], chips)


def damaged_pages_are_computed(tools, folder):
    model = Model(tools, folder)
    way = ["--shape", "chip=2", "--in-process", "--pool", "pool"]
    model.run(drawn(), *way)
    for pages in (folder / "pool").glob("*/*/segment-0"):
        with open(pages, "r+b") as file:
            first = file.read(1)
            file.seek(0)
            file.write(bytes([first[0] ^ 255]))
    # The first block of the first page is damaged, and all pages hang on it.
    expect(model.run(drawn(), *way) == [(0, 5), (0, 5)])
    expect(model.run(drawn(), *way) == [(5, 0), (5, 0)])


def wrong_pages_are_noticed(tools, folder):
    """A page under the key of another one, with its checksum: only `--check-pool` can know."""
    model = Model(tools, folder)
    way = ["--shape", "chip=1", "--in-process", "--pool", "pool"]
    model.run(drawn(), *way)
    size = 2 * H * S * E * 4
    pages = folder / f"pool/low/{size}-bytes/segment-0"
    log = pages.parent / "log"
    records, page = bytearray(log.read_bytes()), pages.read_bytes()
    for at in range(0, len(records), 48):
        kind, slot = struct.unpack_from("<II", records, at)
        if kind == 2 and slot == 0:
            changed = bytearray(page[:size])
            changed[5] ^= 64
            struct.pack_into("<I", records, at + 40, zlib.crc32(bytes(changed), zlib.crc32(bytes(records[at + 8:at + 24]))))
            struct.pack_into("<I", records, at + 44, zlib.crc32(bytes(records[at:at + 44])))
            with open(pages, "r+b") as file:
                file.write(changed)
    log.write_bytes(records)
    done = tools.run(*model.words(drawn()), *way, "--check-pool", cwd=folder)
    expect(done.code != 0 and "page 0 of the pool `low` is not what chip 0 computes" in done.stderr, done)


def goes_on(model, arrays, way, kill):
    """After a run that was killed the next one computes what is missing, and the one after it finds all."""
    for _found, computed in model.run(arrays, *way):
        expect(computed <= 5, kill)
    expect(model.run(arrays, *way) == [(5, 0), (5, 0)], kill)


def killed(tools, folder, kills=6, seed=1):
    """A run is killed at any moment; the next one finds what was kept, and is right."""
    model, dice = Model(tools, folder), random.Random(seed)
    way = ["--shape", "chip=2", *([] if has_mpi(tools.build) else ["--in-process"]), "--pool", "pool"]
    begin = time.monotonic()
    model.run(drawn(500), *way)
    takes = time.monotonic() - begin
    for kill in range(kills):
        arrays = drawn(kill + 10, same=kill % 4)
        process = subprocess.Popen([str(tools.path("ptlc")), *model.words(arrays), *way], cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(takes * dice.uniform(0.3, 1))
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        goes_on(model, arrays, way, kill)


def one_of_eight_is_killed(tools, folder, kills=2, seed=2):
    """One rank of eight that share a pool is killed at any moment, which ends the run; the next run finds what was kept, and is right."""
    model, dice = Model(tools, folder), random.Random(seed)
    way = ["--shape", "chip=8", "--pool", "pool"]
    begin = time.monotonic()
    model.run(drawn(600), *way)
    takes = time.monotonic() - begin
    for kill in range(kills):
        arrays = drawn(kill + 40, same=kill % 4)
        mark = f"PTL_TEST_MARK={uuid.uuid4()}"
        process = subprocess.Popen([str(tools.path("ptlc")), *model.words(arrays), *way], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**ENVIRONMENT, "PTL_TEST_MARK": mark.split("=")[1]})
        time.sleep(takes * dice.uniform(0.3, 1))
        kill_one(mark, dice)
        process.wait()
        goes_on(model, arrays, way, kill)


SPREAD = """pub program read[R, P, N](
    rows: i32[R, P, N], w: i32[N] over chip by N, start: i32[N] partial(+) over host
) -> (y: i32[R, N] over chip by N) at pod
{
    let kv = pool(i32[N], memory: 96, over: host, disk: 1MiB)
    var all = zeros(i32[R, N])
    let first = all_reduce(start, over: host)
    for r in 0..R {
        let mine = rows[r, :, :]
        var state = first
        for p in 0..P {
            state = if p < find(kv, mine) { kv[p] } else { keep(kv, (state * 2 + mine[p, :]) * w) }
        }
        all = all * 3 + state
    }
    y = all
}
"""


def spread_over_hosts(tools, folder, kills=2, seed=3):
    """Pages lie in the memory of other hosts; one rank of four is killed at any moment, and what was kept on the disk is there for the next run."""
    file = folder / "read.ptl"
    file.write_text(SPREAD)
    dice, ranks_only = random.Random(seed), has_mpi(tools.build)
    shape = ["--shape", "host=2,chip=2"]

    def words(number):
        draw = np.random.default_rng(number)
        rows = draw.integers(0, 2, (12, 4, 30)).astype(np.int32)
        rows[:, :2] = rows[draw.integers(0, 3, 12), :2]
        arrays = {"rows": rows, "w": draw.integers(-1, 2, 30).astype(np.int32), "start": draw.integers(-3, 4, 30).astype(np.int32)}
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        return ["run", str(file), *[f"{name}=@{name}.npy" for name in arrays], "-o", "y.npy"], arrays

    def run(number, *way):
        given, arrays = words(number)
        done = tools.run(*given, *shape, *way, cwd=folder)
        expect(done.code == 0, way, done)
        wanted = 0
        for row in arrays["rows"]:
            state = arrays["start"]
            for page in row:
                state = (state * 2 + page) * arrays["w"]
            wanted = wanted * 3 + state
        made = np.load(folder / "y.npy")
        expect(np.array_equal(made, np.broadcast_to(wanted, made.shape)), way, made, wanted)
        found, computed, lay = map(int, re.search(r"pool kv: (\d+) pages found, (\d+) computed; (\d+) of those found lay in the memory of the hosts", done.stderr).groups())
        return found, computed, lay

    first = run(1, "--in-process")
    expect(first[0] + first[1] == 48 and 0 < first[2] == first[0], first)
    if ranks_only:
        expect(run(1) == first, "ranks find what parts in one process do")
        begin = time.monotonic()
        found, computed, lay = run(1, "--pool", "pool")
        expect(found + computed == 48 and first[2] == lay < found, "what had to leave is on the disk", found, computed, lay)
        takes = time.monotonic() - begin
    for way in ([], ["--in-process"]) if ranks_only else []:
        found, computed, lay = run(1, *way, "--pool", "pool", "--check-pool")
        expect(computed == 0 and 0 < lay < found, way, found, computed, lay)
    for kill in range(kills if ranks_only else 0):
        mark = f"PTL_TEST_MARK={uuid.uuid4()}"
        process = subprocess.Popen([str(tools.path("ptlc")), *words(kill + 10)[0], *shape, "--pool", "pool"], cwd=folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**ENVIRONMENT, "PTL_TEST_MARK": mark.split("=")[1]})
        time.sleep(takes * dice.uniform(0.3, 1))
        kill_one(mark, dice)
        process.wait()
        run(kill + 10, "--pool", "pool")
        expect(run(kill + 10, "--pool", "pool")[1] == 0, kill)


def kill_one(mark, dice):
    """The run may have ended, or have no ranks yet: then nothing is killed."""
    ranks = sorted(each for each in processes_with(mark) if is_rank(each))
    if ranks:
        try:
            os.kill(dice.choice(ranks), signal.SIGKILL)
        except ProcessLookupError:
            pass


def is_rank(process):
    try:
        return b"OMPI_COMM_WORLD_RANK=" in (pathlib.Path("/proc") / str(process) / "environ").read_bytes()
    except OSError:
        return False


if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1])
    tools = Tools(build).in_processes()
    tests = [agrees_with_numpy, finds_prefixes, damaged_pages_are_computed, wrong_pages_are_noticed, killed, spread_over_hosts]
    tests += [on_ranks, one_of_eight_is_killed] if has_mpi(build) else []
    if len(sys.argv) > 2:
        kills, seed = int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
        long = [killed, one_of_eight_is_killed, spread_over_hosts]
        tests = [functools.partial(test, kills=kills, seed=seed) for test in long]
        for test, of in zip(tests, long):
            test.__name__ = of.__name__
    sys.exit(run_cases("pools", in_folders("pools", tests, lambda test, folder: test(tools, folder))))
