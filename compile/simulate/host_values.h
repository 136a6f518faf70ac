// Values of the host program of a chip, as the simulator keeps them: scalars as attributes, arrays
// dense in memory.
#pragma once

#include "ir/dialect/ptl_dialect.h"
#include "runtime/abi/kernel_abi.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptl {

struct HostArray {
  uint8_t *data = nullptr; ///< null: it has no values
  uint32_t number = 0;     ///< for who keeps the time
  std::vector<int64_t> extents;
  int64_t bytes = 0;
  bool isReshaped = false; ///< its extents are not those of the array that it is
};

/// A box of an array: per axis of the array.
struct HostBox {
  std::vector<int64_t> offsets, lengths, steps;
};

/// Bytes of a dense array.
int64_t hostBytes(const std::vector<int64_t> &extents, mlir::Type type);

/// Copies a box of `from` to `to`, densely. False when it does not lie inside.
bool copyBox(const HostArray &from, const HostBox &box, int64_t elementBytes, uint8_t *to);
/// The element that a box of one element names; null when it does not lie inside.
uint8_t *elementAt(const HostArray &array, const HostBox &box, int64_t elementBytes);

/// `readHostScalar` returns a scalar in memory as a constant; `writeHostScalar` is the opposite.
mlir::Attribute readHostScalar(const uint8_t *memory, mlir::Type type);
void writeHostScalar(uint8_t *memory, mlir::Type type, mlir::Attribute value);
/// The value as messages show it.
PtlValue hostValue(mlir::Type type, mlir::Attribute value);

/// An operation on scalars with these operands, a built-in or one of ir/ops/evaluate_arith.h; null when it
/// is none, or has no value.
mlir::Attribute evaluateHostScalar(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands);

/// The code and the reason of an operation on scalars that has no value: a division by zero, which is a fault of
/// the program, or one that the simulator does not know.
std::pair<PtlStatus, std::string> whyNoValue(mlir::Operation *op,
                                             llvm::ArrayRef<mlir::Attribute> operands);

/// Evaluates a fact about the data of an array (`unique`, `sorted`); null if the operation is none.
mlir::Attribute evaluateHostFact(mlir::Operation *op, const HostArray &array);

} // namespace ptl
