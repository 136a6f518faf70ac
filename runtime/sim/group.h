// A core group that executes one block of a launch, and the choice of the pipe that runs next.
#pragma once

#include "runtime/sim/core.h"

#include <memory>

namespace ptl::rt::sim {

/// The state that all groups of a launch share.
struct LaunchState {
  const Kernel &kernel;
  const Chip &chip;
  std::span<const GlobalArray> pointers;
  std::span<const Scalar> scalars;
  int64_t blocks = 1;
  const Options &options;
  std::mt19937_64 random;
  Result result;
  uint64_t steps = 0;
  std::map<const Function *, LoopShapes> shapes = {};

  /// The shapes of a function's loops; null if no iterations are skipped.
  const LoopShapes *shapesOf(const Function &function) {
    if (!options.sample && !options.glance && !options.paces)
      return nullptr;
    return &shapes.try_emplace(&function, function, kernel).first->second;
  }
};

/// What happened to a slot of a queue, or that a cross-core event was signalled.
enum class QueueSignal : uint8_t { Pushed, Popped, Freed, Signalled };

/// Validates the arguments of a launch. Returns an error message; empty if they are valid.
std::string checkArguments(const LaunchState &launch);

class Group {
public:
  Group(LaunchState &launch, int64_t block);

  /// A core has pushed, popped or freed a slot, or signalled the event `queue`. The other cores see
  /// it at once, or `onSignal` delivers it later by `apply`.
  void signal(QueueSignal signal, int32_t queue, int32_t core) {
    onSignal ? onSignal(signal, queue, core) : apply(signal, queue, core);
  }
  void apply(QueueSignal signal, int32_t queue, int32_t core);
  std::function<void(QueueSignal, int32_t queue, int32_t core)> onSignal;

  struct Choice {
    Core *core = nullptr;
    Pipe pipe = Pipe::S;
  };
  /// Collects all pipes that could take a step now.
  void collect(std::vector<Choice> &choices);
  /// Whether all cores have ended; if so, checks the conditions that must hold at the end.
  bool isFinished() const;
  bool finish();
  std::string describeWaits() const;

  LaunchState &launch() { return launch_; }
  int64_t block() const { return block_; }
  std::vector<std::unique_ptr<Core>> &cores() { return cores_; }
  std::span<CoreMemory *const> memories() const { return memories_; }
  std::vector<QueueState> &queues() { return queues_; }
  /// How often a core has signalled an event, counting only delivered signals.
  int64_t signalled(int32_t core, int32_t event) const {
    return signalled_[static_cast<size_t>(core)][static_cast<size_t>(event)];
  }
  /// The number of the first vector core among the cores, and the number of vector cores.
  int32_t firstVector() const { return launch_.kernel.cube ? 1 : 0; }
  int32_t numVector() const { return numVector_; }
  bool fail(std::string message);
  LoopsOfGroup &loops() { return loops_; }

private:
  LaunchState &launch_;
  int64_t block_;
  int32_t numVector_ = 0;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<CoreMemory *> memories_;
  std::vector<QueueState> queues_;
  std::vector<std::array<int64_t, kMaxCrossFlags>> signalled_; ///< by core
  LoopsOfGroup loops_;
};

} // namespace ptl::rt::sim
