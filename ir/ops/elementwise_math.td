// Elementwise mathematics.
include "ir/ops/op_base.td"

class Ptl_Unary<string mnemonic, string sum, string chip, string kind = "float"> : Ptl_Builtin<mnemonic> {
  let name = mnemonic;
  let group = "elementwise_math";
  let summary = sum;
  let opClass = "Elementwise";
  let axisFlow = "Named";
  let params = [Ptl_In<"x", "operand">];
  let signatures = ["[T: " # kind # "] (T[*]) -> T[*]"];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return " # mnemonic # "(x) }\n";
  let a2 = chip;
}
class Ptl_Binary<string mnemonic, string sum, string chip, string kind = "float">
    : Ptl_Unary<mnemonic, sum, chip, kind> {
  let params = [Ptl_In<"a", "first operand">, Ptl_In<"b", "second operand">];
  let signatures = ["[T: " # kind # "] (T[*], T[*]) -> T[*]"];
  let example = "fn example[N](a: f32[N], b: f32[N]) -> f32[N] { return " # mnemonic # "(a, b) }\n";
}

def Ptl_AbsOp : Ptl_Unary<"abs", "absolute value", "native TABS", "number"> {
  let forms = Ptl_Forms<"TAbs">;
  let cpuCost = 1;
  let description = [{Integers wrap: the smallest value of a signed type is its own absolute value.}];
}
def Ptl_SignOp : Ptl_Unary<"sign", "sign: -1, 0 or 1", "emulated comparisons and TSEL", "number"> {
  let cpuCost = 2;
  let description = [{`sign(nan)` is NaN and `sign(-0.0)` is `-0.0`.}];
}
def Ptl_FloorOp : Ptl_Unary<"floor", "largest whole number that is not above", "native TCVT"> {
  let cpuCost = 1;
  let description = [{The result keeps the element type; `i32(x, round: .down)` converts as well.}];
}
def Ptl_CeilOp : Ptl_Unary<"ceil", "smallest whole number that is not below", "native TCVT"> {
  let cpuCost = 1;
  let description = [{The result keeps the element type; `i32(x, round: .up)` converts as well.}];
}
def Ptl_RoundOp : Ptl_Unary<"round", "nearest whole number, ties to even", "native TCVT"> {
  let cpuCost = 1;
  let description = [{`round(2.5)` is 2 and `round(3.5)` is 4. The result keeps the element type.}];
}
def Ptl_TruncOp : Ptl_Unary<"trunc", "whole part, towards zero", "native TCVT"> {
  let cpuCost = 1;
  let description = [{`trunc(-1.5)` is -1. The result keeps the element type.}];
}
def Ptl_ExpOp : Ptl_Unary<"exp", "e to the power of x", "native TEXP"> {
  let forms = Ptl_Forms<"TExp">;
  let cpuCost = 12;
  let hostCpp = "$T(__builtin_exp($0))";
  let description = [{At most 2 ulp in `f32` on the CPU. `exp(-inf)` is 0; results beyond the range are `inf`.}];
}
def Ptl_Exp2Op : Ptl_Unary<"exp2", "2 to the power of x", "emulated TEXP after a product"> {
  let cpuCost = 12;
  let hostCpp = "$T(__builtin_exp2($0))";
  let description = [{At most 2 ulp in `f32` on the CPU; exact for whole `x`.}];
}
def Ptl_Expm1Op : Ptl_Unary<"expm1", "exp(x) - 1, accurate near 0", "emulated polynomial near 0, else TEXP"> {
  let cpuCost = 25;
  let hostCpp = "$T(__builtin_expm1($0))";
  let description = [{Keeps its relative accuracy for small `x`, where `exp(x) - 1` loses all digits.}];
}
def Ptl_LogOp : Ptl_Unary<"log", "natural logarithm", "native TLOG"> {
  let forms = Ptl_Forms<"TLog">;
  let cpuCost = 14;
  let hostCpp = "$T(__builtin_log($0))";
  let description = [{`log(0)` is `-inf`, of a negative value NaN.}];
}
def Ptl_Log2Op : Ptl_Unary<"log2", "logarithm to base 2", "emulated TLOG and a product"> {
  let cpuCost = 25;
  let hostCpp = "$T(__builtin_log2($0))";
  let description = [{`log2(0)` is `-inf`, of a negative value NaN; exact for powers of two.}];
}
def Ptl_Log10Op : Ptl_Unary<"log10", "logarithm to base 10", "emulated TLOG and a product"> {
  let cpuCost = 25;
  let hostCpp = "$T(__builtin_log10($0))";
  let description = [{`log10(0)` is `-inf`, of a negative value NaN.}];
}
def Ptl_Log1pOp : Ptl_Unary<"log1p", "log(1 + x), accurate near 0", "emulated polynomial near 0, else TLOG"> {
  let cpuCost = 25;
  let hostCpp = "$T(__builtin_log1p($0))";
  let description = [{Keeps its relative accuracy for small `x`. `log1p(-1)` is `-inf`.}];
}
def Ptl_SqrtOp : Ptl_Unary<"sqrt", "square root", "native TSQRT"> {
  let forms = Ptl_Forms<"TSqrt">;
  let hostCpp = "$T(__builtin_sqrt($0))";
  let description = [{Correctly rounded. NaN for negative values; `sqrt(-0.0)` is `-0.0`.}];
}
def Ptl_RsqrtOp : Ptl_Unary<"rsqrt", "1 / sqrt(x)", "native TRSQRT"> {
  let forms = Ptl_Forms<"TRsqrt">;
  let cpuCost = 6;
  let hostCpp = "$T(1 / __builtin_sqrt($0))";
  let description = [{At most 2 ulp in `f32` on the CPU. `rsqrt(0)` is `inf`.}];
}
def Ptl_ReciprocalOp : Ptl_Unary<"reciprocal", "1 / x", "native TRECIP"> {
  let forms = Ptl_Forms<"TRecip">;
  let cpuCost = 3;
  let hostCpp = "$T(1 / $0)";
  let description = [{Correctly rounded on the CPU; the chips have a faster instruction for it than for `/`.}];
}
def Ptl_SinOp : Ptl_Unary<"sin", "sine", "emulated range reduction and a polynomial"> {
  let cpuCost = 30;
  let hostCpp = "$T(__builtin_sin($0))";
  let description = [{`x` in radians, over the whole range of the type. NaN for infinities.}];
}
def Ptl_CosOp : Ptl_Unary<"cos", "cosine", "emulated range reduction and a polynomial"> {
  let cpuCost = 30;
  let hostCpp = "$T(__builtin_cos($0))";
  let description = [{`x` in radians, over the whole range of the type. NaN for infinities.}];
}
def Ptl_TanOp : Ptl_Unary<"tan", "tangent", "emulated sine over cosine"> {
  let cpuCost = 40;
  let hostCpp = "$T(__builtin_tan($0))";
  let description = [{`x` in radians. NaN for infinities.}];
}
def Ptl_AsinOp : Ptl_Unary<"asin", "inverse sine", "emulated polynomial"> {
  let cpuCost = 24;
  let hostCpp = "$T(__builtin_asin($0))";
  let description = [{In radians; NaN outside of [-1, 1].}];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return asin(x) }\n";
}
def Ptl_AcosOp : Ptl_Unary<"acos", "inverse cosine", "emulated polynomial"> {
  let cpuCost = 24;
  let hostCpp = "$T(__builtin_acos($0))";
  let description = [{In radians, from 0 to pi; NaN outside of [-1, 1].}];
}
def Ptl_AtanOp : Ptl_Unary<"atan", "inverse tangent", "emulated polynomial"> {
  let cpuCost = 28;
  let hostCpp = "$T(__builtin_atan($0))";
  let description = [{In radians, between -pi/2 and pi/2.}];
}
def Ptl_Atan2Op : Ptl_Binary<"atan2", "angle of the point (b, a)", "emulated polynomial"> {
  let cpuCost = 36;
  let hostCpp = "$T(__builtin_atan2($0, $1))";
  let description = [{`atan2(y, x)`: the angle of `(x, y)` in radians, from -pi to pi, with the signs of zeros as in C.}];
}
def Ptl_SinhOp : Ptl_Unary<"sinh", "hyperbolic sine", "emulated TEXP"> {
  let cpuCost = 30;
  let hostCpp = "$T(__builtin_sinh($0))";
  let description = [{Keeps its relative accuracy near 0.}];
}
def Ptl_CoshOp : Ptl_Unary<"cosh", "hyperbolic cosine", "emulated TEXP"> {
  let cpuCost = 26;
  let hostCpp = "$T(__builtin_cosh($0))";
  let description = [{At least 1.}];
}
def Ptl_TanhOp : Ptl_Unary<"tanh", "hyperbolic tangent", "emulated TEXP and TDIV"> {
  let cpuCost = 24;
  let hostCpp = "$T(__builtin_tanh($0))";
  let description = [{At most 2 ulp in `f32` on the CPU. Within [-1, 1].}];
}
def Ptl_AsinhOp : Ptl_Unary<"asinh", "inverse hyperbolic sine", "emulated TLOG and TSQRT"> {
  let cpuCost = 40;
  let hostCpp = "$T(__builtin_asinh($0))";
  let description = [{Keeps its relative accuracy near 0.}];
}
def Ptl_AcoshOp : Ptl_Unary<"acosh", "inverse hyperbolic cosine", "emulated TLOG and TSQRT"> {
  let cpuCost = 40;
  let hostCpp = "$T(__builtin_acosh($0))";
  let description = [{NaN below 1.}];
}
def Ptl_AtanhOp : Ptl_Unary<"atanh", "inverse hyperbolic tangent", "emulated TLOG"> {
  let cpuCost = 40;
  let hostCpp = "$T(__builtin_atanh($0))";
  let description = [{NaN outside of [-1, 1]; infinite at the ends.}];
}
def Ptl_ErfOp : Ptl_Unary<"erf", "error function", "emulated polynomial"> {
  let cpuCost = 28;
  let hostCpp = "$T(__builtin_erf($0))";
  let description = [{At most 2 ulp in `f32` on the CPU. The exact `gelu` is written with it.}];
}
def Ptl_ErfcOp : Ptl_Unary<"erfc", "1 - erf(x), accurate for large x", "emulated polynomial and TEXP"> {
  let cpuCost = 40;
  let hostCpp = "$T(__builtin_erfc($0))";
  let description = [{Keeps its relative accuracy where `1 - erf(x)` loses all digits.}];
}
def Ptl_SigmoidOp : Ptl_Unary<"sigmoid", "1 / (1 + exp(-x))", "emulated TEXP and TDIV"> {
  let cpuCost = 18;
  let hostCpp = "$T(1 / (1 + __builtin_exp(-($0))))";
  let description = [{Computed without overflow for any `x`.}];
}
def Ptl_CopysignOp : Ptl_Binary<"copysign", "magnitude of a with the sign of b", "emulated bit operations"> {
  let cpuCost = 1;
  let hostCpp = "$T(__builtin_copysign($0, $1))";
  let description = [{The signs of zeros and NaNs count.}];
}
def Ptl_MaxOp : Ptl_Binary<"max", "larger of two values", "native TMAX", "number"> {
  let linearity = "Maxima";
  let identity = "Lowest";
  let swapped = "Max";
  let forms = Ptl_BinaryForms<"Max">;
  let cpuCost = 1;
  let description = [{
When one operand is NaN the result is either NaN or the other operand; `maxnan` is exact about it. With one operand and
`axis:` the name means the reduction.
}];
}
def Ptl_MinOp : Ptl_Binary<"min", "smaller of two values", "native TMIN", "number"> {
  let linearity = "Minima";
  let identity = "Highest";
  let swapped = "Min";
  let forms = Ptl_BinaryForms<"Min">;
  let cpuCost = 1;
  let description = [{
When one operand is NaN the result is either NaN or the other operand; `minnan` is exact about it. With one operand and
`axis:` the name means the reduction.
}];
}
def Ptl_MaxNanOp : Ptl_Binary<"maxnan", "larger of two values, NaN if either is", "emulated TMAX, TCMP, TSEL"> {
  let cpuCost = 2;
  let description = [{`0.0` counts as larger than `-0.0`.}];
}
def Ptl_MinNanOp : Ptl_Binary<"minnan", "smaller of two values, NaN if either is", "emulated TMIN, TCMP, TSEL"> {
  let cpuCost = 2;
  let description = [{`-0.0` counts as smaller than `0.0`.}];
}
def Ptl_ClampOp : Ptl_Unary<"clamp", "limit a value to an interval", "native TMAXS and TMINS", "number"> {
  let cpuCost = 2;
  let description = [{`min(max(x, low), high)`. NaN in `x` stays NaN. `low` must not be above `high`.}];
  let params = [Ptl_In<"x", "operand">, Ptl_In<"low", "lower limit">, Ptl_In<"high", "upper limit">];
  let signatures = ["[T: number] (T[*], T[*], T[*]) -> T[*]"];
  let example = "fn example[N](x: f32[N]) -> f32[N] { return clamp(x, -1.0, 1.0) }\n";
  let flops = "2 * out";
}
def Ptl_FmaOp : Ptl_Unary<"fma", "a * b + c with one rounding", "native TFUSEDMULADD"> {
  let cpuCost = 1;
  let description = [{The product is not rounded before the sum.}];
  let params = [Ptl_In<"a", "first factor">, Ptl_In<"b", "second factor">, Ptl_In<"c", "summand">];
  let signatures = ["[T: float] (T[*], T[*], T[*]) -> T[*]"];
  let example = "fn example[N](a: f32[N], b: f32[N], c: f32[N]) -> f32[N] { return fma(a, b, c) }\n";
  let flops = "2 * out";
}
