// Dependence through global memory between the cores of a group: a cube core and its vector cores
// share control flow, but each goes through it at its own pace.
#pragma once

#include "mlir/IR/OpDefinition.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::ir {

/// Which cores of a group do an operation.
enum class Doer : uint8_t {
  Cube,
  FirstVector,  ///< one of the vector cores, always the same
  EveryVector,  ///< each vector core, the same
  VectorInParts ///< each vector core another part of the box
};

/// What an operation does to an array in global memory.
struct GlobalAccess {
  mlir::Operation *op = nullptr;
  mlir::Value array;
  Doer doer = Doer::Cube;
  bool writes = false;   ///< else it reads
  bool commutes = false; ///< adds: in any order with others that do
  /// Of `VectorInParts`: where the axis that is dealt out begins, its number, and the name of its
  /// length. Boxes that agree in all three are cut alike.
  mlir::OpFoldResult partsFrom = {};
  int64_t partsAxis = -1;
  mlir::Attribute partsName = {};
};

using AccessesOf = llvm::function_ref<llvm::SmallVector<GlobalAccess, 2>(mlir::Operation *)>;
/// Whether an access is over before another one begins for another reason than program order.
using IsOver = llvm::function_ref<bool(const GlobalAccess &before, const GlobalAccess &after)>;

/// The operations of `block`, nested ones too, before which all cores of a group have to have done
/// what stands before: else one might reach memory before another one that program order puts
/// first. Arrays that are different values do not overlap.
llvm::SetVector<mlir::Operation *> findMeetings(mlir::Block &block, AccessesOf accessesOf,
                                                IsOver isOver);

} // namespace ptl::ir
