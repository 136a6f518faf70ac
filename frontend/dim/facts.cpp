#include "frontend/dim/facts.h"

#include "frontend/dim/facts_bound.h"
#include "frontend/dim/facts_prepared.h"
#include "frontend/dim/facts_prover.h"

#include <algorithm>
#include <numeric>

namespace ptl {

// ---- Stating facts ------------------------------------------------------------------------------

FactSet::FactSet(DimContext &context) : context_(&context) {
  auto root = std::make_shared<Node>();
  root->prepared = std::make_unique<Prepared>(context);
  head_ = std::move(root);
}

void FactSet::push(const Fact &fact, Dim onlyIfDivides) {
  // An unknown length states nothing.
  if (!fact.a || !fact.b)
    return;
  // Sets share their outer facts, so adding one is cheap and leaves the former set as it is.
  auto node = std::make_shared<Node>();
  node->fact = fact;
  node->onlyIfDivides = onlyIfDivides;
  node->outer = head_;
  head_ = std::move(node);
}

void FactSet::addEqual(Dim a, Dim b, Span span) { push({Relation::Equal, a, b, span}); }
void FactSet::addLessEqual(Dim a, Dim b, Span span) { push({Relation::LessEqual, a, b, span}); }
void FactSet::addDivides(Dim b, Dim a, Span span) { push({Relation::Divides, a, b, span}); }

/// The largest number that divides all coefficients of a polynomial; 1 if nothing is known of it.
static int64_t contentOf(Dim polynomial) {
  int64_t common = 0;
  for (const DimTerm &term : polynomial ? polynomial.terms() : std::span<const DimTerm>())
    common = std::gcd(common, term.coefficient);
  return common == 0 ? 1 : common;
}

void FactSet::addTilesRange(const TilesRange &range) {
  DimContext &dims = *context_;
  Dim start = dims.symbolDim(range.start), len = dims.symbolDim(range.len);
  Dim count = dims.symbolDim(range.count), extent = dims.sub(range.hi, range.lo);
  // Nothing runs over an empty range. A tile that would be whole or have a position could not lie in it, so code for it would be refused.
  bool isEmpty = extent && extent.isConstant() && *extent.constant() <= 0;
  bool nonEmpty = range.nonEmpty && !isEmpty;
  // A tile has at least one position unless its range may be empty.
  addLessEqual(one(), range.size, range.span);
  addLessEqual(len, range.size, range.span);
  addLessEqual(dims.constant(nonEmpty ? 1 : 0), len, range.span);
  addLessEqual(range.lo, start, range.span);
  addLessEqual(dims.add(start, len), range.hi, range.span);
  // All tiles but the last are whole: the length is the smaller of the tile's size and what is
  // left.
  addLessEqual(dims.min(range.size, dims.sub(range.hi, start)), len, range.span);
  if (nonEmpty)
    addLess(count, dims.ceilDiv(extent, range.size), range.span);
  addEqual(start, dims.add(range.lo, dims.mul(range.size, count)), range.span);
  // If the tile's size divides the extent, all tiles are whole.
  if (extent && !isEmpty)
    push({Relation::Equal, len, range.size, range.span}, extent);
  // What divides the tile size and all of the extent divides the last tile too.
  int64_t common = std::gcd(contentOf(reduce(range.size)), contentOf(reduce(extent)));
  if (common > 1 && !range.size.isConstant(common))
    addDivides(dims.constant(common), len, range.span);
}

void FactSet::addLoopIndex(const LoopRange &loop) {
  Dim index = context_->symbolDim(loop.index);
  addLessEqual(loop.lo, index, loop.span);
  addLess(index, loop.hi, loop.span);
  // With a step, the index is a multiple of it away from the start.
  if (!loop.step.isConstant(1))
    addDivides(loop.step, context_->sub(index, loop.lo), loop.span);
}

std::vector<Fact> FactSet::facts() const {
  std::vector<Fact> result;
  // The root has no fact.
  for (const Node *node = head_.get(); node->outer; node = node->outer.get())
    if (!node->onlyIfDivides)
      result.push_back(node->fact);
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<Fact> FactSet::factsAt(const std::bitset<256> &positions) const {
  std::vector<Fact> result;
  size_t position = prepared().count;
  for (const Node *node = head_.get(); node->outer; node = node->outer.get())
    // Positions count from the first fact, and the list goes from the last.
    if (--position < positions.size() && positions.test(position))
      result.push_back(node->fact);
  std::reverse(result.begin(), result.end());
  return result;
}

const FactSet::Prepared &FactSet::prepared() const {
  // Prepared sets are made on demand, from the nearest outer one that exists.
  std::vector<const Node *> missing;
  const Node *node = head_.get();
  for (; !node->prepared; node = node->outer.get())
    missing.push_back(node);
  if (missing.empty())
    return *node->prepared;
  auto result = std::make_unique<Prepared>(*node->prepared);
  // Facts are taken in the order in which they were stated.
  for (auto at = missing.rbegin(); at != missing.rend(); ++at)
    result->take((*at)->fact, (*at)->onlyIfDivides);
  head_->prepared = std::move(result);
  return *head_->prepared;
}

// ---- Proving ------------------------------------------------------------------------------------

namespace {

/// A question on its way: the facts it used become those of the verdict.
struct Question {
  Question(const FactSet &facts, Relation relation, Dim a, Dim b)
      : facts(facts), prepared(facts.prepared()), prover(prepared),
        verdict{Proof::Unknown, relation, a, b, {}} {}

  Verdict answer(Proof proof) {
    verdict.proof = proof;
    // Facts are listed only if the proof used some.
    if (proof == Proof::Unknown || from.none())
      return std::move(verdict);
    for (const Fact &fact : facts.factsAt(from))
      if (!isListed(fact))
        verdict.used.push_back(fact);
    return std::move(verdict);
  }

  Verdict answerIsZero(Dim value) {
    if (prover.isZero(value, from))
      return answer(Proof::True);
    return answer(prover.isNeverZero(value, from) ? Proof::False : Proof::Unknown);
  }

  /// A range states several facts about the same things: each relation is listed once.
  bool isListed(const Fact &fact) const {
    return std::any_of(verdict.used.begin(), verdict.used.end(), [&](const Fact &other) {
      return other.relation == fact.relation && other.a == fact.a && other.b == fact.b;
    });
  }

  const FactSet &facts;
  const FactSet::Prepared &prepared;
  FactProver prover;
  FactMask from;
  Verdict verdict;
};

} // namespace

/// An answer that needs no facts.
static Verdict plain(Proof proof, Relation relation, Dim a, Dim b) {
  return {proof, relation, a, b, {}};
}

Verdict FactSet::proveEqual(Dim a, Dim b) const {
  // Unknown lengths were reported where they arose, so they count as equal here.
  if (!a || !b || a == b)
    return plain(Proof::True, Relation::Equal, a, b);
  Dim difference = context_->sub(a, b);
  // Two polynomials that differ by a constant other than 0 are never equal.
  if (difference.isConstant())
    return plain(Proof::False, Relation::Equal, a, b);
  Question question(*this, Relation::Equal, a, b);
  // Equations turn the difference into a normal form, which is often a constant.
  difference = question.prepared.reduce(difference, question.from);
  if (!difference)
    return question.answer(Proof::Unknown);
  if (difference.isConstant())
    return question.answer(difference.isConstant(0) ? Proof::True : Proof::False);
  // A multiple of an equation that could not be solved for a symbol.
  for (const Prepared::Known &known : question.prepared.zero) {
    Dim quotient = context_->floorDiv(difference, known.value);
    if (quotient && context_->mul(quotient, known.value) == difference) {
      question.from |= known.from;
      return question.answer(Proof::True);
    }
  }
  return question.answerIsZero(difference);
}

Verdict FactSet::proveLessEqual(Dim a, Dim b) const {
  Dim difference = context_->sub(b, a);
  if (!a || !b || context_->isPlainlyNonNegative(difference))
    return plain(Proof::True, Relation::LessEqual, a, b);
  // If the difference is always negative, the answer is no.
  if (context_->plainLowerBound(context_->negate(difference)).value_or(0) > 0)
    return plain(Proof::False, Relation::LessEqual, a, b);
  Question question(*this, Relation::LessEqual, a, b);
  difference = question.prepared.reduce(difference, question.from);
  if (!difference)
    return question.answer(Proof::Unknown);
  if (question.prover.isNonNegative(difference, question.from))
    return question.answer(Proof::True);
  // b - a <= -1 always means that a <= b never holds.
  Dim opposite = context_->sub(context_->constant(-1), difference);
  bool never = opposite && question.prover.isNonNegative(opposite, question.from);
  return question.answer(never ? Proof::False : Proof::Unknown);
}

Verdict FactSet::proveLess(Dim a, Dim b) const {
  Dim next = context_->add(a, one());
  // `a + 1` may be too large although `a` is not. That is no value in error, about which everything
  // counts as proved, so nothing is known of it.
  if (a && b && !next)
    return plain(Proof::Unknown, Relation::LessEqual, a, b);
  return proveLessEqual(next, b);
}

Verdict FactSet::proveDivides(Dim b, Dim a) const {
  if (!a || !b)
    return plain(Proof::True, Relation::Divides, a, b);
  Dim remainder = context_->mod(a, b);
  if (remainder.isConstant(0))
    return plain(Proof::True, Relation::Divides, a, b);
  Question question(*this, Relation::Divides, a, b);
  Dim value = question.prepared.reduce(a, question.from);
  Dim of = question.prepared.reduce(b, question.from);
  remainder = context_->mod(value, of);
  if (!remainder)
    return question.answer(Proof::Unknown);
  if (remainder.isConstant())
    return question.answer(remainder.isConstant(0) ? Proof::True : Proof::False);
  // value == x*y, where x % z == 0 is known and b divides z*y.
  for (const Prepared::Multiple &known : question.prepared.multiples) {
    Dim other = context_->floorDiv(value, known.value);
    if (!other || context_->mul(other, known.value) != value)
      continue;
    if (context_->mod(context_->mul(known.of, other), of).isConstant(0)) {
      question.from |= known.from;
      return question.answer(Proof::True);
    }
  }
  return question.answerIsZero(remainder);
}

Verdict FactSet::prove(Relation relation, Dim a, Dim b) const {
  switch (relation) {
  case Relation::Equal:
    return proveEqual(a, b);
  case Relation::LessEqual:
    return proveLessEqual(a, b);
  case Relation::Divides:
    return proveDivides(b, a);
  }
  return {};
}

Dim FactSet::reduce(Dim a) const {
  FactMask from;
  return a ? prepared().reduce(a, from) : a;
}

std::optional<int64_t> FactSet::upperBound(Dim a) const {
  Dim reduced = reduce(a);
  return reduced ? FactProver(prepared()).greatest(reduced) : std::nullopt;
}

bool FactSet::isWithin(Dim a, int64_t low, int64_t high) const {
  Dim reduced = reduce(a);
  // Values that satisfy all facts and leave the interval answer at once.
  if (!reduced || prepared().mayLeave(reduced, low, high))
    return false;
  std::optional<int64_t> upper = high == INT64_MAX ? high : upperBound(a);
  if (!upper || *upper > high)
    return false;
  std::optional<int64_t> lower = lowerBound(a);
  return lower && *lower >= low;
}

std::optional<int64_t> FactSet::lowerBound(Dim a) const {
  // The least value of `a` is the greatest of -a.
  std::optional<int64_t> bound = upperBound(context_->negate(a));
  return bound ? std::optional(-*bound) : std::nullopt;
}

Dim FactSet::symbolicLowerBound(Dim a, const AllowedSymbols &allowed) const {
  return boundFromBelow(*this, a, allowed);
}

Dim FactSet::symbolicUpperBound(Dim a, const AllowedSymbols &allowed) const {
  return context_->negate(symbolicLowerBound(context_->negate(a), allowed));
}

} // namespace ptl
