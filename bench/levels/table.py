"""Predicted times of movements beside published ones: `table.py BUILD_FOLDER [NAME ...]`. The rows are in published.json,
the programs beside those of the tests of parts."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def published_us(row):
    return row["us"] if "us" in row else row["bytes"] / row["rate"] / 1e3


def predicted_us(ptlc, row):
    sizes = [f"{name}={value}" for name, value in row["sizes"].items()]
    command = [ptlc, "sim", HERE.parents[1] / "codegen/parts/testdata/movements.ptl", "--entry", row["entry"], "--target", row["machine"], "--shape", row["shape"], "--json", *sizes]
    return json.loads(subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE).stdout)["us"]


def main():
    ptlc = pathlib.Path(sys.argv[1]).resolve() / "bin" / "ptlc"
    rows = [row for row in json.loads((HERE / "published.json").read_text())["rows"]
            if len(sys.argv) == 2 or any(name in row["name"] for name in sys.argv[2:])]
    print(f"{'':32} {'published':>10} {'predicted':>10} {'error':>7}  use    assumed")
    errors = []
    for row in rows:
        there, here = published_us(row), predicted_us(ptlc, row)
        error = here / there - 1
        if row["use"] == "judge":
            errors.append(abs(error))
        print(f"{row['name']:32} {there:10.1f} {here:10.1f} {100 * error:+6.1f}%  {row['use']:5}  {row.get('note', '')}", flush=True)
    if errors:
        errors.sort()
        print(f"judged: {len(errors)} rows, median {100 * errors[len(errors) // 2]:.1f} %, most {100 * errors[-1]:.1f} %")


if __name__ == "__main__":
    main()
