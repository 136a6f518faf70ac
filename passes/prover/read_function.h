// The two readers behind `read.h`: one for each kernel, and one for each function of it.
#pragma once

#include "passes/prover/read.h"

#include "ir/dialect/instruction_op.h"
#include "machines/inside.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace ptl::prove {

/// The state that the functions of one kernel share.
class KernelReader {
public:
  KernelReader(Kernel &kernel, const Machine &machine, Findings &findings)
      : kernel(kernel), machine(machine), findings(findings) {}

  uint32_t operation(mlir::Operation *op) {
    auto [entry, isNew] =
        operations_.try_emplace(op, static_cast<uint32_t>(kernel.operations.size()));
    if (isNew)
      kernel.operations.push_back(op);
    return entry->second;
  }
  int64_t shape(pto::TileBufType type);
  uint32_t input(std::string name, Input::Role role, bool boolean = false);
  uint32_t pointer(llvm::StringRef name);
  uint32_t queue(mlir::Operation *op, bool cube, QueueSide side, bool toVector, bool throughGlobal);
  uint32_t inside(std::string_view mnemonic, std::string_view pipe);

  Kernel &kernel;
  const Machine &machine;
  Findings &findings;
  std::map<std::pair<bool, bool>, unsigned> openedBySide; ///< (cube, to vector) → queues so far

private:
  llvm::DenseMap<mlir::Operation *, uint32_t> operations_;
  llvm::DenseMap<mlir::Type, int64_t> shapes_;
  std::map<std::string, uint32_t> inputs_, pointers_;
  std::map<const InsideInstruction *, uint32_t> inside_;
};

class FunctionReader {
public:
  FunctionReader(KernelReader &shared, Function &function, mlir::func::FuncOp op)
      : shared_(shared), kernel_(shared.kernel), function_(function), op_(op) {}
  void read();

private:
  uint32_t registerOf(mlir::Value value);
  uint32_t optional(mlir::Value value) { return value ? registerOf(value) : kNone; }
  std::vector<uint32_t> registersOf(mlir::ValueRange values);
  bool readLength(mlir::BlockArgument argument, const std::string &name, Body &prelude,
                  llvm::function_ref<uint32_t(std::string_view)> input);
  void readRelation(std::string_view relation, Body &prelude,
                    llvm::function_ref<uint32_t(std::string_view)> input);
  void assume(uint32_t holds, Body &prelude);
  uint32_t readBody(mlir::Region &region, bool isFunction = false);
  void readOp(mlir::Operation *op, Body &body);
  bool readCore(mlir::Operation *op, Step &step);
  bool readScalar(mlir::Operation *op, Step &step);
  template <typename AliasOp> void readAlias(AliasOp op, Step &step);
  bool readTile(mlir::Operation *op, Step &step);
  bool readView(mlir::Operation *op, Step &step);
  bool readQueue(mlir::Operation *op, Step &step);
  bool readSync(mlir::Operation *op, Step &step);
  bool readControl(mlir::Operation *op, Step &step, Body &body);
  void readMeeting(mlir::Operation *op);
  void judgeMeetings();
  uint32_t heldBy(const pto::Access &access, llvm::ArrayRef<int32_t> values);
  void readPipe(mlir::Operation *op, Pipe pipe, Step &step);
  void readParts(mlir::Operation *op, Step &step);
  void readOpen(mlir::Operation *op, Step &step);
  void readData(mlir::Operation *op, mlir::Value result, Body &body);
  int64_t shape(pto::TileBufType type) { return shared_.shape(type); }
  std::string keyOf(mlir::Value value, unsigned depth = 0);

  KernelReader &shared_;
  Kernel &kernel_;
  Function &function_;
  mlir::func::FuncOp op_;
  llvm::DenseMap<mlir::Value, uint32_t> registers_;
  /// The operations that access arrays for which cores synchronise at meetings, each with the
  /// number of meetings before it in the text.
  std::vector<std::pair<mlir::Operation *, int32_t>> met_;
  std::vector<mlir::Operation *> meetings_;       ///< waits for other cores, in textual order
  std::map<std::vector<int32_t>, uint32_t> held_; ///< sets of values → index of `Kernel::held`
};

} // namespace ptl::prove
