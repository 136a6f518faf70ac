// The graph of an entry: the operations of its tensor level, the tasks that they were fused into,
// and the arrays between tasks. The fusion is read from the code at tile level, so the graph shows
// what the compiler really did.
#pragma once

#include "compile/cost/cost.h"
#include "frontend/base/span.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptl {

/// An array in memory: an argument, or the result of a task that others read.
struct GraphArray {
  enum class Kind : uint8_t { Input, Output, Intermediate };
  Kind kind = Kind::Intermediate;
  std::string name;   ///< in the source; without one, the text that computes it
  std::string type;   ///< `f32[B, 64]`
  int64_t factor = 0; ///< bytes divided by the product of the lengths
  std::vector<std::string> lengths;
  std::optional<int64_t> bytes; ///< if the lengths are known
  std::vector<Span> spans;      ///< innermost first
};

/// An operation of the tensor level, or of a tile in a grid that was written by hand.
struct GraphOp {
  std::string name, op, type;  ///< `gate`, `matmul`, `f32[B, F]`; the name may be empty
  std::vector<uint32_t> tasks; ///< that compute it: one, or several that each recompute it
  std::vector<uint32_t> operands;
  std::vector<Span> spans;
};

/// A unit of execution: a grid (on chips a kernel), or an operation of the host.
struct GraphTask {
  std::string name;   ///< what it computes: `gate, up`
  std::string kernel; ///< its name on a chip; else empty
  std::string task;   ///< the `task` block of the source that contains it; else empty
  std::string tile;   ///< what a step of the grid computes: `bf16[64, 128]`; else empty
  bool isGrid = false;
  std::vector<uint32_t> reads, writes; ///< arrays
  std::vector<Span> spans;
  std::optional<double> us; ///< of all its runs
  uint64_t runs = 0;        ///< number of executions; 0: unknown
};

struct ProgramGraph {
  std::string entry, target;
  FileId file = kNoFile; ///< of the entry
  std::vector<GraphArray> arrays;
  std::vector<GraphOp> ops;
  std::vector<GraphTask> tasks;
  std::vector<ExampleSize> sizes; ///< for which bytes and times are given
  std::optional<double> us;
  bool isLeast = false; ///< times are lower bounds
  std::string bound;
};

/// Observes the compilation of an entry to tile level (`OnPhase`), and keeps its last attempt.
class GraphRecorder {
public:
  GraphRecorder(const SourceManager &sources, const ir::EntryBinding &binding, std::string target);
  ~GraphRecorder();
  GraphRecorder(const GraphRecorder &) = delete;
  GraphRecorder &operator=(const GraphRecorder &) = delete;

  void onPhase(const std::string &phase, mlir::ModuleOp module);
  /// The graph; with the times and bytes of `cost` unless that is null.
  ProgramGraph graph(const Cost *cost) const;

private:
  struct Seen;
  std::unique_ptr<Seen> seen_;
};

} // namespace ptl
