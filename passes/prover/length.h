// Parses lengths and relations: the name of an argument may be the expression that computes it, as
// in `3 * H`, and relations of lengths have the form `or(N < 1, M <= 64)`.
#pragma once

#include "passes/prover/model.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string_view>

namespace ptl::prove {

/// Appends steps that compute the expression `name`, and returns the register of its value. Returns
/// `kNone`, and appends nothing, for a plain name and for a text that is not an expression.
/// `registerOf` gives the register of a name in it, `fresh` a new register.
uint32_t computeLength(std::string_view name, uint32_t op, std::vector<Step> &steps,
                       llvm::function_ref<uint32_t(std::string_view name)> registerOf,
                       llvm::function_ref<uint32_t()> fresh);

} // namespace ptl::prove
