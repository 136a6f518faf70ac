// The movements of rows, `dispatch` and `combine`: parts tell each other how many rows they have for each expert, and
// then send the rows.
#pragma once

#include "codegen/parts/exchange.h"
#include "codegen/reference/builtin.h"

namespace ptl::parts {

/// What a movement of rows needs of the run that it is part of.
struct RowsRun {
  const PlacedProgram &placed;
  const Grid &grid;
  std::function<std::vector<int64_t>(const PlacedValue &)> wholeShape;
  std::function<const reference::Value &(ValueId, uint32_t part)> at;
  std::function<bool(uint32_t part)> isHere;
  /// What comes to each rank of the group by the steps; nothing for ranks that are elsewhere.
  std::function<std::vector<Bytes>(const GroupMove &, size_t elementBytes,
                                   const std::vector<Bytes> &sources)>
      exchange;
  std::function<reference::Value(reference::BuiltinCall, uint32_t part)> evaluate;
  std::function<void(const std::string &why)> stop; ///< does not come back
};

/// Makes the value of a `dispatch` or `combine` on all parts that are here.
void moveRows(const RowsRun &run, ValueId id, std::vector<reference::Value> &to);

/// What a number of rows takes in a message.
inline constexpr size_t kRowCountBytes = sizeof(int64_t);

/// The steps of a movement of rows among the parts of each group, for who asks what it takes: every part has as
/// many rows for each expert, and no more than have room. First those that tell how many.
struct EvenRows {
  std::vector<GroupMove> counts, rows;
};
EvenRows evenRowsOf(const Grid &grid, const PlacedProgram &placed, ValueId id,
                    const std::function<std::vector<int64_t>(const PlacedValue &)> &wholeShape,
                    const StepsFor &countSteps, const StepsFor &rowSteps);

} // namespace ptl::parts
