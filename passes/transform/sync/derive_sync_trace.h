// For tests: executes a block-level function step by step and finds accesses that are not ordered.
// Control flow and scalars are executed. Of instructions the trace records only the bytes that they
// access, and what their pipe knows about the progress of the others.
#pragma once

#include "passes/transform/sync/derive_sync.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::pto {

using Counts = std::array<int64_t, kNumPipes>;

struct Range {
  unsigned space;
  std::vector<std::pair<int64_t, int64_t>> axes; ///< begin, end
  bool overlaps(const Range &other) const {
    if (space != other.space)
      return false;
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i].first >= other.axes[i].second || other.axes[i].first >= axes[i].second)
        return false;
    return true;
  }
};

/// Executes a function's control flow and scalars, and tracks what each pipe knows about the
/// progress of the others.
class Trace {
public:
  Trace(mlir::func::FuncOp function, int64_t size, bool vectorBarrier);
  std::vector<std::string> faults;
  int64_t numAccesses = 0;
  unsigned numFlags = 0;
  /// How far apart the pipes can run: the largest number of simultaneously pending sets.
  unsigned mostPending = 0;

private:
  struct Access {
    Range range;
    bool writes;
    size_t pipe;
    int64_t index;
    mlir::Operation *op;
  };
  struct Flag {
    bool set = false;
    Counts payload{};
    int64_t lastWait = -1;
  };

  void fault(std::string text) {
    if (faults.size() < 5)
      faults.push_back(std::move(text));
  }
  int64_t value(mlir::Value v) { return values_.lookup(v); }
  Range rangeOf(mlir::Value tile);
  void run(mlir::Block &block);
  void runFor(mlir::scf::ForOp loop);
  void runWhile(mlir::scf::WhileOp loop);
  bool runScalar(mlir::Operation &op);
  void runInstruction(mlir::Operation &op, size_t pipe);
  void touch(mlir::Operation &op, size_t pipe, const pto::Access &access);
  void setFlag(PipeKind from, PipeKind to, int64_t id);
  void waitFlag(PipeKind from, PipeKind to, int64_t id);
  void runBarrier(PipeKind kind);
  bool runSync(mlir::Operation &op);

  bool vectorBarrier_;
  llvm::DenseMap<mlir::Value, int64_t> values_;
  std::array<Counts, kNumPipes> clocks_; ///< what has certainly finished, by the pipe that knows
  Counts done_{};
  std::vector<Access> accesses_;
  std::map<std::tuple<PipeKind, PipeKind, int64_t>, Flag> flags_;
  llvm::DenseMap<mlir::Value, mlir::Value> queueOf_;
  llvm::DenseMap<mlir::Value, int64_t> pops_; ///< by queue
  unsigned pending_ = 0;
};

} // namespace ptl::pto
