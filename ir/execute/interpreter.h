// The state of one run of a function, and the execution of its operations.
#pragma once

#include "codegen/reference/builtin.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/execute/boxes.h"
#include "ir/execute/execute.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>
#include <memory>

namespace ptl::execute {

class Interpreter {
public:
  explicit Interpreter(const Options &options) : options_(options) {}

  Result run(mlir::func::FuncOp function, std::vector<reference::Value> arguments);

private:
  using Storage = std::shared_ptr<reference::RefArray>;

  // Control flow: interpreter.cpp
  void runBlock(mlir::Block &block);
  void runOp(mlir::Operation *op);
  void runHere(mlir::Operation *op);
  bool runControl(mlir::Operation *op);
  void runFor(mlir::scf::ForOp loop);
  void runIf(mlir::scf::IfOp branch);
  void runWhile(mlir::scf::WhileOp loop);
  void runGrid(ir::ParallelOp grid);
  std::vector<std::vector<int64_t>> pointsOf(llvm::ArrayRef<int64_t> lower,
                                             llvm::ArrayRef<int64_t> upper,
                                             llvm::ArrayRef<int64_t> steps) const;
  void runLaunch(ir::LaunchOp launch);
  void check(ir::CheckOp check);
  void stop(reference::RunStatus status, mlir::Operation *op, std::string message);
  bool isStopped() const { return !result_.ok(); }

  // Values: interpreter.cpp
  void bind(mlir::ValueRange targets, mlir::ValueRange sources);
  void set(mlir::Value value, reference::Value content);
  int64_t number(mlir::Value value) const;
  std::vector<int64_t> numbers(mlir::ValueRange values) const;
  std::vector<int64_t> shapeOf(mlir::Type type, mlir::ValueRange named) const;
  const reference::RefArray &baseOf(mlir::Value base);

  // Both kinds of cores: cores.cpp
  enum Core : uint8_t { Vector, Cube };
  struct Kept;
  void on(Core core);
  bool knows(mlir::ValueRange values) const;
  void forget(mlir::ValueRange values);
  template <typename Body> void onEach(Body body);
  std::optional<std::vector<int64_t>> agreed(mlir::Operation *op, mlir::ValueRange values);
  void handOver(mlir::Operation *op);
  void runOnCores(mlir::Operation *op);
  void runControlOnCores(mlir::Operation *op);
  void runForOnCores(mlir::scf::ForOp loop);
  void runIfOnCores(mlir::scf::IfOp branch);
  void runWhileOnCores(mlir::scf::WhileOp loop);
  void runGridOnCores(ir::ParallelOp grid);
  void runInStages(mlir::scf::ForOp loop, int64_t lower, int64_t count, int64_t step);
  void runStage(mlir::scf::ForOp loop, llvm::StringRef stage, int64_t position);
  Kept keep(llvm::ArrayRef<mlir::Value> values);
  void restore(llvm::ArrayRef<mlir::Value> values, const Kept &kept);

  // Structure: structure.cpp
  bool runStructure(mlir::Operation *op);
  template <typename OpT> Box boxOf(OpT op) const;
  template <typename OpT> void read(OpT op);
  template <typename OpT> bool write(OpT op, reference::RefArray &base, Meeting meeting);
  void runStore(ir::StoreOp store);
  void runInsert(ir::InsertOp insert);
  void runScalar(mlir::Operation *op);

  // Built-ins: builtins.cpp
  bool runBuiltin(mlir::Operation *op);
  reference::BuiltinCall callOf(mlir::Operation *op, OpId id) const;
  void addLengths(mlir::Operation *op, reference::BuiltinCall &call) const;

  const Options &options_;
  Result result_;
  uint64_t operations_ = 0;
  llvm::DenseMap<mlir::Value, reference::Value> values_;
  llvm::DenseMap<mlir::Value, Storage> storage_;
  std::vector<std::pair<Storage, Storage>> views_; ///< storage, and itself under another shape
  /// In a grid of both kinds of cores, `values_` are those of `core_`, and these are those of the
  /// other one.
  llvm::DenseMap<mlir::Value, reference::Value> others_;
  Core core_ = Vector;
  bool onCores_ = false;
  std::array<bool, 2> present_{true, true}; ///< the cores that execute the current code
  /// an array without axes, which stands for a scalar value
  reference::RefArray scalar_;
};

} // namespace ptl::execute
