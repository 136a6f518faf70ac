"""How near estimates come to whole runs: `estimates.py BUILD_FOLDER [--json OUT] [--keep FILE] [NAME ...]`.

Every example on a2, a3 and a5, for lengths that are hard to tell of from some rounds: short loops, tails, odd numbers of rounds, more
cores than work, many heads, and long loops. Whole runs take most of the time; those of one version are kept in FILE.
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
MACHINES = ("a2", "a3", "a5")
ROWS = {
    ("01_vector_add", "vector_add"): ["N=5000", "N=1000003", "N=4194304", "N=16777216"],
    ("02_softmax", "softmax_rows"): ["R=40 C=1000", "R=1001 C=333", "R=8192 C=1024", "R=20000 C=96"],
    ("04_matmul", "matmul"): ["M=128 N=128 K=4096", "M=500 N=700 K=300", "M=1024 N=1024 K=1024", "M=2048 N=1536 K=640"],
    ("04_matmul", "matmul_f16"): ["M=384 N=512 K=8192", "M=1000 N=3000 K=777", "M=3072 N=3072 K=3072", "M=4096 N=2048 K=256"],
    ("04_matmul", "matmul_i8"): ["M=256 N=256 K=4096", "M=999 N=1001 K=500", "M=2048 N=2048 K=2048"],
    ("05_swiglu_mlp", "swiglu_mlp"): ["B=8 D=512 F=1024", "B=100 D=300 F=700", "B=512 D=1024 F=2048"],
    ("06_rope", "rope"): ["S=33 D=128", "S=5001 D=64", "S=32768 D=128"],
    ("07_flash_attention", "flash_attention"): ["H=1 S=64 T=8192 D=64", "H=3 S=500 T=777 D=64", "H=24 S=1024 T=512 D=128",
                                                "H=64 S=256 T=2048 D=32"],
    ("07_flash_attention", "flash_attention_causal"): ["H=1 S=1024 T=1024 D=64", "H=5 S=777 T=1111 D=64", "H=32 S=1024 T=1024 D=64",
                                                       "H=200 S=256 T=256 D=32"],
    ("08_transformer", "transformer"): ["S=64 D=128 F=256 H=4 L=2", "S=200 D=192 F=500 H=3 L=2", "S=512 D=512 F=1024 H=8 L=2"],
    ("09_split_k", "split_k"): ["M=64 N=64 K=8192", "M=300 N=500 K=4000", "M=512 N=512 K=16384"],
    ("09_split_k", "split_k_atomic"): ["M=64 N=64 K=8192", "M=300 N=500 K=4000", "M=512 N=512 K=16384"],
}  # fmt: skip


def simulate(ptlc, row, machine, *more):
    (file, entry), words = row
    done = subprocess.run([ptlc, "sim", os.path.join(EXAMPLES, file + ".ptl"), "--entry", entry, "--target", machine, "--json",
                           "--time-passes", *words.split(), *more], capture_output=True, text=True)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def reason(text):
    return next((line for line in text.splitlines() if "error" in line), "no time")


def main():
    arguments = sys.argv[1:]
    ptlc = os.path.join(os.path.abspath(arguments.pop(0)), "bin", "ptlc")
    files = {}
    for option in ("--json", "--keep"):
        if option in arguments:
            at = arguments.index(option)
            files[option] = arguments[at + 1]
            del arguments[at:at + 2]
    kept = {}
    if os.path.exists(files.get("--keep", "")):
        with open(files["--keep"], encoding="utf-8") as file:
            kept = json.load(file)
    results = []
    print(f"{'':58} {'simulated us':>12} {'estimate us':>12} {'error':>7} {'of it run':>9}")
    for (key, lengths) in ROWS.items():
        for words in lengths:
            for machine in MACHINES:
                name = f"{key[1]} {words} {machine}"
                if arguments and not any(text in name for text in arguments):
                    continue
                if name not in kept:
                    whole, why = simulate(ptlc, (key, words), machine)
                    if whole is None:
                        print(f"{name:58} {reason(why)}")
                        continue
                    kept[name] = {"us": whole["us"], "operations": whole["operations"]}
                    if "--keep" in files:
                        with open(files["--keep"], "w", encoding="utf-8") as file:
                            json.dump(kept, file)
                part, text = simulate(ptlc, (key, words), machine, "--estimate")
                if part is None:
                    print(f"{name:58} {reason(text)}")
                    continue
                (cost,) = part["costs"]
                error = cost["us"] / kept[name]["us"] - 1
                phase = float(re.search(r"([\d.]+) ms\s+simulate", text).group(1))
                print(f"{name:58} {kept[name]['us']:12.2f} {cost['us']:12.2f} {100 * error:+6.1f}% {'all' if cost['exact'] else 'part':>9} {phase:6.0f} ms",
                      flush=True)
                results.append({"name": name, "simulated_us": kept[name]["us"], "estimated_us": cost["us"], "error": error,
                                "exact": cost["exact"]})
    errors = sorted(abs(row["error"]) for row in results if not row["exact"])
    if errors:
        print(f"\n{len(results)} rows, {len(errors)} told of from a part: median {100 * errors[len(errors) // 2]:.1f} %, "
              f"most {100 * errors[-1]:.1f} %, {sum(error > 0.1 for error in errors)} beyond 10 %")
    if "--json" in files:
        with open(files["--json"], "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
