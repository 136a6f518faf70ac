// Facts in the form that proofs use: equations solved into rewrites, the rest as `>= 0` and `== 0`.
#pragma once

#include "frontend/dim/facts.h"
#include "frontend/dim/facts_model.h"

#include <array>
#include <bitset>

namespace ptl {

/// Which facts (by position, outermost first) something depends on. Later facts are used, not
/// named.
using FactMask = std::bitset<256>;

/// A fact that a monomial has by the nature of its atoms (`min`, quotients …): `value >= 0`,
/// provided that `condition >= 0` if there is a condition.
struct DimKnowledge {
  Dim value, condition;
};

/// Answers of the prover by dimension and depth: what a proof rests on, nothing if there was none.
class ProofTable {
public:
  /// Null if nobody asked. Stays until the next `set`.
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
  /// A fact that holds where its `b` divides `extent`.
  struct Waiting {
    Dim extent;
    Fact fact;
    size_t position;
  };

  explicit Prepared(DimContext &context) : context(&context) {}
  /// The facts of another set, to which more are added. The other one stays as it is, and alive.
  explicit Prepared(const Prepared &outer);
  Prepared &operator=(const Prepared &) = delete;

  DimContext *context;
  const Prepared *outer = nullptr;
  /// In order of the symbols; no value mentions a rewritten one.
  std::vector<DimReplacement> rewrites;
  std::vector<FactMask> rewritesFrom; ///< parallel to `rewrites`
  uint64_t rewrittenBits = 0;         ///< as of `Dim::symbolBits`
  std::vector<Known> nonNegative, zero;
  std::vector<Multiple> multiples;
  std::vector<Waiting> waiting;
  size_t count = 0; ///< facts taken in
  mutable ProofTable asked;

  void take(const Fact &fact, Dim onlyIfDivides);
  /// The normal form; adds to `from` what it rests on.
  Dim reduce(Dim a, FactMask &from) const;
  /// The answer given before, here or, if it was a proof, by an outer set: a fact more takes no
  /// proof away. Null if there is none.
  const std::optional<FactMask> *answer(Dim a, int depth) const;

  /// Whether there are values that satisfy the facts and make `a` negative, or different from 0, or
  /// 0. If so, there is no proof of the opposite.
  bool mayBeNegative(Dim a) const;
  bool mayDifferFromZero(Dim a) const;
  bool mayBeZero(Dim a) const;
  /// Whether there are such values for which `a` is outside the bounds, which may be great.
  bool mayLeave(Dim a, int64_t low, int64_t high) const;

private:
  struct Model {
    std::optional<DimModel> values;
    bool isTried = false, isValid = false; ///< for the facts here; else they are those of `outer`
  };
  mutable std::array<Model, DimModel::sizes> models_;
  bool maySettle_ = false; ///< what was waiting may hold now

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

/// A fact as one link of the chain from a scope to its outer scopes; the last link states nothing.
struct FactSet::Node {
  Fact fact;
  Dim onlyIfDivides; ///< if known: the fact holds where `fact.b` divides this
  std::shared_ptr<const Node> outer;
  mutable std::unique_ptr<Prepared> prepared;
};

} // namespace ptl
