// The walk over a body in program order. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/independence.h"

namespace ptl {

/// What surely has a value at one place of the program.
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

class FlowWalker {
public:
  explicit FlowWalker(Context &ctx);
  void run();

private:
  struct Jumps {
    std::vector<FlowState> continues, breaks;
  };
  /// First uses of a local that `atomic` updates.
  struct AtomicUse {
    const AssignStmt *atomic = nullptr;
    std::optional<Span> other;
  };

  // flow_walker.cpp: statements
  void block(const Block *block);
  void stmt(const Stmt *stmt);
  void let(const LetStmt &stmt);
  void assign(const AssignStmt &stmt);
  void branch(const IfStmt &stmt);
  void returns(const ReturnStmt &stmt);
  void arms(const Expr *condition, const Block *thenBlock, const Block *elseBlock);
  FlowState merge(const Expr *condition, FlowState a, const FactSet &aFacts, FlowState b,
                  const FactSet &bFacts);
  void keep(size_t number, const std::vector<Region> &from, const FlowState &other,
            const FactSet &otherFacts, std::vector<Region> &result, const Expr *condition);

  // flow_loops.cpp
  void loop(const ForStmt &stmt);
  void parallel(const ParallelStmt &stmt);
  void whileLoop(const WhileStmt &stmt);
  FlowState bodyOnce(const Block *body, FlowState entry, Jumps *jumps);
  FlowState meet(const std::vector<FlowState> &states);
  void leaveLoop(const LoopDomain &domain, const FactSet &outside, const FlowState &before,
                 FlowState &state);
  FlowState joined(const LoopDomain &domain, const FactSet &outside, bool isSoFar,
                   const FlowState &before, const FlowState &end);

  // flow_access.cpp: expressions
  void read(const Expr *expr);
  void readIndices(const Expr *expr);
  void readCall(const CallExpr &call);
  void readAll(const std::vector<Expr *> &exprs);
  void readElements(const Elements &elements);
  void writeElements(Elements elements, const AssignStmt *stmt);
  void note(const Elements &elements, bool isWrite, const AssignStmt *stmt);
  void noteAtomic(const Elements &elements, bool isWrite, const AssignStmt *stmt);
  void checkScatter(const AssignStmt &stmt, const Elements &elements);
  void learn(const Expr *condition);
  void learnBounds(const IndexExpr &place);
  void learnElement(Dim symbol, const Expr *value);
  void learnBoundsOf(const LoopDomain &domain, const Expr *iterable);

  // flow_report.cpp
  void checkOutputs(std::optional<Span> at);
  void reportOutput(Tracked &tracked, size_t number, std::optional<Span> at);
  void describeGap(DiagnosticBuilder report, const Tracked &tracked, size_t number);
  void offerInitialValue(DiagnosticBuilder report, const Tracked &tracked);
  void reportRead(Tracked &tracked, size_t number, const Elements &elements);
  void reportAtomicStart(const Local *local, const AssignStmt &stmt);
  void reportAtomicMix(const Local *local, const AtomicUse &use);
  std::string sourceText(Span span) const;

  Regions regions(const Local *local) const { return {ctx_.facts, local->type, data_.values}; }
  bool isReported(const Local *local) const { return data_.reported.contains(local); }
  Tracked *trackedOf(const Local *local, size_t *number);
  void track(const Local *local, bool isOutput);
  bool isShared(const Local *local) const {
    return local->kind == LocalKind::Output || local->isInout;
  }

  Context &ctx_;
  FlowState state_;
  std::vector<Tracked> tracked_;
  std::vector<int32_t> numbers_; ///< of tracked locals by index, -1: none
  std::vector<Jumps> jumps_;
  std::unique_ptr<ParallelFrame> frame_; ///< of the enclosing `parallel`
  DataFacts data_;
  std::unordered_map<const Local *, AtomicUse> atomics_;
  std::unordered_set<const Stmt *> unreachable_; ///< reported
  std::unordered_set<const Stmt *> checked_;     ///< `parallel`s and scatters
  int conditions_ = 0; ///< depth of arms and `while` bodies inside the `parallel`
  int muted_ = 0;      ///< reads that are not covered count instead of being reported
  size_t failures_ = 0;
};

} // namespace ptl
