#include "runtime/expr.h"
#include "runtime/expr_parse.h"
#include "runtime/format_value.h"
#include "runtime/manifest.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ptl::rt {
namespace {

class ExprTest : public testing::Test {
protected:
  Expr read(const char *json) {
    ExprNames names;
    names.dim = [](const std::string &name) { return name == "N" ? 0 : name == "M" ? 1 : -1; };
    names.scalar = [](const std::string &name) { return name == "s" ? 0 : -1; };
    names.array = [](const std::string &) { return -1; };
    problem_.clear();
    return parseExpr(nlohmann::json::parse(json), names, problem_).value_or(Expr{});
  }
  std::optional<int64_t> value(const char *json) { return evaluateInt(read(json), values()); }
  ExprValues values() { return {dims_, {&scalar_, 1}, {&scalarElem_, 1}, {}, nullptr}; }

  std::vector<std::optional<int64_t>> dims_{10, std::nullopt};
  PtlScalar scalar_{};
  int32_t scalarElem_ = PTL_F32;
  std::string problem_;
};

TEST_F(ExprTest, Arithmetic) {
  EXPECT_EQ(value("4"), 4);
  EXPECT_EQ(value(R"("N")"), 10);
  EXPECT_EQ(value(R"({"add": ["N", 1, {"mul": [2, "N"]}]})"), 31);
  EXPECT_EQ(value(R"({"floordiv": [-7, 2]})"), -4);
  EXPECT_EQ(value(R"({"truncdiv": [-7, 2]})"), -3);
  EXPECT_EQ(value(R"({"ceildiv": [7, 2]})"), 4);
  EXPECT_EQ(value(R"({"ceildiv": [-7, 2]})"), -3);
  EXPECT_EQ(value(R"({"mod": [-7, 4]})"), 1);
  EXPECT_EQ(value(R"({"rem": [-7, 4]})"), -3);
  EXPECT_EQ(value(R"({"max": ["N", 12, {"neg": 4}]})"), 12);
  EXPECT_EQ(value(R"({"and": [{"lt": [1, 2]}, {"not": {"eq": ["N", 9]}}]})"), 1);
}

TEST_F(ExprTest, WhatHasNoValue) {
  EXPECT_EQ(value(R"("M")"), std::nullopt);
  EXPECT_EQ(value(R"({"floordiv": [1, 0]})"), std::nullopt);
  EXPECT_EQ(value(R"({"mul": ["N", 9223372036854775807]})"), std::nullopt);
  EXPECT_EQ(value(R"({"floordiv": [{"sub": [-9223372036854775807, 1]}, -1]})"), std::nullopt);
}

TEST_F(ExprTest, ScalarsCompareAsNumbers) {
  scalar_.f32 = 0.5f;
  EXPECT_EQ(value(R"({"lt": ["s", 1]})"), 1);
  EXPECT_EQ(value(R"({"gt": ["s", {"float": 0.75}]})"), 0);
}

TEST_F(ExprTest, SolvesForTheOneUnknown) {
  auto solution = solve(read(R"({"add": [{"mul": [2, "M"]}, 1]})"), 9, values());
  ASSERT_TRUE(solution);
  EXPECT_EQ(solution->dim, 1);
  EXPECT_EQ(solution->value, 4);
  EXPECT_FALSE(solve(read(R"({"add": [{"mul": [2, "M"]}, 1]})"), 8, values()));
  EXPECT_FALSE(solve(read(R"({"floordiv": ["M", 2]})"), 8, values()));
  EXPECT_EQ(solve(read(R"({"sub": ["N", "M"]})"), 3, values())->value, 7);
}

TEST_F(ExprTest, RefusesWhatIsNoExpression) {
  for (const char *json :
       {R"("Q")", "[]", R"({"add": []})", R"({"sub": [1]})", "1.5", "null", R"({"frob": [1, 2]})",
        R"({"a": 1, "b": 2})", R"({"unique": "x"})", "18446744073709551615"}) {
    read(json);
    EXPECT_NE(problem_, "") << json;
  }
  std::string deep = "1";
  for (int i = 0; i < 1000; ++i)
    deep = "{\"neg\": " + deep + "}";
  read(deep.c_str());
  EXPECT_EQ(problem_, "an expression is nested too deeply");
}

TEST(Manifest, ShapesReadAsInTheSource) {
  std::string problem;
  auto manifest = parseManifest(R"({"ptl_abi": 1, "entries": [{"name": "f", "dims": ["N", "M"],
    "outputs": [{"name": "y", "elem": "f32", "shape": [
      {"add": [{"mul": [2, "N"]}, "M", -1]}, {"mul": [4, {"add": ["N", 1]}]},
      {"ceildiv": ["N", 16]}, {"floordiv": [{"add": ["N", "M"]}, 2]}, {"sym": "N"}]}]}]})",
                                problem);
  ASSERT_TRUE(manifest) << problem;
  EXPECT_EQ(manifest->entries[0].params[0].shapeText,
            "[2*N + M - 1, 4*(N + 1), cdiv(N, 16), (N + M)/2, N]");
}

TEST(Manifest, RefusesWhatIsNoManifest) {
  for (
      const char *text :
      {"", "[]", "{", R"({"ptl_abi": 99})", R"({"ptl_abi": 1, "entries": [3]})",
       R"({"ptl_abi": 1, "entries": [{"name": "f", "params": [{"name": "x", "elem": "f31"}]}]})",
       R"({"ptl_abi": 1, "entries": [{"name": "f", "params": [{"name": "x", "elem": "f32", "shape": ["N"]}]}]})",
       R"({"ptl_abi": 1, "entries": [{"name": "f", "params": [{"name": "x", "elem": "f32", "shape": 3}]}]})",
       R"({"ptl_abi": 1, "entries": [{"name": "f", "outputs": [{"name": "x", "elem": "f32"}]}]})",
       R"({"ptl_abi": 1, "entries": [{"name": "f", "variants": [{"symbol": "f", "static": {"C": 1}}]}]})"}) {
    std::string problem;
    EXPECT_FALSE(parseManifest(text, problem)) << text;
    EXPECT_NE(problem, "") << text;
  }
}

TEST(Elem, NarrowFloatsReadBack) {
  uint16_t half = 0x3555, bfloat = 0x3fc0, infinity = 0xfc00, tiny = 1;
  EXPECT_EQ(formatElem(PTL_F16, &half), "0.33325195");
  EXPECT_EQ(formatElem(PTL_BF16, &bfloat), "1.5");
  EXPECT_EQ(formatElem(PTL_F16, &infinity), "-inf");
  EXPECT_EQ(loadElem(PTL_F16, &tiny).f, std::ldexp(1.0, -24));
  uint8_t top = 0x7e, nan = 0x7f, five = 0x7c;
  EXPECT_EQ(loadElem(PTL_F8E4M3, &top).f, 448.0);
  EXPECT_TRUE(std::isnan(loadElem(PTL_F8E4M3, &nan).f));
  EXPECT_TRUE(std::isinf(loadElem(PTL_F8E5M2, &five).f));
}

TEST(FormatValue, ArraysAndMessages) {
  int32_t data[] = {1, 2, 3, 4, 5, 6};
  int64_t extents[] = {2, 3}, strides[] = {3, 1};
  PtlArray array{data, 2, extents, strides, PTL_I32};
  EXPECT_EQ(formatArray(array), "[[1, 2, 3],\n [4, 5, 6]]");
  std::vector<int32_t> many(2000, 7);
  int64_t length[] = {2000}, one[] = {1};
  EXPECT_EQ(formatArray({many.data(), 1, length, one, PTL_I32}), "[7, 7, 7, ..., 7, 7, 7]");
  PtlValue value{PTL_VALUE_TEXT, 0, {}};
  value.as.text = "here";
  EXPECT_EQ(formatMessage("{0} and {1} {x} {", &value, 1), "here and {1} {x} {");
  EXPECT_EQ(formatMessage("{{0}} {{ {{{0}", &value, 1), "{0}} { {here");
}

} // namespace
} // namespace ptl::rt
