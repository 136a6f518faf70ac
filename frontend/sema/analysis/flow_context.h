// The state of the walk over a body. Only for use inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/independence.h"

namespace ptl {

/// The elements that are definitely initialised at one place of the program.
struct FlowState {
  bool isReachable = true;
  std::vector<std::vector<Region>> written; ///< by number of the tracked local
};

/// What holds at one place of the program.
struct Known {
  FactSet facts;
  Contents contents;
};

/// A way through the program that ends at a place: what it has initialised, and what holds on it.
struct Way {
  FlowState state;
  Known known;
};

/// Why a store does not count towards the coverage of its target after a statement.
struct Drop {
  Span span;
  std::string text;
  bool isPath = false; ///< some path lacks the store; otherwise the store does not cover enough
};

/// An output without an initial value, or a `var` without a value.
struct Tracked {
  const Local *local = nullptr;
  bool isOutput = false;
  std::vector<Span> stores;
  std::vector<Drop> drops;
};

/// The ways to the `break`s and `continue`s of a loop's body.
struct Jumps {
  std::vector<Way> continues, breaks;
};

/// The first uses of a local that `atomic` updates.
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
  std::unordered_set<const Stmt *> unreachable; ///< statements that have been reported
  std::unordered_set<const Stmt *> checked;     ///< `parallel`s and scatters that have been checked
  int conditions = 0; ///< nesting of branches and `while` bodies inside the `parallel`
  int muted = 0;      ///< if positive, uncovered reads are counted instead of reported
  size_t failures = 0;

  /// Marks the local as uninitialised from here on; its stores are tracked.
  void track(const Local *local, bool isOutput);
  /// The entry of a local, and its number; null if it is not tracked.
  Tracked *trackedOf(const Local *local, size_t *number);
  Regions regions(const Local *local) const { return {ctx.facts, local->type, data.values}; }
  /// What holds here, and what holds instead at the place where the walk goes on.
  Known known() const { return {ctx.facts, data.values.contents}; }
  void setKnown(Known known);
  bool isReported(const Local *local) const { return data.reported.contains(local); }
};

} // namespace ptl
