"""What commands print for programs follows docs/schemas: every schema of the set is met, and refuses what is not in its form."""
import copy
import json
import subprocess

import jsonschema

from check_tools import SOFTMAX, WRONG
from schemas import Schemas

ENDLESS_SHAPES = """property "never wide"[N: 1..9] {
    expect(N < 5)
}
"""


def main(tools):
    schemas = Schemas(tools.root)
    good, wrong = tools.write("shares.ptl", SOFTMAX), tools.write("wrong.ptl", WRONG)
    program = tools.write("steps.ptl", "program steps[R, C](x: f32[R, C]) -> (y: f32[R, C])\n{\n    let a = x * 2.0\n    y = exp(a) + a\n}\n")

    def run(*words, codes=(0,)):
        outcome = subprocess.run([tools.ptlc, *map(str, words)], capture_output=True, text=True, cwd=tools.folder)
        assert outcome.returncode in codes, (words, outcome)
        return outcome.stdout

    def check(name, *words, codes=(0,), file=None):
        text = run(*words, codes=codes)
        documents = [json.loads(file.read_text() if file else text)]
        for document in documents:
            schemas.check(name, document)
            refuses(schemas, name, document)

    sizes = ["-D", "R=512", "-D", "C=256"]
    ranged = ["-D", "R=64,4096", "-D", "C=256"]
    check("diagnostics", "check", wrong, "--diagnostics=json", codes=(1,))
    check("diagnostics", "check", good, "--diagnostics=json")
    for form in (["check", good, "--target", "a3", "--cost", "--json", "--budget", "5"], ["check", program, "--target", "a3,cpu", "--cost", "--json", "--budget", "2", *sizes],
                 ["sim", good, "--estimate", "--json", "R=512", "C=256"]):
        check("cost", *form)
    for source in (good, program):
        check("ledger", "build", source, "--target", "a3", "--emit=ledger", "-o", "-", "-D", "C=256")
        for target in ("a3", "cpu"):
            check("graph", "build", source, "--target", target, "--emit=graph", "-o", "-", "-D", "R=512", "-D", "C=256")
        check("sim", "sim", source, "--json", "R=512", "C=256")
        check("lanes", "sim", source, "--lanes", tools.folder / "lanes.json", "R=512", "C=256", file=tools.folder / "lanes.json")
        check("lanes", "run", source, "--lanes", tools.folder / "lanes.json", "R=512", "C=256", "x=random", file=tools.folder / "lanes.json")
    mlp = tools.root / "examples" / "cluster" / "mlp.ptl"
    many = [mlp, "--entry", "tensor_parallel", "--target", "h100", "--shape", "chip=4", "B=64", "D=64", "F=64"]
    check("levels", "sim", *many, "--json")
    rounds = tools.root / "codegen" / "parts" / "testdata" / "rounds.ptl"
    check("levels", "sim", rounds, "--entry", "stages", "--target", "h100", "--shape", "chip=3", "M=4", "B=64", "D=64", "--json")
    check("lanes", "sim", *many, "--lanes", tools.folder / "lanes.json", file=tools.folder / "lanes.json")
    check("tune", "tune", good, "--json", *sizes)
    check("tune_ranges", "tune", good, "--json", *ranged)
    check("test", "test", good, "--json", "--samples", "4", codes=(5,))
    check("test", "test", tools.write("wide.ptl", ENDLESS_SHAPES), "--json", codes=(5,))
    counted = tools.folder / "coverage.json"
    check("coverage", "test", good, "--samples", "4", f"--coverage={counted}", codes=(5,), file=counted)
    for source in (good, program, tools.root / "std" / "nn.ptl", tools.root / "examples" / "02_softmax.ptl", tools.root / "examples" / "11_paged_attention.ptl"):
        check("manifest", "build", source, "--emit=manifest", "-o", "-")
    for code in ("E0312", "E0421"):
        check("explain", "explain", code, "--json")
    # The forms that tools alone print are met in `tools`.
    assert schemas.seen | {"answers", "preview"} == set(schemas.schemas), set(schemas.schemas) - schemas.seen


def refuses(schemas, name, document):
    """A schema that admits everything would be met by everything."""
    validator = jsonschema.Draft202012Validator(schemas.schemas[name])
    one = document["costs"][0] if name == "cost" and "costs" in document else document
    assert not validator.is_valid({**one, "no such member": 1}), f"{name} takes members that it does not have"
    for member in schemas.schemas[name].get("required", []):
        less = copy.deepcopy(one)
        del less[member]
        assert not validator.is_valid(less), f"{name} takes a document without `{member}`"
