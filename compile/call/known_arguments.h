// What is known of the arguments of the function that an entry becomes.
#pragma once

#include "compile/call/work.h"
#include "frontend/sema/checked_tree.h"
#include "runtime/include/ptl.h"

#include <span>

namespace ptl {

/// Those of the parameters, in order: `extentsOf(i)` gives the extents of array `i`. Outputs and
/// lengths follow them in the function.
template <typename ExtentsOf>
std::vector<KnownArgument> knownParameters(const CallableDecl &decl,
                                           std::span<const PtlScalar> scalars,
                                           const ExtentsOf &extentsOf) {
  std::vector<KnownArgument> known;
  size_t nextArray = 0, nextScalar = 0;
  for (const Local *param : decl.params) {
    KnownArgument &argument = known.emplace_back();
    if (param->type->isArray())
      argument.extents = extentsOf(nextArray++);
    else if (const PtlScalar &scalar = scalars[nextScalar++]; param->type->isInt())
      argument.value = scalar.i64;
  }
  return known;
}

} // namespace ptl
