// Records which values of the tile level each instruction reads and writes
// (`ir/dialect/held_values.h`), while instructions are emitted. Buffers are assigned by independent
// rules elsewhere, so the prover can detect errors there.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace ptl::block {

/// Records this for one function while it is emitted, as a listener of the function's builder.
class HeldValues : public mlir::OpBuilder::Listener {
public:
  /// The buffer of a value's lowered form; null if it has none.
  using BufferOf = llvm::function_ref<mlir::Value(mlir::Value)>;

  /// Records that the cores synchronise before these operations of a grid, because of the memory
  /// behind these pointers.
  void setMeetings(mlir::Operation *grid, const llvm::DenseSet<mlir::Operation *> &meetings,
                   llvm::ArrayRef<mlir::Value> pointers);
  /// Begins the lowering of an operation of the tile level; the lowerings of nested operations may
  /// begin and end before it ends.
  void begin() { starts_.push_back(made_.size()); }
  void end(mlir::Operation *op, BufferOf bufferOf);
  /// Writes the result into the instructions, after everything has been lowered.
  void write(mlir::func::FuncOp function);

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override;

private:
  using Values = llvm::SmallVector<mlir::Value, 4>;
  int32_t numberOf(mlir::Value value);
  /// Records that `to` may hold what `from` held.
  void flow(mlir::Value from, mlir::Value to);
  void flowAround(mlir::Operation *op);
  void mark(mlir::Operation *made, const Values &read, const Values &written, BufferOf bufferOf);
  /// All values that a value may hold; empty if some of them are unknown.
  const llvm::SmallVector<int32_t> &sourcesOf(int32_t value);

  /// number of synchronisations before an operation
  llvm::DenseMap<mlir::Operation *, int32_t> met_;
  int32_t meetings_ = 0;
  llvm::SmallVector<mlir::Value> metOver_;
  /// instructions of the operations that have begun and not ended
  llvm::SmallVector<mlir::Operation *> made_;
  llvm::SmallVector<size_t> starts_; ///< the index at which those of each operation begin
  llvm::DenseMap<mlir::Value, int32_t> numbers_;
  std::vector<llvm::SmallVector<int32_t, 2>> flows_ = {{}}; ///< by number: the sources of a value
  /// by number: whether instructions write the value
  std::vector<bool> isMade_ = {false};
  llvm::DenseMap<int32_t, llvm::SmallVector<int32_t>> sources_;
};

} // namespace ptl::block
