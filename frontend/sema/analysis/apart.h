// Proofs that two accesses of different iterations access disjoint elements. Only for use inside
// `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/quotients.h"

namespace ptl {

/// The proof that came closest to succeeding, to name what is missing.
struct NearMiss {
  Verdict verdict;
  FactSet facts;
  SymbolId distance;
  const Local *table = nullptr; ///< an index array whose values may repeat
};

/// One value in the earlier and in the later iteration.
struct ValuePair {
  Dim earlier, later;
};

/// One axis of an access in the earlier iteration and of one in the later.
struct AxisPair {
  AxisSet earlier, later;
};

/// What is known about the differences between two iterations, besides the facts.
struct IterationValues {
  const Contents &contents;        ///< of arrays, in both iterations
  const Local *firstVar = nullptr; ///< of the `parallel`: locals behind it are an iteration's own
  std::vector<ValuePair> rounds;   ///< iteration numbers of inner loops with steps
  std::vector<ValuePair> distinct; ///< values that definitely differ
};

class ApartProof {
public:
  ApartProof(DimContext &dims, const IterationValues &known) : dims_(dims), known_(known) {}

  /// Whether the accesses are definitely disjoint on some axis. If no single axis suffices, each
  /// pair of iteration numbers, of distinct values, and of their quotients and remainders splits
  /// the proof into cases by the order of the two values; each case then needs an axis of its own.
  bool prove(const std::vector<AxisPair> &axes, const FactSet &facts) {
    return byCases(axes, facts, 0, maxQuotients);
  }
  const std::optional<NearMiss> &miss() const { return miss_; }

private:
  static constexpr int maxQuotients = 3;
  static constexpr size_t maxRounds = 2, maxDistinct = 4;
  enum class Precedence { Earlier, Later, Same };

  bool isApart(const AxisSet &a, const AxisSet &b, const FactSet &facts);
  bool areDifferent(Dim a, Dim b, const FactSet &facts) const;
  FactSet ordered(const FactSet &facts, ValuePair pair, Precedence order);
  bool byCases(const std::vector<AxisPair> &axes, const FactSet &facts, size_t next, int quotients);
  bool byQuotients(const std::vector<AxisPair> &axes, const FactSet &facts, int quotients);
  bool byQuotient(const std::vector<AxisPair> &axes, const FactSet &facts, const Quotient &earlier,
                  const Quotient &later, int quotients);

  DimContext &dims_;
  const IterationValues &known_;
  std::optional<NearMiss> miss_;
};

} // namespace ptl
