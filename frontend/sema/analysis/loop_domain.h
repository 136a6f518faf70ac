// The domain of a loop, and the elements that all its iterations together access. Only for use
// inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/region.h"

namespace ptl {

/// The domain of one loop variable. Bounds that are not dimensions become symbols that only the
/// analysis knows.
struct LoopDomain {
  enum class Kind : uint8_t { Index, Tiles, List };
  Kind kind = Kind::Index;
  const Local *var = nullptr;
  Dim lo, hi, step;              ///< Tiles: `step` is 1
  Dim size;                      ///< Tiles only
  std::optional<SymbolId> index; ///< Index: of the position
  SymbolId start, len, count;    ///< Tiles: of the range
  SymbolId end;                  ///< Tiles: stands for `start + len` while iterations are joined
  bool hasItems = false;         ///< List: it has elements
  bool hasHiddenBounds = false;  ///< a bound is not a dimension
  Span span;

  /// The first symbol of the loop; symbols created after it belong to one iteration.
  std::optional<SymbolId> firstSymbol() const;
  bool isOwn(SymbolId symbol) const;
  /// Adds the facts that hold for the loop variable in one iteration.
  void addFacts(FactSet &facts) const;
  /// Whether the facts before the loop prove that it runs at least once.
  bool surelyRuns(const FactSet &before) const;
};

LoopDomain loopDomain(DimContext &dims, const LoopHead &head);

bool mentions(Dim dim, const std::function<bool(SymbolId)> &which);

/// Why the union over all iterations of a loop is not a simple region.
enum class Unjoined : uint8_t {
  MayNotRun,  ///< the same elements each time, but the loop may have no iterations
  TwoAxes,    ///< the variable moves along two axes
  Gaps,       ///< neighbouring iterations are not contiguous
  OtherValue, ///< the place depends on a value that is not a dimension
};

/// Computes the region that all iterations up to `before` (unknown: all iterations) definitely
/// access together, if each definitely accesses `region`. `facts` are those of one iteration.
struct Joiner {
  const FactSet &facts;
  const LoopDomain &domain;
  const FactSet &before; ///< what holds before the loop
  const KnownValues &values;
  bool isSoFar = false; ///< the iterations before this one instead of all

  /// What holds wherever the union is claimed. Behind the loop that is no fact of an iteration, as
  /// there may have been none.
  const FactSet &held() const { return isSoFar ? facts : before; }
  std::optional<Region> join(const Region &region, Unjoined *why) const;
  /// The same for a region of which one axis alone moves.
  std::optional<Region> joinOne(const Region &region, Unjoined *why) const;
  /// An axis at `index`, for all values of `index` in `lo..hi` by `step`.
  std::optional<AxisSet> joinIndex(const AxisSet &set, SymbolId index, Dim lo, Dim hi,
                                   Dim step) const;
  /// Whether it has another value in each iteration, which is not a dimension.
  bool isForeign(SymbolId symbol) const;

private:
  std::optional<AxisSet> joinAxis(const AxisSet &set) const;
  std::optional<AxisSet> joinTiles(const AxisSet &set) const;
  std::optional<AxisSet> joinMirrored(const AxisSet &set) const;
  std::optional<AxisSet> joinUnit(const AxisSet &set, SymbolId index, Dim lo, Dim hi,
                                  Dim step) const;
  /// `bound` where the round behind the last one would be, or a position that is surely not beyond
  /// it: not above if `isUpper`, else not below. Without rounds it bounds an empty interval.
  Dim boundAtEnd(Dim bound, SymbolId index, Dim lo, Dim hi, Dim step, bool isUpper) const;
  bool dependsOn(const AxisSet &set) const;
  bool isForeign(const AxisSet &set) const;
};

} // namespace ptl
