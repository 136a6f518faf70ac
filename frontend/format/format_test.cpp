#include "frontend/format/format.h"

#include "frontend/parse/parse.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

/// Formats to `expected`, which stays as it is.
void expectFormat(const std::string &text, const std::string &expected) {
  EXPECT_EQ(formatted(text), expected);
  EXPECT_EQ(formatted(expected), expected);
}

TEST(Format, NormalisesSpacesAndIndentation) {
  expectFormat("fn  f [ N ] ( x :f32 [N,M] )->f32[ N ]{\nlet y=x [ 0 : N : 2 , : ]*-2 ** n\n"
               "  return  g ( y ,axis : - 1,round: . even )\n}",
               "fn f[N](x: f32[N, M]) -> f32[N] {\n    let y = x[0:N:2, :] * -2 ** n\n"
               "    return g(y, axis: -1, round: .even)\n}\n");
}

TEST(Format, KeepsEveryComment) {
  expectFormat("// a\nfn f(x: f32) -> f32 { // b\n// c\n\n\nlet y = x// d\n/* e */\nreturn y /* f "
               "*/ + x\n// g\n}\n// h",
               "// a\nfn f(x: f32) -> f32 {  // b\n    // c\n\n    let y = x  // d\n    /* e */\n"
               "    return y /* f */ + x\n    // g\n}\n// h\n");
}

TEST(Format, KeepsShortBlocksAndJoinedStatements) {
  expectFormat("kernel k[N](c: inout f32[N]) {\n  if a { wait(x) };\n  a = b;c = d\n  for i in "
               "0..n { f(i);g(i) }\n}\n",
               "kernel k[N](c: inout f32[N]) {\n    if a { wait(x) }\n    a = b ; c = d\n"
               "    for i in 0..n { f(i) ; g(i) }\n}\n");
}

TEST(Format, CheckpointsOfLoops) {
  expectFormat("fn f(n: int) -> int {\nfor i in 0 .. n  checkpoint   \"run\"  every n/2 keep "
               "3{\ng(i)\n}\nreturn n\n}\n",
               "fn f(n: int) -> int {\n    for i in 0..n checkpoint \"run\" every n / 2 keep 3 {\n"
               "        g(i)\n    }\n    return n\n}\n");
}

TEST(Format, SectionsForParts) {
  expectFormat("program p() {\npipe  act [S+1] : f32[B]  depth 2\npipe b: f32[B]\n"
               "on   chip  0 { push( act [0], x ) }\n"
               "on chip s in 0 .. S{\npush(act[s+1], pop(act[s]))\n}\n}\n",
               "program p() {\n    pipe act[S + 1]: f32[B] depth 2\n    pipe b: f32[B]\n"
               "    on chip 0 { push(act[0], x) }\n    on chip s in 0..S {\n"
               "        push(act[s + 1], pop(act[s]))\n    }\n}\n");
}

TEST(Format, DropsSemicolonsThatStandAlone) {
  expectFormat("/// d\n\n    ;\n", "/// d\n");
  expectFormat("const A = 1\n\n;\n\n/* a */ ; /* b */ const B = 2\n;\n// c\n",
               "const A = 1\n\n/* a */ /* b */\nconst B = 2\n// c\n");
  expectFormat("const A = 1\n// c\n; fn f(x: f32) -> f32 {\n    g(x)\n\n    ;\n}\n",
               "const A = 1\n\n// c\nfn f(x: f32) -> f32 {\n    g(x)\n}\n");
  expectFormat("struct S {\n    a: f32\n    ,\n    b: f32 // b\n    , ;\n}\n",
               "struct S {\n    a: f32,\n    b: f32,  // b\n}\n");
}

TEST(Format, KeepsAlignmentOfNeighbours) {
  expectFormat(
      "fn f(x: f32) -> f32 {\n  var m   = 1  // one\n  var acc = 2  // two\n  var z = 3\n  return "
      "x\n}\n",
      "fn f(x: f32) -> f32 {\n    var m   = 1  // one\n    var acc = 2  // two\n    var z = 3\n"
      "    return x\n}\n");
}

TEST(Format, PutsClausesOnTheirLines) {
  expectFormat(
      "kernel k[N](x: f32[N]) -> (y: f32[N]) where N > 0 tune B = 4 { y[:] = x }",
      "kernel k[N](x: f32[N]) -> (y: f32[N])\nwhere N > 0\ntune B = 4\n{\n    y[:] = x\n}\n");
}

TEST(Format, BreaksLongLines) {
  std::string longName(40, 'a');
  expectFormat("fn f(x: f32) -> f32 {\n    let y = " + longName + "(" + longName + ", " + longName +
                   ", 1)\n}\n",
               "fn f(x: f32) -> f32 {\n    let y = " + longName + "(\n        " + longName + ", " +
                   longName + ", 1\n    )\n}\n");
  expectFormat("fn f(x: f32) -> f32 {\n    let y = " + longName + " * " + longName + " + " +
                   longName + "\n}\n",
               "fn f(x: f32) -> f32 {\n    let y = " + longName + " * " + longName +
                   " +\n        " + longName + "\n}\n");
  std::string extent(36, 'a');
  std::string params = "x: f32[" + extent + "], z: f32[" + extent + "]";
  expectFormat("kernel k(" + params + ") -> (y: f32[N, M, K]) {\n}\n",
               "kernel k(" + params + ")\n    -> (y: f32[N, M, K])\n{\n}\n");
}

TEST(Format, DropsTrailingCommasOnOneLine) {
  expectFormat("fn f[N, T: float,](x: T[N],) -> f32 {\n    return max(4, 5,)\n}\n",
               "fn f[N, T: float](x: T[N]) -> f32 {\n    return max(4, 5)\n}\n");
  expectFormat("fn f(x: f32) -> f32 {\n    let (y,) = (x,)\n    return g(y, /* c */ )\n}\n",
               "fn f(x: f32) -> f32 {\n    let (y,) = (x,)\n    return g(y, /* c */ )\n}\n");
  std::string longName(60, 'a');
  expectFormat("fn f(x: f32) -> f32 {\n    return g(" + longName + ", " + longName + ",)\n}\n",
               "fn f(x: f32) -> f32 {\n    return g(\n        " + longName + ",\n        " +
                   longName + ",\n    )\n}\n");
}

TEST(Format, KeepsDistributionsOnALine) {
  expectFormat(
      "program p[M,N](a:f32[M,N] over host by M,chip by N,b:f32[M] partial( + ) over host,chip,"
      "c:f32[M] at host 0)->(y:f32[M]) at pod mesh chip as rows,columns:4 {\n    y = b\n}\n",
      "program p[M, N](\n    a: f32[M, N] over host by M, chip by N,\n    b: f32[M] partial(+) "
      "over host, chip,\n    c: f32[M] at host 0\n) -> (y: f32[M]) at pod mesh chip as rows, "
      "columns: 4 {\n    y = b\n}\n");
}

TEST(Format, WorksAroundSyntaxErrors) {
  expectFormat(
      "fn f(x: f32) -> f32 {\n let a=1\n  let   = ) 3\n let b=2\n return a\n}\n",
      "fn f(x: f32) -> f32 {\n    let a = 1\n    let   = ) 3\n    let b = 2\n    return a\n}\n");
}

TEST(Format, KeepsACommaBeforeASemicolonThatIsWrong) {
  SourceFile file(0, "<test>", "bench \"\" {,;)}");
  DiagnosticSink sink;
  FormatResult result = format(parse(file, sink));
  for (const UntouchedRegion &region : result.untouched)
    EXPECT_EQ(region.reason.find("meaning"), std::string::npos);
  EXPECT_EQ(formatted(result.text), result.text);
}

TEST(Format, LeavesAFileAloneWhoseStringsWouldEndElsewhere) {
  for (const char *text : {"\"e { ", "schedule p {\"\n,}"}) {
    SourceFile file(0, "<test>", text);
    DiagnosticSink sink;
    FormatResult result = format(parse(file, sink));
    EXPECT_EQ(result.text, text);
    ASSERT_EQ(result.untouched.size(), 1u);
    EXPECT_EQ(result.untouched[0].reason, "has syntax errors");
  }
}

TEST(Format, SaysWhatItLeavesAlone) {
  SourceFile file(0, "<test>",
                  "fn f(x: f32) -> f32 {\n    let a = g(x,  // why\n        1)\n    return a\n}\n");
  DiagnosticSink sink;
  FormatResult result = format(parse(file, sink));
  EXPECT_EQ(result.text, file.text());
  ASSERT_EQ(result.untouched.size(), 1u);
  EXPECT_EQ(result.untouched[0].reason, "has a comment inside");
}

TEST(Format, KeepsAnEmptyFileEmpty) { EXPECT_EQ(formatted(" \n\n"), ""); }

TEST(Format, IsStableOnACommentThatNeverEnds) { expectFormat("/* a\n\n", "/* a\n"); }

} // namespace
} // namespace ptl
