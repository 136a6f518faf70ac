// Defines every elementwise built-in on scalars, the steps of reductions, and the random streams.
// All other executors are compared with these definitions. Floats are computed in `double` and not
// yet rounded to the element type; `roundScalar` does that.
#pragma once

#include "frontend/base/elem_convert.h"
#include "ir/ops/op_lowering.h"
#include "ir/ops/op_table.h"

#include <optional>
#include <span>

namespace ptl::reference {

/// How an evaluation ended.
enum class EvalStatus : uint8_t {
  Ok,
  DivisionByZero, ///< of integers
  NotScalar       ///< the record is not an elementwise one
};

/// Applies an elementwise, comparison or select record to operands of element type `elem` (for
/// `select` that of the values; its condition is a `bool`). Integer results are wrapped, float
/// results are not rounded.
EvalStatus evalScalar(OpId op, ElemKind elem, std::span<const Scalar> args, Scalar &result);
/// Whether `evalScalar` handles the record.
bool isScalarOp(OpId op);
/// The element type of the result for operands of type `elem`: `bool` for comparisons, else `elem`.
ElemKind scalarResult(OpId op, ElemKind elem);

/// The identity element of a reduction or scan, in the accumulator type `acc` (for `max`, `min`: in
/// the element type itself). Nothing for records that are not reductions or scans.
std::optional<Scalar> foldStart(OpId op, ElemKind acc);
/// One step of a reduction or scan: not rounded, integers wrapped to `acc`.
inline Scalar foldStep(OpId op, ElemKind acc, Scalar total, Scalar next) {
  Scalar args[] = {total, next};
  Scalar result;
  evalScalar(*opLowering(op).combiner, acc, args, result);
  return result;
}

/// `quantize` and `dequantize` of one element; `zero` is an `i32`. The results are rounded to `to`.
Scalar quantizeScalar(double x, double scale, int64_t zero, ElemKind elem, ElemKind to);
Scalar dequantizeScalar(Scalar q, ElemKind from, double scale, int64_t zero, ElemKind to);

/// One block of Philox 4x32-10.
struct PhiloxBlock {
  uint32_t words[4];
};
PhiloxBlock philox4x32(const PhiloxBlock &counter, uint64_t key);
/// `philox(counter, seed)`: word `counter % 4` of block `counter / 4`.
uint32_t philoxBits(uint64_t counter, uint64_t seed);
/// The element of `random` computed from such bits. Floats are computed in `f32`, then rounded to
/// `elem`; integers are `low + bits % (high - low)`.
Scalar randomScalar(uint32_t bits, ElemKind elem, Scalar low, Scalar high);

/// The order of `sort`, `argsort` and `topk`: whether `a` comes before `b`. The sort is stable, and
/// NaN comes last.
bool comesBefore(ElemKind elem, bool descending, Scalar a, Scalar b);

} // namespace ptl::reference
