// Fixes that make an expression an operand keep what it means.
#include "frontend/base/fixes.h"
#include "frontend/sema/check_test_util.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

/// The text after the first fix of that kind.
std::string fixed(const std::string &text, FixId id) {
  auto checked = checkText(text);
  for (const Diagnostic &diagnostic : checked->sink.all())
    for (const Fix &fix : diagnostic.fixes)
      if (fix.id == id)
        return applyFixes(text, diagnostic.span.file, {fix}).text;
  return "no such fix:\n" + checked->text();
}

std::string inBody(const std::string &header, const std::string &body, FixId id) {
  std::string all = fixed(header + " {\n" + body + "\n}\n", id);
  size_t begin = all.find("{\n"), end = all.rfind("\n}\n");
  return begin == all.npos || end == all.npos ? all : all.substr(begin + 2, end - begin - 2);
}

TEST(OperandText, transposedSides) {
  const std::string header = "fn f[M, K, N](a: f32[K, M], m: f32[M, M], b: f32[K, N], c: f32[N, K])"
                             " -> f32[M, N]";
  EXPECT_EQ(inBody(header, "return a @ b", FixId::Transpose), "return a.T @ b");
  // `a @ m.T @ b` would be the same text with another meaning.
  EXPECT_EQ(inBody(header, "return a @ m @ b", FixId::Transpose), "return (a @ m).T @ b");
  EXPECT_EQ(inBody(header, "return (a + a) @ b", FixId::Transpose), "return (a + a).T @ b");
  EXPECT_EQ(inBody(header, "return -a @ b", FixId::Transpose), "return (-a).T @ b");
  EXPECT_EQ(inBody(header, "return exp(a) @ b", FixId::Transpose), "return exp(a).T @ b");
  EXPECT_EQ(inBody(header, "return a.T @ c", FixId::Transpose), "return a.T @ c.T");
  EXPECT_EQ(inBody(header, "return a.T @ (c + c)", FixId::Transpose), "return a.T @ (c + c).T");
  EXPECT_EQ(inBody(header, "return a.T @ -c", FixId::Transpose), "return a.T @ (-c).T");
}

TEST(OperandText, transposedValues) {
  const std::string header = "fn f[M, N](a: f32[N, M]) -> f32[M, N]";
  EXPECT_EQ(inBody(header, "return a", FixId::Transpose), "return a.T");
  // A call at the end is not all of it.
  EXPECT_EQ(inBody(header, "return exp(a) + exp(a)", FixId::Transpose),
            "return (exp(a) + exp(a)).T");
}

TEST(OperandText, columns) {
  const std::string header = "fn f[M, N](x: f32[M, N], a: f32[M]) -> f32[M, N]";
  EXPECT_EQ(inBody(header, "return x * a", FixId::MakeColumn), "return x * a[:, new]");
  EXPECT_EQ(inBody(header, "return x * (a + a)", FixId::MakeColumn), "return x * (a + a)[:, new]");
  EXPECT_EQ(inBody(header, "return a * a + x", FixId::MakeColumn), "return (a * a)[:, new] + x");
}

TEST(OperandText, comparisons) {
  EXPECT_EQ(
      inBody("fn f(a: int) -> int", "if a + 1 { return 1 }\nreturn 2", FixId::CompareWithZero),
      "if a + 1 != 0 { return 1 }\nreturn 2");
  EXPECT_EQ(inBody("fn f(a: int, b: bool) -> int",
                   "if (if b { a } else { 2 }) { return 1 }\nreturn 2", FixId::CompareWithZero),
            "if ((if b { a } else { 2 }) != 0) { return 1 }\nreturn 2");
}

TEST(OperandText, extentsInTheirPlace) {
  const std::string header = "fn f[N](x: f32[N + 1]) -> f32[2 * N + 2]";
  EXPECT_EQ(inBody(header, "return zeros(f32[2 * len(x)])", FixId::ExtentOfShape),
            "return zeros(f32[2 * (N + 1)])");
  EXPECT_EQ(inBody(header, "return zeros(f32[len(x)])", FixId::ExtentOfShape),
            "return zeros(f32[N + 1])");
}

} // namespace
} // namespace ptl
