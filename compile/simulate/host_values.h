// Values of a chip's host program in the simulator: scalars as attributes, arrays dense in memory.
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
  uint8_t *data = nullptr; ///< null: the array has no values
  uint32_t number = 0;     ///< for the timer
  std::vector<int64_t> extents;
  int64_t bytes = 0;
  bool isReshaped = false; ///< its extents differ from those of the underlying array
};

/// A box of an array; vectors have one entry per axis.
struct HostBox {
  std::vector<int64_t> offsets, lengths, steps;
};

/// Bytes of a dense array.
int64_t hostBytes(const std::vector<int64_t> &extents, mlir::Type type);

/// Copies a box of `from` to contiguous memory at `to`. Returns false if it does not lie inside the
/// array.
bool copyBox(const HostArray &from, const HostBox &box, int64_t elementBytes, uint8_t *to);
/// The element of a box with one element; null if it does not lie inside the array.
uint8_t *elementAt(const HostArray &array, const HostBox &box, int64_t elementBytes);

/// `readHostScalar` returns a scalar in memory as a constant; `writeHostScalar` is the opposite.
mlir::Attribute readHostScalar(const uint8_t *memory, mlir::Type type);
void writeHostScalar(uint8_t *memory, mlir::Type type, mlir::Attribute value);
/// The code of an element type in the interface of the runtime.
int32_t elemCodeOf(ElemKind kind);
/// The value in the form that messages show.
PtlValue hostValue(mlir::Type type, mlir::Attribute value);

/// The operands without which an operation of the host cannot be executed, because they say where or how often.
mlir::ValueRange whatDecides(mlir::Operation *op);

/// Prints the line of a `print`, as the other executors do; nothing where one of its values is not known, as in a run for its time
/// alone.
void printHostLine(ir::PrintOp print, const llvm::DenseMap<mlir::Value, HostArray> &arrays,
                   llvm::function_ref<mlir::Attribute(mlir::Value)> scalarOf);

/// Evaluates an operation on scalars: a built-in or one of ir/ops/evaluate_arith.h. Null if it is
/// another operation, or has no value.
mlir::Attribute evaluateHostScalar(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands);

/// The status and the reason if an operation on scalars has no value: a division by zero, which is
/// an error of the program, or an operation that the simulator does not support.
std::pair<PtlStatus, std::string> whyNoValue(mlir::Operation *op,
                                             llvm::ArrayRef<mlir::Attribute> operands);

/// Evaluates a predicate on the data of an array (`unique`, `sorted`); null for other operations.
mlir::Attribute evaluateHostFact(mlir::Operation *op, const HostArray &array);

} // namespace ptl
