// The movements of rows, `dispatch` and `combine`: parts first tell each other how many rows they
// have for each expert, then send the rows.
#pragma once

#include "codegen/parts/exchange.h"
#include "codegen/reference/builtin.h"

namespace ptl::parts {

/// The parts of a run that a movement of rows uses.
struct RowsRun {
  const PlacedProgram &placed;
  const Grid &grid;
  std::function<std::vector<int64_t>(const PlacedValue &)> wholeShape;
  std::function<const reference::Value &(ValueId, uint32_t part)> at;
  std::function<bool(uint32_t part)> isHere;
  /// Executes the steps of a group and returns what each rank receives; nothing for ranks in other
  /// processes.
  std::function<std::vector<Bytes>(const GroupMove &, size_t elementBytes,
                                   const std::vector<Bytes> &sources)>
      exchange;
  std::function<reference::Value(reference::BuiltinCall, uint32_t part)> evaluate;
  std::function<void(const std::string &why)> stop; ///< throws: does not return
};

/// Computes the value of a `dispatch` or `combine` for all parts of this process.
void moveRows(const RowsRun &run, ValueId id, std::vector<reference::Value> &to);

/// The size of a number of rows in a message, in bytes.
inline constexpr size_t kRowCountBytes = sizeof(int64_t);

/// The steps of a movement of rows among the parts of each group, for estimates of time: they
/// assume that every part has as many rows for each expert, and no more than there is room for. The
/// steps that exchange the counts come first.
struct EvenRows {
  std::vector<GroupMove> counts, rows;
};
EvenRows evenRowsOf(const Grid &grid, const PlacedProgram &placed, ValueId id,
                    const std::function<std::vector<int64_t>(const PlacedValue &)> &wholeShape,
                    const StepsFor &countSteps, const StepsFor &rowSteps);

} // namespace ptl::parts
