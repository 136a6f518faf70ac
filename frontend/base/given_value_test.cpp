#include "frontend/base/given_value.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

TEST(GivenValue, IsAWholeNumberOrATruthValue) {
  EXPECT_EQ(givenNumber("12"), 12);
  EXPECT_EQ(givenNumber("-3"), -3);
  EXPECT_EQ(givenNumber("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(givenNumber("true"), 1);
  EXPECT_EQ(givenNumber("false"), 0);
  for (const char *text : {"", "12x", "x12", " 12", "12 ", "+12", "1.5", "1e3", "0x10", "12,13",
                           "9223372036854775808", "f32"})
    EXPECT_EQ(givenNumber(text), std::nullopt) << text;
}

TEST(GivenValue, ProblemsNameTheValue) {
  for (const char *text : {"12", "f32", "512,1024", "f16,bf16", "0,f32", "true"})
    EXPECT_EQ(givenProblem(text), "") << text;
  EXPECT_TRUE(givenProblem("12x").starts_with("`12x` is not a value"));
  EXPECT_TRUE(givenProblem("64,12x").starts_with("`12x` is not a value"));
  EXPECT_TRUE(givenProblem("64,").starts_with("`` is not a value"));
  EXPECT_TRUE(givenProblem("").starts_with("`` is not a value"));
}

} // namespace
} // namespace ptl
