// Folds with a function of the program: what `scan` and `reduce` are on targets that have code for it. On others it is written out in steps.
#ifndef PTL_IR_DIALECT_FOLD
#define PTL_IR_DIALECT_FOLD

include "ir/dialect/ptl_types.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ptl_FoldOp : Ptl_Op<"fold", [Pure, SingleBlock, IsolatedFromAbove]> {
  let summary = "running results of an associative function along an axis, or the last of them";
  let arguments = (ins Variadic<AnyType>:$operands, I64Attr:$axis, DenseI64ArrayAttr:$wanted, UnitAttr:$last);
  let results = (outs Variadic<Ptl_ArrayType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let description = [{
    The operands are arrays of one shape, and behind them a start for each of them: the identity element. The body has two arguments
    for each array, arrays of one element, the earlier elements first, and yields the combined ones; it is elementwise. Result `n` is
    that of array `wanted[n]`; with `last` it has extent 1 along the axis, and is the start if that is empty.
  }];
  let assemblyFormat = "$operands (`last` $last^)? `along` $axis `wanted` $wanted $body attr-dict `:` type($operands) `->` type($results)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Ptl_FoldYieldOp : Ptl_Op<"fold_yield", [Pure, Terminator, HasParent<"FoldOp">]> {
  let summary = "ends the body of a fold with the combined elements";
  let arguments = (ins Variadic<Ptl_ArrayType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif
