// What the walk over a body knows at one place, and what it has seen. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/independence.h"

namespace ptl {

/// What definitely has a value at one place of the program.
struct FlowState {
  bool isReachable = true;
  std::vector<std::vector<Region>> written; ///< by number of the tracked local
};

/// Why a store does not count for the coverage of its target behind a statement.
struct Drop {
  Span span;
  std::string text;
  bool isPath = false; ///< there is a path without the store, else it covers too little
};

/// An output without initial value or a `var` without value.
struct Tracked {
  const Local *local = nullptr;
  bool isOutput = false;
  std::vector<Span> stores;
  std::vector<Drop> drops;
};

/// The states in which the jumps of a loop's body leave it.
struct Jumps {
  std::vector<FlowState> continues, breaks;
};

/// First uses of a local that `atomic` updates.
struct AtomicUse {
  const AssignStmt *atomic = nullptr;
  std::optional<Span> other;
};

/// The walk over the body of `ctx.decl`, in program order.
struct FlowContext {
  explicit FlowContext(Context &ctx);

  Context &ctx;
  FlowState state;
  std::vector<Tracked> tracked;
  std::vector<int32_t> numbers;         ///< of tracked locals by index, -1: none
  std::vector<Jumps> jumps;             ///< of the enclosing loops
  std::unique_ptr<ParallelFrame> frame; ///< of the enclosing `parallel`
  DataFacts data;
  std::unordered_map<const Local *, AtomicUse> atomics;
  std::unordered_set<const Stmt *> unreachable; ///< reported
  std::unordered_set<const Stmt *> checked;     ///< `parallel`s and scatters
  int conditions = 0; ///< depth of arms and `while` bodies inside the `parallel`
  int muted = 0;      ///< reads that are not covered count instead of being reported
  size_t failures = 0;

  /// From here on the local has no value; its stores are noted.
  void track(const Local *local, bool isOutput);
  /// The entry of a local, and its number; null if it is not tracked.
  Tracked *trackedOf(const Local *local, size_t *number);
  Regions regions(const Local *local) const { return {ctx.facts, local->type, data.values}; }
  bool isReported(const Local *local) const { return data.reported.contains(local); }
};

} // namespace ptl
