// What the targets need to know of the built-in operations: the part of the records of `ir/ops/*.td`
// that the front end does not read, as constant data made by `ptl-tblgen`.
#pragma once

#include "frontend/base/elem_convert.h"
#include "ir/ops/instruction_table.h"
#include "ir/ops/op_table.h"

#include <optional>

namespace ptl {

/// What a combiner leaves other values as they are with. `One` of truth values is true; `Lowest` and
/// `Highest` are the ends of the element type, infinities where it has them.
enum class Identity : uint8_t { None, Zero, One, Lowest, Highest };

/// The instructions of vector cores that do an operation.
struct VectorForms {
  /// Of an elementwise operation: on tiles, on a tile and a scalar, on a tile and a column or a row.
  std::optional<InstructionId> tiles, scalar, column, row;
  /// Of a reduction.
  std::optional<InstructionId> alongRows, alongColumns;
  bool onBits; ///< elements are nothing but bits to them
};

struct OpLowering {
  std::optional<OpId> combiner;  ///< of a reduction, search or scan: what joins two results
  Identity identity;             ///< of a combiner
  std::optional<OpId> onNumbers; ///< of a reduction: the one over numbers that it is made of
  std::optional<OpId> swapped;   ///< gives the same of two exchanged operands; itself: it commutes
  VectorForms forms;
  int32_t cpuCost;          ///< of an element on this CPU, in additions
  std::string_view hostCpp; ///< of scalars in C++: $0, $1 are operands, $T the type of the result
};

const OpLowering &opLowering(OpId id);

/// The value of that element type that the combiner leaves others as they are with.
Scalar identityOf(OpId combiner, ElemKind elem);

} // namespace ptl
