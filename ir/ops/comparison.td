// Comparisons, tests of floats, and `select`.
include "ir/ops/op_base.td"

class Ptl_Comparison<string mnemonic, string spelling, string sum> : Ptl_Builtin<mnemonic> {
  let name = spelling;
  let group = "comparison";
  let summary = sum;
  let opClass = "Comparison";
  let axisFlow = "Named";
  let cpuCost = 1;
  let params = [Ptl_In<"a", "left operand">, Ptl_In<"b", "right operand">];
  let signatures = ["[T: number] (T[*], T[*]) -> bool[*]"];
  let example = "fn example[N](a: f32[N], b: f32[N]) -> bool[N] { return a " # spelling # " b }\n";
  let a2 = "native TCMP; 32-bit integers by way of a difference";
  let a5 = "native TCMP";
}
class Ptl_FloatTest<string mnemonic, string sum> : Ptl_Comparison<mnemonic, mnemonic, sum> {
  let params = [Ptl_In<"x", "operand">];
  let signatures = ["[T: float] (T[*]) -> bool[*]"];
  let example = "fn example[N](x: f32[N]) -> bool[N] { return " # mnemonic # "(x) }\n";
}

def Ptl_EqOp : Ptl_Comparison<"eq", "==", "equal"> {
  let swapped = "Eq";
  let description = [{NaN is not equal to anything, itself included; `0.0` equals `-0.0`. Comparisons do not chain.}];
  let signatures = ["[T: any] (T[*], T[*]) -> bool[*]"];
}
def Ptl_NeOp : Ptl_Comparison<"ne", "!=", "not equal"> {
  let swapped = "Ne";
  let description = [{The negation of `==`: true when an operand is NaN.}];
  let signatures = ["[T: any] (T[*], T[*]) -> bool[*]"];
}
def Ptl_LtOp : Ptl_Comparison<"lt", "<", "less than"> {
  let swapped = "Gt";
  let description = [{False when an operand is NaN.}];
}
def Ptl_LeOp : Ptl_Comparison<"le", "<=", "at most"> {
  let swapped = "Ge";
  let description = [{False when an operand is NaN.}];
}
def Ptl_GtOp : Ptl_Comparison<"gt", ">", "greater than"> {
  let swapped = "Lt";
  let description = [{False when an operand is NaN.}];
}
def Ptl_GeOp : Ptl_Comparison<"ge", ">=", "at least"> {
  let swapped = "Le";
  let description = [{False when an operand is NaN.}];
}
def Ptl_IsNanOp : Ptl_FloatTest<"isnan", "whether a value is NaN"> {
  let description = [{True exactly for the values that are not equal to themselves.}];
}
def Ptl_IsInfOp : Ptl_FloatTest<"isinf", "whether a value is infinite"> {
  let description = [{True for `inf` and `-inf`.}];
}
def Ptl_IsFiniteOp : Ptl_FloatTest<"isfinite", "whether a value is neither infinite nor NaN"> {
  let description = [{True for every number.}];
}
def Ptl_SelectOp : Ptl_Comparison<"select", "select", "choose between two values by a condition"> {
  let description = [{
Takes `a` where `c` is true, else `b`. Both are evaluated: what stands in the arm not taken has no influence, so
`select(x > 0, log(x), 0)` holds no NaN.
}];
  let opClass = "Select";
  let linearity = "Moves";
  let params = [Ptl_In<"c", "condition">, Ptl_In<"a", "value where the condition holds">,
                Ptl_In<"b", "value elsewhere">];
  let signatures = ["[T: any] (bool[*], T[*], T[*]) -> T[*]"];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return select(x > 0.0, x, 0.0) }\n";
  let a2 = "native TSEL";
}
