// Facts in the form that proofs use: equations solved into rewrites, the rest as `>= 0` and `== 0`.
#pragma once

#include "frontend/sema/facts.h"

#include <bitset>
#include <unordered_map>

namespace ptl {

/// Which facts (by position, outermost first) something depends on. Later facts are used, not
/// named.
using FactMask = std::bitset<256>;

/// What holds of a monomial by what its atoms are: `value >= 0`, where `condition >= 0` if that is
/// known.
struct DimKnowledge {
  Dim value, condition;
};

struct FactSet::Prepared {
  struct Known {
    Dim value; ///< >= 0 or == 0, rewritten
    FactMask from;
  };
  struct Multiple {
    Dim value, of; ///< `value % of == 0`, rewritten
    FactMask from;
  };
  struct Rewrite {
    Dim value;
    FactMask from;
  };
  /// A fact that holds where its `b` divides `extent`.
  struct Waiting {
    Dim extent;
    Fact fact;
    size_t position;
  };

  DimContext *context = nullptr;
  std::map<SymbolId, Rewrite> rewrites; ///< no value mentions a rewritten symbol
  DimSubstitution substitution;         ///< the values of `rewrites`
  std::vector<Known> nonNegative, zero;
  std::vector<Multiple> multiples;
  std::vector<Waiting> waiting;
  size_t count = 0; ///< facts taken in
  /// Answers by dimension and depth of the prover: what `>= 0` rests on, nothing if not proved.
  mutable std::map<std::pair<uint32_t, int>, std::optional<FactMask>> asked;

  void take(const Fact &fact, Dim onlyIfDivides);
  /// The normal form; adds to `from` what it rests on.
  Dim reduce(Dim a, FactMask &from) const;

private:
  void takeRelation(const Fact &fact, FactMask from);
  void takeZero(Dim zero, FactMask from);
  void takeNonNegative(Dim value, FactMask from);
  void takeMultiple(Dim value, Dim of, FactMask from);
  void rewrite(SymbolId symbol, Dim value, FactMask from);
  void settleWaiting();
};

/// A fact as one link of the chain from a scope to its outer scopes; the last link states nothing.
struct FactSet::Node {
  Fact fact;
  Dim onlyIfDivides; ///< if known: the fact holds where `fact.b` divides this
  std::shared_ptr<const Node> outer;
  mutable std::unique_ptr<Prepared> prepared;
};

} // namespace ptl
