// What is known about dimensions at one place of a program, and proofs from it.
//
// The rules are those of the language: dimensions are >= 0, tunables and tile sizes >= 1; two
// dimensions are equal if their difference normalises to 0 after rewriting with the equations and
// divisibilities; `<=` is proved by linear elimination in which products of symbols are opaque.
// Everything is bounded: a limit leads to Unknown, never to a wrong answer or a long wait, and
// proofs are deterministic.
#pragma once

#include "frontend/dim/dim.h"

#include <bitset>

namespace ptl {

enum class Proof : uint8_t {
  True,   ///< holds for all values that satisfy the facts
  False,  ///< fails for all values that satisfy the facts
  Unknown ///< neither could be proved; a `where` or `assert` can settle it
};

enum class Relation : uint8_t {
  Equal,     ///< `a == b`
  LessEqual, ///< `a <= b`
  Divides    ///< `a % b == 0`
};

/// One known relation and where it was stated (a `where`, an `assert`, a loop head).
struct Fact {
  Relation relation = Relation::Equal;
  Dim a, b;
  Span span;
};

/// The answer to one question `a relation b`, with the information that explains it.
struct Verdict {
  Proof proof = Proof::Unknown;
  Relation relation = Relation::Equal;
  Dim a, b;
  std::vector<Fact> used; ///< for True and False: the facts that the proof needed, outermost first

  bool isTrue() const { return proof == Proof::True; }
  bool isFalse() const { return proof == Proof::False; }
};

using AllowedSymbols = std::function<bool(SymbolId)>;

/// A range made by `tiles(lo..hi, size)`; `start`, `len` and `count` are its symbols.
struct TilesRange {
  SymbolId start, len, count;
  Dim lo, hi, size;
  bool nonEmpty = true; ///< inside a loop over the range: `1 <= len`
  Span span;
};

/// A loop index of `lo..hi` with a constant or symbolic step >= 1.
struct LoopRange {
  SymbolId index;
  Dim lo, hi, step;
  Span span;
};

/// An immutable set of facts: adding a fact yields a larger set and leaves this one unchanged, so a
/// scope is a copy (one pointer). All its dimensions belong to one `DimContext`, which must outlive
/// it; a set and its copies must be used by one thread only. Facts with unknown operands are
/// ignored, and questions with unknown operands are answered True.
class FactSet {
public:
  explicit FactSet(DimContext &context);

  DimContext &context() const { return *context_; }

  void addEqual(Dim a, Dim b, Span span = {});
  void addLessEqual(Dim a, Dim b, Span span = {});
  void addLess(Dim a, Dim b, Span span = {}) { addLessEqual(context_->add(a, one()), b, span); }
  /// `a % b == 0`, with b >= 1.
  void addDivides(Dim b, Dim a, Span span = {});
  /// The facts of one iteration: `start = lo + size*count`, `start + len <= hi`, `len <= size`, and
  /// `len == size` wherever `size` is known to divide `hi - lo`, now or by a later fact.
  void addTilesRange(const TilesRange &range);
  void addLoopIndex(const LoopRange &loop);

  Verdict proveEqual(Dim a, Dim b) const;
  Verdict proveLessEqual(Dim a, Dim b) const;
  /// As a question about `a + 1 <= b`.
  Verdict proveLess(Dim a, Dim b) const;
  Verdict proveNonNegative(Dim a) const { return proveLessEqual(context_->constant(0), a); }
  /// `a % b == 0`.
  Verdict proveDivides(Dim b, Dim a) const;
  /// Proves the relation of a fact, e.g. of a callee's `where` after substitution.
  Verdict prove(Relation relation, Dim a, Dim b) const;

  /// The least constant upper bound of `a` that was found, and the greatest constant lower bound.
  std::optional<int64_t> upperBound(Dim a) const;
  std::optional<int64_t> lowerBound(Dim a) const;
  /// Whether these bounds show that `a` is within `low..high`, both inclusive.
  bool isWithin(Dim a, int64_t low, int64_t high) const;
  /// An upper bound of `a` whose symbols are all `allowed`: the capacity in terms of tunables,
  /// constants and static dimensions. The simplest one found; unknown if there is none.
  Dim symbolicUpperBound(Dim a, const AllowedSymbols &allowed) const;
  Dim symbolicLowerBound(Dim a, const AllowedSymbols &allowed) const;

  /// The normal form of `a` under the equations: equal pointers imply equality under the facts. It
  /// serves only as a key and for comparison; it may contain symbols that are not in the program.
  Dim reduce(Dim a) const;

  /// Whether both are copies of one set to which nothing has been added since.
  bool isSame(const FactSet &other) const { return head_ == other.head_; }

  /// The facts that hold, outermost first, without those of ranges that wait for a divisibility.
  std::vector<Fact> facts() const;
  /// The facts that a proof used, by their positions.
  std::vector<Fact> factsAt(const std::bitset<256> &positions) const;

  struct Node;
  struct Prepared;
  /// The facts as the prover needs them (facts_prepared.h), made on first use.
  const Prepared &prepared() const;

private:
  Dim one() const { return context_->constant(1); }
  void push(const Fact &fact, Dim onlyIfDivides = {});

  DimContext *context_;
  std::shared_ptr<const Node> head_;
};

} // namespace ptl
