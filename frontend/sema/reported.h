// Conditions: whether they hold for values that are known, and the values that explain a failed one.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace ptl {

/// The value of a dimension or tunable in a condition; nothing if it is unknown.
using LocalLookup = std::function<std::optional<int64_t>(const Local &local)>;
/// Whether a condition on dimensions and tunables holds; nothing where that is not known.
std::optional<bool> conditionHolds(const Expr &condition, const DimLookup &dims,
                                   const LocalLookup &locals);
/// The schedule of a declaration that applies on a machine to these sizes: the first for that machine whose `when` is known to
/// hold, or else the first for all machines; null if there is none.
const ScheduleDecl *applyingSchedule(const CheckedProgram &program, const CallableDecl &decl,
                                     std::string_view machine, const DimLookup &dims);
/// The first `where` on tunables that does not hold for the values of all tunables of a
/// declaration; null if there is none. The body relies on them.
const WhereClause *excludingWhere(const CallableDecl &decl, const LocalLookup &values);

/// The scalars to show with a condition that does not hold, in source order, each source text once:
/// the operands of comparisons, then the dimensions, locals and fields inside them. Constants are
/// not shown. All but the operands of an outermost comparison have a value wherever the condition
/// has one, and their evaluation has no side effects.
std::vector<const Expr *> reportedValues(const Expr &condition, const SourceManager &sources);

} // namespace ptl
