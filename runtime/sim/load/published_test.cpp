// The kernel whose times bench/sim/predict.py compares with published ones computes attention.
#include "runtime/sim/load/sim_testing.h"

#include <cmath>

namespace ptl::rt::sim::published_test {

using namespace testing;

namespace {

constexpr int64_t kQueries = 128, kWidth = 128;

std::vector<_Float16> numbers(int64_t rows, uint32_t seed) {
  std::vector<_Float16> result(static_cast<size_t>(rows * kWidth));
  for (_Float16 &value : result) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<_Float16>(static_cast<float>(seed >> 16) / 32768 - 1);
  }
  return result;
}

double dot(const _Float16 *a, const _Float16 *b) {
  double sum = 0;
  for (int64_t i = 0; i < kWidth; ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// One row, with weights that are not rounded.
std::vector<double> attentionOf(const _Float16 *query, const std::vector<_Float16> &keys,
                                const std::vector<_Float16> &values) {
  std::vector<double> result(kWidth);
  double total = 0;
  for (size_t at = 0; at < keys.size(); at += kWidth) {
    double weight = std::exp(dot(query, &keys[at]) / std::sqrt(kWidth));
    total += weight;
    for (size_t i = 0; i < kWidth; ++i)
      result[i] += weight * static_cast<double>(values[at + i]);
  }
  for (double &value : result)
    value /= total;
  return result;
}

class Published : public ::testing::TestWithParam<const char *> {};

} // namespace

TEST_P(Published, FlashAttentionIsAttention) {
  Kernel kernel = loadText(readText(GetParam()));
  ASSERT_EQ(kernel.parameters.size(), 9U);
  constexpr int64_t keys = 3072; // more tiles than a ring has slots
  std::vector<_Float16> q = numbers(kQueries, 1), k = numbers(keys, 2), v = numbers(keys, 3);
  std::vector<float> o(static_cast<size_t>(kQueries * kWidth), NAN);
  std::vector<GlobalArray> arrays = {arrayOf(q, "q"), arrayOf(k, "k"), arrayOf(v, "v"),
                                     arrayOf(o, "o")};
  std::vector<std::vector<uint8_t>> workspaces;
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.role == "workspace")
      workspaces.emplace_back(static_cast<size_t>(parameter.bytes));
  for (std::vector<uint8_t> &workspace : workspaces)
    arrays.push_back(arrayOf(workspace, "w"));
  std::vector<Scalar> scalars = {Scalar::integer(kQueries), Scalar::integer(keys)};
  Result result = runKernel(kernel, chipNamed("a3"), arrays, scalars, 1);
  ASSERT_TRUE(result.ok) << result.error;
  for (int64_t row = 0; row < kQueries; row += 17) { // both vector cores, slices of rows
    std::vector<double> wanted = attentionOf(&q[static_cast<size_t>(row * kWidth)], k, v);
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(o[static_cast<size_t>(row * kWidth) + i], wanted[i], 1e-3) << row << ", " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Published, ::testing::Values(PTL_SIM_PUBLISHED));

} // namespace ptl::rt::sim::published_test
