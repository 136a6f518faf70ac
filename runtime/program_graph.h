#pragma once

#include "runtime/program.h"
#include "runtime/schedule/replay.h"

#include <memory>
#include <optional>

namespace ptl::rt {

/// The graph of the tasks that a static program submits for certain dimensions and scalars, linked
/// once. A run then only fills in the closures and allocates one block of memory for its
/// intermediates.
class ProgramGraph {
public:
  /// Identifies the program and its arguments.
  using Key = std::vector<int64_t>;

  ProgramGraph(Key key, int threads) : key_(std::move(key)), threads_(threads) {}
  ~ProgramGraph();
  ProgramGraph(const ProgramGraph &) = delete;

  const Key &key() const { return key_; }
  /// False if there is no graph: it would have too many tasks, or the program fails before it
  /// starts any.
  bool isUsable() const { return replay_.has_value(); }
  /// The bytes that it occupies between runs.
  int64_t bytes() const { return blockCapacity_ + closureBytes_; }
  /// Frees the block of intermediates; the next run allocates another.
  void releaseBlock();
  const StoragePlan &plan() const { return plan_; }

private:
  friend class RecordRun;
  friend class FillRun;
  struct Node {
    char *closure;
    size_t closureBytes;
    PtlBody body;
    int64_t count;
  };
  char *reserveClosure(size_t bytes);
  void finish(const std::vector<std::optional<StorageId>> &storages,
              const std::vector<int64_t> &sizes);
  bool reserveBlock();

  Key key_;
  int threads_;
  GraphBuilder builder_;
  std::vector<Node> nodes_;
  std::vector<void *> chunks_; ///< of closures
  size_t chunkUsed_ = 0, chunkSize_ = 0;
  int64_t closureBytes_ = 0;
  StoragePlan plan_;
  std::vector<int64_t> offsets_; ///< of each allocation, in program order
  void *block_ = nullptr;
  int64_t blockCapacity_ = 0;
  TaskGraph graph_;
  std::optional<Replay> replay_;
};

/// Runs a program's code to record what it submits. No task is executed, and memory that the code
/// allocates has an address but no contents.
class RecordRun : public ProgramRun {
public:
  RecordRun(PtlContext &context, ProgramGraph &graph)
      : ProgramRun(context), graph_(graph), recorder_(std::exchange(context.recorder, nullptr)) {}
  ~RecordRun() override { context_.recorder = recorder_; }
  void submit(const Submission &task) override;
  void await(const int64_t *access) override;
  void *allocate(int64_t bytes) override;
  void release(void *) override {}
  /// Links the graph after the program's code has run, unless that is impossible.
  void finish();

private:
  ProgramGraph &graph_;
  Recorder *recorder_; ///< records the runs that are executed
  StorageTable storages_;
  AccessWords words_;
  std::vector<std::optional<StorageId>> storageOf_; ///< by allocation
  std::vector<int64_t> sizes_, addresses_;          ///< by allocation, ascending
  int64_t nextAddress_ = int64_t(1) << 52;          ///< addresses that are never mapped
  bool isRefused_ = false;
};

/// Runs a program's code to fill in the closures of a graph, then executes the graph.
class FillRun : public ProgramRun {
public:
  FillRun(PtlContext &context, ProgramGraph &graph) : ProgramRun(context), graph_(graph) {}
  void submit(const Submission &task) override;
  void await(const int64_t *) override { isOther_ = true; }
  void *allocate(int64_t bytes) override;
  void release(void *) override {}
  /// Returns false if the submitted tasks are not those of the graph; then nothing has been
  /// executed.
  bool execute();

private:
  ProgramGraph &graph_;
  size_t allocations_ = 0;
  bool isOther_ = false;
};

/// The cache of the most recently used graphs. Thread-safe.
class ProgramGraphs {
public:
  /// Null if there is no such graph, or if another run has it.
  static std::unique_ptr<ProgramGraph> take(const ProgramGraph::Key &key);
  static void giveBack(std::unique_ptr<ProgramGraph> graph);
};

} // namespace ptl::rt
