// The settings of an entry's schedule, and the values that are tried for each.
#pragma once

#include "frontend/sema/checked_tree.h"
#include "machines/machine.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// A setting of a schedule with its possible values: a tunable, the depth of a loop, the tiles of a
/// value.
struct ScheduleChoice {
  std::string key;                  ///< equal for items that set the same thing: `BM`, `pipeline k`
  std::vector<int64_t> values;      ///< in ascending order, at least one
  size_t start = 0;                 ///< the index of the present value
  const Tunable *tunable = nullptr; ///< null: another kind of item
  std::optional<int64_t> absent;    ///< the value that holds if the schedule has no such item
  std::function<std::string(int64_t value)> item; ///< `BM = 64`, `pipeline k 3`
};

/// The settings that a schedule for a chip can have besides tunables: in kernels `pipeline`,
/// `unroll` and steps of products through the operand buffers (`l0`); in programs `split after`,
/// `fuse`, `order`, `tile` and `chunks`; in both `cores`. On this processor (`machine` is null) only the items of
/// programs have an effect. `today` is the schedule that applies at present, or null. An item of it
/// with a value that is not listed here is kept, and is not a choice.
std::vector<ScheduleChoice> itemChoices(const CheckedProgram &program, const CallableDecl &decl,
                                        const ScheduleDecl *today, const Machine *machine);

/// The key of the choice that an item of a schedule belongs to. Every item has one.
std::string choiceKey(const Tree &tree, NodeId item);

/// The tree of the module that a schedule stands in, and its node there.
struct ScheduleNode {
  const Tree *tree = nullptr;
  NodeId node = kNoNode;
};
ScheduleNode nodeOf(const CheckedProgram &program, const ScheduleDecl &schedule);

} // namespace ptl
