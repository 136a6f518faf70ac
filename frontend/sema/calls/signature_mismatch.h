// Why the operands of a built-in do not match a signature, and the message about it.
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

/// Why an operand does not match. Kinds are ordered by how far the match got.
struct Mismatch {
  MismatchKind kind;
  size_t operand, other;
  std::string_view variable; ///< of an extent or an element type
  Elem elem; ///< `ElemExact`: the required type; `ElemDiffers`: that of the other operand
  size_t rank = 0;
  bool prefixRank = false;
  ExtentMismatch extents;

  Mismatch(MismatchKind kind = MismatchKind::None, size_t operand = 0, size_t other = 0)
      : kind(kind), operand(operand), other(other) {}
};

/// Reports the mismatch, with the conversion or transposition that would repair it.
void reportMismatch(Context &ctx, const OpCall &call, const Signature &signature,
                    const Mismatch &m);

} // namespace ptl
