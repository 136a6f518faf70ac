// Tile instructions as operations: `pto.tadd ins(%a, %b : T, T) outs(%d : T)`. One record of
// `ir/ops/instructions/*.td` is one operation; `Instruction` reads any of them.
#pragma once

#include "ir/dialect/pto_dialect.h"
#include "mlir/IR/Builders.h"

namespace ptl::pto {

/// Reads an operation that is a tile instruction.
class Instruction {
public:
  /// Null (false) when the operation is none.
  explicit Instruction(mlir::Operation *op);
  explicit operator bool() const { return info_ != nullptr; }

  const InstructionInfo &info() const { return *info_; }
  InstructionId id() const { return info_->id; }
  mlir::Operation *operation() const { return op_; }
  mlir::OperandRange ins() const;
  mlir::OperandRange outs() const;
  /// The pipe that executes it; it follows from the places of the operands if the table says so.
  Pipe pipe() const;
  /// Whether the `index`-th operand of `ins` is scratch.
  bool isScratch(unsigned index) const;

private:
  mlir::Operation *op_;
  const InstructionInfo *info_;
};

/// The full name of the operation of an instruction: `pto.tadd`.
llvm::StringRef operationName(InstructionId id);

/// Creates an instruction. Attributes have their PTOAS names (`cmpMode`, `rmode`, …).
mlir::Operation *emitInstruction(mlir::OpBuilder &builder, mlir::Location loc, InstructionId id,
                                 mlir::ValueRange ins, mlir::ValueRange outs,
                                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

/// How an operation of the block level accesses a value that stands for memory: a tile, a view or a
/// pointer.
struct Access {
  mlir::Value value;
  bool reads = false;
  bool writes = false;
  bool scratch = false; ///< written, then read, by this operation only
};
/// The accesses of any operation of the dialect that runs on a pipe: instructions, pushes and pops,
/// scalar accesses.
llvm::SmallVector<Access, 4> accessesOf(mlir::Operation *op);
/// The pipe of any such operation; nothing for others.
std::optional<Pipe> pipeOf(mlir::Operation *op);
/// The buffer of a tile value: looks through windows, reshapes and casts to `alloc_tile`,
/// `multi_tile_get` or `declare_tile`; for views, to the pointer.
mlir::Value rootOf(mlir::Value value);

} // namespace ptl::pto
