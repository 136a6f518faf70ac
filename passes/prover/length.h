// Lengths by their names: the name of an argument may be what it is computed from, as in `3 * H`;
// and relations of lengths, as in `or(N < 1, M <= 64)`.
#pragma once

#include "passes/prover/model.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string_view>

namespace ptl::prove {

/// Appends steps that compute the expression `name`, and gives the register of its value; `kNone`,
/// and no steps, for a mere name and for what is no expression. `registerOf`: of a name in it,
/// `fresh`: a new register.
uint32_t computeLength(std::string_view name, uint32_t op, std::vector<Step> &steps,
                       llvm::function_ref<uint32_t(std::string_view name)> registerOf,
                       llvm::function_ref<uint32_t()> fresh);

} // namespace ptl::prove
