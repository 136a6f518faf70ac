// Reductions, scans, and the predicates of facts about data.
include "ir/ops/op_base.td"

/// The checker removes the axes by indexing: the IR class has no such option.
def Ptl_Keep : Ptl_Keyword<"keep", "BoolConst", "true", "`false`: the axes are gone instead of keeping extent 1">;

class Ptl_Reduction<string spelling, string sum, string chip> : Ptl_Builtin<"reduce_" # spelling> {
  let name = spelling;
  let group = "reduction";
  let summary = sum;
  let opClass = "Reduction";
  let axisFlow = "Named";
  let params = [Ptl_In<"x", "operand">,
                Ptl_Axes<"axes to reduce, one or a list; without it all, and the result is a scalar">, Ptl_Keep];
  let signatures = ["[T: number] (T[..]) -> T[reduced]"];
  let example = "fn example[R, C](x: f32[R, C]) -> f32[R, 1] { return " # spelling # "(x, axis: 1) }\n";
  let flops = "in";
  let a2 = chip;
}
class Ptl_BoolReduction<string spelling, string sum> : Ptl_Reduction<spelling, sum, "emulated TROWMAX on bytes"> {
  let signatures = ["(bool[..]) -> bool[reduced]"];
  let example = "fn example[R, C](x: bool[R, C]) -> bool[R, 1] { return " # spelling # "(x, axis: 1) }\n";
}
class Ptl_ArgReduction<string spelling, string sum, string chip> : Ptl_Reduction<spelling, sum, chip> {
  let params = [Ptl_In<"x", "operand">,
                Ptl_OptNamed<"axis", "Axis", "axis to search; without it the position in row-major order",
                             [OptionalAttr<I64Attr>]>, Ptl_Keep];
  let signatures = ["[T: number] (T[..]) -> i32[reduced]"];
  let example = "fn example[R, C](x: f32[R, C]) -> i32[R, 1] { return " # spelling # "(x, axis: 1) }\n";
}
class Ptl_Scan<string spelling, string sum, string chip> : Ptl_Builtin<spelling> {
  let name = spelling;
  let group = "reduction";
  let summary = sum;
  let opClass = "Scan";
  let axisFlow = "Along";
  let params = [Ptl_In<"x", "operand">, Ptl_LastAxis<"axis along which it runs">];
  let signatures = ["[T: number] (T[..]) -> T[..]"];
  let example = "fn example[R, C](x: f32[R, C]) -> f32[R, C] { return " # spelling # "(x, axis: 1) }\n";
  let a2 = chip;
  let customCheck = 1;
}
class Ptl_Fact<string spelling, string sum> : Ptl_Builtin<spelling> {
  let name = spelling;
  let group = "reduction";
  let summary = sum;
  let opClass = "Reduction";
  let axisFlow = "Named";
  let params = [Ptl_In<"x", "operand">];
  let signatures = ["[T: integer] (T[N]) -> bool"];
  let flops = "in";
  let a2 = "emulated sort and compare";
}

def Ptl_ReduceSumOp : Ptl_Reduction<"sum", "sum along axes", "native TROWSUM, TCOLSUM"> {
  let linearity = "Sums";
  let combiner = "Add";
  let forms = Ptl_ReductionForms<"Sum">;
  let description = [{
The axes keep extent 1. Accumulates in `acc(T)` in any order and rounds once; the sum over nothing is 0. Integers wrap.
}];
}
def Ptl_ReduceProdOp : Ptl_Reduction<"prod", "product along axes", "native TROWPROD, TCOLPROD"> {
  let combiner = "Mul";
  let forms = Ptl_ReductionForms<"Prod">;
  let description = [{The axes keep extent 1. Accumulates in `acc(T)`; the product over nothing is 1.}];
}
def Ptl_ReduceMaxOp : Ptl_Reduction<"max", "largest value along axes", "native TROWMAX, TCOLMAX"> {
  let linearity = "Maxima";
  let combiner = "Max";
  let forms = Ptl_ReductionForms<"Max">;
  let description = [{
The axes keep extent 1. Over nothing it is `-inf`, for integers the smallest value. NaNs as in the elementwise `max`.
}];
}
def Ptl_ReduceMinOp : Ptl_Reduction<"min", "smallest value along axes", "native TROWMIN, TCOLMIN"> {
  let linearity = "Minima";
  let combiner = "Min";
  let forms = Ptl_ReductionForms<"Min">;
  let description = [{
The axes keep extent 1. Over nothing it is `inf`, for integers the largest value. NaNs as in the elementwise `min`.
}];
}
def Ptl_ReduceMeanOp : Ptl_Reduction<"mean", "mean along axes", "native TROWSUM and TMULS"> {
  let combiner = "Add";
  let onNumbers = "ReduceSum";
  let description = [{The axes keep extent 1. The sum in `acc(T)` divided by the number of elements; over nothing NaN.}];
  let signatures = ["[T: float] (T[..]) -> T[reduced]"];
}
def Ptl_ReduceArgmaxOp : Ptl_ArgReduction<"argmax", "position of the largest value", "native TROWARGMAX"> {
  let combiner = "Max";
  let forms = Ptl_ReductionForms<"ArgMax">;
  let description = [{Ties go to the lowest position; a NaN counts as larger than any number. Over nothing -1.}];
}
def Ptl_ReduceArgminOp : Ptl_ArgReduction<"argmin", "position of the smallest value", "native TROWARGMIN"> {
  let combiner = "Min";
  let forms = Ptl_ReductionForms<"ArgMin">;
  let description = [{Ties go to the lowest position; a NaN counts as smaller than any number. Over nothing -1.}];
}
def Ptl_ReduceAnyOp : Ptl_BoolReduction<"any", "whether any value is true"> {
  let linearity = "Maxima";
  let combiner = "Or";
  let onNumbers = "ReduceMax";
  let description = [{The axes keep extent 1. Over nothing it is false.}];
}
def Ptl_ReduceAllOp : Ptl_BoolReduction<"all", "whether all values are true"> {
  let linearity = "Minima";
  let combiner = "And";
  let onNumbers = "ReduceMin";
  let description = [{The axes keep extent 1. Over nothing it is true. `all(idx < V)` in a `where` is a fact about data.}];
}
def Ptl_CumsumOp : Ptl_Scan<"cumsum", "running sum", "emulated doubling steps"> {
  let combiner = "Add";
  let description = [{Element `n` is the sum of elements `0` to `n`, accumulated in `acc(T)` and rounded.}];
}
def Ptl_CumprodOp : Ptl_Scan<"cumprod", "running product", "emulated doubling steps"> {
  let combiner = "Mul";
  let description = [{Element `n` is the product of elements `0` to `n`, accumulated in `acc(T)` and rounded.}];
}
def Ptl_CummaxOp : Ptl_Scan<"cummax", "running maximum", "emulated doubling steps"> {
  let combiner = "Max";
  let description = [{Element `n` is the largest of elements `0` to `n`.}];
}
def Ptl_CumminOp : Ptl_Scan<"cummin", "running minimum", "emulated doubling steps"> {
  let combiner = "Min";
  let description = [{Element `n` is the smallest of elements `0` to `n`.}];
}
def Ptl_UniqueOp : Ptl_Fact<"unique", "whether no value occurs twice"> {
  let description = [{
As `where unique(idx)` it is the fact that a store through `idx` needs; it is shown for known producers and checked once, before
the kernel, for the others.
}];
  let example = "fn example[N](idx: i32[N]) -> bool { return unique(idx) }\n";
}
def Ptl_SortedOp : Ptl_Fact<"sorted", "whether the values never decrease"> {
  let description = [{As `where sorted(off)` it is a fact about data, checked once before the kernel where it is not known.}];
  let example = "fn example[N](off: i32[N]) -> bool { return sorted(off) }\n";
}

/// A result of an associative `fn`, which the checker writes out in doubling steps.
class Ptl_Fold<string spelling, string sum> : Ptl_Syntax<spelling> {
  let name = spelling;
  let group = "reduction";
  let summary = sum;
  list<Ptl_Param> operands = [Ptl_Param<"f", "Function", "name of a `fn` with `where associative`">,
                              Ptl_Ins<"xs", "arrays of one shape, one for each result of `f`">,
                              Ptl_Named<"start", "Value", "the identity element of `f`; several in parentheses: `(1.0, 0.0)`">,
                              Ptl_LastAxis<"axis along which it runs">];
  let flops = "in";
  let customCheck = 1;
  let a2 = "emulated doubling steps";
}
def Ptl_ScanRecord : Ptl_Fold<"scan", "running results of an associative function"> {
  let description = [{
Element `n` is what `f` makes of elements `0` to `n`, in this order and in any grouping. Of several arrays `f` takes a value each, twice, the
earlier ones first, and gives as many; so does the scan.
}];
  let opClass = "Scan";
  let params = operands;
  let signatures = ["[T: any] (T[?]..., any) -> T[?]"];
  let example = [{fn larger(a: f32[..], b: f32[..]) -> f32[..]
where associative
{
    return max(a, b)
}

fn example[R, C](x: f32[R, C]) -> f32[R, C] { return scan(larger, x, start: -inf, axis: 1) }
}];
}
def Ptl_ReduceRecord : Ptl_Fold<"reduce", "the result of an associative function along an axis"> {
  let description = [{
What `f` makes of all elements along the axis, in this order and in any grouping; of none it is `start`. The axis keeps extent 1. Of several
arrays `f` takes a value each, twice, the earlier ones first, and gives as many; so does the reduction.
}];
  let opClass = "Reduction";
  let params = !listconcat(operands, [Ptl_Keep]);
  let signatures = ["[T: any] (T[?]..., any) -> T[?]"];
  let example = [{fn joined(m: f32[..], l: f32[..], m2: f32[..], l2: f32[..]) -> (f32[..], f32[..])
where associative
{
    let most = max(max(m, m2), -1e30)
    return (most, l * exp(m - most) + l2 * exp(m2 - most))
}

fn example[R, C](x: f32[R, C]) -> f32[R, 1] {
    let (m, l) = reduce(joined, x, ones(f32[R, C]), start: (-inf, 0.0), axis: 1)
    return m + log(l)
}
}];
}
