#include "passes/prover/length.h"

#include "passes/prover/calculate.h"
#include "passes/prover/trace.h"

#include <gtest/gtest.h>

#include <map>

namespace ptl::prove {
namespace {

/// What an expression comes to for values of its names; nothing if it is none, or a mere name.
std::optional<int64_t> valueOf(std::string_view text,
                               const std::map<std::string, int64_t, std::less<>> &values = {}) {
  std::vector<Step> steps;
  std::map<uint32_t, Scalar> registers;
  uint32_t next = 0;
  auto registerOf = [&](std::string_view name) {
    registers[next] = {values.find(name)->second, false};
    return next++;
  };
  uint32_t result = computeLength(text, 0, steps, registerOf, [&] { return next++; });
  if (result == kNone) {
    EXPECT_TRUE(steps.empty()) << text;
    return std::nullopt;
  }
  for (const Step &step : steps) {
    Scalar operands[2];
    for (size_t i = 0; i < step.args.size(); ++i)
      operands[i] = registers[step.args[i]];
    registers[step.dst] = calculate(step, &operands[0], &operands[1], nullptr);
  }
  return registers[result].value;
}

TEST(Length, OperatorsBindAsInTheLanguage) {
  std::map<std::string, int64_t, std::less<>> values{{"H", 5}, {"N", 7}, {"a.b_1", 3}};
  EXPECT_EQ(valueOf("3*H", values), 15);
  EXPECT_EQ(valueOf("3 * H + N - 1", values), 21);
  EXPECT_EQ(valueOf("N - H - 1", values), 1);
  EXPECT_EQ(valueOf("2*(N + H)", values), 24);
  EXPECT_EQ(valueOf("-H + N", values), 2);
  EXPECT_EQ(valueOf("a.b_1**2*2", values), 18);
  EXPECT_EQ(valueOf("N/2*2", values), 6);
  EXPECT_EQ(valueOf("N % H", values), 2);
}

TEST(Length, QuotientsOfNegativeNumbersRoundDown) {
  EXPECT_EQ(valueOf("(N - 8)/4", {{"N", 5}}), -1);
}

TEST(Length, Functions) {
  std::map<std::string, int64_t, std::less<>> values{{"H", 5}, {"N", 7}};
  EXPECT_EQ(valueOf("min(N, H)", values), 5);
  EXPECT_EQ(valueOf("max(N, H, 9)", values), 9);
  EXPECT_EQ(valueOf("cdiv(N, 4)*4", values), 8);
  EXPECT_EQ(valueOf("max(0, H - N)", values), 0);
}

TEST(Length, RelationsAreZeroOrOne) {
  std::map<std::string, int64_t, std::less<>> values{{"M", 64}, {"N", 7}};
  EXPECT_EQ(valueOf("M <= 64", values), 1);
  EXPECT_EQ(valueOf("N*10 < M", values), 0);
  EXPECT_EQ(valueOf("M % 16 == 0", values), 1);
  EXPECT_EQ(valueOf("or(N < 1, M > 64)", values), 0);
  EXPECT_EQ(valueOf("and(N >= 1, not(M != 64))", values), 1);
}

TEST(Length, ANumberIsOne) { EXPECT_EQ(valueOf("64"), 64); }

TEST(Length, NamesAreNotComputed) {
  EXPECT_EQ(valueOf("N", {{"N", 7}}), std::nullopt);
  EXPECT_EQ(valueOf("a.N", {{"a.N", 7}}), std::nullopt);
}

// Then the argument is an input like others, and nothing is left behind.
TEST(Length, WhatIsNoExpressionIsNotComputed) {
  std::map<std::string, int64_t, std::less<>> values{{"N", 7}, {"H", 5}};
  for (const char *text : {"", "%arg3", "N +", "(N", "N)", "3 N", "min(N", "f(N, H)", "N ** H",
                           "N ** 0", "N ** 9", "2 ** 99999999999999999999", "N ? 1 : 2"})
    EXPECT_EQ(valueOf(text, values), std::nullopt) << text;
}

} // namespace
} // namespace ptl::prove
