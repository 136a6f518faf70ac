#include "ir/ops/arith_op.h"

#include <algorithm>
#include <array>

namespace ptl {
namespace {

struct Row {
  std::string_view operation;
  ArithOp op;
  uint8_t operands;
};
constexpr std::array rows = {
#define ARITH(NAME, OPERATION, OPERANDS, RULE, CPP, BINDS, PTL)                                    \
  Row{OPERATION, ArithOp::NAME, OPERANDS},
#include "ir/ops/arith_ops.def"
};

/// To look names up: code is followed operation by operation where its work is counted.
constexpr std::array byName = [] {
  std::array sorted = rows;
  std::sort(sorted.begin(), sorted.end(),
            [](const Row &a, const Row &b) { return a.operation < b.operation; });
  return sorted;
}();

} // namespace

std::optional<ArithOp> findArithOp(std::string_view operation) {
  const Row *found =
      std::lower_bound(byName.begin(), byName.end(), operation,
                       [](const Row &row, std::string_view name) { return row.operation < name; });
  if (found == byName.end() || found->operation != operation)
    return std::nullopt;
  return found->op;
}

unsigned operandCount(ArithOp op) { return rows[static_cast<size_t>(op)].operands; }

} // namespace ptl
