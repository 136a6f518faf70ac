// Applies built-ins to computed values, for the interpreter of the checked tree here and the
// interpreter of IR in `ir/execute`.
#pragma once

#include "codegen/reference/status.h"
#include "codegen/reference/value.h"
#include "frontend/base/round_mode.h"
#include "ir/ops/op_table.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::reference {

/// One use of a built-in: the operands of its record, and the values of its other parameters.
struct BuiltinCall {
  OpId op{};
  std::vector<Value> operands;   ///< the `Value` parameters in order; a missing one is none
  ElemKind elem = ElemKind::F32; ///< of the result
  std::vector<int64_t> axes;     ///< from the front; empty: the default of the record
  bool all = false;              ///< of reductions: all axes, to a scalar
  std::vector<int64_t> shape; ///< of what is created or reshaped; `E` of `one_hot`, `k` of `topk`
  std::vector<int64_t> before, after; ///< of `pad`, per axis
  RangeValue range;                   ///< of `index`
  RoundMode round = RoundMode::Even;
  bool saturate = false, descending = false;
  std::string text; ///< the equation of `einsum`, how `scatter` combines
};

/// The result of a built-in other than effects and `load`; a tuple if it has several results.
/// Throws `Stop` without a source location, so it is only for this folder.
Value applyBuiltin(const BuiltinCall &call);

/// Like `applyBuiltin`, for other folders: if the built-in stops the run, returns nothing, with the
/// reason in `why` and `status`.
std::optional<Value> evalBuiltin(const BuiltinCall &call, RunStatus &status, std::string &why);

} // namespace ptl::reference
