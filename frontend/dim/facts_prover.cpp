#include "frontend/dim/facts_prover.h"

#include "frontend/dim/facts_goals.h"

#include <algorithm>

namespace ptl {

/// Eliminations that one question may use; a case split needs several.
static constexpr int kMaxAttempts = 12;
/// Rounds in which rows may bring in monomials that bring in rows.
static constexpr int kMaxRounds = 6;
/// Facts multiplied by an atom in one elimination.
static constexpr int kMaxProducts = 24;

/// Choices of `min` and `max` that one question may split into cases.
static constexpr int kMaxSplits = 2;

/// Choices of `min` and `max` within each other that are looked through before elimination.
static constexpr int kMaxNested = 3;

/// Facts that are tried in a row before elimination.
static constexpr int kMaxLinks = 3;

/// In the place of a depth: the question was `!= 0`.
static constexpr int kNeverZero = -1;

static const FactMask noFacts;

/// A linear system whose columns are monomials. Rows come from a pool of candidates, and only those
/// that can cancel something: a monomial that is too great needs a row in which it is negative.
struct FactProver::System {
  struct Candidate {
    Dim value;
    const FactMask *from = &noFacts;
    bool isZero = false;
    Dim condition; ///< if known: the row holds where this is >= 0
    bool isUsed = false;
  };
  static constexpr uint8_t noColumn = 0xff;

  LinearSystem linear;
  LinearSystem::Given given;
  std::vector<const DimMonomial *> columns;
  std::vector<uint8_t> columnOf;                 ///< by the id of the monomial
  uint32_t needsPositive = 0, needsNegative = 0; ///< a bit for each column
  std::vector<Candidate> pool;
  std::vector<FactMask> from; ///< by origin number
  uint32_t maxDegree = 2;     ///< rows with greater products are left out

  /// Makes it empty and keeps the memory.
  void clear() {
    for (const DimMonomial *monomial : columns)
      columnOf[monomial->id] = noColumn;
    linear.clear();
    columns.clear();
    pool.clear();
    from.clear();
    needsPositive = needsNegative = 0;
    maxDegree = 2;
  }

  size_t find(const DimMonomial *monomial) const {
    return monomial->id < columnOf.size() ? columnOf[monomial->id] : noColumn;
  }
  size_t addColumn(const DimMonomial *monomial) {
    if (columnOf.size() <= monomial->id)
      columnOf.resize(monomial->id * size_t(2) + 64, noColumn);
    columnOf[monomial->id] = static_cast<uint8_t>(columns.size());
    columns.push_back(monomial);
    // New columns have the next number, so the first ones are those of the goal.
    return columns.size() - 1;
  }

  bool isUseful(const Candidate &candidate) const {
    std::span<const DimTerm> terms = candidate.value.terms();
    // A constant row may be a contradiction by itself.
    if (candidate.value.isConstant())
      return true;
    for (const DimTerm &term : terms) {
      size_t i = term.monomial->isOne() ? noColumn : find(term.monomial);
      if (i == noColumn)
        continue;
      // An equation can cancel either sign; an inequality only what it has with the opposite one.
      uint32_t needed = candidate.isZero       ? needsPositive | needsNegative
                        : term.coefficient > 0 ? needsPositive
                                               : needsNegative;
      if (needed >> i & 1)
        return true;
    }
    return false;
  }

  /// Fills `given`; false where the row passes a limit.
  bool row(Dim a, bool isZero) {
    given.columns = 0;
    given.constant = 0;
    for (const DimTerm &term : a.terms()) {
      if (term.monomial->isOne()) {
        given.constant = term.coefficient;
        continue;
      }
      size_t i = find(term.monomial);
      // Columns are limited, since their sets are bits of one word.
      if ((i == noColumn && columns.size() == LinearSystem::maxColumns) ||
          term.monomial->degree > maxDegree)
        return false;
      if (i == noColumn)
        i = addColumn(term.monomial);
      // A term with a positive coefficient can only be cancelled by a row in which it is negative.
      if (isZero || term.coefficient > 0)
        needsNegative |= uint32_t(1) << i;
      if (isZero || term.coefficient < 0)
        needsPositive |= uint32_t(1) << i;
      given.set(i, term.coefficient);
    }
    return true;
  }

  void add(Dim a, const FactMask &mask, bool isZero) {
    // Rows beyond the limit are left out, so that the system may prove less but nothing wrong.
    if (!a || linear.isFull() || !row(a, isZero))
      return;
    from.push_back(mask);
    isZero ? linear.giveEquation(given) : linear.give(given);
  }

  void allow(Dim goal) {
    for (const DimTerm &term : goal.terms())
      maxDegree = std::max(maxDegree, term.monomial->degree);
  }
};

/// What the prover keeps between questions: systems that are not in use, for their memory.
struct FactProver::Memory {
  std::vector<std::unique_ptr<System>> systems;
  /// By the id of the monomial; null where nobody asked. It rests on no facts.
  std::vector<std::unique_ptr<std::vector<DimKnowledge>>> knowledge;
};

/// A system for the time of one elimination.
class FactProver::BorrowedSystem {
public:
  explicit BorrowedSystem(Memory &memory) : memory_(memory) {
    if (memory.systems.empty()) {
      system_ = std::make_unique<System>();
      return;
    }
    // Systems are kept for their memory, since questions are many and short.
    system_ = std::move(memory.systems.back());
    memory.systems.pop_back();
  }
  ~BorrowedSystem() {
    system_->clear();
    memory_.systems.push_back(std::move(system_));
  }
  BorrowedSystem(const BorrowedSystem &) = delete;
  System &operator*() { return *system_; }

private:
  Memory &memory_;
  std::unique_ptr<System> system_;
};

FactProver::FactProver(const FactSet::Prepared &facts, int depth)
    : facts_(facts), context_(*facts.context), depth_(depth), memory_(memoryOf(context_)) {}

FactProver::Memory &FactProver::memoryOf(DimContext &context) {
  std::shared_ptr<void> &memory = context.proverMemory();
  if (!memory)
    // Columns are told apart within one system only; the memory goes on to the next.
    memory = std::make_shared<Memory>();
  return *static_cast<Memory *>(memory.get());
}

// ---- What is known of monomials -----------------------------------------------------------------

/// `b*q <= a < b*q + b`, times `rest`; for a symbolic divisor also what its bounds give for q
/// alone.
void FactProver::knowDivision(std::vector<DimKnowledge> &known, const DimAtom &atom, Dim rest) {
  Dim a = atom.operands[0], b = atom.operands[1], q = context_.atomDim(atom);
  Dim one = context_.constant(1);
  auto offer = [&](Dim value, Dim condition = {}) {
    known.push_back({context_.mul(value, rest), condition});
  };
  // The remainder is at least 0.
  Dim left = context_.sub(a, context_.mul(b, q));
  offer(left);
  // The remainder is at most the divisor less one.
  offer(context_.sub(context_.sub(b, one), left));
  // With a number as the divisor, nothing more follows that the elimination does not find.
  if (b.isConstant())
    return;
  // The quotient is no more than the dividend, where that is not below -1.
  offer(context_.sub(a, q), context_.add(a, one));
  if (!context_.isPlainlyNonNegative(a)) {
    offer(q, a);
    offer(context_.add(q, one), context_.add(a, one));
  }
  // The quotient is at least 1 where the dividend reaches the divisor.
  offer(context_.sub(q, one), context_.sub(a, b));
}

/// `min(x, y) <= x`, `x <= max(x, y)`, times `rest`.
void FactProver::knowChoice(std::vector<DimKnowledge> &known, const DimAtom &atom, Dim rest) {
  Dim value = context_.atomDim(atom);
  int64_t sign = atom.kind == DimAtomKind::Min ? 1 : -1;
  for (Dim operand : atom.operands)
    known.push_back({context_.mul(context_.scale(context_.sub(operand, value), sign), rest), {}});
}

const std::vector<DimKnowledge> &FactProver::know(const DimMonomial &monomial) {
  // What is known of a monomial rests on no facts, so it is derived once for the context.
  if (memory_.knowledge.size() <= monomial.id)
    memory_.knowledge.resize(monomial.id * size_t(2) + 64);
  if (const auto &known = memory_.knowledge[monomial.id])
    return *known;
  auto made = std::make_unique<std::vector<DimKnowledge>>();
  std::vector<DimKnowledge> &known = *made;
  Dim whole = context_.monomialDim(monomial), one = context_.constant(1);
  // The kinds of the symbols alone may bound the monomial.
  if (std::optional<int64_t> bound = context_.plainLowerBound(whole))
    known.push_back({context_.sub(whole, context_.constant(*bound)), {}});
  for (size_t i = 0; i < monomial.factors.size(); ++i) {
    const DimAtom &atom = *monomial.factors[i].atom;
    // `rest` is the monomial without one occurrence of the atom.
    Dim rest = one;
    for (size_t j = 0; j < monomial.factors.size(); ++j)
      for (uint32_t n = i == j ? 1 : 0; n < monomial.factors[j].power; ++n)
        rest = context_.mul(rest, context_.atomDim(*monomial.factors[j].atom));
    // A division inside of a product is also known by itself.
    if (atom.kind == DimAtomKind::FloorDiv && monomial.degree > 1)
      knowDivision(known, atom, one);
    // Facts may only be multiplied by what is not negative.
    if (!context_.isPlainlyNonNegative(rest))
      continue;
    if (atom.kind == DimAtomKind::FloorDiv)
      knowDivision(known, atom, rest);
    else if (isChoice(atom))
      knowChoice(known, atom, rest);
    // (x - 1)*rest >= 0 for x >= 1.
    int64_t bound = context_.plainLowerBound(context_.atomDim(atom)).value_or(0);
    if (monomial.degree > 1 && bound >= 1)
      known.push_back({context_.sub(whole, context_.scale(rest, bound)), {}});
  }
  std::erase_if(known,
                [](const DimKnowledge &row) { return !row.value || row.value.isConstant(); });
  memory_.knowledge[monomial.id] = std::move(made);
  return known;
}

// ---- Filling a system ---------------------------------------------------------------------------

void FactProver::offerProducts(System &system, Dim goal) {
  int products = 0;
  for (const DimTerm &term : goal.terms()) {
    if (term.monomial->degree != 2)
      continue;
    const DimAtom &first = *term.monomial->factors.front().atom;
    const DimAtom &last = *term.monomial->factors.back().atom;
    // Either factor may be the one that a fact speaks of.
    for (auto [x, y] : {std::pair(&first, &last), std::pair(&last, &first)}) {
      Dim factor = context_.atomDim(*x), about = context_.atomDim(*y);
      if (!context_.isPlainlyNonNegative(factor))
        continue;
      for (const FactSet::Prepared::Known &known : facts_.nonNegative) {
        // Only a fact about the other factor gives a product that can cancel the goal's.
        bool mentions = std::any_of(
            known.value.terms().begin(), known.value.terms().end(),
            [&](const DimTerm &other) { return other.monomial == about.terms()[0].monomial; });
        Dim product = mentions ? context_.mul(known.value, factor) : Dim();
        if (product && products++ < kMaxProducts)
          system.pool.push_back({product, &known.from, false, {}, false});
      }
    }
  }
}

/// Takes rows from the pool until none is useful.
void FactProver::fill(System &system) {
  for (const FactSet::Prepared::Known &known : facts_.zero)
    system.pool.push_back({known.value, &known.from, true, {}, false});
  for (const FactSet::Prepared::Known &known : facts_.nonNegative)
    system.pool.push_back({known.value, &known.from, false, {}, false});
  size_t known = 0;
  // Rows bring in new monomials, about which more may be known, so this repeats until nothing is
  // useful.
  for (int round = 0; round < kMaxRounds; ++round) {
    size_t before = system.linear.given();
    for (; known < system.columns.size(); ++known)
      for (const DimKnowledge &row : know(*system.columns[known]))
        // Conditions are questions themselves, which are only asked within the depth.
        if (depth_ > 0 || !row.condition)
          system.pool.push_back({row.value, &noFacts, false, row.condition, false});
    for (System::Candidate &candidate : system.pool) {
      if (candidate.isUsed || !system.isUseful(candidate))
        continue;
      candidate.isUsed = true;
      FactMask from = *candidate.from;
      if (!candidate.condition ||
          FactProver(facts_, depth_ - 1).isNonNegative(candidate.condition, from))
        system.add(candidate.value, from, candidate.isZero);
    }
    if (system.linear.given() == before)
      break;
  }
}

// ---- Questions ----------------------------------------------------------------------------------

/// One case for each operand that the `min` or `max` may be.
bool FactProver::refutesCases(const std::vector<Assumption> &assumptions, const DimAtom &atom,
                              FactMask &from, int splits) {
  FactMask all;
  for (Dim chosen : atom.operands) {
    std::vector<Assumption> given = assumptions;
    // In this case the choice is the operand, and the operand beats all others.
    given.push_back({context_.sub(context_.atomDim(atom), chosen), true, &atom});
    for (Dim other : atom.operands) {
      Dim less =
          atom.kind == DimAtomKind::Min ? context_.sub(other, chosen) : context_.sub(chosen, other);
      if (other != chosen)
        given.push_back({less, false});
    }
    // All cases have to be refuted, and together they may need facts of each.
    if (!refutes(given, all, splits - 1))
      return false;
  }
  from |= all;
  return true;
}

bool FactProver::eliminates(const std::vector<Assumption> &assumptions, bool withProducts,
                            FactMask &from, const DimAtom *&choice) {
  // The limit bounds the time of one question with all of its case splits.
  if (++attempts_ > kMaxAttempts)
    return false;
  BorrowedSystem borrowed(memory_);
  System &system = *borrowed;
  for (const Assumption &assumption : assumptions)
    system.allow(assumption.value);
  for (const Assumption &assumption : assumptions)
    system.add(assumption.value, noFacts, assumption.isZero);
  if (withProducts)
    offerProducts(system, assumptions[0].value);
  fill(system);
  if (std::optional<LinearSystem::Origins> origins = system.linear.refute()) {
    // The origins of the contradiction tell which facts the proof needs.
    for (size_t i = 0; i < system.from.size(); ++i)
      if (*origins >> i & 1)
        from |= system.from[i];
    return true;
  }
  // If the elimination fails, the first choice that is not split yet is offered for a case split.
  choice = nullptr;
  for (const DimMonomial *column : system.columns)
    for (const DimFactor &factor : column->factors) {
      bool isSplit =
          std::any_of(assumptions.begin(), assumptions.end(),
                      [&](const Assumption &other) { return other.chosenFor == factor.atom; });
      if (!choice && !isSplit && isChoice(*factor.atom))
        choice = factor.atom;
    }
  return false;
}

bool FactProver::refutes(const std::vector<Assumption> &assumptions, FactMask &from, int splits) {
  // The columns of the goal come first, so a choice in the goal is split before one of a fact.
  const DimAtom *choice = nullptr;
  if (eliminates(assumptions, false, from, choice))
    return true;
  // Products of facts are many, so they are tried only for goals that have products.
  if (hasProduct(assumptions[0].value) && eliminates(assumptions, true, from, choice))
    return true;
  // `q <= c` of a quotient by a symbol is `b*q <= b*c`, and that is about what was divided.
  const Assumption &first = assumptions[0];
  if (Dim divisor = first.isZero ? Dim() : symbolicDivisor(context_, first.value)) {
    std::vector<Assumption> more = assumptions;
    more.push_back({context_.mul(tightened(context_, first.value), divisor), false, nullptr});
    const DimAtom *none = nullptr;
    if (more.back().value && eliminates(more, false, from, none))
      return true;
  }
  // A case split is the most expensive way, and comes last.
  return splits > 0 && choice && refutesCases(assumptions, *choice, from, splits);
}

/// Whether `b` has a term of `a` that is too small, so that `a - b` is without it.
static bool cancels(Dim a, Dim b) {
  // The bits are a filter: without common symbols nothing cancels.
  if ((a.symbolBits() & b.symbolBits()) == 0)
    return false;
  auto x = a.terms().begin(), end = a.terms().end();
  for (const DimTerm &term : b.terms()) {
    // Terms of both are sorted by their monomials, so one pass finds the common ones.
    while (x != end && x->monomial->id < term.monomial->id)
      ++x;
    if (x == end)
      return false;
    // The term has to be negative in both with the same coefficient, so that it disappears from the
    // difference.
    if (term.coefficient < 0 && *x == term)
      return true;
  }
  return false;
}

/// Most questions: a fact says it or more, or a few facts in a row do (`k.end <= i.end <= N`).
bool FactProver::followsFromChain(Dim a, FactMask &from, int links) {
  for (const FactSet::Prepared::Known &known : facts_.nonNegative) {
    if (!cancels(a, known.value))
      continue;
    FactMask mask = from | known.from;
    if (!context_.isPlainlyAtLeast(a, known.value)) {
      // The rest after one fact may follow from another one, up to a few in a row.
      Dim rest = links > 1 ? context_.sub(a, known.value) : Dim();
      if (!rest || !followsFromChain(rest, mask, links - 1))
        continue;
    }
    from = mask;
    return true;
  }
  return false;
}

/// A fact says it or more, also where no term is too small: `0 <= i` of a loop index.
bool FactProver::followsFromOne(Dim a, FactMask &from) {
  for (const FactSet::Prepared::Known &known : facts_.nonNegative) {
    if ((known.value.symbolBits() & a.symbolBits()) == 0 ||
        !context_.isPlainlyAtLeast(a, known.value))
      continue;
    from |= known.from;
    return true;
  }
  return false;
}

/// A sum of products of factors that are not negative: `8 * i * N` of a loop index.
bool FactProver::followsFromFactors(Dim a, FactMask &from) {
  FactMask mask;
  bool all = std::ranges::all_of(a.terms(), [&](const DimTerm &term) {
    return term.coefficient > 0 &&
           std::ranges::all_of(term.monomial->factors, [&](const DimFactor &factor) {
             Dim own = context_.atomDim(*factor.atom);
             return context_.isPlainlyNonNegative(own) || followsFromOne(own, mask);
           });
  });
  if (all)
    from |= mask;
  return all;
}

/// `rest + min(x, y) >= 0` is `rest + x >= 0` and `rest + y >= 0`, and `rest - min(x, y) >= 0` follows from
/// `rest - x >= 0` or `rest - y >= 0`; maxima the other way round. Operands may be such sums themselves.
bool FactProver::followsByOperands(Dim a, FactMask &from, int depth) {
  for (const DimTerm &term : a.terms()) {
    const DimAtom *atom = term.monomial->degree == 1 ? term.monomial->factors[0].atom : nullptr;
    if (!atom || !isChoice(*atom))
      continue;
    Dim rest = context_.sub(a, context_.scale(context_.atomDim(*atom), term.coefficient));
    FactMask mask;
    auto holds = [&](Dim operand) {
      Dim chosen = context_.add(rest, context_.scale(operand, term.coefficient));
      return context_.isPlainlyNonNegative(chosen) ||
             (chosen && (followsFromChain(chosen, mask, kMaxLinks) ||
                         followsFromOne(chosen, mask) || followsFromFactors(chosen, mask) ||
                         (depth > 1 && followsByOperands(chosen, mask, depth - 1))));
    };
    // A minimum with a positive coefficient, or a maximum with a negative one, is the worst of its
    // operands; otherwise it is no worse than any of them.
    bool isWorst = (atom->kind == DimAtomKind::Min) == (term.coefficient > 0);
    if (isWorst ? !std::ranges::all_of(atom->operands, holds)
                : !std::ranges::any_of(atom->operands, holds))
      continue;
    from |= mask;
    return true;
  }
  return false;
}

/// The answer to a question about `a`, which is asked again and again while types are compared:
/// `find(used)` answers it the first time.
template <typename Find>
bool FactProver::remembered(Dim a, int question, FactMask &from, Find find) {
  const std::optional<FactMask> *known = facts_.answer(a, question);
  std::optional<FactMask> answer;
  if (!known) {
    FactMask used;
    if (find(used))
      answer = used;
    facts_.asked.set(a.id(), question, answer);
    known = &answer;
  }
  if (*known)
    from |= **known;
  return known->has_value();
}

bool FactProver::isNonNegative(Dim a, FactMask &from) {
  // Many questions need no facts, and are not stored.
  if (!a || context_.isPlainlyNonNegative(a))
    return a.isKnown();
  auto find = [&](FactMask &used) { return findsNonNegative(a, used, kMaxNested); };
  return remembered(a, depth_, from, find);
}

/// As `followsByOperands`, but each operand is a question by itself: a case split keeps the choice in its goal, and finds nothing
/// that rests on the form of the goal, such as multiples of a divisor.
bool FactProver::findsAllOperands(Dim a, FactMask &used, int nested) {
  for (const DimTerm &term : a.terms()) {
    const DimAtom *atom = term.monomial->degree == 1 ? term.monomial->factors[0].atom : nullptr;
    if (!atom || !isChoice(*atom) || (atom->kind == DimAtomKind::Min) != (term.coefficient > 0))
      continue;
    Dim rest = context_.sub(a, context_.scale(context_.atomDim(*atom), term.coefficient));
    FactMask all;
    auto holds = [&](Dim operand) {
      Dim chosen = context_.add(rest, context_.scale(operand, term.coefficient));
      return context_.isPlainlyNonNegative(chosen) ||
             (chosen && findsNonNegative(chosen, all, nested - 1));
    };
    if (std::ranges::all_of(atom->operands, holds))
      return used |= all, true;
  }
  return false;
}

bool FactProver::findsNonNegative(Dim a, FactMask &used, int nested) {
  // The proof is by contradiction: a < 0 is -1 - a >= 0 over the integers.
  Dim opposite = context_.sub(context_.constant(-1), a);
  // The opposite holds always, so there is no proof.
  if (!opposite || context_.isPlainlyNonNegative(opposite))
    return false;
  // The cheap ways come before the elimination.
  if (followsFromChain(a, used, kMaxLinks) || followsFromOne(a, used) ||
      followsFromFactors(a, used) || followsByOperands(a, used, kMaxNested))
    return true;
  // Values that satisfy all facts and make `a` negative show that there is no proof.
  if (facts_.mayBeNegative(a))
    return false;
  attempts_ = 0;
  return refutes({{opposite, false, nullptr}}, used, depth_ == 0 ? 0 : kMaxSplits) ||
         (depth_ > 0 && nested > 0 && findsAllOperands(a, used, nested));
}

bool FactProver::isZero(Dim a, FactMask &from) {
  if (!a || a.isConstant())
    return a.isConstant(0);
  FactMask mask;
  // Zero is both at least 0 and at most 0.
  if (facts_.mayDifferFromZero(a) || !isNonNegative(a, mask) ||
      !isNonNegative(context_.negate(a), mask))
    return false;
  from |= mask;
  return true;
}

bool FactProver::isNeverZero(Dim a, FactMask &from) {
  if (!a || a.isConstant())
    return a && !a.isConstant(0);
  return remembered(a, kNeverZero, from, [&](FactMask &used) {
    attempts_ = 0;
    // The assumption is a = 0, which has to contradict the facts.
    return !facts_.mayBeZero(a) && refutes({{a, true, nullptr}}, used, 0);
  });
}

std::optional<int64_t> FactProver::greatest(Dim a) {
  if (!a || a.isConstant())
    return a.constant();
  // The column of `a` itself stands first, under the monomial 1, which no row looks up.
  BorrowedSystem borrowed(memory_);
  System &system = *borrowed;
  system.addColumn(context_.constant(1).terms()[0].monomial);
  system.allow(a);
  if (!system.row(context_.negate(a), true))
    return std::nullopt;
  // The first column equals `a`, so eliminating all others leaves its bounds.
  system.given.set(0, 1);
  system.from.emplace_back();
  system.linear.giveEquation(system.given);
  offerProducts(system, a);
  fill(system);
  return system.linear.greatest(0);
}

} // namespace ptl
