// Finds dependences through global memory between the cores of a group: a cube core and its vector
// cores share control flow, but each runs through it at its own pace.
#pragma once

#include "mlir/IR/OpDefinition.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// The cores of a group that execute an operation.
enum class Doer : uint8_t {
  Cube,
  FirstVector,  ///< one of the vector cores, always the same
  EveryVector,  ///< each vector core, the same
  VectorInParts ///< each vector core another part of the box
};

/// The access of an operation to an array in global memory.
struct GlobalAccess {
  mlir::Operation *op = nullptr;
  mlir::Value array;
  Doer doer = Doer::Cube;
  bool writes = false;   ///< else it reads
  bool commutes = false; ///< adds: in any order with others that do
  /// For `VectorInParts`: where the axis that is dealt out begins, its number, and the name of its
  /// length. Boxes that agree in all three are cut in the same way.
  mlir::OpFoldResult partsFrom = {};
  int64_t partsAxis = -1;
  mlir::Attribute partsName = {};
};

using AccessesOf = llvm::function_ref<llvm::SmallVector<GlobalAccess, 2>(mlir::Operation *)>;
/// Whether an access is known to end before another one begins, for another reason than program
/// order.
using IsOver = llvm::function_ref<bool(const GlobalAccess &before, const GlobalAccess &after)>;

/// The operations of `block`, nested ones included, before which all cores of a group have to have
/// finished everything before. Without such a meeting one core might access memory before another
/// one whose access comes first in program order. Arrays that are different values do not overlap.
llvm::SetVector<mlir::Operation *> findMeetings(mlir::Block &block, AccessesOf accessesOf,
                                                IsOver isOver);

} // namespace ptl::ir
