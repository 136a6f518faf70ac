#include "frontend/dim/dim.h"

#include <gtest/gtest.h>
#include <random>

namespace ptl {
namespace {

class DimTest : public testing::Test {
protected:
  Dim param(const char *name) {
    return dims.symbolDim(dims.addSymbol(name, SymbolKind::DimensionParam));
  }
  Dim c(int64_t value) { return dims.constant(value); }
  std::string text(Dim a) { return dims.toString(a); }

  DimContext dims;
  Dim N = param("N"), M = param("M"), K = param("K");
  Dim T = dims.symbolDim(dims.addSymbol("T", SymbolKind::Tunable));
  Dim s = dims.symbolDim(dims.addSymbol("s", SymbolKind::ScalarValue));
};

TEST_F(DimTest, EqualNormalFormsAreOnePointer) {
  Dim sum = dims.mul(dims.add(N, M), dims.add(N, M));
  Dim expanded = dims.add(dims.mul(N, N), dims.add(dims.scale(dims.mul(M, N), 2), dims.mul(M, M)));
  EXPECT_EQ(sum, expanded);
  EXPECT_EQ(dims.sub(N, N), c(0));
  EXPECT_NE(N, M);
  EXPECT_EQ(dims.add(N, c(2)).constant(), std::nullopt);
  EXPECT_EQ(N.symbol(), SymbolId{0});
}

TEST_F(DimTest, UnknownPoisons) {
  EXPECT_FALSE(dims.add(N, Dim()));
  EXPECT_FALSE(dims.mul(Dim(), N));
  EXPECT_FALSE(dims.min(N, Dim()));
  EXPECT_FALSE(dims.floorDiv(N, c(0)));
  EXPECT_FALSE(dims.scale(dims.scale(N, INT64_MAX), 2));
  EXPECT_FALSE(dims.add(c(INT64_MAX), c(1)));
  EXPECT_EQ(text(Dim()), "?");
}

TEST_F(DimTest, DivisionFoldsMultiples) {
  EXPECT_EQ(dims.floorDiv(dims.mul(N, K), K), N);
  EXPECT_EQ(dims.floorDiv(dims.scale(N, 6), c(3)), dims.scale(N, 2));
  EXPECT_EQ(dims.floorDiv(dims.add(dims.scale(N, 16), c(5)), c(16)), N);
  EXPECT_EQ(dims.floorDiv(dims.mul(N, M), dims.scale(M, 2)), dims.floorDiv(N, c(2)));
  EXPECT_EQ(dims.floorDiv(dims.scale(N, 6), c(4)), dims.floorDiv(dims.scale(N, 3), c(2)));
  EXPECT_EQ(dims.floorDiv(dims.floorDiv(N, c(4)), c(8)), dims.floorDiv(N, c(32)));
  EXPECT_EQ(dims.mod(dims.scale(N, 16), c(8)), c(0));
  EXPECT_EQ(dims.mod(dims.add(dims.scale(N, 16), c(21)), c(8)), c(5));
  EXPECT_EQ(dims.ceilDiv(N, c(128)), dims.floorDiv(dims.add(N, c(127)), c(128)));
  EXPECT_EQ(dims.ceilDiv(dims.mul(N, T), T), N);
  EXPECT_EQ(dims.ceilDiv(c(0), T), c(0));
  EXPECT_EQ(dims.floorDiv(c(-7), c(2)), c(-4));
  EXPECT_EQ(dims.add(dims.mul(T, dims.floorDiv(N, T)), dims.mod(N, T)), N);
}

TEST_F(DimTest, MinAndMaxAreFlatAndSorted) {
  EXPECT_EQ(dims.min(N, M), dims.min(M, N));
  EXPECT_EQ(dims.min(dims.min(N, M), K), dims.min({K, M, N}));
  EXPECT_EQ(dims.min(N, dims.add(N, c(1))), N);
  EXPECT_EQ(dims.max(N, dims.add(N, M)), dims.add(N, M));
  EXPECT_EQ(dims.min(dims.add(N, c(1)), dims.add(M, c(1))), dims.add(dims.min(N, M), c(1)));
  EXPECT_EQ(dims.max(c(3), c(8)), c(8));
  EXPECT_EQ(dims.min(N, c(0)), c(0));
  EXPECT_EQ(dims.max(T, c(1)), T);
}

TEST_F(DimTest, SubstitutesInsideOpaqueTerms) {
  Dim a = dims.add(dims.ceilDiv(N, T), dims.mul(N, N));
  EXPECT_EQ(dims.substitute(a, {{*N.symbol(), c(10)}, {*T.symbol(), c(4)}}), c(103));
  Dim swapped = dims.substitute(dims.sub(N, M), {{*N.symbol(), M}, {*M.symbol(), N}});
  EXPECT_EQ(swapped, dims.sub(M, N));
}

TEST_F(DimTest, PrintsAsWritten) {
  EXPECT_EQ(text(dims.add(dims.scale(N, 2), c(1))), "2*N + 1");
  EXPECT_EQ(text(dims.sub(M, N)), "M - N");
  EXPECT_EQ(text(dims.negate(N)), "-N");
  EXPECT_EQ(text(c(0)), "0");
  EXPECT_EQ(text(c(-3)), "-3");
  EXPECT_EQ(text(dims.mul(N, dims.mul(N, M))), "N**2*M");
  EXPECT_EQ(text(dims.ceilDiv(N, c(128))), "cdiv(N, 128)");
  EXPECT_EQ(text(dims.ceilDiv(N, T)), "cdiv(N, T)");
  // A quotient beside a quotient that is rounded up.
  EXPECT_EQ(text(dims.mul(c(64), dims.mul(dims.floorDiv(K, c(3)), dims.ceilDiv(N, T)))),
            "64*(K/3)*cdiv(N, T)");
  EXPECT_EQ(text(dims.mul(dims.floorDiv(K, T), dims.ceilDiv(N, T))), "(K/T)*cdiv(N, T)");
  EXPECT_EQ(text(dims.sub(dims.ceilDiv(N, T), c(1))), "(N - 1)/T");
  EXPECT_EQ(text(dims.mod(N, c(16))), "N % 16");
  EXPECT_EQ(text(dims.mod(dims.add(N, M), T)), "(N + M) % T");
  EXPECT_EQ(text(dims.scale(dims.mod(N, c(16)), 3)), "3*(N % 16)");
  EXPECT_EQ(text(dims.scale(dims.floorDiv(N, c(16)), 16)), "16*(N/16)");
  EXPECT_EQ(text(dims.floorDiv(dims.scale(N, 2), c(3))), "2*N/3");
  EXPECT_EQ(text(dims.mul(M, dims.floorDiv(N, c(2)))), "M*(N/2)");
  EXPECT_EQ(text(dims.floorDiv(N, dims.mul(M, K))), "N/(M*K)");
  EXPECT_EQ(text(dims.min(N, dims.add(M, c(1)))), "min(N, M + 1)");
  EXPECT_EQ(text(dims.ceilDiv(dims.ceilDiv(N, T), c(4))), "cdiv(N, 4*T)");
  EXPECT_EQ(text(dims.floorDiv(dims.sub(N, M), c(16))), "(N - M)/16");
  EXPECT_EQ(text(dims.floorDiv(dims.sub(N, c(3)), c(16))), "(N - 3)/16");
  EXPECT_EQ(text(dims.mul(K, dims.floorDiv(dims.sub(N, M), c(4)))), "K*((N - M)/4)");
}

TEST_F(DimTest, VisitsEachSymbolOnce) {
  std::vector<SymbolId> seen;
  forEachSymbol(dims.add(dims.mul(M, M), dims.floorDiv(N, T)),
                [&](SymbolId symbol) { seen.push_back(symbol); });
  EXPECT_EQ(seen, (std::vector<SymbolId>{*N.symbol(), *M.symbol(), *T.symbol()}));
}

/// An expression over five symbols whose value is computed beside it, without the algebra.
struct Sample {
  Dim dim;
  std::function<std::optional<int64_t>(const std::vector<int64_t> &)> value;
};

class RandomExpressions {
public:
  RandomExpressions(DimContext &dims, std::vector<Dim> symbols, uint32_t seed)
      : dims_(dims), symbols_(std::move(symbols)), random_(seed) {}

  Sample make(int depth) {
    uint32_t pick = random_() % (depth == 0 ? 2 : 9);
    if (pick == 0) {
      int64_t value = static_cast<int64_t>(random_() % 9) - 2;
      return {dims_.constant(value), [value](auto &) { return std::optional(value); }};
    }
    if (pick == 1) {
      size_t i = random_() % symbols_.size();
      return {symbols_[i], [i](auto &values) { return std::optional(values[i]); }};
    }
    Sample a = make(depth - 1), b = make(depth - 1);
    auto both = [&](Dim dim, auto compute) {
      return Sample{dim, [=](auto &values) -> std::optional<int64_t> {
                      auto x = a.value(values), y = b.value(values);
                      return x && y ? compute(*x, *y) : std::nullopt;
                    }};
    };
    using Result = std::optional<int64_t>;
    auto floor = [](int64_t x, int64_t y) { return (x - ((x % y) + y) % y) / y; };
    switch (pick) {
    case 2:
      return both(dims_.add(a.dim, b.dim), [](auto x, auto y) -> Result { return x + y; });
    case 3:
      return both(dims_.sub(a.dim, b.dim), [](auto x, auto y) -> Result { return x - y; });
    case 4:
      return both(dims_.mul(a.dim, b.dim), [](auto x, auto y) -> Result { return x * y; });
    case 5:
      return both(dims_.min(a.dim, b.dim), [](auto x, auto y) -> Result { return std::min(x, y); });
    case 6:
      return both(dims_.max(a.dim, b.dim), [](auto x, auto y) -> Result { return std::max(x, y); });
    case 7:
      return both(dims_.floorDiv(a.dim, b.dim), [=](auto x, auto y) -> Result {
        return y > 0 ? Result(floor(x, y)) : std::nullopt;
      });
    default:
      return both(dims_.mod(a.dim, b.dim), [=](auto x, auto y) -> Result {
        return y > 0 ? Result(x - y * floor(x, y)) : std::nullopt;
      });
    }
  }

private:
  DimContext &dims_;
  std::vector<Dim> symbols_;
  std::mt19937 random_;
};

TEST_F(DimTest, NormalFormsKeepTheValue) {
  RandomExpressions expressions(dims, {N, M, K, T, s}, 1);
  std::mt19937 random(2);
  int compared = 0;
  for (int i = 0; i < 4000; ++i) {
    Sample sample = expressions.make(3);
    for (int j = 0; j < 8 && sample.dim; ++j) {
      std::vector<int64_t> values;
      for (int k = 0; k < 3; ++k)
        values.push_back(random() % 7);
      values.push_back(1 + random() % 5);
      values.push_back(static_cast<int64_t>(random() % 9) - 4);
      std::optional<int64_t> expected = sample.value(values);
      if (!expected)
        continue;
      auto lookup = [&](SymbolId symbol) { return std::optional(values[symbol.index]); };
      std::optional<int64_t> actual = evaluate(sample.dim, lookup);
      // A divisor that was cancelled may have been zero elsewhere, never here.
      ASSERT_EQ(actual, expected) << text(sample.dim);
      std::optional<int64_t> bound = dims.plainLowerBound(sample.dim);
      if (bound)
        ASSERT_LE(*bound, *expected) << text(sample.dim);
      ++compared;
    }
  }
  EXPECT_GT(compared, 10000);
}

} // namespace
} // namespace ptl
