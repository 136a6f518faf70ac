// Facts in the form that proofs use: equations solved into rewrites, the others as `>= 0` and `==
// 0`.
#pragma once

#include "frontend/dim/facts.h"
#include "frontend/dim/facts_model.h"

#include <array>
#include <bitset>

namespace ptl {

/// The facts (by position, outermost first) that something depends on. Facts beyond the last bit
/// are used, but are not named in explanations.
using FactMask = std::bitset<256>;

/// A fact about a monomial that follows from its atoms (`min`, quotients …): `value >= 0`, provided
/// that `condition >= 0` if there is a condition.
struct DimKnowledge {
  Dim value, condition;
};

/// A cache of the prover's answers by dimension and depth: the facts that the proof used, or
/// nothing if there was no proof.
class ProofTable {
public:
  /// Null if the answer is not cached. The pointer is valid until the next `set`.
  const std::optional<FactMask> *find(uint32_t dim, int depth) const;
  void set(uint32_t dim, int depth, const std::optional<FactMask> &answer);

private:
  struct Slot {
    uint64_t key = 0; ///< 0: free
    std::optional<FactMask> answer;
  };
  static uint64_t keyOf(uint32_t dim, int depth) {
    return uint64_t(dim) << 8 | static_cast<uint8_t>(depth + 2);
  }
  size_t slotOf(uint64_t key) const;

  std::vector<Slot> slots_; ///< as many as a power of 2
  size_t count_ = 0;
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
  /// A fact that holds if its `b` divides `extent`.
  struct Waiting {
    Dim extent;
    Fact fact;
    size_t position;
  };

  explicit Prepared(DimContext &context) : context(&context) {}
  /// The facts of another set, to which more are added. The other set does not change, and must
  /// outlive this one.
  explicit Prepared(const Prepared &outer);
  Prepared &operator=(const Prepared &) = delete;

  DimContext *context;
  const Prepared *outer = nullptr;
  /// Sorted by symbol; no value contains a rewritten symbol.
  std::vector<DimReplacement> rewrites;
  std::vector<FactMask> rewritesFrom; ///< parallel to `rewrites`
  uint64_t rewrittenBits = 0;         ///< as of `Dim::symbolBits`
  std::vector<Known> nonNegative, zero;
  std::vector<Multiple> multiples;
  std::vector<Waiting> waiting;
  size_t count = 0; ///< number of facts that have been added
  mutable ProofTable asked;

  void take(const Fact &fact, Dim onlyIfDivides);
  /// The normal form; the facts that it depends on are added to `from`.
  Dim reduce(Dim a, FactMask &from) const;
  /// The cached answer, of this set or, if it was a proof, of an outer set: an additional fact
  /// invalidates no proof. Null if there is none.
  const std::optional<FactMask> *answer(Dim a, int depth) const;

  /// Whether a model of the facts makes `a` negative, or not 0, or 0. If so, there is no proof of
  /// the opposite.
  bool mayBeNegative(Dim a) const;
  bool mayDifferFromZero(Dim a) const;
  bool mayBeZero(Dim a) const;
  /// Whether a model makes `a` lie outside the bounds, which may be large.
  bool mayLeave(Dim a, int64_t low, int64_t high) const;

private:
  struct Model {
    std::optional<DimModel> values;
    /// concerning the facts here; otherwise those of `outer` apply
    bool isTried = false, isValid = false;
  };
  mutable std::array<Model, DimModel::sizes> models_;
  bool maySettle_ = false; ///< a waiting fact may hold by now

  const DimModel *model(DimModel::Size size) const;
  bool satisfy(DimModel &model) const;
  template <typename Test> bool anyModel(Dim a, Test test) const;
  bool mayExceed(Dim a, int64_t high) const;
  void takeRelation(const Fact &fact, FactMask from);
  void takeZero(Dim zero, FactMask from);
  void takeNonNegative(Dim value, FactMask from);
  void takeMultiple(Dim value, Dim of, FactMask from);
  void rewrite(SymbolId symbol, Dim value, FactMask from);
  void settleWaiting();
};

/// A fact as one link of the chain from a scope to its outer scopes; the last link has no fact.
struct FactSet::Node {
  Fact fact;
  Dim onlyIfDivides; ///< if known: the fact holds where `fact.b` divides this
  std::shared_ptr<const Node> outer;
  mutable std::unique_ptr<Prepared> prepared;
};

} // namespace ptl
