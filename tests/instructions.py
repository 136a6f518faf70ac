"""Which instructions products become on each processor, also on those that this machine is not; `instructions.py BUILD`.

Code for another processor cannot run here, but the assembler accepts it, and its text says by which instructions it multiplies. Code for
ARM is what a processor without any x86 extension gets, by LLVM's generator for ARM (`llc` of LLVM 19; left out where it is missing).
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import Tools

SOURCE = """
pub program floats[M, N, K](a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c = a @ b }
pub program doubles[M, N, K](a: f64[M, K], b: f64[K, N]) -> (c: f64[M, N]) { c = a @ b }
pub program halves[M, N, K](a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) { c = a @ b }
pub program brains[M, N, K](a: bf16[M, K], b: bf16[K, N]) -> (c: f32[M, N]) { c = a @ b }
pub program bytes[M, N, K](a: i8[M, K], b: i8[K, N]) -> (c: i32[M, N]) { c = a @ b }
pub program unsigned_bytes[M, N, K](a: u8[M, K], b: u8[K, N]) -> (c: i32[M, N]) { c = i32(a @ b) }
pub program shorts[M, N, K](a: i16[M, K], b: i16[K, N]) -> (c: i32[M, N]) { c = a @ b }
pub program rounds_of_bytes[R, M, N, K](a: i8[R, M, K], b: i8[R, K, N]) -> (c: i32[M, N]) {
    var s = zeros(i32[M, N])
    for r in 0..R { s += a[r, :, :] @ b[r, :, :] }
    c = s
}
pub program rounds[R, M, N, K](a: f32[R, M, K], b: f32[R, K, N]) -> (c: f32[M, N]) {
    var s = zeros(f32[M, N])
    for r in 0..R { s += a[r, :, :] @ b[r, :, :] }
    c = s
}
pub program dots[M, N](a: f32[M, N], b: f32[M, N]) -> (y: f32[M]) { y = sum(a * b, axis: 1, keep: false) }
pub program hidden[M, N, K](a: f32[M, K], b: f32[K, N], s: f32[N]) -> (c: f32[M, N]) { c = max(a @ b + s, 0.0) }
pub program residual[M, N, K](a: f32[M, K], b: f32[K, N], r: f32[M, N]) -> (c: f32[M, N]) { c = r + a @ b }
pub program two[M, N, K](a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c = max(a @ b + (a * 2.0) @ b, 0.0) }
"""

# Expressions for multiplications; what a processor is expected to have must be there, and nothing that it lacks.
YMM_FMA, ZMM_FMA = r"vfmadd\d+ps.*%ymm", r"vfmadd\d+ps.*%zmm"
PAIRS_OF_BF16 = r"vdpbf16ps.*%zmm"
YMM_PAIRS_IN_ONE, ZMM_PAIRS_IN_ONE = r"vpdpwssd.*%ymm", r"vpdpwssd.*%zmm"
YMM_QUADS, ZMM_QUADS = r"vpdpbusd.*%ymm", r"vpdpbusd.*%zmm"
YMM_PAIRS, ZMM_PAIRS, XMM_PAIRS = r"vpmaddwd.*%ymm", r"vpmaddwd.*%zmm", r"\bpmaddwd.*%xmm"
# Registers of matrices: configured, loaded, multiplied, stored and released, after the system has granted them.
MATRICES = [r"ldtilecfg", r"tileloadd", r"tilezero", r"tilestored", r"tilerelease", r"call.*ptl_rt_matrix_registers"]
OF_I8, OF_U8, OF_BF16, OF_F16 = r"tdpbssd", r"tdpbuud", r"tdpbf16ps", r"tdpfp16ps"
WIDE = {ZMM_FMA, PAIRS_OF_BF16, ZMM_PAIRS_IN_ONE, ZMM_QUADS, ZMM_PAIRS}
OF_MATRICES = {*MATRICES, OF_I8, OF_U8, OF_BF16, OF_F16}
ALL = {*WIDE, *OF_MATRICES, YMM_FMA, YMM_PAIRS_IN_ONE, YMM_QUADS, YMM_PAIRS, XMM_PAIRS}
BEST = "x86-64-v4+avx512bf16+avx512vnni"
# What is left for small products, and for systems that do not grant registers of matrices, stands beside them.
EXPECTED = {
    ("x86-64", "bytes"): [XMM_PAIRS],
    ("x86-64-v3", "floats"): [YMM_FMA],
    ("x86-64-v3", "rounds"): [YMM_FMA],
    ("x86-64-v3", "halves"): [YMM_FMA],
    ("x86-64-v3", "brains"): [YMM_FMA],
    ("x86-64-v3", "bytes"): [YMM_PAIRS],
    ("x86-64-v3+avxvnni", "bytes"): [YMM_QUADS],
    ("x86-64-v3+avxvnni", "unsigned_bytes"): [YMM_QUADS],
    ("x86-64-v3+avxvnni", "shorts"): [YMM_PAIRS_IN_ONE],
    ("x86-64-v4", "floats"): [ZMM_FMA],
    ("x86-64-v4", "rounds"): [ZMM_FMA],
    ("x86-64-v4", "brains"): [ZMM_FMA],
    ("x86-64-v4", "bytes"): [ZMM_PAIRS],
    (BEST, "floats"): [ZMM_FMA],
    (BEST, "halves"): [ZMM_FMA],
    (BEST, "brains"): [PAIRS_OF_BF16],
    (BEST, "bytes"): [ZMM_QUADS],
    (BEST, "unsigned_bytes"): [ZMM_QUADS],
    (BEST, "shorts"): [ZMM_PAIRS_IN_ONE],
    ("sapphirerapids", "bytes"): [*MATRICES, OF_I8, ZMM_QUADS],
    ("sapphirerapids", "unsigned_bytes"): [*MATRICES, OF_U8, ZMM_QUADS],
    ("sapphirerapids", "rounds_of_bytes"): [*MATRICES, OF_I8, ZMM_QUADS],
    ("sapphirerapids", "brains"): [*MATRICES, OF_BF16, PAIRS_OF_BF16],
    ("sapphirerapids", "halves"): [ZMM_FMA],
    ("sapphirerapids", "shorts"): [ZMM_PAIRS_IN_ONE],
    ("graniterapids", "halves"): [*MATRICES, OF_F16, ZMM_FMA],
}
# What stands in no code for a processor.
LACKING = {"x86-64": WIDE | OF_MATRICES | {YMM_FMA}, "x86-64-v3": WIDE | OF_MATRICES | {YMM_QUADS, YMM_PAIRS_IN_ONE},
           "x86-64-v3+avxvnni": WIDE | OF_MATRICES, "x86-64-v4": OF_MATRICES | {PAIRS_OF_BF16, ZMM_QUADS, ZMM_PAIRS_IN_ONE},
           BEST: OF_MATRICES, "sapphirerapids": {OF_F16}, "graniterapids": set()}  # fmt: skip
# Whether rows that are summed are fetched ahead into the first cache: only where a vector is a whole line.
FETCHED = {"x86-64-v3": False, "x86-64-v4": True}
# Whether each product of a program overwrites its target, in the order of the source, or is added to what is there. What a loop over
# elements reads adds its other summand there; what is stored, or another product, is the target already.
OVERWRITES = {"hidden": [True], "residual": [False], "two": [True, False]}
# Vectors of numbers on ARM, from IR that names no processor.
ON_ARM = {"floats": r"fmla\s+v\d+\.4s", "doubles": r"fmla\s+v\d+\.2d", "halves": r"fmla\s+v\d+\.4s", "rounds": r"fmla\s+v\d+\.4s"}


def compile_to(tools, source, entry, kinds, processor, folder):
    """Compiles once to all kinds, which are separated by commas; several are files of the entry's name."""
    target = folder / (entry if "," in kinds else f"{entry}.{kinds}")
    command = ["build", "--cpu", processor, "--entry", entry, f"--emit={kinds}", "-o", target, source]
    run = tools.run(*command)
    if run.code:
        sys.exit(f"{' '.join(map(str, command))}: {run.stderr}")
    return target


def check_x86(tools, source, folder):
    wrong = []
    for (processor, entry), expected in EXPECTED.items():
        # The assembler takes the code, too: its object is made in the same compilation as the text.
        text = compile_to(tools, source, entry, "asm,obj", processor, folder).with_suffix(".s").read_text()
        present = {each for each in ALL if re.search(each, text)}
        if missing := set(expected) - present:
            wrong.append(f"{entry} for {processor}: no {missing}")
        if extra := present & LACKING[processor]:
            wrong.append(f"{entry} for {processor}: {extra}, which it lacks")
    return wrong


def check_configuration(tools, source, folder):
    """The memory that a processor reads the shapes of its registers from, as it is stored: eight registers of 16 rows of 64 bytes."""
    text = compile_to(tools, source, "bytes", "llvm", "sapphirerapids", folder).read_text()
    stored = dict.fromkeys(range(8))
    memory = re.search(r"call void @llvm.x86.ldtilecfg\(ptr (?:\w+ )*(%[\w.]+)\)", text)
    if not memory:
        return ["no configuration of registers"]
    places = {memory[1]: 0}
    body = next(each for each in text.split("\ndefine ") if "llvm.x86.ldtilecfg" in each)
    for name, base, count in re.findall(r"(%[\w.]+) = getelementptr (?:inbounds )?(?:i8|i64), ptr (%[\w.]+), i64 (\d+)", body):
        if base in places:
            unit = 1 if re.search(rf"{re.escape(name)} = getelementptr (?:inbounds )?i8", body) else 8
            places[name] = places[base] + unit * int(count)
    for kind, value, place in re.findall(r"store (i64|<\d+ x i64>) ([^,]+(?:, i64 [^,]+)*), ptr (%[\w.]+)", body):
        if place in places and kind == "i64":
            stored[places[place] // 8] = int(value)
    shape = 0x0040_0040_0040_0040
    expected = {0: 1, 1: 0, 2: shape, 3: shape, 4: 0, 5: 0, 6: 0x1010_1010_1010_1010, 7: 0}
    return [] if stored == expected else [f"registers are configured as {stored}, not as {expected}"]


def check_fetches(tools, source, folder):
    wrong = []
    for processor, expected in FETCHED.items():
        if ("prefetcht0" in compile_to(tools, source, "dots", "asm", processor, folder).read_text()) != expected:
            wrong.append(f"dots for {processor}: rows are{' not' if expected else ''} fetched ahead")
    return wrong


def check_targets(tools, source, folder):
    wrong = []
    for entry, expected in OVERWRITES.items():
        text = compile_to(tools, source, entry, "llvm", "x86-64-v4", folder).read_text()
        found = [each == "true" for each in re.findall(r"call void @ptl_product_\w+\([^)]*i1 (true|false)\)", text)]
        if found != expected:
            wrong.append(f"{entry}: products overwrite their targets as {found}, not as {expected}")
    return wrong


def check_arm(llc, tools, source, folder):
    wrong = []
    for entry, expected in ON_ARM.items():
        text = compile_to(tools, source, entry, "llvm", "x86-64", folder).read_text()
        if "llvm.x86." in text:
            wrong.append(f"{entry}: code for any processor has an instruction of x86")
            continue
        plain = folder / "plain.ll"
        plain.write_text(re.sub(r'"(target-cpu|target-features|tune-cpu)"="[^"]*"', "", text))
        for kind in ("obj", "asm"):
            run = subprocess.run([llc, "-mtriple=aarch64-linux-gnu", "-O2", f"--filetype={kind}", "-o", folder / "arm", plain], capture_output=True, text=True)
            if run.returncode:
                wrong.append(f"{entry} for ARM: {run.stderr}")
        if not re.search(expected, (folder / "arm").read_text()):
            wrong.append(f"{entry} for ARM: no `{expected}`")
    return wrong


def main():
    tools = Tools(pathlib.Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "products.ptl"
        source.write_text(SOURCE)
        wrong = check_x86(tools, source, folder) + check_configuration(tools, source, folder)
        wrong += check_fetches(tools, source, folder) + check_targets(tools, source, folder)
        llc = shutil.which("llc-19")
        if llc:
            wrong += check_arm(llc, tools, source, folder)
        else:
            print("left out: ARM, since there is no llc-19")
    for line in wrong:
        print(line)
    print(f"{len(EXPECTED)} products for x86, {len(ON_ARM) if llc else 0} for ARM: {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
