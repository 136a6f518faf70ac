// The elements of an array that an access touches: one set of positions per axis. Only for use
// inside `sema/analysis`.
#pragma once

#include "frontend/sema/context.h"

#include <unordered_map>
#include <unordered_set>

namespace ptl {

/// A set of positions on one axis.
struct AxisSet {
  enum class Kind : uint8_t {
    Full,     ///< all
    Interval, ///< `start`, `start + step` … below `stop`
    Lookup,   ///< the values of `local[index…]`, an array that does not change
    Value,    ///< the value of `local`, a scalar that does not change
    Each,     ///< every position below `stop` once, in some order
    Unknown,  ///< unknown positions, within `start`, `start + step` … below `stop` if these are set
  };
  Kind kind = Kind::Full;
  Dim start, stop, step;
  const Local *local = nullptr;
  std::vector<AxisSet> index;

  bool operator==(const AxisSet &) const = default;
  bool isInterval() const { return kind == Kind::Interval; }
  /// Past a limit of dimensions a bound is unknown. Such a set must prove nothing, as questions about
  /// unknown dimensions are answered with true.
  bool isKnown() const {
    return kind != Kind::Unknown && (kind != Kind::Interval || (start && stop && step));
  }
};

/// One set per axis after the prefix; a prefix is always covered completely. A scalar has no axes.
/// With a `slot`, the region is the union of the regions of `axes` while `slot` takes each value of
/// `slots`: `y[t / N, t % N]` for several `t`.
struct Region {
  std::vector<AxisSet> axes;
  std::optional<SymbolId> slot = std::nullopt;
  AxisSet slots = {};

  bool operator==(const Region &) const = default;
};

/// A symbol that stands for an element of an array that does not change.
struct ElementSymbol {
  SymbolId symbol;
  const Local *table = nullptr;
  Dim index;
};

/// Arrays of which a `where`, an `assert`, or the operation that creates them (`argsort`) says what
/// they hold. Permutations are unique, too. What an `assert` says holds only where it has been
/// passed, so this belongs to a place in the program, as facts about dimensions do.
struct Contents {
  std::unordered_set<const Local *> unique, sorted, permutations;

  /// Whether all that `other` says is said here too.
  bool includes(const Contents &other) const;
  /// Adds what is known elsewhere, where both places have been reached.
  void add(const Contents &other);
};

/// What is known about immutable locals and the contents of arrays.
struct KnownValues {
  std::unordered_map<const Local *, const Expr *> lets; ///< what they were bound to
  std::vector<ElementSymbol> elements;
  std::unordered_map<const Local *, Dim> scalars; ///< integers that are not dimensions
  Contents contents;                              ///< at the place that is looked at

  /// The element with this symbol; null if the symbol is not an element's.
  const ElementSymbol *element(Dim symbol) const;
};

/// The set of all positions that may be accessed, if the actual ones are known only at run time.
AxisSet widest(AxisSet set);
/// How many positions from 0 upward a set definitely has, each exactly once; unknown if it is not a
/// permutation.
Dim countOfEach(const KnownValues &values, const FactSet &facts, const AxisSet &set);

/// Predicates on regions of one array, decided by the facts at one place of the program.
struct Regions {
  const FactSet &facts;
  const Type *type; ///< of the array
  const KnownValues &values;

  /// Whether the facts prove that a set covers its whole axis.
  bool isFull(const AxisSet &set, size_t axis) const;
  bool isFull(const Region &region) const;
  /// Whether the facts prove that `outer` contains `inner`.
  bool contains(const Region &outer, const Region &inner) const;
  bool containsAny(const std::vector<Region> &outers, const Region &inner) const;
  /// Whether the facts prove that the region is empty.
  bool isEmpty(const Region &region) const;
  /// Adds a region to a union, and merges regions that are contiguous, overlap or interleave.
  void add(std::vector<Region> &all, Region region) const;

private:
  bool contains(const AxisSet &outer, const AxisSet &inner, size_t axis) const;
  bool isEmpty(const AxisSet &set, size_t axis) const;
  std::optional<AxisSet> join(const AxisSet &a, const AxisSet &b, size_t axis) const;
  std::optional<AxisSet> joinIntervals(const AxisSet &a, const AxisSet &b) const;
  std::optional<Region> join(const Region &a, const Region &b) const;
  Dim extent(size_t axis) const {
    return axis < type->extents.size() ? type->extents[axis].length : Dim();
  }
};

} // namespace ptl
