// Waits for events that a manual kernel leaves set at the end of a point.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ptl::ir {

/// The reason (`ptl.why`) of the waits that are added when such a kernel is compiled. Reports show it,
/// and text of the block level leaves these waits out.
inline constexpr llvm::StringLiteral kLeftOver("left over at the end of the point");

} // namespace ptl::ir
