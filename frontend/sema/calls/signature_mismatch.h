// Why the operands of a built-in do not fit a signature, and how that is said.
#pragma once

#include "frontend/sema/calls/op_call.h"

namespace ptl {

enum class MismatchKind : uint8_t {
  None,
  NoValue,
  ElemClass,
  ElemExact,
  ElemDiffers,
  NotScalar,
  Rank,
  Extent,
  Broadcast
};

/// Why an operand does not fit. The later kinds got further.
struct Mismatch {
  MismatchKind kind;
  size_t operand, other;
  std::string_view variable; ///< of an extent or an element type
  Elem elem; ///< `ElemExact`: what is needed; `ElemDiffers`: what the other operand has
  size_t rank = 0;
  bool prefixRank = false;
  ExtentMismatch extents;

  Mismatch(MismatchKind kind = MismatchKind::None, size_t operand = 0, size_t other = 0)
      : kind(kind), operand(operand), other(other) {}
};

/// Reports it, with the conversion or the transposition that would help.
void reportMismatch(Context &ctx, const OpCall &call, const Signature &signature,
                    const Mismatch &m);

} // namespace ptl
