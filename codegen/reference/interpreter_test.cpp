#include "codegen/reference/ops_elementwise.h"
#include "codegen/reference/test_runner.h"
#include "codegen/reference/test_values.h"
#include "frontend/sema/check.h"

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>

namespace ptl::reference {
namespace {

/// A checked source; entries are called by name.
struct Checked {
  SourceManager sources;
  DiagnosticSink sink;
  std::unique_ptr<CheckedProgram> program;

  explicit Checked(std::string text, const CheckOptions &options = {}) {
    FileId root = sources.add("test.ptl", std::move(text));
    program = checkFile(sources, root, options, sink);
    for (const Diagnostic &diagnostic : sink.all())
      if (diagnostic.severity == Severity::Error)
        ADD_FAILURE() << diagInfo(diagnostic.id).code << " " << diagnostic.message << " `"
                      << sources.text(diagnostic.span) << "`";
  }

  RunResult run(const std::string &name, std::vector<Value> args, const RunOptions &options = {}) {
    for (const CallableDecl *decl : program->modules[0]->callables)
      if (decl->name == name)
        return runEntry(*program, sources, *decl, std::move(args), options);
    return {RunStatus::Fault, "no such entry", kNoSpan, {}, {}, {}, {}};
  }

  /// The first output as text, or the status and message.
  std::string show(const std::string &name, std::vector<Value> args,
                   const RunOptions &options = {}) {
    RunResult result = run(name, std::move(args), options);
    if (!result.ok())
      return std::string(runStatusName(result.status)) + ": " + result.message;
    return result.outputs.empty() ? "nothing" : valueText(result.outputs[0]);
  }
};

Value counting(std::vector<int64_t> shape) {
  RefArray array = zeroArray(ElemKind::F32, std::move(shape));
  for (size_t i = 0; i < array.floats.size(); ++i)
    array.floats[i] = static_cast<double>(i);
  return Value::array(std::move(array));
}

TEST(Reference, stridesOfDenseArguments) {
  Checked checked(
      "fn rows[M, N, S](x: f32[M, N] strides [S, 1]) -> f32[M, 1] { return sum(x, axis: 1) }\n"
      "fn columns[M, N, S](x: f32[M, N] strides [1, S]) -> f32[M, 1] { return sum(x, axis: 1) }\n");
  EXPECT_EQ(checked.show("rows", {counting({2, 3})}), "[[3],\n [12]]");
  EXPECT_EQ(checked.show("rows", {counting({0, 3})}), "f32[0, 1]");
  EXPECT_EQ(checked.show("columns", {counting({1, 3})}), "[[3]]");
  EXPECT_EQ(checked.show("columns", {counting({2, 3})}),
            "arguments: `x`: the stride `1` is 1, but 3 here");
}

TEST(Reference, functions) {
  Checked checked("fn twice[N](x: f32[N]) -> f32[N] { return x * 2.0 }\n"
                  "fn rows[R, C](x: f32[R, C]) -> f32[R, 1] { return sum(x, axis: 1) }\n"
                  "fn softmax[C, T: float](x: T[.., C]) -> T[.., C] {\n"
                  "  let e = exp(x - max(x, axis: -1))\n  return e / sum(e, axis: -1)\n}\n"
                  "fn halves[N](x: f32[2*N]) -> (f32[N], f32[N]) { return (x[0:N], x[N:2*N]) }\n");
  EXPECT_EQ(checked.show("twice", {floats({3}, {1, 2, 3})}), "[2, 4, 6]");
  EXPECT_EQ(checked.show("twice", {floats({0}, {})}), "f32[0]");
  EXPECT_EQ(checked.show("rows", {counting({2, 3})}), "[[3],\n [12]]");
  EXPECT_EQ(checked.show("softmax", {floats({2, 2}, {1, 1, 0, 0})}), "[[0.5, 0.5],\n [0.5, 0.5]]");
  EXPECT_EQ(checked.show("softmax", {floats({1}, {7}, ElemKind::F16)}), "[1]");
  EXPECT_EQ(checked.show("halves", {counting({4})}), "[0, 1]");
  EXPECT_EQ(checked.show("halves", {counting({5})}),
            "arguments: `x`: the extent `2*N` is 4, but 5 here");
}

TEST(Reference, kernels) {
  Checked checked(
      "kernel add[N](a: f32[N], b: f32[N]) -> (c: f32[N])\ntune B = 4\n"
      "{ parallel i in tiles(N, B) { c[i] = a[i] + b[i] } }\n"
      "kernel matmul[M, N, K](a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N])\n"
      "tune BM = 2, BN = 4, BK = 3\n{\n parallel i in tiles(M, BM), j in tiles(N, BN) {\n"
      "  var acc = zeros(f32[i, j])\n  for k in tiles(K, BK) pipeline 2 { acc += a[i, k] @ b[k, j] "
      "}\n"
      "  c[i, j] = acc\n } }\n");
  EXPECT_EQ(checked.show("add", {counting({6}), counting({6})}), "[0, 2, 4, 6, 8, 10]");
  RunOptions options;
  options.tunables["B"] = 5;
  options.shuffle = 7;
  EXPECT_EQ(checked.show("add", {counting({6}), counting({6})}, options), "[0, 2, 4, 6, 8, 10]");
  Value a = floats({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, ElemKind::F16);
  Value b = floats({4, 2}, {1, 0, 0, 1, 1, 1, 2, 0}, ElemKind::F16);
  EXPECT_EQ(checked.show("matmul", {a, b}), "[[8, 3],\n [24, 11],\n [40, 19]]");
  EXPECT_EQ(checked.show("add", {counting({6}), counting({5})}),
            "arguments: `b`: the extent `N` is 6 by `a`, but 5 here");
}

TEST(Reference, programsCallsAndInout) {
  Checked checked("fn half[N](x: f32[N]) -> f32[N] { return x / 2.0 }\n"
                  "kernel bump[N](x: inout f32[N]) { parallel i in tiles(N, 4) { x[i] += 1.0 } }\n"
                  "program p[N](x: f32[N]) -> (y: f32[N]) { y = half(x)\n bump(x: inout y) }\n"
                  "struct Pair[N] { w: f32[N]\n b: f32[N] }\n"
                  "fn apply[N](p: Pair[N], x: f32[N]) -> f32[N] { return p.w * x + p.b }\n"
                  "fn make[N](x: f32[N]) -> f32[N] { return apply(Pair(w: x, b: x), x) }\n");
  EXPECT_EQ(checked.show("p", {counting({3})}), "[1, 1.5, 2]");
  RunResult bumped = checked.run("bump", {counting({5})});
  ASSERT_TRUE(bumped.ok()) << bumped.message;
  EXPECT_EQ(valueText(bumped.inouts[0]), "[1, 2, 3, 4, 5]");
  EXPECT_EQ(checked.show("make", {counting({3})}), "[0, 2, 6]");
}

TEST(Reference, indexing) {
  Checked checked(
      "fn column[R, C](x: f32[R, C], i: int) -> f32[R] { return x[:, i] }\n"
      "fn every[N](x: f32[2*N]) -> f32[N] { return x[1:2*N:2] }\n"
      "fn rowsAt[R, C, K](x: f32[R, C], idx: i32[K]) -> f32[K, C] { return x[idx, :] }\n"
      "fn outer[N](x: f32[N]) -> f32[N, N] { return x[:, new] * x }\n"
      "fn far[N, K](x: f32[N], idx: u64[K]) -> f32[K] { return x[idx] }\n"
      "kernel shift[N](x: f32[N]) -> (y: f32[N])\n"
      "{ parallel r in tiles(N, 4) { y[r] = load(x[r - 1], outside: -1.0) + load(x[r + 1], "
      "outside: -2.0) } }\n"
      "program put[N, K](x: inout f32[N], idx: i32[K], v: f32[K])\nwhere unique(idx)\n{ x[idx] = v "
      "}\n");
  EXPECT_EQ(checked.show("column", {counting({2, 3}), Value::integer(1)}), "[1, 4]");
  EXPECT_EQ(checked.show("column", {counting({2, 3}), Value::integer(3)}),
            "bounds: the position 3 is outside of 0..3 (axis 1 of `x`)");
  EXPECT_EQ(checked.show("every", {counting({6})}), "[1, 3, 5]");
  EXPECT_EQ(checked.show("rowsAt", {counting({3, 2}), integers({2}, {2, 0})}),
            "[[4, 5],\n [0, 1]]");
  EXPECT_EQ(checked.show("rowsAt", {counting({3, 2}), integers({2}, {2, 3})}),
            "bounds: `idx` holds the position 3, outside of 0..3 (axis 0 of `x`)");
  EXPECT_EQ(
      checked.show("far", {counting({3}), integers({2}, {2, -2}, ElemKind::U64)}),
      "bounds: `idx` holds the position 18446744073709551614, outside of 0..3 (axis 0 of `x`)");
  EXPECT_EQ(checked.show("outer", {counting({2})}), "[[0, 0],\n [0, 1]]");
  EXPECT_EQ(checked.show("shift", {counting({5})}), "[0, 2, 4, 6, 1]");
  RunResult put = checked.run("put", {counting({4}), integers({2}, {3, 0}), floats({2}, {9, 8})});
  ASSERT_TRUE(put.ok()) << put.message;
  EXPECT_EQ(valueText(put.inouts[0]), "[8, 1, 2, 9]");
  EXPECT_EQ(checked.show("put", {counting({4}), integers({2}, {3, 3}), floats({2}, {9, 8})}),
            "where: `put` needs `unique(idx)`");
}

TEST(Reference, checksStop) {
  Checked checked("fn checked(n: int) -> int { assert(n < 10, \"too large\")\n return n }\n"
                  "fn quotient(a: int, b: int) -> int { return a / b }\n"
                  "fn even[N](x: f32[N]) -> f32[N]\nwhere N % 2 == 0\n{ return x }\n"
                  "fn narrow(n: int, x: i8) -> i8 { return x + n }\n");
  EXPECT_EQ(checked.show("checked", {Value::integer(3)}), "3");
  EXPECT_EQ(checked.show("checked", {Value::integer(30)}), "assert: too large: `n` is 30");
  EXPECT_EQ(checked.show("quotient", {Value::integer(-7), Value::integer(2)}), "-4");
  EXPECT_EQ(checked.show("quotient", {Value::integer(1), Value::integer(0)}),
            "arithmetic: division by zero in `/`");
  EXPECT_EQ(checked.show("even", {counting({3})}),
            "where: `even` needs `N % 2 == 0`: `N % 2` is 1, `N` is 3");
  EXPECT_EQ(checked.show("narrow",
                         {Value::integer(200), Value::scalar(ElemKind::I8, Scalar::integer(1))}),
            "arithmetic: the value 200 does not fit in `i8`");
}

TEST(Reference, hugeArraysStop) {
  Checked checked(
      "fn large(n: int) -> f32 {\n assert(n > 0)\n return sum(ones(f32[n, n, n]))\n}\n");
  EXPECT_EQ(checked.show("large", {Value::integer(3)}), "27");
  EXPECT_EQ(checked.show("large", {Value::integer(1 << 30)}),
            "memory: an array would be larger than any memory");
}

TEST(Reference, controlFlow) {
  Checked checked(
      "fn collatz(start: int) -> int {\n var n = start\n var steps = 0\n while n != 1 {\n"
      "  if n % 2 == 0 { n = n / 2 } else { n = 3 * n + 1 }\n  steps += 1\n }\n return steps\n}\n"
      "fn firstAbove[N](x: f32[N], limit: f32) -> int {\n"
      " for i in 0..N { if x[i] > limit { return i } }\n return -1\n}\n"
      "fn odds(n: int) -> int {\n var s = 0\n for i in 0..n {\n  if i % 2 == 0 { continue }\n"
      "  if i > 7 { break }\n  s += i\n }\n return s\n}\n"
      "fn pick(x: f32) -> f32 { return if x > 0.0 { x } else { -x } }\n");
  EXPECT_EQ(checked.show("collatz", {Value::integer(27)}), "111");
  EXPECT_EQ(
      checked.show("firstAbove", {counting({9}), Value::scalar(ElemKind::F32, Scalar::real(4.5))}),
      "5");
  EXPECT_EQ(checked.show("odds", {Value::integer(100)}), "16");
  EXPECT_EQ(checked.show("pick", {Value::scalar(ElemKind::F32, Scalar::real(-2))}), "2");
}

TEST(Reference, testsAndProperties) {
  Checked checked("fn twice[N](x: f32[N]) -> f32[N] { return x * 2.0 }\n"
                  "test \"passes\" { for n in [1, 7] { let x = random(f32[n], seed: 1)\n "
                  "expect_equal(twice(x), x + x) } }\n"
                  "test \"fails\" { expect(1 + 1 == 3)\n expect_close(ones(f32[2]), zeros(f32[2]), "
                  "atol: 0.5) }\n"
                  "property \"small\"[N: 0..300, M: 1..20] { expect(N < 40 or M < 5) }\n"
                  "property \"all\"[N: 0..50] { let x = random(f32[N], seed: 2)\n "
                  "expect_equal(twice(x), x + x) }\n");
  int calls = 0;
  TestOptions options;
  options.handler = [&](const CallRequest &) {
    ++calls;
    return std::nullopt;
  };
  std::vector<TestOutcome> outcomes = runTests(*checked.program, checked.sources, options);
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_TRUE(outcomes[0].passed());
  ASSERT_EQ(outcomes[1].failures.size(), 2u);
  EXPECT_EQ(outcomes[1].failures[0].message, "`1 + 1 == 3` does not hold");
  EXPECT_EQ(outcomes[1].failures[1].message,
            "largest error 1 at [0]: got 1, expected 0, allowed 0.5; 2 of 2 elements are wrong");
  ASSERT_FALSE(outcomes[2].passed());
  EXPECT_EQ(outcomes[2].dims, (DimValues{{"N", 40}, {"M", 5}}));
  EXPECT_TRUE(outcomes[3].passed());
  EXPECT_GE(outcomes[3].samples, 20u);
  EXPECT_GT(calls, 20);
}

TEST(Reference, callsRunElsewhere) {
  Checked checked("fn twice[N](x: f32[N]) -> f32[N] { return x * 2.0 }\n"
                  "test \"t\" { expect_equal(twice(ones(f32[3])), full(f32[3], 5.0)) }\n");
  TestOptions options;
  options.handler = [&](const CallRequest &request) {
    EXPECT_EQ(request.dims, std::vector<int64_t>{3});
    RunResult result;
    result.outputs = {floats({3}, {5, 5, 5})};
    return result;
  };
  EXPECT_TRUE(runTests(*checked.program, checked.sources, options)[0].passed());
}

TEST(Reference, unwrittenElementsStop) {
  CheckedProgram program;
  RefArray array = undefinedArray(ElemKind::F32, {4});
  array.defined[2] = 1;
  EXPECT_TRUE(Value::array(array).hasUndefined());
  array.defined.assign(4, 1);
  EXPECT_FALSE(Value::array(array).hasUndefined());
}

/// The library's own tests and the examples hold in the oracle.
TEST(Reference, libraryAndExamples) {
  CheckOptions options;
  options.stdPath = PTL_SOURCE_DIR "/std";
  options.importPaths = {PTL_SOURCE_DIR "/examples"};
  for (const char *folder : {"std", "examples"})
    for (const auto &entry :
         std::filesystem::directory_iterator(std::filesystem::path(PTL_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".ptl")
        continue;
      SCOPED_TRACE(entry.path().filename().string());
      std::ifstream file(entry.path());
      std::string text((std::istreambuf_iterator<char>(file)), {});
      Checked checked(text, options);
      TestOptions tests;
      tests.samples = 6;
      tests.shuffle = 3;
      for (const TestOutcome &outcome : runTests(*checked.program, checked.sources, tests))
        for (const TestFailure &failure : outcome.failures)
          ADD_FAILURE() << outcome.decl->name << ": " << runStatusName(failure.status) << " "
                        << failure.message << " `" << checked.sources.text(failure.span) << "`";
    }
}

TEST(Reference, everyBuiltInIsKnown) {
  for (const OpRecord &op : allOps()) {
    std::string reason;
    EXPECT_TRUE(isImplemented(op.id, &reason) || !reason.empty()) << op.name;
  }
}

/// Every record's example checks, and what has an entry runs on small arguments.
TEST(Reference, examplesOfBuiltIns) {
  for (const OpRecord &op : allOps()) {
    SCOPED_TRACE(std::string(op.mnemonic));
    Checked checked{std::string(op.example)};
    for (const CallableDecl *decl : checked.program->modules[0]->callables) {
      if (decl->hasErrors)
        continue;
      if (decl->kind == DeclKind::Test) {
        EXPECT_EQ(runBody(*checked.program, checked.sources, *decl).failed.size(), 0u);
        continue;
      }
      std::vector<Value> args;
      for (const Local *param : decl->params) {
        std::vector<int64_t> shape;
        for (const Extent &extent : param->type->extents)
          shape.push_back(extent.length.constant().value_or(4));
        ElemKind elem = param->type->elem.kind;
        args.push_back(fullValue(elem, shape, {1, 1}));
        bool isUniqueIndex = !isFloat(elem) && shape.size() == 1;
        for (int64_t i = 0; isUniqueIndex && elem != ElemKind::Bool && i < shape[0]; ++i)
          args.back().mutableArray().set(i, Scalar::integer(i));
      }
      RunOptions options;
      options.print = [](const std::string &) {};
      RunResult result = runEntry(*checked.program, checked.sources, *decl, args, options);
      for (const DimParam &dim : decl->dims) // Those that no argument fixes.
        options.dims[dim.name] = 4;
      if (result.status == RunStatus::Arguments)
        result = runEntry(*checked.program, checked.sources, *decl, args, options);
      EXPECT_TRUE(result.ok()) << runStatusName(result.status) << ": " << result.message;
    }
  }
}

TEST(Reference, isFastEnough) {
  Checked checked("fn product[M, K, N](a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return a @ b }\n"
                  "fn chain[N](x: f32[N]) -> f32[N] { return tanh(x) * 2.0 + x }\n");
  auto seconds = [&](const std::string &name, std::vector<Value> args) {
    std::clock_t start = std::clock(); // of the processor, which other work does not lengthen
    EXPECT_TRUE(checked.run(name, std::move(args)).ok());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds("product", {counting({128, 128}), counting({128, 128})}), 0.5);
  EXPECT_LT(seconds("chain", {counting({1 << 20})}), 2.0);
}

} // namespace
} // namespace ptl::reference
