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

SOURCE = """
pub program floats[M, N, K](a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c = a @ b }
pub program doubles[M, N, K](a: f64[M, K], b: f64[K, N]) -> (c: f64[M, N]) { c = a @ b }
pub program halves[M, N, K](a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) { c = a @ b }
pub program brains[M, N, K](a: bf16[M, K], b: bf16[K, N]) -> (c: f32[M, N]) { c = a @ b }
pub program bytes[M, N, K](a: i8[M, K], b: i8[K, N]) -> (c: i32[M, N]) { c = a @ b }
pub program rounds[R, M, N, K](a: f32[R, M, K], b: f32[R, K, N]) -> (c: f32[M, N]) {
    var s = zeros(f32[M, N])
    for r in 0..R { s += a[r, :, :] @ b[r, :, :] }
    c = s
}
"""

# Expressions for multiplications; what a processor is expected to have must be there, and nothing that it lacks.
YMM_FMA, ZMM_FMA = r"vfmadd\d+ps.*%ymm", r"vfmadd\d+ps.*%zmm"
PAIRS_OF_BF16, PAIRS_OF_I16 = r"vdpbf16ps.*%zmm", r"vpdpwssd.*%zmm"
YMM_PAIRS, ZMM_PAIRS, XMM_PAIRS = r"vpmaddwd.*%ymm", r"vpmaddwd.*%zmm", r"\bpmaddwd.*%xmm"
ALL = [YMM_FMA, ZMM_FMA, PAIRS_OF_BF16, PAIRS_OF_I16, YMM_PAIRS, ZMM_PAIRS, XMM_PAIRS]
BEST = "x86-64-v4+avx512bf16+avx512vnni"
EXPECTED = {
    ("x86-64", "bytes"): [XMM_PAIRS],
    ("x86-64-v3", "floats"): [YMM_FMA],
    ("x86-64-v3", "rounds"): [YMM_FMA],
    ("x86-64-v3", "halves"): [YMM_FMA],
    ("x86-64-v3", "brains"): [YMM_FMA],
    ("x86-64-v3", "bytes"): [YMM_PAIRS],
    ("x86-64-v4", "floats"): [ZMM_FMA],
    ("x86-64-v4", "rounds"): [ZMM_FMA],
    ("x86-64-v4", "brains"): [ZMM_FMA],
    ("x86-64-v4", "bytes"): [ZMM_PAIRS],
    (BEST, "floats"): [ZMM_FMA],
    (BEST, "halves"): [ZMM_FMA],
    (BEST, "brains"): [PAIRS_OF_BF16],
    (BEST, "bytes"): [PAIRS_OF_I16],
}
# Vectors of numbers on ARM, from IR that names no processor.
ON_ARM = {"floats": r"fmla\s+v\d+\.4s", "doubles": r"fmla\s+v\d+\.2d", "halves": r"fmla\s+v\d+\.4s", "rounds": r"fmla\s+v\d+\.4s"}


def compile_to(ptlc, source, entry, kind, processor, folder):
    target = folder / f"{entry}.{kind}"
    command = [ptlc, "build", "--cpu", processor, "--entry", entry, "--emit", kind, "-o", target, source]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {run.stderr}")
    return target


def check_x86(ptlc, source, folder):
    wrong = []
    for (processor, entry), expected in EXPECTED.items():
        text = compile_to(ptlc, source, entry, "asm", processor, folder).read_text()
        compile_to(ptlc, source, entry, "obj", processor, folder)
        present = {each for each in ALL if re.search(each, text)}
        if missing := set(expected) - present:
            wrong.append(f"{entry} for {processor}: no {missing}")
        wider = {ZMM_FMA, PAIRS_OF_BF16, PAIRS_OF_I16, ZMM_PAIRS} if processor in ("x86-64", "x86-64-v3") else set()
        if extra := present & (wider - set(expected)):
            wrong.append(f"{entry} for {processor}: {extra}, which it lacks")
    return wrong


def check_arm(llc, ptlc, source, folder):
    wrong = []
    for entry, expected in ON_ARM.items():
        text = compile_to(ptlc, source, entry, "llvm", "x86-64", folder).read_text()
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
    ptlc = pathlib.Path(sys.argv[1]) / "bin" / "ptlc"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "products.ptl"
        source.write_text(SOURCE)
        wrong = check_x86(ptlc, source, folder)
        llc = shutil.which("llc-19")
        if llc:
            wrong += check_arm(llc, ptlc, source, folder)
        else:
            print("left out: ARM, since there is no llc-19")
    for line in wrong:
        print(line)
    print(f"{len(EXPECTED)} products for x86, {len(ON_ARM) if llc else 0} for ARM: {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
