// Runs the scalar code of one kernel on its cores. Others use `runKernel` in trace.h.
#pragma once

#include "passes/prover/trace.h"

#include <unordered_map>

namespace ptl::prove {

/// The position of a window of an empty tile whose place depends on data.
inline constexpr int64_t kNowhere = -1;

/// A tile that scalar code holds.
struct RunningTile {
  uint32_t buffer = 0, shape = 0;
  int64_t base = 0, row = 0, col = 0, validRows = 0, validCols = 0;
  /// For a window whose place depends on data: the number of rows or columns within which it lies,
  /// or `kNowhere`.
  int64_t amongRows = 0, amongCols = 0;
};

struct LongLoop; ///< in long_loops.cpp

/// Runs the functions of a kernel, one core after the other, into one execution.
class Runner {
public:
  Runner(const Kernel &kernel, const Inputs &inputs, RangeTable &ranges, Findings &findings,
         Execution &execution, size_t limit, int64_t mostLeftOut)
      : kernel_(kernel), inputs_(inputs), ranges_(ranges), findings_(findings),
        execution_(execution), limit_(limit), mostLeftOut_(mostLeftOut) {}

  void run(const Function &function, unsigned subBlock) {
    execution_.cores.push_back({});
    core_ = &execution_.cores.back();
    core_->function = function_ = &function;
    core_->subBlock = subBlock;
    registers_.assign(function.registers, {});
    popped_.assign(kernel_.queues.size(), 0);
    pushed_ = freed_ = popped_;
    tiles_.assign(1, {});
    written_.clear();
    runBody(0);
  }

private:
  bool goesOn() const { return execution_.complete && !execution_.excluded; }
  Scalar &at(uint32_t index) { return registers_[index]; }
  int64_t valueOr(uint32_t index, int64_t otherwise) {
    return index == kNone ? otherwise : at(index).value;
  }
  mlir::Operation *operation(const Step &step) const { return kernel_.operations[step.op]; }
  int64_t derivedValid(int64_t fixed, uint32_t given, int64_t inherited, int64_t capacity);
  void runBody(uint32_t index);
  void runStep(const Step &step);
  void runOnMemory(const Step &step);
  void runFor(const Step &step);
  void leaveOut(LongLoop &loop, int64_t &turn, std::vector<Scalar> &carried);
  void runIf(const Step &step);
  void runWhile(const Step &step);
  void assign(const std::vector<uint32_t> &to, size_t first, const std::vector<Scalar> &values,
              size_t from);
  void setValid(RunningTile &tile, const TileShape &shape, uint32_t rows, uint32_t cols);
  void makeTile(const Step &step);
  void deriveTile(const Step &step);
  void move(int64_t &at, int64_t &among, int64_t extent, Scalar by);
  void makeBox(const Step &step);
  void runPipe(const Step &step);
  void runInside(const Step &step);
  void runFlag(const Step &step);
  void runCrossing(const Step &step);
  void runOpen(const Step &step);
  void runQueue(const Step &step);
  uint32_t buffer(const Buffer &wanted);
  uint32_t box(GlobalBox box);
  GlobalBox &boxAt(uint32_t index) { return boxes_[static_cast<size_t>(at(index).value)]; }
  RunningTile &tileAt(uint32_t index) { return tiles_[static_cast<size_t>(at(index).value)]; }
  bool gather(const Step &step);
  bool gather(const Step &step, const AccessSpec &spec);
  void emitGathered();
  void touchTile(const AccessSpec &spec, Access &access);
  void bridge(const AccessSpec &spec, Access &access);
  void touchGlobal(const AccessSpec &spec, Access &access);
  void note(uint64_t what) {
    core_->hash = (core_->hash ^ what) * 0x9E3779B97F4A7C15ull;
    core_->hash ^= core_->hash >> 31;
  }
  Event &emit(Event::Kind kind, const Step &step, uint8_t pipe);
  void requireKnown(const Step &step, uint32_t value, const char *what);
  void reportUnknown(const Step &step, const char *what);

  const Kernel &kernel_;
  const Inputs &inputs_;
  RangeTable &ranges_;
  Findings &findings_;
  Execution &execution_;
  size_t limit_;
  Core *core_ = nullptr;
  const Function *function_ = nullptr;
  std::vector<Scalar> registers_, yielded_;
  std::vector<RunningTile> tiles_;
  std::vector<GlobalBox> boxes_;
  std::vector<uint32_t> popped_, pushed_, freed_;
  /// The last write to an operand, and whether it was contiguous with the one before.
  struct Written {
    std::vector<ByteRange> ranges;
    /// distance in bytes from the previous write of the same form; 0: another form
    int64_t step = 0;
    bool followed = false; ///< it began where the previous write ended
  };
  std::unordered_map<const AccessSpec *, Written> written_;
  bool bridging_ = false; ///< in the first iteration after some that were skipped
  /// The accesses of scalar code to elements of a buffer in consecutive iterations, merged into
  /// one.
  struct Gathered {
    const Step *step;
    const AccessSpec *spec;
    Access access; ///< without its bytes
    uint32_t scalars;
    std::vector<uint32_t> parts; ///< its bytes, as parts of `ranges_`
  };
  std::vector<Gathered> gathered_;
  std::unordered_map<uint64_t, uint32_t> gatheredWrites_; ///< start of a part → its buffer
  bool gathers_ = false;
  int64_t mostLeftOut_;     ///< rotations that loops with queues skip on each core
  bool checksData_ = false; ///< data decides the innermost enclosing branch
};

} // namespace ptl::prove
