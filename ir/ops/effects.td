// Side effects of a program: checks, messages, and updates that return the previous value. Every
// executor supports them.
include "ir/ops/op_base.td"

let group = "effects", opClass = "Effect", effect = "InputOutput", flops = "0" in {

class Ptl_Check<string spelling, string sum> : Ptl_Syntax<spelling> {
  let name = spelling;
  let summary = sum;
  let core = "Scalar";
  let pipe = "s";
}
/// An update of one element that returns the previous value; the checker expands it, and makes the
/// points of its grid run in order.
class Ptl_Fetch<string spelling, string sum, string op, string what> : Ptl_Syntax<spelling> {
  let name = spelling;
  let summary = sum;
  let effect = "Write";
  let core = "Scalar";
  let pipe = "s";
  let flops = "1";
  let customCheck = 1;
  let params = [Ptl_Param<"place", "Region", "`inout` and an element of an output or `inout`: `inout n[0]`">,
                Ptl_In<"v", what>];
  let signatures = ["[T: number] (T) -> T"];
  let description = "The value of `let old = " # spelling # "(inout y[i], v)` is what `atomic y[i] " # op # " v` replaces, under the same rules.\n"
                    "Values come in the order of the program: the points of a `parallel` with one run one after the other, on one core group.\n";
  let example = "kernel example[N](x: i32[N]) -> (n: i32[1] = 0, y: i32[N])\n{\n    parallel i in 0..N {\n        let old = " # spelling
                # "(inout n[0], x[i])\n        y[i] = old\n    }\n}\n";
  let a2 = "emulated one core group that runs the grid in order";
}
class Ptl_Expectation<string spelling, string sum> : Ptl_Syntax<spelling> {
  let name = spelling;
  let summary = sum;
  let core = "Host";
  let pipe = "";
  let a2 = "native host code of the test";
}

def Ptl_AssertRecord : Ptl_Check<"assert", "stop unless a condition holds"> {
  let description = [{
Stops the program with the message, the place and the values when the condition is false. From there on the condition is a fact:
`assert(n == M)` lets the checker use it.
}];
  let params = [Ptl_Param<"cond", "Value", "condition, a scalar">, Ptl_Opt<"message", "Text", "what went wrong">];
  let signatures = ["(bool) -> ()"];
  let example = "kernel example[N](x: f32[N], n: i32) -> (y: f32[N])\n{\n    assert(n > 0, \"n counts from one\")\n    parallel r in tiles(N, 256) { y[r] = x[r] * f32(n) }\n}\n";
  let a2 = "emulated a status word per core";
}
def Ptl_PrintOp : Ptl_Builtin<"print", []> {
  let name = "print";
  let summary = "write values to standard output";
  let core = "Scalar";
  let pipe = "s";
  let resultNames = [];
  let description = [{Writes the text, then the values with their shapes, and ends the line. Lines of parallel iterations may come in any order.}];
  let params = [Ptl_Text<"message", "text in front">,
                Ptl_OptIns<"xs", "values">];
  let signatures = ["(any[?]...?) -> ()"];
  let example = "kernel example[N](x: f32[N]) -> (y: f32[N])\n{\n    parallel r in tiles(N, 256) {\n        print(\"x\", x[r])\n        y[r] = x[r]\n    }\n}\n";
  let customCheck = 1;
  let a2 = "native TPRINT";
}
def Ptl_FetchAddRecord : Ptl_Fetch<"fetch_add", "add to an element, and give what was there", "+=", "what is added">;
def Ptl_FetchMaxRecord : Ptl_Fetch<"fetch_max", "raise an element, and give what was there", "max=", "what it is at least">;
def Ptl_FetchMinRecord : Ptl_Fetch<"fetch_min", "lower an element, and give what was there", "min=", "what it is at most">;
def Ptl_ExpectRecord : Ptl_Expectation<"expect", "a test fails unless a condition holds"> {
  let description = [{The test goes on, and reports the line and the values of what was compared.}];
  let params = [Ptl_Param<"cond", "Value", "condition, a scalar">,
                Ptl_Opt<"message", "Text", "what went wrong">];
  let signatures = ["(bool) -> ()"];
  let example = "test \"half\" {\n    expect(0.5 + 0.5 == 1.0)\n}\n";
}
def Ptl_ExpectEqualRecord : Ptl_Expectation<"expect_equal", "a test fails unless all elements are equal"> {
  let description = [{Shapes must match; the first element that differs is reported with its position. NaN equals NaN here.}];
  let params = [Ptl_Param<"actual", "Value", "what came out">, Ptl_Param<"expected", "Value", "what should have">];
  let signatures = ["[T: any] (T[*], T[*]) -> ()"];
  let example = "test \"ones\" {\n    expect_equal(ones(f32[3]) + ones(f32[3]), full(f32[3], 2.0))\n}\n";
}
def Ptl_ExpectCloseRecord : Ptl_Expectation<"expect_close", "a test fails unless elements are close"> {
  let description = [{
`abs(actual - expected) <= atol + rtol * abs(expected)` for every element, computed in `f64`; both tolerances are 0 unless given. Equal
infinities and two NaNs are close. The largest error and its position are reported.
}];
  let params = [Ptl_Param<"actual", "Value", "what came out">, Ptl_Param<"expected", "Value", "what should have">,
                Ptl_Keyword<"rtol", "Value", "0.0", "tolerance relative to `expected`">,
                Ptl_Keyword<"atol", "Value", "0.0", "absolute tolerance">];
  let signatures = ["[T: float] (T[*], T[*], f64?, f64?) -> ()"];
  let example = "test \"third\" {\n    expect_close(full(f32[3], 1.0) / 3.0, full(f32[3], 0.333333), atol: 1e-5)\n}\n";
}

} // group, opClass, effect, flops
