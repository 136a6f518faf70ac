// Built-ins on values that have been computed, whoever computed them: the walk over the checked
// tree here, the walk over IR in `ir/execute`.
#pragma once

#include "codegen/reference/status.h"
#include "codegen/reference/value.h"
#include "frontend/base/round_mode.h"
#include "ir/ops/op_table.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::reference {

/// One use of a built-in: the operands of its record, and whatever else its parameters say.
struct BuiltinCall {
  OpId op{};
  std::vector<Value> operands;   ///< the `Value` parameters in order; none for one left out
  ElemKind elem = ElemKind::F32; ///< of the result
  std::vector<int64_t> axes;     ///< from the front; empty: as the record says
  bool all = false;              ///< of reductions: over every axis, to a scalar
  std::vector<int64_t> shape; ///< of what is created or reshaped; `E` of `one_hot`, `k` of `topk`
  std::vector<int64_t> before, after; ///< of `pad`, per axis
  RangeValue range;                   ///< of `index`
  RoundMode round = RoundMode::Even;
  bool saturate = false, descending = false;
  std::string text; ///< the equation of `einsum`, how `scatter` combines
};

/// The value of a built-in other than effects and `load`; of several results a tuple. Throws `Stop`
/// without a place, so for this folder only.
Value applyBuiltin(const BuiltinCall &call);

/// The same for others. Nothing where it stops, for the reason in `why` and `status`.
std::optional<Value> evalBuiltin(const BuiltinCall &call, RunStatus &status, std::string &why);

} // namespace ptl::reference
