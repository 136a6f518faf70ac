// Proofs against enumeration: what is proved must hold for all small values that satisfy the facts,
// what is refuted must fail for all of them.
#include "frontend/dim/facts.h"
#include "frontend/dim/facts_explain.h"

#include <gtest/gtest.h>
#include <random>

namespace ptl {
namespace {

using Values = std::vector<int64_t>; ///< by symbol index

class Randomised {
public:
  explicit Randomised(uint32_t seed) : random(seed) {
    for (const char *name : {"A", "B", "C"})
      symbols.push_back(dims.addSymbol(name, SymbolKind::DimensionParam));
    symbols.push_back(dims.addSymbol("T", SymbolKind::Tunable));
    symbols.push_back(dims.addSymbol("s", SymbolKind::ScalarValue));
  }

  int64_t pick(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(random() % static_cast<uint64_t>(hi - lo + 1));
  }
  Dim symbol() { return dims.symbolDim(symbols[random() % symbols.size()]); }

  Dim term() {
    switch (pick(0, 9)) {
    case 0:
      return dims.mul(symbol(), symbol());
    case 1:
      return dims.floorDiv(symbol(), dims.constant(pick(1, 4)));
    case 2:
      return dims.ceilDiv(symbol(), tunable());
    case 3:
      return dims.min(symbol(), dims.add(symbol(), dims.constant(pick(-1, 2))));
    case 4:
      return dims.max(symbol(), symbol());
    case 5:
      return dims.mod(symbol(), dims.constant(pick(2, 4)));
    default:
      return symbol();
    }
  }
  Dim sum() {
    Dim result = dims.constant(pick(-2, 3));
    for (int64_t n = pick(1, 2); n > 0; --n)
      result = dims.add(result, dims.scale(term(), pick(0, 5) == 0 ? -1 : pick(1, 2)));
    return result;
  }
  Dim tunable() { return dims.symbolDim(symbols[3]); }

  void addFact(FactSet &facts) {
    switch (pick(0, 5)) {
    case 0:
      return facts.addEqual(sum(), sum());
    case 1:
      return facts.addDivides(pick(0, 1) ? tunable() : dims.constant(pick(2, 4)), sum());
    case 2:
      return facts.addEqual(symbol(), sum());
    default:
      return facts.addLessEqual(sum(), sum());
    }
  }

  /// `tiles(0..A, T)` or `tiles(s..B, T)`.
  void addRange(FactSet &facts) {
    range.start = dims.addSymbol("r.start", SymbolKind::RangeStart);
    range.len = dims.addSymbol("r.len", SymbolKind::RangeLen);
    range.count = dims.addSymbol("r.count", SymbolKind::RangeCount);
    range.lo = pick(0, 1) ? dims.constant(0) : dims.symbolDim(symbols[4]);
    range.hi = dims.symbolDim(symbols[static_cast<size_t>(pick(0, 1))]);
    range.size = tunable();
    symbols.insert(symbols.end(), {range.start, range.len, range.count});
    facts.addTilesRange(range);
  }

  /// All small assignments that satisfy the facts.
  std::vector<Values> models(const FactSet &facts) {
    std::vector<Values> result;
    std::vector<Fact> all = facts.facts();
    auto visit = [&](const Values &values) {
      auto lookup = lookupIn(values);
      for (const Fact &fact : all)
        if (!holds(fact.relation, fact.a, fact.b, lookup))
          return;
      result.push_back(values);
    };
    for (int64_t i = 0; i < 5 * 5 * 5 * 3 * 6; ++i) {
      Values values{i % 5, i / 5 % 5, i / 25 % 5, i / 125 % 3 + 1, i / 375 - 2};
      if (!range.size) {
        visit(values);
        continue;
      }
      int64_t lo = *evaluate(range.lo, lookupIn(values)),
              hi = *evaluate(range.hi, lookupIn(values));
      for (int64_t count = 0, start = lo; start < hi; ++count, start += values[3]) {
        Values inside = values;
        inside.insert(inside.end(), {start, std::min(values[3], hi - start), count});
        visit(inside);
      }
    }
    return result;
  }

  static DimLookup lookupIn(const Values &values) {
    return [&values](SymbolId symbol) {
      return symbol.index < values.size() ? std::optional(values[symbol.index]) : std::nullopt;
    };
  }

  static bool holds(Relation relation, Dim a, Dim b, const DimLookup &lookup) {
    int64_t x = *evaluate(a, lookup), y = *evaluate(b, lookup);
    switch (relation) {
    case Relation::Equal:
      return x == y;
    case Relation::LessEqual:
      return x <= y;
    case Relation::Divides:
      return y > 0 && x % y == 0;
    }
    return false;
  }

  DimContext dims;
  std::vector<SymbolId> symbols;
  std::mt19937 random;
  TilesRange range;
};

struct Counts {
  int proved = 0, refuted = 0, unknown = 0;
};

std::string describe(Randomised &world, const FactSet &facts, const Values &values) {
  std::string text;
  for (const Fact &fact : facts.facts())
    text += "\n  given " + toString(world.dims, fact.relation, fact.a, fact.b);
  for (size_t i = 0; i < values.size(); ++i)
    text += "\n  " + world.dims.symbol(world.symbols[i]).name + " = " + std::to_string(values[i]);
  return text;
}

void checkVerdict(Randomised &world, const FactSet &facts, const std::vector<Values> &models,
                  const Verdict &verdict, Counts &counts) {
  counts.proved += verdict.isTrue();
  counts.refuted += verdict.isFalse();
  counts.unknown += verdict.proof == Proof::Unknown;
  if (verdict.proof == Proof::Unknown)
    return;
  for (const Values &values : models) {
    bool holds =
        Randomised::holds(verdict.relation, verdict.a, verdict.b, Randomised::lookupIn(values));
    if (holds == verdict.isTrue())
      continue;
    std::string text = toString(world.dims, verdict.relation, verdict.a, verdict.b) +
                       describe(world, facts, values);
    FAIL() << (verdict.isTrue() ? "proved " : "refuted ") << text;
  }
}

void checkBounds(Randomised &world, const FactSet &facts, const std::vector<Values> &models,
                 Dim goal) {
  std::optional<int64_t> upper = facts.upperBound(goal), lower = facts.lowerBound(goal);
  auto allowed = [&](SymbolId symbol) {
    return world.dims.symbol(symbol).kind == SymbolKind::Tunable;
  };
  Dim symbolic = facts.symbolicUpperBound(goal, allowed);
  Dim reduced = facts.reduce(goal);
  for (const Values &values : models) {
    auto lookup = Randomised::lookupIn(values);
    int64_t value = *evaluate(goal, lookup);
    if (upper)
      ASSERT_LE(value, *upper) << world.dims.toString(goal);
    if (lower)
      ASSERT_GE(value, *lower) << world.dims.toString(goal);
    if (symbolic)
      ASSERT_LE(value, *evaluate(symbolic, lookup))
          << world.dims.toString(goal) << " <= " << world.dims.toString(symbolic)
          << describe(world, facts, values);
    if (std::optional<int64_t> same = evaluate(reduced, lookup))
      ASSERT_EQ(value, *same) << world.dims.toString(goal);
  }
}

TEST(FactsProperty, VerdictsAgreeWithEnumeration) {
  Counts counts;
  for (uint32_t seed = 0; seed < 120; ++seed) {
    Randomised world(seed);
    FactSet facts(world.dims);
    if (seed % 2)
      world.addRange(facts);
    for (int64_t n = world.pick(0, 3); n > 0; --n)
      world.addFact(facts);
    std::vector<Values> models = world.models(facts);
    if (models.empty())
      continue;
    for (int goal = 0; goal < 12; ++goal) {
      Dim a = world.sum(), b = world.sum();
      checkVerdict(world, facts, models, facts.proveEqual(a, b), counts);
      checkVerdict(world, facts, models, facts.proveLessEqual(a, b), counts);
      Dim divisor = world.pick(0, 1) ? world.tunable() : world.dims.constant(world.pick(2, 4));
      checkVerdict(world, facts, models, facts.proveDivides(divisor, a), counts);
      checkBounds(world, facts, models, a);
      if (testing::Test::HasFatalFailure())
        FAIL() << "seed " << seed;
    }
  }
  EXPECT_GT(counts.proved, 100);
  EXPECT_GT(counts.refuted, 100);
  RecordProperty("proved", counts.proved);
  RecordProperty("unknown", counts.unknown);
}

/// For `<=` over at most linear facts the procedure should decide nearly all of what enumeration
/// does.
TEST(FactsProperty, LinearQuestionsAreMostlyDecided) {
  int decided = 0, decidable = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Randomised world(seed);
    FactSet facts(world.dims);
    for (SymbolId symbol : world.symbols) {
      facts.addLessEqual(world.dims.constant(-2), world.dims.symbolDim(symbol));
      facts.addLessEqual(world.dims.symbolDim(symbol), world.dims.constant(3));
    }
    facts.addLessEqual(world.symbol(), world.symbol());
    facts.addLess(world.symbol(), world.dims.add(world.symbol(), world.symbol()));
    std::vector<Values> models = world.models(facts);
    if (models.empty())
      continue;
    for (int goal = 0; goal < 10; ++goal) {
      Dim a = world.symbol(), b = world.dims.add(world.symbol(), world.symbol());
      bool always = true, never = true;
      for (const Values &values : models)
        (Randomised::holds(Relation::LessEqual, a, b, Randomised::lookupIn(values)) ? never
                                                                                    : always) =
            false;
      if (!always && !never)
        continue;
      ++decidable;
      decided += facts.proveLessEqual(a, b).proof == (always ? Proof::True : Proof::False);
    }
  }
  EXPECT_GT(decidable, 100);
  EXPECT_GE(decided * 100, decidable * 98) << decided << " of " << decidable;
}

} // namespace
} // namespace ptl
