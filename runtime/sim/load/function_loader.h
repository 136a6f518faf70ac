// Loads one function of a kernel.
#pragma once

#include "ir/dialect/instruction_op.h"
#include "ir/dialect/scalar_values.h"
#include "runtime/sim/load/load.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace ptl::rt::sim {

/// The `line:column` and the name in a location.
SourceLocation sourceLocation(mlir::Location location);

/// The identity of queues that both functions of a kernel have: direction and flags, otherwise
/// their order.
struct QueueKey {
  int64_t direction = 0;
  std::optional<int64_t> flagBase;
  mlir::Operation *inCube = nullptr, *inVector = nullptr;
};

class FunctionLoader {
public:
  FunctionLoader(Kernel &kernel, std::vector<QueueKey> &keys, mlir::func::FuncOp func, bool cube,
                 std::string &error)
      : kernel_(kernel), keys_(keys), func_(func), error_(error) {
    function_.cube = cube;
  }
  /// Loads the function; nothing after an error.
  std::optional<Function> load();

private:
  using Op = mlir::Operation *;

  bool fail(Op op, const llvm::Twine &message);
  Register newRegister(mlir::Type type);
  Register registerOf(mlir::Value value) const { return registers_.lookup(value); }
  Register define(mlir::Value value);
  Step &add(StepKind kind, Op op);
  Step &add(StepKind kind, Op op, mlir::ValueRange operands);
  int32_t here() const { return static_cast<int32_t>(function_.steps.size()); }
  Step &step(int32_t index) { return function_.steps[static_cast<size_t>(index)]; }

  bool loadBlock(mlir::Block &block);
  bool loadOp(Op op);
  // control flow (load_control.cpp)
  bool loadControl(Op op, bool &known);
  bool loadFor(mlir::scf::ForOp loop);
  bool loadIf(mlir::scf::IfOp branch);
  bool loadWhile(mlir::scf::WhileOp loop);
  void moveAll(Op op, mlir::ValueRange from, llvm::ArrayRef<Register> to);
  llvm::SmallVector<Register> defineAll(mlir::ValueRange values);
  // scalars (load_scalar.cpp)
  bool loadScalar(Op op, bool &known);
  bool loadConstant(Op op);
  // the dialect (load_block.cpp)
  bool loadBlockLevel(Op op);
  bool loadView(Op op, bool &known);
  bool loadBuffer(Op op, bool &known);
  bool loadTile(StepKind kind, Op op, mlir::ValueRange operands, mlir::Value validRow,
                mlir::Value validCol);
  bool loadQueueOp(Op op, bool &known);
  bool loadSync(Op op, bool &known);
  bool loadInstruction(Op op);
  bool loadModifier(Op op, mlir::NamedAttribute attribute, Modifiers &modifiers);
  bool loadReserved(Op op);
  template <typename InitOp> bool initQueue(InitOp op, bool throughGlobal);
  int32_t queueFor(Op op, int64_t direction, std::optional<int64_t> flagBase);
  bool notePop(pto::TPopOp pop, Queue &queue);
  bool tileOf(Op op, pto::TileBufType type, Tile &tile);

  Kernel &kernel_;
  std::vector<QueueKey> &keys_;
  mlir::func::FuncOp func_;
  std::string &error_;
  Function function_;
  llvm::DenseMap<mlir::Value, Register> registers_;
  llvm::DenseMap<mlir::Value, int32_t> queues_;
};

} // namespace ptl::rt::sim
