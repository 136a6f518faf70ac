// Two iterations of a `parallel`, an earlier and a later one: each variable in turn is the first in
// which they differ. Symbols of the later iteration are those of the earlier one moved on, or
// fresh. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/independence.h"

namespace ptl {

/// Two iterations that first differ in one head.
struct IterationPair {
  size_t head = 0;
  DimSubstitution earlier, later;
  FactSet facts;
  SymbolId distance;         ///< how many further than the next one the later is
  bool isImpossible = false; ///< the loop has one iteration at most
};

class Iterations {
public:
  Iterations(DimContext &dims, const ParallelFrame &frame);

  /// Two iterations that first differ in that head, with what their heads say of them.
  IterationPair pair(size_t head) const;
  /// A dimension in the later iteration; what belongs to it alone gets symbols of its own.
  Dim later(IterationPair &pair, Dim dim) const;
  Dim freshLike(SymbolId symbol) const;
  /// Whether a symbol may stand for something else in another iteration.
  bool isInner(SymbolId symbol) const { return first_ && symbol >= *first_; }
  bool isOfHead(SymbolId symbol) const;

private:
  void moveOn(IterationPair &pair, const LoopDomain &domain) const;
  void addLaterHead(IterationPair &pair, const LoopDomain &domain) const;

  DimContext &dims_;
  const ParallelFrame &frame_;
  std::optional<SymbolId> first_; ///< of the heads
};

} // namespace ptl
