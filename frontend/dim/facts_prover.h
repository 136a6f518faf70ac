// Proofs from prepared facts: builds the linear rows for a question and eliminates.
#pragma once

#include "frontend/dim/facts_linear.h"
#include "frontend/dim/facts_prepared.h"

namespace ptl {

/// Answers questions about dimensions in normal form under the facts (`Prepared::reduce`). `from`
/// collects the facts that a successful proof used.
class FactProver {
public:
  /// `depth` bounds the nested proofs that a proof may start.
  explicit FactProver(const FactSet::Prepared &facts, int depth = 1);

  bool isNonNegative(Dim a, FactMask &from);
  bool isZero(Dim a, FactMask &from);
  bool isNeverZero(Dim a, FactMask &from);
  std::optional<int64_t> greatest(Dim a);

private:
  struct Assumption {
    Dim value;
    bool isZero = false;                ///< `value == 0`, else `value >= 0`
    const DimAtom *chosenFor = nullptr; ///< the `min` or `max` whose case split introduced it
  };
  struct System;
  struct Memory;
  class BorrowedSystem;

  /// Whether the assumptions, of which the first is the negated goal, contradict the facts.
  bool refutes(const std::vector<Assumption> &assumptions, FactMask &from, int splits);
  /// Runs one elimination; if it fails, `choice` is a `min` or `max` that may be split into cases.
  bool eliminates(const std::vector<Assumption> &assumptions, bool withProducts, FactMask &from,
                  const DimAtom *&choice);
  bool refutesCases(const std::vector<Assumption> &assumptions, const DimAtom &atom, FactMask &from,
                    int splits);
  const std::vector<DimKnowledge> &know(const DimMonomial &monomial);
  void knowDivision(std::vector<DimKnowledge> &known, const DimAtom &atom, Dim rest);
  void knowChoice(std::vector<DimKnowledge> &known, const DimAtom &atom, Dim rest);
  bool findsNonNegative(Dim a, FactMask &used, int nested);
  bool findsAllOperands(Dim a, FactMask &used, int nested);
  template <typename Find> bool remembered(Dim a, int question, FactMask &from, Find find);
  bool followsFromOne(Dim a, FactMask &from);
  bool followsFromFactors(Dim a, FactMask &from);
  bool followsByOperands(Dim a, FactMask &from, int depth);
  bool followsFromChain(Dim a, FactMask &from, int links);
  void offerProducts(System &system, Dim goal);
  void fill(System &system);

  static Memory &memoryOf(DimContext &context);

  const FactSet::Prepared &facts_;
  DimContext &context_;
  int depth_;
  Memory &memory_;
  int attempts_ = 0;
};

} // namespace ptl
