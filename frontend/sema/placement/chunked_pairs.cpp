#include "frontend/sema/placement/chunked_pairs.h"

#include "ir/ops/op_table.h"

#include <algorithm>
#include <functional>

namespace ptl {

namespace {

/// The loop or the arm in which a value stands: both values of a pair run as often as each other only in the same one.
std::vector<ValueId> bodiesOf(const PlacedProgram &placed) {
  std::vector<ValueId> body(placed.values.size(), static_cast<ValueId>(-1));
  std::vector<std::pair<ValueId, ValueId>> regions;
  for (const PlacedLoop &loop : placed.loops) {
    regions.emplace_back(loop.first, loop.end);
    if (!loop.stmt)
      regions.emplace_back(loop.inside, loop.end);
  }
  for (const PlacedParts &parts : placed.parts)
    regions.emplace_back(parts.first, parts.end);
  for (const PlacedChoice &choice : placed.choices) {
    regions.push_back(choice.arm(true));
    regions.push_back(choice.arm(false));
  }
  // Inner regions are shorter than those around them.
  std::ranges::sort(regions, std::greater(),
                    [](const auto &region) { return region.second - region.first; });
  for (auto [begin, end] : regions)
    std::fill(body.begin() + begin, body.begin() + end, begin);
  return body;
}

/// How many times each value is used, by other values, loops and results.
std::vector<size_t> usesOf(const PlacedProgram &placed) {
  std::vector<size_t> uses(placed.values.size());
  for (const PlacedValue &value : placed.values)
    for (std::optional<ValueId> operand : value.operands)
      if (operand)
        ++uses[*operand];
  for (const PlacedLoop &loop : placed.loops)
    for (const PlacedCarried &carried : loop.carried)
      ++uses[carried.next];
  for (const PlacedChoice &choice : placed.choices)
    if (choice.page)
      ++uses[choice.page->kept];
  for (ValueId output : placed.outputs)
    ++uses[output];
  return uses;
}

bool isProductOfMatrices(const PlacedProgram &placed, const PlacedValue &value) {
  return value.kind == PlacedKind::Apply && cast<OpExpr>(*value.expr).op->id == OpId::Matmul &&
         std::ranges::all_of(value.operands, [&](std::optional<ValueId> operand) {
           return operand && placed.values[*operand].shape.size() >= 2;
         });
}

bool isMove(const PlacedValue &value, MovementId id) {
  return value.kind == PlacedKind::Move && value.movement->id == id;
}

/// Rows of the first operand are rows of the result, and columns of the second one its columns.
constexpr int64_t kRows = -2, kColumns = -1;

} // namespace

std::vector<ChunkedPair> chunkedPairsOf(const PlacedProgram &placed) {
  std::vector<ChunkedPair> pairs;
  std::vector<ValueId> bodies = bodiesOf(placed);
  std::vector<size_t> uses = usesOf(placed);
  for (ValueId id = 0; id < placed.values.size(); ++id) {
    const PlacedValue &value = placed.values[id];
    if (isProductOfMatrices(placed, value)) {
      for (size_t i = 0; i < value.operands.size(); ++i)
        if (ValueId from = *value.operands[i]; isMove(placed.values[from], MovementId::AllGather) &&
                                               bodies[from] == bodies[id] && !placed.pageAt(from)) {
          pairs.push_back({id, from, i, i == 0 ? kRows : kColumns});
          break;
        }
    } else if (isMove(value, MovementId::AllReduce) || isMove(value, MovementId::ReduceScatter)) {
      ValueId from = *value.operands[0];
      bool isOther = std::ranges::find(pairs, from, &ChunkedPair::product) == pairs.end();
      if (isProductOfMatrices(placed, placed.values[from]) && bodies[from] == bodies[id] &&
          uses[from] == 1 && isOther && !placed.pageAt(id))
        pairs.push_back({from, id, std::nullopt, kRows});
    }
  }
  return pairs;
}

} // namespace ptl
