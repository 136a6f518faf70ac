// Finds dependences through global memory between the cores of a group: a cube core and its vector
// cores have the same control flow, but execute it at their own pace.
#pragma once

#include "mlir/IR/OpDefinition.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// The cores of a group that execute an operation.
enum class Doer : uint8_t {
  Cube,
  FirstVector,  ///< one of the vector cores, always the same one
  EveryVector,  ///< each vector core executes the same
  VectorInParts ///< each vector core accesses another part of the box
};

/// The access of an operation to an array in global memory.
struct GlobalAccess {
  mlir::Operation *op = nullptr;
  mlir::Value array;
  Doer doer = Doer::Cube;
  bool writes = false;   ///< otherwise it reads
  bool commutes = false; ///< an addition: commutes with others
  /// For `VectorInParts`: the start of the axis that is split between the cores, its number, and
  /// the name of its length. Boxes that agree in all three are split identically.
  mlir::OpFoldResult partsFrom = {};
  int64_t partsAxis = -1;
  mlir::Attribute partsName = {};
};

using AccessesOf = llvm::function_ref<llvm::SmallVector<GlobalAccess, 2>(mlir::Operation *)>;
/// Whether an access certainly ends before another one begins, for another reason than program
/// order.
using IsOver = llvm::function_ref<bool(const GlobalAccess &before, const GlobalAccess &after)>;

/// The operations of `block`, including nested ones, before which all cores of a group must have
/// finished everything before (barriers). Without the barrier one core might access memory before
/// another core whose access comes first in program order. Distinct array values are assumed not to
/// alias.
llvm::SetVector<mlir::Operation *> findMeetings(mlir::Block &block, AccessesOf accessesOf,
                                                IsOver isOver);

} // namespace ptl::ir
