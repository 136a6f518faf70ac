#include "codegen/reference/coverage.h"
#include "codegen/reference/test_runner.h"
#include "frontend/sema/check.h"

#include <gtest/gtest.h>

namespace ptl::reference {
namespace {

/// What the tests of a source executed, entry by entry: counts of statements by line, arms of branches.
std::string covered(const std::string &text, unsigned samples = 3) {
  SourceManager sources;
  DiagnosticSink sink;
  FileId root = sources.add("test.ptl", text);
  auto program = checkFile(sources, root, {}, sink);
  for (const Diagnostic &diagnostic : sink.all())
    if (diagnostic.severity == Severity::Error)
      ADD_FAILURE() << diagnostic.message;
  Coverage coverage;
  TestOptions options;
  options.samples = samples;
  options.observer = &coverage;
  runTests(*program, sources, options);
  std::string all;
  auto line = [&](Span span) {
    return std::to_string(sources.file(root).lineColumn(span.begin).line);
  };
  for (const CoveredEntry &entry : coverageOf(*program->modules[0], coverage)) {
    all += entry.decl->name + " " + std::to_string(entry.count) + ":";
    for (const CoveredStatement &statement : entry.statements)
      all += " " + line(statement.span) + "*" + std::to_string(statement.count);
    for (const CoveredBranch &branch : entry.branches)
      for (const auto &[arm, count] : branch.arms)
        all += "; " + line(branch.span) + " " + std::string(armName(arm)) + " " +
               std::to_string(count);
    for (const auto &[extents, count] : entry.extents) {
      all += "; [";
      for (int64_t extent : extents)
        all += std::to_string(extent) + " ";
      all += "]*" + std::to_string(count);
    }
    all += "\n";
  }
  return all;
}

TEST(Coverage, statementsAndBranches) {
  EXPECT_EQ(covered("fn least(a: i32, b: i32) -> i32 {\n"
                    "    if a < b and a < 100 {\n"
                    "        return a\n"
                    "    }\n"
                    "    let c = if b > 7 { b } else { b + 0 }\n"
                    "    return c\n"
                    "}\n"
                    "test \"t\" {\n"
                    "    for i in 0..4 { expect(least(i32(i), 2) <= 2) }\n"
                    "}\n"),
            "least 4: 2*4 3*2 5*2 5*0 5*2 6*2; 2 then 2; 2 else 2; 2 right side 2; "
            "2 left side decides 2; 5 then 0; 5 else 2; []*4\n");
}

TEST(Coverage, lengthsOfTiles) {
  // Lengths 0, 1 and 9 are drawn: no tile, a part, and two whole ones with a part.
  EXPECT_EQ(covered("kernel k[N](x: f32[N]) -> (y: f32[N])\n{\n"
                    "    parallel r in tiles(N, 4) {\n"
                    "        y[r] = x[r]\n    }\n}\n"
                    "kernel fixed(x: f32[8]) -> (y: f32[8])\n{\n"
                    "    parallel r in tiles(8, 4) {\n"
                    "        y[r] = x[r]\n    }\n}\n"
                    "property \"p\"[N: 0..10] {\n    let x = ones(f32[N])\n"
                    "    expect_equal(k(x), x)\n}\n"),
            "k 3: 3*3 4*4; 3 a whole tile 2; 3 a part of a tile 2; 3 no tile 1; [0 ]*1; [1 ]*1; "
            "[9 ]*1\nfixed 0: 9*0 10*0\n");
}

TEST(Coverage, whatMakesAFailureSmallerIsNotCounted) {
  EXPECT_EQ(covered("fn f[N](x: f32[N]) -> f32[N] {\n    return x\n}\n"
                    "property \"p\"[N: 0..1000] {\n    expect(N < 500)\n"
                    "    expect_equal(f(ones(f32[N])), ones(f32[N]))\n}\n"),
            "f 3: 2*3; [0 ]*1; [1 ]*1; [999 ]*1\n");
}

TEST(Coverage, whatStopsAndWhatCannotRun) {
  EXPECT_EQ(
      covered(
          "fn f(a: i32) -> i32 {\n    assert(a < 1)\n    return a\n}\n"
          "extern kernel e(x: f32[4]) -> (y: f32[4])\n"
          "test \"t\" {\n    expect(f(0) == 0)\n    expect(f(1) == 1)\n    expect(f(0) == 1)\n}\n"),
      "f 2: 2*2 3*1; []*2\ne 0:\n");
}

} // namespace
} // namespace ptl::reference
