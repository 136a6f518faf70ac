"""Simulated times beside published ones: `predict.py BUILD_FOLDER [--json OUT] [NAME ...]`.

Rows are in published.json; each says whether coefficients of the machine file were chosen with it (`fit`) or not (`judge`).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def published():
    with open(os.path.join(HERE, "published.json"), encoding="utf-8") as file:
        return json.load(file)["rows"]


def source(row, folder):
    """The file to simulate: a program, or what a program prints that writes one, given the row's options."""
    path = os.path.join(HERE, row["file"])
    if not path.endswith(".py"):
        return path
    made = os.path.join(folder, os.path.basename(path)[:-3] + ".pto")
    with open(made, "w", encoding="utf-8") as out:
        subprocess.run([sys.executable, path] + row.get("options", []), check=True, stdout=out)
    return made


def simulate(ptlc, row, folder, more=()):
    command = [ptlc, "sim", source(row, folder), "--target", row["machine"], "--json", *more]
    started = time.perf_counter()
    output = subprocess.run(command + row["args"] + ["--warm"] * row.get("warm", False),
                            check=True, stdout=subprocess.PIPE).stdout
    result = json.loads(output)
    result["seconds"] = time.perf_counter() - started
    return result


def utilisations(result):
    return {f"{pipe['core']} {pipe['pipe']}": pipe["util"] for pipe in result["pipes"]}


def main():
    arguments = sys.argv[1:]
    ptlc = os.path.join(os.path.abspath(arguments.pop(0)), "bin", "ptlc")
    out = None
    if "--json" in arguments:
        at = arguments.index("--json")
        out = arguments[at + 1]
        del arguments[at:at + 2]
    rows = [row for row in published() if not arguments or any(name in row["name"] for name in arguments)]
    results = []
    print(f"{'':24} {'published':>10} {'simulated':>10} {'error':>7}  use    bound; utilisation published/simulated")
    folder = tempfile.mkdtemp()
    for row in rows:
        result = simulate(ptlc, row, folder)
        error = result["us"] / row["us"] - 1
        used = utilisations(result)
        pipes = "  ".join(f"{pipe} {100 * share:.0f}/{100 * used.get(pipe, 0):.0f}" for pipe, share in row["util"].items())
        again = f"  (again {row['again_us']:.2f}: {100 * (result['us'] / row['again_us'] - 1):+.1f}%)" if "again_us" in row else ""
        print(f"{row['name']:24} {row['us']:10.2f} {result['us']:10.2f} {100 * error:+6.1f}%  {row['use']:5}  "
              f"{result['bound']}; {pipes}{again}", flush=True)
        results.append({"name": row["name"], "published_us": row["us"], "simulated_us": result["us"], "use": row["use"],
                        "bound": result["bound"], "util": used, "operations": result["operations"],
                        "seconds": result["seconds"]})
    shutil.rmtree(folder)
    errors = sorted(abs(row["simulated_us"] / row["published_us"] - 1) for row in results if row["use"] == "judge")
    if errors:
        print(f"judged: {len(errors)} rows, median {100 * errors[len(errors) // 2]:.1f} %, most {100 * errors[-1]:.1f} %, "
              f"{sum(error > 0.15 for error in errors)} beyond 15 %")
    if out:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
