#include "frontend/dim/facts_explain.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

class FactsTest : public testing::Test {
protected:
  Dim make(const char *name, SymbolKind kind) { return dims.symbolDim(dims.addSymbol(name, kind)); }
  Dim param(const char *name) { return make(name, SymbolKind::DimensionParam); }
  Dim c(int64_t value) { return dims.constant(value); }
  Dim add(Dim a, Dim b) { return dims.add(a, b); }
  Dim sub(Dim a, Dim b) { return dims.sub(a, b); }
  Dim mul(Dim a, Dim b) { return dims.mul(a, b); }

  struct Range {
    Dim start, len, count, end;
  };
  Range tiles(FactSet &facts, const std::string &name, Dim lo, Dim hi, Dim size) {
    SymbolId start = dims.addSymbol(name + ".start", SymbolKind::RangeStart);
    SymbolId len = dims.addSymbol(name + ".len", SymbolKind::RangeLen);
    SymbolId count = dims.addSymbol(name + ".count", SymbolKind::RangeCount);
    facts.addTilesRange({start, len, count, lo, hi, size, true, {}});
    Range range{dims.symbolDim(start), dims.symbolDim(len), dims.symbolDim(count), {}};
    range.end = add(range.start, range.len);
    return range;
  }
  Dim loop(FactSet &facts, const char *name, Dim lo, Dim hi, int64_t step = 1) {
    SymbolId index = dims.addSymbol(name, SymbolKind::LoopIndex);
    facts.addLoopIndex({index, lo, hi, c(step), {}});
    return dims.symbolDim(index);
  }
  std::string why(const FactSet &facts, const Verdict &verdict) { return explain(facts, verdict); }

  DimContext dims;
  Dim N = param("N"), M = param("M"), K = param("K"), S = param("S");
  Dim T = make("T", SymbolKind::Tunable), BK = make("BK", SymbolKind::Tunable);
  Dim s = make("s", SymbolKind::ScalarValue);
};

#define EXPECT_TRUE_FACT(v) EXPECT_EQ((v).proof, Proof::True)
#define EXPECT_FALSE_FACT(v) EXPECT_EQ((v).proof, Proof::False)
#define EXPECT_UNKNOWN(v) EXPECT_EQ((v).proof, Proof::Unknown)

TEST_F(FactsTest, whatIsTooLargeIsNotProved) {
  FactSet facts(dims);
  Dim most = c(INT64_MAX), least = c(INT64_MIN);
  EXPECT_EQ(facts.proveLess(add(N, most), N).proof, Proof::Unknown);
  EXPECT_EQ(facts.proveLess(most, N).proof, Proof::Unknown);
  EXPECT_TRUE(facts.proveLess(N, add(N, most)).isTrue());
  // Values in error are not reported again.
  EXPECT_TRUE(facts.proveLess(Dim(), N).isTrue());
  // The least number has no negation, so it is too large for a formula.
  EXPECT_FALSE(least);
  EXPECT_FALSE(sub(c(-1), most));
}

TEST_F(FactsTest, KindsBoundSymbols) {
  FactSet facts(dims);
  EXPECT_TRUE_FACT(facts.proveNonNegative(N));
  EXPECT_TRUE_FACT(facts.proveLessEqual(c(1), T));
  EXPECT_UNKNOWN(facts.proveNonNegative(s));
  EXPECT_FALSE_FACT(facts.proveLess(N, N));
  EXPECT_FALSE_FACT(facts.proveEqual(add(N, c(1)), N));
  EXPECT_TRUE_FACT(facts.proveLessEqual(N, mul(N, T)));
  EXPECT_UNKNOWN(facts.proveEqual(N, M));
  EXPECT_FALSE_FACT(facts.proveEqual(dims.scale(N, 2), add(dims.scale(M, 2), c(1))));
}

TEST_F(FactsTest, UnknownOperandsHold) {
  FactSet facts(dims);
  facts.addEqual(N, Dim());
  EXPECT_TRUE(facts.facts().empty());
  EXPECT_TRUE_FACT(facts.proveEqual(N, Dim()));
  EXPECT_TRUE_FACT(facts.proveLess(Dim(), N));
  EXPECT_TRUE_FACT(facts.proveDivides(Dim(), N));
}

TEST_F(FactsTest, EquationsRewrite) {
  FactSet facts(dims);
  facts.addEqual(N, M);
  FactSet inner = facts;
  inner.addEqual(mul(M, K), S);
  EXPECT_TRUE_FACT(facts.proveEqual(mul(N, K), mul(M, K)));
  EXPECT_UNKNOWN(facts.proveEqual(mul(N, K), S));
  Verdict verdict = inner.proveEqual(mul(N, K), S);
  EXPECT_TRUE_FACT(verdict);
  EXPECT_EQ(why(inner, verdict), "it follows from `N == M` and `M*K == S`");
  EXPECT_EQ(inner.reduce(mul(N, K)), inner.reduce(S));
}

TEST_F(FactsTest, EquationsWithoutALoneSymbol) {
  FactSet facts(dims);
  facts.addEqual(mul(M, N), mul(K, S));
  EXPECT_TRUE_FACT(facts.proveEqual(mul(mul(M, N), T), mul(mul(K, S), T)));
  EXPECT_TRUE_FACT(facts.proveLessEqual(mul(M, N), add(mul(K, S), c(3))));
  EXPECT_FALSE_FACT(facts.proveEqual(mul(M, N), add(mul(K, S), c(3))));
}

// None of the symbols stands alone until `s` is 1. Solving the first equation changes the second.
TEST_F(FactsTest, OneEquationSolvesSeveral) {
  FactSet facts(dims);
  facts.addEqual(mul(s, N), dims.scale(M, 2));
  facts.addEqual(mul(s, K), dims.scale(N, 2));
  EXPECT_UNKNOWN(facts.proveEqual(K, dims.scale(M, 4)));
  facts.addEqual(s, c(1));
  EXPECT_TRUE_FACT(facts.proveEqual(K, dims.scale(M, 4)));
  EXPECT_EQ(facts.reduce(mul(K, S)), facts.reduce(mul(dims.scale(M, 4), S)));
}

TEST_F(FactsTest, AQuotientOfAMultipleIsTheOtherFactor) {
  FactSet facts(dims);
  facts.addLessEqual(c(1), s);
  facts.addLessEqual(c(1), S);
  Dim t = make("t", SymbolKind::ScalarValue);
  for (Dim factor : {s, S, T, add(s, N), mul(s, S)})
    for (Dim other : {N, add(N, M), mul(N, M), t, sub(N, M)}) {
      EXPECT_TRUE_FACT(facts.proveEqual(dims.ceilDiv(mul(factor, other), factor), other));
      EXPECT_TRUE_FACT(facts.proveEqual(dims.floorDiv(mul(factor, other), factor), other));
    }
  EXPECT_TRUE_FACT(facts.proveEqual(dims.ceilDiv(sub(mul(S, N), sub(S, c(1))), S), N));
}

TEST_F(FactsTest, DivisibilityFoldsDivisions) {
  FactSet facts(dims);
  facts.addDivides(c(16), K);
  EXPECT_TRUE_FACT(facts.proveEqual(dims.scale(dims.floorDiv(K, c(16)), 16), K));
  EXPECT_TRUE_FACT(facts.proveDivides(c(8), K));
  EXPECT_TRUE_FACT(facts.proveDivides(c(16), mul(K, N)));
  EXPECT_TRUE_FACT(facts.proveEqual(dims.floorDiv(K, c(16)), dims.ceilDiv(K, c(16))));
  EXPECT_UNKNOWN(facts.proveDivides(c(32), K));
  EXPECT_FALSE_FACT(facts.proveDivides(c(16), add(K, c(4))));
  Verdict verdict = facts.proveDivides(c(8), add(K, c(3)));
  EXPECT_EQ(why(facts, verdict),
            "`K + 3` is never a multiple of `8`, the remainder is always 3, by `K % 16 == 0`");
}

TEST_F(FactsTest, DivisibilityBySymbols) {
  FactSet facts(dims);
  facts.addDivides(T, K);
  EXPECT_TRUE_FACT(facts.proveEqual(mul(T, dims.floorDiv(K, T)), K));
  EXPECT_TRUE_FACT(facts.proveDivides(T, mul(K, N)));
  facts.addDivides(c(6), mul(N, M));
  EXPECT_TRUE_FACT(facts.proveDivides(c(3), mul(N, M)));
  EXPECT_TRUE_FACT(facts.proveDivides(c(6), mul(K, mul(N, M))));
}

TEST_F(FactsTest, InequalitiesEliminate) {
  FactSet facts(dims);
  facts.addLessEqual(N, M);
  facts.addLessEqual(M, c(8192));
  EXPECT_TRUE_FACT(facts.proveLessEqual(N, c(8192)));
  EXPECT_FALSE_FACT(facts.proveLess(c(8192), N));
  EXPECT_EQ(facts.upperBound(N), 8192);
  EXPECT_EQ(facts.upperBound(add(N, dims.scale(M, 2))), 3 * 8192);
  EXPECT_EQ(facts.lowerBound(N), 0);
  EXPECT_EQ(facts.upperBound(K), std::nullopt);
  EXPECT_EQ(facts.upperBound(dims.min(K, N)), 8192);
  EXPECT_EQ(facts.upperBound(dims.ceilDiv(N, c(64))), 128);
}

/// Pieces of a length, the last ones of which may be empty.
TEST_F(FactsTest, PiecesLieWithin) {
  FactSet facts(dims);
  Dim i = loop(facts, "i", c(0), c(24));
  for (Dim most : {M, add(mul(c(64), M), c(64)), dims.floorDiv(K, c(64))}) {
    Dim begin = dims.min(mul(i, most), K), length = dims.min(most, sub(K, begin));
    EXPECT_TRUE_FACT(facts.proveNonNegative(begin));
    EXPECT_TRUE_FACT(facts.proveNonNegative(length));
    EXPECT_TRUE_FACT(facts.proveLessEqual(begin, K));
    EXPECT_TRUE_FACT(facts.proveLessEqual(begin, add(begin, length)));
    EXPECT_TRUE_FACT(facts.proveLessEqual(add(begin, length), K));
  }
}

TEST_F(FactsTest, DivisionBounds) {
  FactSet facts(dims);
  EXPECT_TRUE_FACT(facts.proveLessEqual(dims.scale(dims.floorDiv(N, c(16)), 16), N));
  EXPECT_TRUE_FACT(facts.proveLess(dims.mod(N, c(16)), c(16)));
  EXPECT_TRUE_FACT(facts.proveLess(dims.mod(N, T), T));
  EXPECT_TRUE_FACT(facts.proveNonNegative(dims.mod(N, T)));
  EXPECT_TRUE_FACT(facts.proveLessEqual(N, mul(T, dims.ceilDiv(N, T))));
  EXPECT_TRUE_FACT(facts.proveLessEqual(dims.floorDiv(N, T), N));
  EXPECT_TRUE_FACT(facts.proveLessEqual(dims.ceilDiv(N, T), N));
  EXPECT_TRUE_FACT(facts.proveNonNegative(dims.ceilDiv(N, T)));
  facts.addLessEqual(c(1), N);
  EXPECT_TRUE_FACT(facts.proveLessEqual(c(1), dims.ceilDiv(N, T)));
}

TEST_F(FactsTest, MinAndMaxBounds) {
  FactSet facts(dims);
  EXPECT_TRUE_FACT(facts.proveLessEqual(dims.min(N, M), N));
  EXPECT_TRUE_FACT(facts.proveLessEqual(N, dims.max(N, M)));
  EXPECT_TRUE_FACT(facts.proveLessEqual(dims.min(N, M), dims.max(N, K)));
  EXPECT_TRUE_FACT(facts.proveEqual(add(dims.min(N, M), dims.max(N, M)), add(N, M)));
  facts.addLessEqual(N, M);
  EXPECT_TRUE_FACT(facts.proveEqual(dims.min(N, M), N));
  EXPECT_TRUE_FACT(facts.proveEqual(dims.max(N, M), M));
  facts.addLessEqual(K, dims.min(N, S));
  EXPECT_TRUE_FACT(facts.proveLessEqual(K, M));
}

TEST_F(FactsTest, TilesStayInBounds) {
  FactSet facts(dims);
  Range i = tiles(facts, "i", c(0), N, T);
  EXPECT_TRUE_FACT(facts.proveNonNegative(i.start));
  EXPECT_TRUE_FACT(facts.proveLessEqual(i.end, N));
  EXPECT_TRUE_FACT(facts.proveLess(i.start, N));
  EXPECT_TRUE_FACT(facts.proveLessEqual(i.len, T));
  EXPECT_TRUE_FACT(facts.proveLessEqual(i.len, N));
  EXPECT_TRUE_FACT(facts.proveEqual(i.len, dims.min(T, sub(N, i.start))));
  EXPECT_UNKNOWN(facts.proveEqual(i.len, T));
  EXPECT_TRUE_FACT(facts.proveEqual(i.start, mul(T, i.count)));
  EXPECT_TRUE_FACT(facts.proveLess(i.count, dims.ceilDiv(N, T)));
  Verdict outside = facts.proveLessEqual(i.end, M);
  EXPECT_UNKNOWN(outside);
  EXPECT_EQ(missingFact(facts, outside).text, "N <= M");
  EXPECT_TRUE(missingFact(facts, outside).isWhere);
  EXPECT_EQ(why(facts, outside), "it is not known that `i.start + i.len` is at most `M`");
  facts.addLessEqual(N, M);
  EXPECT_TRUE_FACT(facts.proveLessEqual(i.end, M));
}

TEST_F(FactsTest, FullTilesHaveTheTileSize) {
  FactSet facts(dims);
  Range k = tiles(facts, "k", c(0), K, BK);
  FactSet later = facts;
  later.addDivides(BK, K);
  EXPECT_UNKNOWN(facts.proveEqual(k.len, BK));
  EXPECT_TRUE_FACT(later.proveEqual(k.len, BK));
  FactSet constants(dims);
  constants.addDivides(c(64), K);
  Range r = tiles(constants, "r", c(0), K, c(32));
  EXPECT_TRUE_FACT(constants.proveEqual(r.len, c(32)));
}

TEST_F(FactsTest, AssertedTilesHaveTheTileSize) {
  FactSet facts(dims);
  Range k = tiles(facts, "k", c(0), K, BK);
  facts.addLessEqual(add(k.start, BK), K);
  EXPECT_TRUE_FACT(facts.proveEqual(k.len, BK));
}

TEST_F(FactsTest, NestedTiles) {
  FactSet facts(dims);
  Range i = tiles(facts, "i", c(0), N, T);
  Range j = tiles(facts, "j", i.start, i.end, BK);
  EXPECT_TRUE_FACT(facts.proveLessEqual(j.end, N));
  EXPECT_TRUE_FACT(facts.proveNonNegative(j.start));
  EXPECT_TRUE_FACT(facts.proveLessEqual(j.end, i.end));
  EXPECT_TRUE_FACT(facts.proveLessEqual(j.len, T));
}

TEST_F(FactsTest, CausalAttention) {
  FactSet facts(dims);
  Range i = tiles(facts, "i", c(0), S, T);
  Dim hi = dims.min(N, sub(add(i.end, N), S));
  Range j = tiles(facts, "j", c(0), hi, BK);
  EXPECT_TRUE_FACT(facts.proveLessEqual(j.end, N));
  EXPECT_TRUE_FACT(facts.proveNonNegative(j.start));
  EXPECT_EQ(
      facts.symbolicUpperBound(
          j.len, [&](SymbolId symbol) { return dims.symbol(symbol).kind == SymbolKind::Tunable; }),
      BK);
}

TEST_F(FactsTest, LoopIndices) {
  FactSet facts(dims);
  Dim i = loop(facts, "i", c(0), N);
  EXPECT_TRUE_FACT(facts.proveLess(i, N));
  EXPECT_TRUE_FACT(facts.proveLessEqual(c(1), N));
  EXPECT_TRUE_FACT(facts.proveNonNegative(i));
  EXPECT_UNKNOWN(facts.proveLess(add(i, c(1)), N));
  Verdict verdict = facts.proveLess(i, M);
  EXPECT_EQ(missingFact(facts, verdict).text, "N <= M");
  facts.addDivides(c(4), N);
  Dim j = loop(facts, "j", c(0), N, 4);
  EXPECT_TRUE_FACT(facts.proveLessEqual(add(j, c(4)), N));
  EXPECT_TRUE_FACT(facts.proveDivides(c(4), j));
}

TEST_F(FactsTest, FlattenedPositions) {
  FactSet facts(dims);
  Dim i = loop(facts, "i", c(0), N);
  Dim j = loop(facts, "j", c(0), M);
  EXPECT_TRUE_FACT(facts.proveLess(add(mul(i, M), j), mul(N, M)));
  EXPECT_TRUE_FACT(facts.proveNonNegative(add(mul(i, M), j)));
}

TEST_F(FactsTest, NumberedTilesAreWhole) {
  FactSet facts(dims);
  facts.addDivides(c(8), N);
  Dim across = dims.ceilDiv(M, c(4));
  Dim i = loop(facts, "i", c(0), mul(dims.ceilDiv(N, c(8)), across));
  Dim row = dims.floorDiv(i, across);
  // A row of tiles has eight rows, because eight divide them, and of tiles of one row each has its row.
  EXPECT_TRUE_FACT(facts.proveEqual(dims.min(c(8), sub(N, dims.scale(row, 8))), c(8)));
  Dim j = loop(facts, "j", c(0), mul(S, across));
  EXPECT_TRUE_FACT(facts.proveEqual(dims.min(c(1), sub(S, dims.floorDiv(j, across))), c(1)));
  EXPECT_FALSE(facts.proveEqual(dims.min(c(2), sub(S, dims.floorDiv(j, across))), c(2)).isTrue());
}

TEST_F(FactsTest, SymbolicBounds) {
  FactSet facts(dims);
  Range i = tiles(facts, "i", c(0), N, T);
  auto tunable = [&](SymbolId symbol) { return dims.symbol(symbol).kind == SymbolKind::Tunable; };
  EXPECT_EQ(facts.symbolicUpperBound(i.len, tunable), T);
  EXPECT_EQ(facts.symbolicUpperBound(dims.scale(i.len, 2), tunable), dims.scale(T, 2));
  EXPECT_EQ(facts.symbolicUpperBound(N, tunable), Dim());
  facts.addLessEqual(N, c(100));
  EXPECT_EQ(facts.symbolicUpperBound(N, tunable), c(100));
  EXPECT_EQ(facts.symbolicUpperBound(dims.floorDiv(i.len, c(2)), tunable), dims.floorDiv(T, c(2)));
  EXPECT_EQ(facts.symbolicUpperBound(dims.max(dims.min(M, N), c(1)), tunable), c(100));
  EXPECT_EQ(facts.symbolicUpperBound(dims.max(M, c(1)), tunable), Dim());
}

TEST_F(FactsTest, Explanations) {
  FactSet facts(dims);
  EXPECT_EQ(why(facts, facts.proveEqual(add(N, c(1)), N)), "`N + 1` is always 1 more than `N`");
  EXPECT_EQ(why(facts, facts.proveEqual(c(3), c(4))), "`4` is not `3`");
  EXPECT_EQ(why(facts, facts.proveEqual(S, N)), "it is not known that `S` and `N` are equal");
  EXPECT_EQ(missingFact(facts, facts.proveEqual(S, N)).text, "S == N");
  EXPECT_EQ(missingFact(facts, facts.proveDivides(c(16), K)).text, "K % 16 == 0");
  EXPECT_FALSE(missingFact(facts, facts.proveLessEqual(s, N)).isWhere);
  facts.addLessEqual(add(N, c(3)), M);
  EXPECT_EQ(why(facts, facts.proveLessEqual(M, N)),
            "`M` is always at least 3 more than `N`, by `N + 3 <= M`");
}

TEST_F(FactsTest, boundsOnBothSides) {
  FactSet facts(dims);
  facts.addLessEqual(N, c(100));
  EXPECT_TRUE(facts.isWithin(N, 0, 100));
  EXPECT_FALSE(facts.isWithin(N, 0, 99));
  EXPECT_FALSE(facts.isWithin(N, 1, 100));
  EXPECT_FALSE(facts.isWithin(sub(N, M), INT32_MIN, INT32_MAX));
  EXPECT_TRUE(facts.isWithin(M, 0, INT64_MAX));
}

TEST_F(FactsTest, proofsOutliveMoreFacts) {
  FactSet outer(dims);
  outer.addLessEqual(N, M);
  EXPECT_TRUE(outer.proveLessEqual(N, add(M, K)).isTrue());
  FactSet inner = outer;
  inner.addLessEqual(M, S);
  EXPECT_TRUE(inner.proveLessEqual(N, add(M, K)).isTrue());
  EXPECT_TRUE(inner.proveLessEqual(N, S).isTrue());
  EXPECT_EQ(outer.proveLessEqual(N, S).proof, Proof::Unknown);
}

} // namespace
} // namespace ptl
