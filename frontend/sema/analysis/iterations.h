// Two iterations of a `parallel`, an earlier and a later one. Each loop variable in turn is assumed
// to be the first in which they differ. Symbols of the later iteration are those of the earlier one
// advanced, or fresh. Only for use inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/independence.h"

namespace ptl {

/// Two iterations that first differ in one loop head.
struct IterationPair {
  size_t head = 0;
  DimSubstitution earlier, later;
  FactSet facts;
  SymbolId distance;         ///< by how many more than one the later is ahead
  bool isImpossible = false; ///< the loop has at most one iteration
};

class Iterations {
public:
  Iterations(DimContext &dims, const ParallelFrame &frame);

  /// Two iterations that first differ in that head, with the facts that their heads imply.
  IterationPair pair(size_t head) const;
  /// The dimension's counterpart in the later iteration; symbols that belong to an iteration alone
  /// get fresh counterparts.
  Dim later(IterationPair &pair, Dim dim) const;
  Dim freshLike(SymbolId symbol) const;
  /// Whether a symbol may have another value in another iteration.
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
