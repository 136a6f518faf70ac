// What a schedule of an entry can set, and the values that are tried for it.
#pragma once

#include "frontend/sema/checked_tree.h"
#include "machines/machine.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// An item of a schedule with a number of values: a tunable, the depth of a loop, the tiles of a value.
struct ScheduleChoice {
  std::string key;                  ///< equal for the items that set the same: `BM`, `pipeline k`
  std::vector<int64_t> values;      ///< in ascending order, at least one
  size_t start = 0;                 ///< the number of the value that holds today
  const Tunable *tunable = nullptr; ///< null: another item
  std::optional<int64_t> absent;    ///< the value that holds where the schedule has no such item
  std::function<std::string(int64_t value)> item; ///< `BM = 64`, `pipeline k 3`
};

/// What the schedule for a chip can set beside tunables: in kernels `pipeline`, `unroll` and steps of products
/// through the operand buffers (`l0`); in programs `split after`, `fuse` and `tile`; in both `cores`.
/// On this processor (`machine` is null) only the items of programs have an effect.
/// `today` is the schedule that applies now, null if none does. An item of it that sets something
/// else than the values listed here is no choice, and stays.
std::vector<ScheduleChoice> itemChoices(const CheckedProgram &program, const CallableDecl &decl,
                                        const ScheduleDecl *today, const Machine *machine);

/// The key of the choice that an item of a schedule belongs to; every item has one.
std::string choiceKey(const Tree &tree, NodeId item);

/// The tree of the module that a schedule stands in, and its node there.
struct ScheduleNode {
  const Tree *tree = nullptr;
  NodeId node = kNoNode;
};
ScheduleNode nodeOf(const CheckedProgram &program, const ScheduleDecl &schedule);

} // namespace ptl
