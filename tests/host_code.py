"""The C++ that runs programs on the host: compiled by Clang in the form for CPU simulation, with kernels that only say how
they were launched, and run. What launches kernels compiles in both forms, whatever things are called."""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy

from harness import ROOT, Case, Tools, run_cases

LAUNCH = re.compile(r'extern "C" void launch_(\w+)\(([^)]*)\) \{')


# What the code around kernels uses of the library and of the device's compiler.
LIBRARY = """#define AICORE
#define __gm__
#define __global__
using half = _Float16;
enum pipe_t { PIPE_V };
enum { FFTS_MODE_VAL };
uint32_t get_subblockid(), get_subblockdim();
uint64_t getFFTSMsg(int mode, uint32_t id);
void ffts_cross_core_sync(pipe_t, uint64_t), wait_flag_dev(uint32_t), set_ffts_base_addr(uint64_t);
void set_intra_block(pipe_t, uint32_t), wait_intra_block(pipe_t, uint32_t);
namespace pto {
enum class NPUArch { A5 };
inline void NPU_MEMORY_INIT(NPUArch) {}
namespace cpu_sim {
struct Config { uint32_t num_cores; };
inline void EnsureRuntimeInitialized() {}
inline Config &runtime_config() { static Config config; return config; }
struct ScopedExecutionContext { ScopedExecutionContext(uint32_t, uint32_t, uint32_t) {} };
} // namespace cpu_sim
} // namespace pto
"""
# Every name means something in C++, in its libraries, or in the emitted text.
AWKWARD = """kernel length[N](length: f32[N], stream: f32[N], blocks: f32[N]) -> (ffts: f32[N])
{
    parallel block in tiles(N, 64) { ffts[block] = length[block] + stream[block] * blocks[block] }
}

kernel div[core, cores, context](nullptr: f32[core, cores], length: f32[cores, context]) -> (half: f32[core, context])
{
    parallel i in tiles(core, 32), j in tiles(context, 32) {
        var smaller = zeros(f32[i, j])
        for larger in tiles(cores, 32) { smaller += nullptr[i, larger] @ length[larger, j] }
        half[i, j] = exp(smaller)
    }
}

kernel exp2[N](exp2: f32[N]) -> (y: f32[N])
{
    parallel r in tiles(N, 64) { y[r] = exp2[r] * 2.0 }
}

kernel half[wait_flag](pipe_barrier: f16[wait_flag, 8]) -> (get_block_idx: f16[wait_flag, 8])
{
    parallel event_t in tiles(wait_flag, 16) { get_block_idx[event_t, :] = pipe_barrier[event_t, :] * 2.0 }
}

kernel main[uint32_t](int64_t: f32[uint32_t]) -> (y: f32[uint32_t])
{
    parallel TLOAD in tiles(uint32_t, 64) { y[TLOAD] = int64_t[TLOAD] * 2.0 }
}

program double[storage, uint32_t](groups: f32[storage, uint32_t], stream: f32[storage, uint32_t]) -> (require: f32[storage, 1])
{
    var Storage = groups
    for _i in 0..3 { Storage = exp(Storage + stream) }
    require = sum(Storage, axis: 1)
}

program squares[int64_t](x: f32[int64_t * int64_t, 4]) -> (y: f32[int64_t * int64_t, 4], last: f32)
{
    let t = exp(x)
    y = t / sum(t, axis: 0)
    last = y[int64_t * int64_t - 1, 3]
}

program Storage[N](x: f32[N, 16]) -> (y: f32[N, 16])
{
    y = exp(x)
}
"""


def launches_compile(tools, path, entry, machine):
    """Kernels do nothing here, and there are no types of the library."""
    outcome = tools.run("build", path, "--target", machine, "--entry", entry, "--emit=cpp", "-o", "-")
    if outcome.code != 0:
        raise AssertionError(outcome.stderr)
    text = re.sub(r"^#if defined\(__DAV_\w+__\) \|\| defined\(__CPU_SIM\)\n.*?^#endif\n", "", outcome.stdout, flags=re.M | re.S)
    text = re.sub(r"^using (?!namespace)\w+ =.*?;\n", "", text, flags=re.M | re.S)
    text = re.sub(r"\w+::reset_for_cpu_sim\(\);|<<<.*?>>>", "", text, flags=re.S)
    text = text.replace("#include <pto/pto-inst.hpp>\n", LIBRARY)
    forms = [["-D__CPU_SIM"]] if "acl/acl.h" in text else [["-D__CPU_SIM"], ["-D__DAV_CUBE__", "-D__DAV_VEC__"]]
    for form in forms:
        command = ["clang++-19", "-std=c++20", "-fsyntax-only", "-x", "c++", *form, "-"]
        compiled = subprocess.run(command, input=text, capture_output=True, text=True)
        if compiled.returncode != 0:
            raise AssertionError(f"{entry} {form}: {compiled.stderr[:3000]}")


def names(tools):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "awkward.ptl"
        path.write_text(AWKWARD)
        for entry in re.findall(r"^(?:kernel|program) (\w+)", AWKWARD, re.M):
            for machine in ("a3", "a5"):
                launches_compile(tools, path, entry, machine)
    # A kernel and its host may have one name.
    launches_compile(tools, ROOT / "examples/08_transformer.ptl", "heads", "a3")


MESSAGES = r"""kernel counted[N](x: f32[N], at: i32[N]) -> (y: f32[N])
{
    parallel i in tiles(N, 256) {
        assert(at[i.start] >= 0, "FIRST\nSECOND in C:\\")
        y[i] = x[i] * 2.0
    }
}
"""


def messages(tools):
    """What the author wrote stays in its comment, and takes no code into it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "messages.ptl"
        path.write_text(MESSAGES)
        for kind in ("cpp", "pto"):
            outcome = tools.run("build", path, "--target", "a3", f"--emit={kind}", "-o", "-")
            if outcome.code != 0:
                raise AssertionError(outcome.stderr)
            lines = [line for line in outcome.stdout.splitlines() if "SECOND" in line]
            if not lines or any("//" not in line or line.rstrip().endswith("\\") for line in lines):
                raise AssertionError(outcome.stdout)


def recorded_launch(name, parameters):
    """In place of a launch, which the library would be needed for: prints its name and its numbers."""
    words = [word.strip().rsplit(" ", 1) for word in " ".join(parameters.split()).split(",")]
    numbers = [name for kind, name in words if kind == "int64_t"]
    shown = "".join(f" {number}=%lld" for number in numbers)
    values = "".join(f", (long long){number}" for number in numbers)
    return f"""namespace ptl_{name} {{
extern "C" void launch_{name}({parameters}) {{ std::printf("{name} on %u{shown}\\n", blocks{values}); }}
}}
"""


def run(tools, file, entry, call=""):
    """The launches of `run_entry`, a line each; nothing if it is only to be compiled."""
    outcome = tools.run("build", ROOT / "examples" / file, "--target", "a3", "--entry", entry, "--emit=cpp", "-o", "-")
    if outcome.code != 0:
        raise AssertionError(outcome.stderr)
    text = outcome.stdout
    host = text[text.rindex(f"namespace ptl_{entry} {{") :]
    main = f'int main() {{ static char m[1 << 22]; return ptl_{entry}::run_{entry}(nullptr, 3{call}); }}' if call else ""
    includes = text[: text.index("namespace ptl_")].replace("#include <pto/pto-inst.hpp>\n", "")
    source = includes + "".join(recorded_launch(*found) for found in LAUNCH.findall(text)) + host + main
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "host.cpp"
        path.write_text(source)
        only = [] if call else ["-fsyntax-only"]
        command = ["clang++-19", "-std=c++20", "-Wall", "-Wno-unused-variable", "-Werror", "-D__CPU_SIM", *only]
        compiled = subprocess.run([*command, str(path), "-o", f"{folder}/host"], capture_output=True, text=True)
        if compiled.returncode != 0:
            raise AssertionError(compiled.stderr[:3000])
        if not call:
            return []
        done = subprocess.run([f"{folder}/host"], capture_output=True, text=True)
        return [*done.stdout.splitlines(), *done.stderr.splitlines(), f"returns {done.returncode}"]


def compiles(tools, file, entry):
    run(tools, file, entry)


def expect(actual, expected):
    if actual != expected:
        raise AssertionError("it says\n" + "\n".join(actual))


def split_k(tools):
    # `split_k_1` to `split_k_4` are for narrow columns of many rows, which these are not.
    expect(
        run(tools, "09_split_k.ptl", "split_k", ", m, m, m, 40, 70, 512"),
        [
            "split_k_0 on 3 M=40 K=512 N=70",
            "split_k_5 on 6 M=40 N=70",
            "split_k_6 on 6 M=40 N=70",
            "returns 0",
        ],
    )


def requirements(tools):
    lines = run(tools, "09_split_k.ptl", "split_k", ", m, m, m, 40, 70, 511")
    expect(lines, ["`split_k` needs `K % 8 == 0`: `K % 8` is 7, `K` is 511", "returns 1"])


def loops(tools):
    """Layers of a transformer: twice as many launches for twice as many."""
    arguments = ", m, m, m, m, m, m, m, m, m, m, 21, 32, 48, 4, "
    one, three = (run(tools, "08_transformer.ptl", "transformer", arguments + layers) for layers in "13")
    if one[-1] != "returns 0" or three[-1] != "returns 0" or len(one) < 10:
        raise AssertionError("\n".join(one))
    inside = len(three) - len(one)
    if inside % 2 or inside // 2 < 5:
        raise AssertionError(f"{len(one) - 1} launches for one layer, {len(three) - 1} for three")


class Expressions:
    """Random scalar expressions over `a b c` (f32), `i j` (int), `p q` (i32), `r s` (i8), `u v` (u8) and `w` (u32), as text
    of the language."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def real(self, depth):
        if depth == 0:
            return self.random.choice(["a", "b", "c", "(a * 0.5)", "(-1.5 - b)"])
        x, y = self.real(depth - 1), self.real(self.random.randrange(depth))
        return self.random.choice(
            [f"({x} + {y})", f"({x} - {y})", f"({y} - {x})", f"({x} * {y})", f"({x} / (abs({y}) + 1.5))", f"-({x})", f"-(-({x}))"]
            + [f"max({x}, {y})", f"min({x}, {y})", f"abs({x})", f"floor({x})", f"sqrt(abs({x}))", f"reciprocal(abs({x}) + 0.5)"]
            + [f"sigmoid({x})", f"tanh({x})", f"f32({self.whole(depth - 1)})", f"f32({self.bits(depth - 1)})"]
            + [f"select({self.truth(depth - 1)}, {x}, {y})", f"(if {self.truth(depth - 1)} {{ {x} }} else {{ {y} }})"]
        )

    def whole(self, depth):
        if depth == 0:
            return self.random.choice(["i", "j", "(i - 3)", "(2 - j)"])
        x, y = self.whole(depth - 1), self.whole(self.random.randrange(depth))
        return self.random.choice(
            [f"({x} + {y})", f"({x} - {y})", f"({y} - {x})", f"({x} * {y})", f"-({x})", f"({x} / 3)", f"({x} % 5)", f"cdiv({x}, 4)"]
            + [f"({x} / ({y} * {y} + 1))", f"max({x}, {y})", f"min({x}, {y})", f"select({self.truth(depth - 1)}, {x}, {y})"]
        )

    def bits(self, depth):
        if depth == 0:
            return self.random.choice(["p", "q", "(6 - p)", "(q & 5)"])
        x, y = self.bits(depth - 1), self.bits(self.random.randrange(depth))
        return self.random.choice(
            [f"({x} + {y})", f"({x} - {y})", f"({y} - {x})", f"({x} * {y})", f"-({x})", f"({x} / 3)", f"({x} % 5)", f"({x} << 2)"]
            + [f"({x} & {y})", f"({x} | {y})", f"({x} ^ {y})", f"({x} >> 1)", f"~({x})", f"max({x}, {y})", f"select({self.truth(depth - 1)}, {x}, {y})"]
            + [f"({x} / ({y} & 6 | 1))", f"({x} % ({y} & 6 | 1))"]
            + [f"i32({self.short(depth - 1)})", f"i32({self.positive(depth - 1)})", self.limit(depth - 1)]
        )

    def short(self, depth):
        """Of eight bits with a sign, which results of sums and products leave all the time."""
        if depth == 0:
            return self.random.choice(["r", "s", "(r + s)", "(s - r)", "(r * s)"])
        x, y = self.short(depth - 1), self.short(self.random.randrange(depth))
        return self.random.choice(
            [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"-({x})", f"({x} / 3)", f"({x} % 5)", f"({x} << 2)", f"({x} >> 1)"]
            + [f"abs({x})", f"~({x})", f"({x} ^ {y})", f"max({x}, {y})", f"i8({self.positive(depth - 1)})"]
        )

    def positive(self, depth):
        """Of eight bits without a sign."""
        if depth == 0:
            return self.random.choice(["u", "v", "(u + v)", "(u - v)", "(u * v)"])
        x, y = self.positive(depth - 1), self.positive(self.random.randrange(depth))
        return self.random.choice(
            [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} / 3)", f"({x} % 50)", f"({x} << 2)", f"({x} >> 1)"]
            + [f"min({x}, {y})", f"~({x})", f"({x} | {y})", f"u8({self.short(depth - 1)})"]
        )

    def limit(self, _depth):
        """Near the ends of what 32 bits hold, and numbers half way between whole ones."""
        return self.random.choice(
            ["i32(w / 1) / 3", "i32(w >> 1) / 3", "i32(w % 4000000001) / 3", "i32(i64(p + -2147483648) / 3)", "i32(a * 2.0, round: .even)", "i32(c, round: .even)"]
            + ["i32(c + 1.0, round: .even)", "i32(b * 2.0 - 3.0, round: .even)", "i32(a + b, round: .even)", "i32(c, round: .away)"]
            + ["i32(a / (b - b), round: .zero)", "i32(b / (a - a), round: .down)", "i32((a - a) / (b - b), round: .even)", "i32(i64(a * 1e30, round: .zero) / 3)"]
            + ["i32(u8(c * 100.0, round: .zero))", "i32(u8(-c, round: .zero))", "i32(i16(a * 1e6, round: .even))"]
        )

    def truth(self, depth):
        kind = self.random.choice([self.real, self.whole, self.bits, self.short, self.positive, self.limit])
        compared = f"({kind(max(depth - 1, 0))} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {kind(max(depth - 1, 0))})"
        if depth == 0:
            return compared
        other = self.truth(depth - 1)
        return self.random.choice([compared, f"({compared} and {other})", f"({compared} or {other})", f"not {other}", f"({compared} == {other})"])


SCALARS = {"a": 1.25, "b": -0.75, "c": 2.5, "i": 5, "j": -4, "p": 11, "q": -6, "r": 100, "s": -128, "u": 200, "v": 77, "w": 4000000000}
SIGNATURE = """pub program p(
    a: f32, b: f32, c: f32, i: int, j: int, p: i32, q: i32, r: i8, s: i8, u: u8, v: u8, w: u32
) -> (y: f32[COUNT], z: i32[COUNT], n: i32[COUNT], m: i32[COUNT])"""


def scalars(tools, seed, count=60):
    """What the host computes of scalars is what the language says, however operators stand beside each other."""
    make = Expressions(seed)
    lines = [f"    y[{k}] = {make.real(1 + k % 4)}\n    z[{k}] = i32({make.whole(1 + k % 3)})\n    n[{k}] = {make.bits(1 + k % 3)}" for k in range(count)]
    narrow = (make.short, make.positive, make.limit)
    lines = [f"{line}\n    m[{k}] = i32({narrow[k % 3](1 + k % 2)})" for k, line in enumerate(lines)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scalars.ptl"
        path.write_text(SIGNATURE.replace("COUNT", str(count)) + "\n{\n" + "\n".join(lines) + "\n}\n")
        given = [f"{name}={value}" for name, value in SCALARS.items()]
        results = [argument for name in "yznm" for argument in ("-o", f"{name}={folder}/{name}.npy")]
        outcome = tools.run("run", path, "--target", "reference", *given, *results)
        emitted = tools.run("build", path, "--target", "a3", "--emit=cpp", "-o", "-")
        if outcome.code != 0 or emitted.code != 0:
            raise AssertionError(outcome.stderr + emitted.stderr)
        source = pathlib.Path(folder) / "scalars.cpp"
        values = ", ".join(f"{value}f" if isinstance(value, float) else str(value) for value in SCALARS.values())
        main = f"""int main() {{
  static float y[{count}]; static int32_t z[{count}], n[{count}], m[{count}];
  if (ptl_p::run_p(nullptr, 1, {values}, y, z, n, m)) return 1;
  for (int k = 0; k < {count}; ++k) std::printf("%.9g %d %d %d\\n", y[k], z[k], n[k], m[k]);
}}
"""
        source.write_text(emitted.stdout.replace("#include <pto/pto-inst.hpp>\n", "") + main)
        command = ["clang++-19", "-std=c++20", "-D__CPU_SIM", str(source), "-o", f"{folder}/scalars"]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode != 0:
            raise AssertionError(compiled.stderr[:3000])
        done = subprocess.run([f"{folder}/scalars"], capture_output=True, text=True)
        actual = numpy.array([line.split() for line in done.stdout.splitlines()], dtype=float)
        expected = numpy.stack([numpy.load(f"{folder}/{name}.npy").astype(float) for name in "yznm"], axis=1)
    if actual.shape != expected.shape:
        raise AssertionError(done.stderr)
    for k in numpy.nonzero(~numpy.isclose(actual, expected, rtol=1e-4, atol=1e-5, equal_nan=True).all(axis=1))[0]:
        raise AssertionError(f"{lines[k]}\ngives {actual[k]} as C++ and {expected[k]} by the reference (seed {seed})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    tools = Tools(parser.parse_args().build)
    programs = {
        "05_swiglu_mlp.ptl": "swiglu_mlp",
        "10_mixture_of_experts.ptl": "mixture_of_experts",
        "12_indexer_prolog.ptl": "indexer_prolog",
    }
    cases = [Case(entry, lambda f=file, e=entry: compiles(tools, f, e)) for file, entry in programs.items()]
    cases += [Case(each.__name__, lambda each=each: each(tools)) for each in (split_k, requirements, loops, names, messages)]
    cases += [Case(f"scalars {seed}", lambda seed=seed: scalars(tools, seed)) for seed in (1, 2)]
    return run_cases("host_code", cases)


if __name__ == "__main__":
    sys.exit(main())
