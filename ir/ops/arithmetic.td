// Arithmetic and bit operators, and the operators on `bool`.
include "ir/ops/op_base.td"

class Ptl_Operator<string mnemonic, string spelling, string sum, string chip, list<Trait> traits = [Pure]>
    : Ptl_Builtin<mnemonic, traits> {
  let name = spelling;
  let group = "arithmetic";
  let summary = sum;
  let opClass = "Elementwise";
  let axisFlow = "Named";
  let cpuCost = 1;
  let params = [Ptl_In<"a", "left operand">, Ptl_In<"b", "right operand">];
  let signatures = ["[T: number] (T[*], T[*]) -> T[*]"];
  let example = "fn example[N](a: f32[N], b: f32[N]) -> f32[N] { return a " # spelling # " b }\n";
  let a2 = chip;
}
class Ptl_BitOperator<string mnemonic, string spelling, string sum, string chip>
    : Ptl_Operator<mnemonic, spelling, sum, chip> {
  let signatures = ["[T: integer] (T[*], T[*]) -> T[*]"];
  let example = "fn example[N](a: i32[N], b: i32[N]) -> i32[N] { return a " # spelling # " b }\n";
}
class Ptl_BoolOperator<string mnemonic, string spelling, string sum, string chip>
    : Ptl_Operator<mnemonic, spelling, sum, chip> {
  let signatures = ["(bool[*], bool[*]) -> bool[*]"];
  let example = "fn example[N](a: bool[N], b: bool[N]) -> bool[N] { return a " # spelling # " b }\n";
}

def Ptl_AddOp : Ptl_Operator<"add", "+", "sum of two values", "native TADD"> {
  let linearity = "Sums";
  let identity = "Zero";
  let swapped = "Add";
  let forms = Ptl_BinaryForms<"Add">;
  let description = [{The result is rounded to the element type; integers wrap.}];
}
def Ptl_SubOp : Ptl_Operator<"sub", "-", "difference of two values", "native TSUB"> {
  let linearity = "Sums";
  let forms = Ptl_BinaryForms<"Sub">;
  let description = [{The result is rounded to the element type; integers wrap.}];
}
def Ptl_MulOp : Ptl_Operator<"mul", "*", "elementwise product", "native TMUL"> {
  let linearity = "Factors";
  let identity = "One";
  let swapped = "Mul";
  let forms = Ptl_BinaryForms<"Mul">;
  let description = [{The result is rounded to the element type; integers wrap. The product of matrices is `@`.}];
}
def Ptl_DivOp : Ptl_Operator<"div", "/", "quotient", "native TDIV"> {
  let linearity = "Dividend";
  let forms = Ptl_BinaryForms<"Div">;
  let cpuCost = 3;
  let description = [{
Floats divide exactly and round once. `/` floors on `int` and dimensions and truncates on the other integer types.
Division by zero of integers is an error in the reference executor and unspecified, but without a crash, elsewhere.
}];
}
def Ptl_RemOp : Ptl_Operator<"rem", "%", "remainder", "native TREM"> {
  let cpuCost = 6;
  let description = [{
`a - b * (a / b)` with the division of the type: on `int` and dimensions the result has the sign of `b`; on the other
integer types and on floats, where the quotient is truncated, the sign of `a`.
}];
}
def Ptl_PowOp : Ptl_Operator<"pow", "**", "power", "native TPOW"> {
  let cpuCost = 20;
  let hostCpp = "$T(__builtin_pow($0, $1))";
  let aliases = ["pow"];
  let description = [{
`a` to the power of `b`. With a literal integer exponent it is a product: exact for integers, and negative bases are
legal. Otherwise a negative base with a fractional exponent gives NaN, `x ** 0` is 1 and `1 ** y` is 1. A negative integer
exponent of an integer is the truncated reciprocal: 0 unless the base is 1 or -1.
}];
}
def Ptl_CdivOp : Ptl_Operator<"cdiv", "cdiv", "quotient rounded up", "emulated scalar unit"> {
  let cpuCost = 6;
  let description = [{The smallest integer that is at least `a / b`. It may stand in dimensions.}];
  let signatures = ["[T: integer] (T[*], T[*]) -> T[*]"];
  let example = "fn example(a: int, b: int) -> int { return cdiv(a, b) }\n";
}
def Ptl_NegOp : Ptl_Operator<"neg", "-", "negation", "native TNEG"> {
  let linearity = "Sums";
  let forms = Ptl_Forms<"TNeg">;
  let description = [{Integers wrap: the negation of the smallest value is that value.}];
  let params = [Ptl_In<"x", "operand">];
  let signatures = ["[T: number] (T[*]) -> T[*]"];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return -x }\n";
}
def Ptl_ShlOp : Ptl_BitOperator<"shl", "<<", "shift left", "native TSHL"> {
  let description = [{Bits shifted out are lost. A count below 0 or of at least the width gives 0.}];
}
def Ptl_ShrOp : Ptl_BitOperator<"shr", ">>", "shift right", "native TSHR"> {
  let description = [{
Signed values keep their sign. A count below 0 or of at least the width gives 0, or -1 for negative values.
}];
}
def Ptl_BitAndOp : Ptl_BitOperator<"bit_and", "&", "bitwise and", "native TAND"> {
  let swapped = "BitAnd";
  let forms = Ptl_BitForms<"And">;
  let description = [{On `bool` it is `and` without short circuit.}];
  let signatures = ["[T: integer] (T[*], T[*]) -> T[*]", "(bool[*], bool[*]) -> bool[*]"];
}
def Ptl_BitOrOp : Ptl_BitOperator<"bit_or", "|", "bitwise or", "native TOR"> {
  let swapped = "BitOr";
  let forms = Ptl_BitForms<"Or">;
  let description = [{On `bool` it is `or` without short circuit.}];
  let signatures = ["[T: integer] (T[*], T[*]) -> T[*]", "(bool[*], bool[*]) -> bool[*]"];
}
def Ptl_BitXorOp : Ptl_BitOperator<"bit_xor", "^", "bitwise exclusive or", "native TXOR"> {
  let swapped = "BitXor";
  let forms = Ptl_BitForms<"Xor">;
  let description = [{On `bool` it is "differs from". `x ^ -1` inverts the bits of a signed integer.}];
  let signatures = ["[T: integer] (T[*], T[*]) -> T[*]", "(bool[*], bool[*]) -> bool[*]"];
}
def Ptl_AndOp : Ptl_BoolOperator<"and", "and", "logical and", "native TAND"> {
  let identity = "One";
  let swapped = "And";
  let forms = Ptl_BitForms<"And">;
  let description = [{On scalars the right operand is evaluated only when the left one is true.}];
}
def Ptl_OrOp : Ptl_BoolOperator<"or", "or", "logical or", "native TOR"> {
  let identity = "Zero";
  let swapped = "Or";
  let forms = Ptl_BitForms<"Or">;
  let description = [{On scalars the right operand is evaluated only when the left one is false.}];
}
def Ptl_NotOp : Ptl_BoolOperator<"not", "not", "logical negation", "native TNOT"> {
  let forms = Ptl_BitForms<"Not">;
  let description = [{Negates a truth value or an array of them.}];
  let params = [Ptl_In<"x", "operand">];
  let signatures = ["(bool[*]) -> bool[*]"];
  let example = "fn example[N](x: bool[N]) -> bool[N] { return not x }\n";
}
