// The axes of a box that drops some.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace ptl::ir {

/// The axis of the base of a box that becomes `axis` of what is read, where the axes in `dropped` do
/// not count; -1 if there is none.
inline int64_t keptAxis(llvm::ArrayRef<int64_t> dropped, int64_t rank, int64_t axis) {
  for (int64_t base = 0; base < rank; ++base)
    if (!llvm::is_contained(dropped, base) && axis-- == 0)
      return base;
  return -1;
}

} // namespace ptl::ir
