#include "codegen/cpu/math_approx.h"
#include "codegen/cpu/math_double.h"
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

namespace math_double_test {

// Numbers of all magnitudes, many between 2^-30 and 2^12, and those around which formulas change.
std::vector<double> sampledDoubles() {
  std::vector<double> values;
  uint64_t state = 1;
  auto next = [&] { return state = state * 6364136223846793005 + 1442695040888963407; };
  for (int i = 0; i < 20000; ++i)
    values.push_back(std::bit_cast<double>(next()));
  for (int i = 0; i < 60000; ++i) {
    double mantissa = 1 + static_cast<double>(next() >> 12) * 0x1p-52;
    double x = std::ldexp(mantissa, static_cast<int>((next() >> 33) % 42) - 30);
    values.push_back(next() >> 63 ? x : -x);
  }
  for (int i = -1080; i < 1080; ++i)
    values.push_back(i + 0.25), values.push_back(i * 1.5707963267948966);
  for (double x :
       {0.0, 0x1p-1074, 0x1p-1022, 0x1p-54, 0x1p-28, 0.5, 1.0, 1 + 0x1p-52, 1 - 0x1p-53, 2.0, 20.0,
        709.78, 710.4, 744.44, 745.14, 0x1p25, 0x1p28, 1e300, double(INFINITY)})
    values.push_back(x), values.push_back(-x);
  values.push_back(NAN);
  while (values.size() % 16)
    values.push_back(0.5);
  return values;
}

struct Case {
  const char *name;
  Value (*emit)(const Emit &, Value);
  long double (*reference)(long double);
  double limit;
};

// What the headers promise.
const Case cases[] = {
    {"exp", emitExp, std::exp, 2},       {"exp2", emitExp2, std::exp2, 2},
    {"expm1", emitExpm1, std::expm1, 3}, {"log", emitLog, std::log, 2},
    {"log2", emitLog2, std::log2, 2},    {"log1p", emitLog1p, std::log1p, 2},
    {"tanh", emitTanh, std::tanh, 2},    {"sin", emitSin, std::sin, 2},
    {"cos", emitCos, std::cos, 2},       {"asin", emitAsin, std::asin, 2},
    {"acos", emitAcos, std::acos, 2},    {"atan", emitAtan, std::atan, 2},
    {"sinh", emitSinh, std::sinh, 2},    {"cosh", emitCosh, std::cosh, 2},
    {"asinh", emitAsinh, std::asinh, 3}, {"acosh", emitAcosh, std::acosh, 3},
    {"atanh", emitAtanh, std::atanh, 3}, {"log10", emitLog10, std::log10, 2},
    {"tan", emitTan, std::tan, 3},       {"erf", emitErf, std::erf, 2},
    {"erfc", emitErfc, std::erfc, 3},
};

class MathDouble : public ::testing::TestWithParam<Case> {};

TEST_P(MathDouble, IsWithinTheLimit) {
  Type f64 = Float64Type::get(&testContext());
  std::vector<double> x = sampledDoubles();
  for (int64_t lanes : {0, 16}) {
    MapKernel kernel(testContext(), f64, f64, lanes,
                     [&](const Emit &e, Value v, Value) { return GetParam().emit(e, v); });
    std::vector<double> got = kernel.operator()<double, double>(x);
    double worst = 0, at = 0, result = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      double error = ulpError(got[i], GetParam().reference(x[i]));
      if (error > worst)
        worst = error, at = x[i], result = got[i];
    }
    std::printf("  %-6s %2d lanes: %.3f ulp at %.17g\n", GetParam().name, int(lanes), worst, at);
    EXPECT_LE(worst, GetParam().limit) << "at " << at << " got " << result;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MathDouble, ::testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

// Pairs of numbers that are drawn, and all pairs of special ones.
struct Pairs {
  std::vector<double> x, y;
};

Pairs drawnPairs() {
  Pairs pairs;
  std::vector<double> numbers = sampledDoubles();
  for (size_t i = 0; i < numbers.size(); ++i)
    pairs.x.push_back(numbers[i]), pairs.y.push_back(numbers[(i * 7919 + 13) % numbers.size()]);
  for (double x : {0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 1e300, -1e-300, 0x1p-1074,
                   double(INFINITY), -double(INFINITY), double(NAN)})
    for (double y : {0.0, -0.0, 1.0, -1.0, 3.0, -2.0, 0.5, 1e300, -1e-300, double(INFINITY),
                     -double(INFINITY), double(NAN)})
      pairs.x.push_back(x), pairs.y.push_back(y);
  // Powers near the ends of the range.
  for (int i = 1; i < 4000; ++i)
    pairs.x.push_back(1 + i * 0.0137),
        pairs.y.push_back((i % 2 ? 1 : -1) * 708.0 / std::log(1 + i * 0.0137));
  while (pairs.x.size() % 16)
    pairs.x.push_back(1), pairs.y.push_back(1);
  return pairs;
}

double worstOfPairs(Value (*emit)(const Emit &, Value, Value),
                    long double (*reference)(long double, long double)) {
  Type f64 = Float64Type::get(&testContext());
  MapKernel kernel(testContext(), f64, f64, 16, emit);
  Pairs pairs = drawnPairs();
  std::vector<double> got = kernel.operator()<double, double>(pairs.x, pairs.y);
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double error = ulpError(got[i], reference(pairs.x[i], pairs.y[i]));
    EXPECT_LE(error, 3) << pairs.x[i] << ", " << pairs.y[i] << " got " << got[i];
    worst = std::max(worst, error);
  }
  return worst;
}

TEST(MathDoublePairs, AreWithinTheLimit) {
  std::printf("  pow:   %.3f ulp\n", worstOfPairs(emitPow, std::pow));
  std::printf("  atan2: %.3f ulp\n", worstOfPairs(emitAtan2, std::atan2));
  EXPECT_EQ(worstOfPairs(emitFmod, std::fmod), 0);
}

} // namespace math_double_test
