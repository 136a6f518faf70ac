// Which schedule applies: exactly one, nothing is merged.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

/// Values of what a compile-time condition may speak of; nothing for what is not known.
struct StaticValues {
  DimLookup symbols;                                             ///< dimensions and integer tunables
  std::function<std::optional<bool>(const Local &)> boolTunable; ///< `SWAP`; may be empty
};

/// The value of a condition over dimensions, tunables and constants (`when`, `where` on tunables, `static if`);
/// nothing if it needs a value that is not known.
std::optional<bool> evaluateCondition(const Expr &condition, const StaticValues &values);

/// The schedule of `callee` on a target: among those for the target, else among those without one, the first in
/// text order whose `when` holds; the root file precedes imports. Null when there is none.
const ScheduleDecl *chooseSchedule(const CheckedProgram &program, const CallableDecl &callee,
                                   std::string_view target, const StaticValues &values);

} // namespace ptl
