#include "codegen/cpu/math_approx.h"
#include "codegen/cpu/math_inverse.h"
#include "codegen/cpu/test_jit.h"
#include "codegen/cpu/ulp_error_test_util.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace ptl::cpu;
using ptl::cpu::testing::MapKernel;
using ptl::cpu::testing::testContext;
using ptl::cpu::testing::ulpError;

namespace math_approx_test {

std::vector<float> sampledFloats(uint32_t stride) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += stride)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, 88.72284f, -87.33655f, -103.97208f,
                  0.625f, 0.9296875f, 3.925f, 1e-40f, 16777216.0f, 1e30f, 1073741824.0f})
    values.push_back(x);
  while (values.size() % 16)
    values.push_back(0.5f);
  return values;
}

struct Worst {
  double error = 0;
  float x = 0, y = 0, got = 0;
};

using Unary = Value (*)(const Emit &, Value);

Worst measure(Unary emit, double (*reference)(double), int64_t lanes, uint32_t stride) {
  Type f32 = Float32Type::get(&testContext());
  MapKernel kernel(testContext(), f32, f32, lanes,
                   [&](const Emit &e, Value x, Value) { return emit(e, x); });
  std::vector<float> x = sampledFloats(stride);
  std::vector<float> got = kernel.operator()<float, float>(x);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    double error = ulpError(got[i], reference(x[i]));
    if (error > worst.error)
      worst = {error, x[i], 0, got[i]};
  }
  return worst;
}

struct Case {
  const char *name;
  Unary emit;
  double (*reference)(double);
};

Value expOfNegative(const Emit &e, Value x) { return emitExpUpTo1(e, e.neg(e.abs(x))); }
double negativeExp(double x) { return std::exp(-std::abs(x)); }
Value halfExpOfMagnitude(const Emit &e, Value x) { return emitHalfExp(e, e.abs(x)); }
double halfExp(double x) { return std::exp(std::abs(x)) / 2; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

const Case cases[] = {
    {"exp", emitExp, std::exp},
    {"exp2", emitExp2, std::exp2},
    {"expm1", emitExpm1, std::expm1},
    {"log", emitLog, std::log},
    {"log2", emitLog2, std::log2},
    {"log10", emitLog10, std::log10},
    {"log1p", emitLog1p, std::log1p},
    {"tanh", emitTanh, std::tanh},
    {"erf", emitErf, std::erf},
    {"sigmoid", emitSigmoid, sigmoid},
    {"sin", emitSin, std::sin},
    {"cos", emitCos, std::cos},
    {"tan", emitTan, std::tan},
    {"rsqrt", emitRsqrt, reciprocalRoot},
    {"expUpTo1", expOfNegative, negativeExp},
    {"halfExp", halfExpOfMagnitude, halfExp},
    {"erfc", emitErfc, std::erfc},
    {"asin", emitAsin, std::asin},
    {"acos", emitAcos, std::acos},
    {"atan", emitAtan, std::atan},
    {"sinh", emitSinh, std::sinh},
    {"cosh", emitCosh, std::cosh},
    {"asinh", emitAsinh, std::asinh},
    {"acosh", emitAcosh, std::acosh},
    {"atanh", emitAtanh, std::atanh},
};

class MathApprox : public ::testing::TestWithParam<Case> {};

TEST_P(MathApprox, IsWithinTwoUlp) {
  for (int64_t lanes : {0, 16}) {
    Worst worst = measure(GetParam().emit, GetParam().reference, lanes, lanes ? 1021 : 100003);
    std::printf("  %-8s %2d lanes: %.3f ulp at %.9g\n", GetParam().name, int(lanes), worst.error,
                worst.x);
    EXPECT_LE(worst.error, 2.0) << "at " << worst.x << " got " << worst.got;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MathApprox, ::testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

// Pairs of floats, among them all pairs of zeros, ones and infinities.
struct Pairs {
  std::vector<float> x, y;
};

Pairs pairsOf(const std::vector<float> &first, const std::vector<float> &second) {
  Pairs pairs;
  for (float x : first)
    for (float y : second)
      pairs.x.push_back(x), pairs.y.push_back(y);
  while (pairs.x.size() % 16)
    pairs.x.push_back(1), pairs.y.push_back(1);
  return pairs;
}

Worst measurePairs(Value (*emit)(const Emit &, Value, Value), double (*reference)(double, double),
                   const Pairs &pairs) {
  Type f32 = Float32Type::get(&testContext());
  MapKernel kernel(testContext(), f32, f32, 16, emit);
  std::vector<float> got = kernel.operator()<float, float>(pairs.x, pairs.y);
  Worst worst;
  for (size_t i = 0; i < got.size(); ++i) {
    double error = ulpError(got[i], reference(pairs.x[i], pairs.y[i]));
    if (error > worst.error)
      worst = {error, pairs.x[i], pairs.y[i], got[i]};
  }
  return worst;
}

TEST(MathApproxPow, IsWithinTwoUlp) {
  std::vector<float> bases = sampledFloats(1500007), exponents = sampledFloats(3000017);
  for (float e : {2.0f, 3.0f, 0.5f, -1.0f, -3.0f, 1.5f, 127.0f, 1e9f})
    exponents.push_back(e);
  for (int k = -40; k <= 40; ++k)
    exponents.push_back(k * 0.37f), bases.push_back(std::exp2(k * 0.3f)),
        bases.push_back(-std::abs(k));
  Pairs pairs = pairsOf(bases, exponents);
  Worst worst = measurePairs(emitPow, std::pow, pairs);
  std::printf("  pow: %zu pairs, %.3f ulp at (%.9g, %.9g)\n", pairs.x.size(), worst.error, worst.x,
              worst.y);
  EXPECT_LE(worst.error, 2.0) << worst.x << " ** " << worst.y << " got " << worst.got;
}

TEST(MathApproxFmod, IsExact) {
  std::vector<float> numbers = sampledFloats(3000017);
  for (int k = 1; k <= 40; ++k)
    numbers.push_back(k * 0.37f), numbers.push_back(std::ldexp(float(k), 19));
  Worst worst = measurePairs(emitFmod, std::fmod, pairsOf(numbers, numbers));
  EXPECT_EQ(worst.error, 0) << worst.x << " % " << worst.y << " got " << worst.got;
}

TEST(MathApproxAtan2, IsWithinTwoUlp) {
  std::vector<float> numbers = sampledFloats(3000017);
  Worst worst = measurePairs(emitAtan2, std::atan2, pairsOf(numbers, numbers));
  std::printf("  atan2: %.3f ulp at (%.9g, %.9g)\n", worst.error, worst.x, worst.y);
  EXPECT_LE(worst.error, 2.0) << worst.x << ", " << worst.y << " got " << worst.got;
}

} // namespace math_approx_test
