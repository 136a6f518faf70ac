#include "frontend/parse/parse.h"
#include "frontend/syntax/kinds.h"

#include "frontend/syntax/typed_nodes.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>

namespace ptl {
namespace {

struct Parsed {
  SourceFile file;
  DiagnosticSink sink;
  Tree tree;

  explicit Parsed(std::string text) : file(0, "<test>", std::move(text)), tree(parse(file, sink)) {}

  std::string codes() const {
    std::string result;
    for (const Diagnostic &d : sink.all())
      result += (result.empty() ? "" : " ") + std::string(diagInfo(d.id).code);
    return result;
  }
  /// The first node of a kind in order of the text.
  NodeId find(NodeKind kind) const {
    std::function<NodeId(NodeId)> visit = [&](NodeId id) {
      if (tree.kind(id) == kind)
        return id;
      for (NodeId child : tree.children(id))
        if (child != kNoNode)
          if (NodeId found = visit(child); found != kNoNode)
            return found;
      return kNoNode;
    };
    return visit(tree.root());
  }
};

/// A file whose function returns the expression.
std::string returning(const std::string &expr) {
  return "fn f(x: f32) -> f32 {\n    return " + expr + "\n}\n";
}

/// The expression with all its operators in parentheses, to show how it was read.
std::string grouped(const std::string &expr) {
  Parsed p(returning(expr));
  std::function<std::string(NodeId)> show = [&](NodeId id) -> std::string {
    const Tree &t = p.tree;
    switch (t.kind(id)) {
    case NodeKind::BinaryExpr: {
      BinaryExprView v(t, id);
      return "(" + show(v.lhs()) + std::string(t.mainText(id)) + show(v.rhs()) + ")";
    }
    case NodeKind::UnaryExpr:
      return "(" + std::string(t.mainText(id)) + " " + show(UnaryExprView(t, id).operand()) + ")";
    case NodeKind::RangeExpr:
      return "(" + show(t.child(id, 0)) + ".." + show(t.child(id, 1)) + ")";
    default:
      return std::string(t.text(id));
    }
  };
  EXPECT_EQ(p.codes(), "") << expr;
  return show(ReturnStmtView(p.tree, p.find(NodeKind::ReturnStmt)).value());
}

TEST(ParseExpr, BindsByPrecedence) {
  EXPECT_EQ(grouped("a + b * c"), "(a+(b*c))");
  EXPECT_EQ(grouped("-x ** 2"), "(- (x**2))");
  EXPECT_EQ(grouped("2 ** -y ** 3"), "(2**(- (y**3)))");
  EXPECT_EQ(grouped("a @ b.T * s"), "((a@b.T)*s)");
  EXPECT_EQ(grouped("a | b ^ c & d << 1 + 2"), "(a|(b^(c&(d<<(1+2)))))");
  EXPECT_EQ(grouped("not a == b and c or d"), "(((not (a==b))andc)ord)");
  EXPECT_EQ(grouped("a - b - c"), "((a-b)-c)");
  EXPECT_EQ(grouped("0..n + 1"), "(0..(n+1))");
  EXPECT_EQ(grouped("a +\n        b"), "(a+b)");
}

TEST(ParseExpr, ReadsIndexItems) {
  Parsed p(returning("x[r, :, new, a:b:2, ..0, 1:]"));
  EXPECT_EQ(p.codes(), "E0107");
  Parsed q(returning("x[.., :, new, a:b:2, 1:]"));
  ASSERT_EQ(q.codes(), "");
  IndexExprView index(q.tree, q.find(NodeKind::IndexExpr));
  ASSERT_EQ(index.indices().size(), 5u);
  EXPECT_EQ(q.tree.kind(index.indices()[0]), NodeKind::RestIndex);
  EXPECT_EQ(q.tree.kind(index.indices()[2]), NodeKind::NewIndex);
  SliceIndexView slice(q.tree, index.indices()[3]);
  EXPECT_EQ(q.tree.text(slice.step()), "2");
  EXPECT_EQ(SliceIndexView(q.tree, index.indices()[1]).start(), kNoNode);
}

TEST(ParseExpr, ReadsNamedAndInoutArguments) {
  Parsed p(returning("step(x, round: .even, cache: inout c,)"));
  ASSERT_EQ(p.codes(), "");
  CallExprView call(p.tree, p.find(NodeKind::CallExpr));
  ASSERT_EQ(call.args().size(), 3u);
  EXPECT_EQ(p.tree.text(ArgView(p.tree, call.args()[1]).name()), "round");
  EXPECT_TRUE(p.tree.has(call.args()[2], NodeFlag::Inout));
}

TEST(ParseStmt, EndsStatementsAtLineEnds) {
  Parsed p("fn f(x: f32) -> f32 {\n    let a = x *\n        2\n    let b = g(\n        a\n    ) ; "
           "b\n}\n");
  ASSERT_EQ(p.codes(), "");
  EXPECT_EQ(BlockView(p.tree, p.find(NodeKind::Block)).statements().size(), 3u);
}

TEST(ParseDecl, KeepsHeaderPartsApart) {
  Parsed p("/// First.\n/// Second.\npub manual kernel k[N, static C, T: float](x: T[N] strides "
           "[S], c: inout f32[C])\n"
           "    -> (y: f32[N] = 0.0)\non aiv for a2, a3\nwhere N > 0,\n    C <= 8\ntune B: [4, 8] "
           "= 4\n{\n}\n");
  ASSERT_EQ(p.codes(), "");
  NodeId id = p.find(NodeKind::KernelDecl);
  CallableView kernel(p.tree, id);
  EXPECT_TRUE(kernel.has(NodeFlag::Pub) && kernel.has(NodeFlag::Manual));
  EXPECT_EQ(p.tree.docComment(id), "First.\nSecond.");
  EXPECT_EQ(p.tree.text(kernel.name()), "k");
  EXPECT_EQ(p.tree.children(kernel.generics()).size(), 3u);
  EXPECT_TRUE(p.tree.has(p.tree.child(kernel.params(), 1), NodeFlag::Inout));
  EXPECT_EQ(p.tree.children(kernel.where()).size(), 2u);
  EXPECT_EQ(p.tree.kind(kernel.clause()), NodeKind::OnClause);
  EXPECT_NE(kernel.tune(), kNoNode);
  EXPECT_NE(kernel.body(), kNoNode);
}

TEST(ParseDecl, LinesOfDimensionsMayBeginWithStatic) {
  Parsed p("kernel k[\n    R,\n    static C\n](x: f32[R, C]) -> (y: f32[R])\n{ y[:] = 0.0 }\n");
  EXPECT_EQ(p.codes(), "");
}

TEST(ParseDecl, ReportsEachMistakeOnce) {
  const std::pair<const char *, const char *> cases[] = {
      {"fn f(x: f32 -> f32 {\n    return x\n}\n", "E0107"},
      {"fn f(x: f32) -> f32 {\n    let = 3\n    return x +\n}\n", "E0110 E0108"},
      {"fn f(x: f32) -> f32 {\n    return (x\n}\nfn g(x: f32) -> f32 {\n    return x\n}\n",
       "E0107"},
      {"fn f(x: f32) -> f32 {\n    return x\n\nfn g(x: f32) -> f32 {\n    return x\n}\n", "E0115"},
      {"fn f(x: f32) -> f32 {\n    for i tiles(n, 4) {\n        g(i)\n    }\n    return x\n}\n",
       "E0107"},
      {"fn f(x: f32) -> f32 { return x ] }\nfn g() { }\n", "E0112"},
      {"garbage here\nfn g() {\n}\n", "E0111"},
      {"fn f(a: bool) -> bool { return a && b || c }", "E0122 E0122"},
      {"fn f(n: int) -> int {\n    for i in 0..n checkpoint run every 2 {\n        g(i)\n    }\n   "
       " return n\n}\n",
       "E0107"},
      {"fn f(n: int) -> int {\n    for i in 0..n checkpoint \"run\" {\n        g(i)\n    }\n    "
       "return n\n}\n",
       "E0107"},
  };
  for (const auto &[text, codes] : cases)
    EXPECT_EQ(Parsed(text).codes(), codes) << text;
}

TEST(ParseStmt, SectionsForParts) {
  Parsed one("program p() {\n    pipe act: f32[B] depth 2\n    on chip 1 { push(act, x) }\n}\n");
  EXPECT_EQ(one.codes(), "");
  OnStmtView section(one.tree, one.find(NodeKind::OnStmt));
  EXPECT_EQ(one.tree.text(section.core()), "chip");
  EXPECT_EQ(one.tree.text(section.part()), "1");
  EXPECT_EQ(PipeStmtView(one.tree, one.find(NodeKind::PipeStmt)).count(), kNoNode);
  Parsed many(
      "program p() {\n    pipe act[S + 1]: f32[B]\n    on chip s in 0..S { pop(act[s]) }\n}\n");
  EXPECT_EQ(many.codes(), "");
  LoopBindingView stages(many.tree, many.find(NodeKind::LoopBinding));
  EXPECT_EQ(many.tree.text(stages.pattern()), "s");
  EXPECT_EQ(many.tree.text(stages.domain()), "0..S");
  EXPECT_EQ(many.tree.text(PipeStmtView(many.tree, many.find(NodeKind::PipeStmt)).count()),
            "S + 1");
  EXPECT_EQ(Parsed("program p() {\n    on chip 1..S { f() }\n}\n").codes(), "E1012");
  EXPECT_EQ(Parsed("program p() {\n    on chip s { f() }\n}\n").codes(), "E0107");
  EXPECT_EQ(Parsed("program p() {\n    on aiv split rows 1 { f() }\n}\n").codes(), "E0107");
}

TEST(ParseStmt, CheckpointsOfLoops) {
  Parsed p("fn f(n: int) -> int {\n    for i in 0..n unroll checkpoint \"run\" every n / 2 keep 3 "
           "as steps { g(i) }\n"
           "    let checkpoint = 2\n    let every = checkpoint\n    return every\n}\n");
  EXPECT_EQ(p.codes(), "");
  CheckpointView view(p.tree, p.find(NodeKind::Checkpoint));
  EXPECT_EQ(p.tree.text(view.folder()), "\"run\"");
  EXPECT_EQ(p.tree.text(view.every()), "n / 2");
  EXPECT_EQ(p.tree.text(view.keep()), "3");
  LoopView loop(p.tree, p.find(NodeKind::ForStmt));
  EXPECT_EQ(p.tree.text(loop.label()), "steps");
  EXPECT_NE(loop.unroll(), kNoNode);
}

TEST(ParseDecl, GoesOnAfterErrors) {
  Parsed p("fn f( {\n    let x = \n}\nstruct { a: }\nkernel k[N](x: f32[N]) -> (y: f32[N]) {\n    "
           "y[:] = x\n}\n");
  EXPECT_TRUE(p.sink.hasErrors());
  NodeId kernel = p.find(NodeKind::KernelDecl);
  ASSERT_NE(kernel, kNoNode);
  EXPECT_EQ(p.tree.text(CallableView(p.tree, kernel).name()), "k");
}

TEST(ParseDecl, UnfinishedHeadersLeaveTheNextDeclaration) {
  // A declaration begins with its words at the beginning of a line, even where a name is expected.
  const char *headers[] = {"kernel a[R, static",
                           "kernel a[R,",
                           "kernel a[static",
                           "kernel a[R](x: f32[R, static",
                           "kernel a[R](x: inout",
                           "kernel a[R](x: f32[R] @",
                           "kernel a[R](x: f32[R]) -> (",
                           "kernel a[R](x: f32) on",
                           "kernel a[R](x: f32)\ntune",
                           "fn",
                           "program a[R](x:",
                           "kernel a[R](x: f32[R] over",
                           "schedule",
                           "import",
                           "struct"};
  for (std::string header : headers)
    for (std::string next : {"kernel b[N](x: f32[N]) -> (y: f32[N]) { y[:] = x }\n",
                             "pub kernel b[N](x: f32[N]) -> (y: f32[N]) { y[:] = x }\n"}) {
      Parsed p(header + "\n\n" + next);
      EXPECT_TRUE(p.sink.hasErrors()) << header;
      NodeId last = kNoNode;
      for (NodeId item : p.tree.children(p.tree.root()))
        last = item;
      ASSERT_NE(last, kNoNode) << header;
      EXPECT_TRUE(p.tree.is(last, NodeKind::KernelDecl)) << header;
      CallableView kernel(p.tree, last);
      EXPECT_EQ(p.tree.text(kernel.name()), "b") << header;
      EXPECT_NE(kernel.body(), kNoNode) << header;
      EXPECT_NE(kernel.params(), kNoNode) << header;
    }
}

TEST(ParseDecl, AHeaderThatEndsWithItsLineLacksABody) {
  std::string header = "kernel a[N](\n    x: f32[N],\n) -> (y: f32[N])\n";
  const std::pair<const char *, const char *> cases[] = {
      {"", "E0129"},
      {"whe", "E0129 E0111"}, // `where`, perhaps, while it is being written
      {"where N >= 1", "E0129"},
      {"    y[:] = x", "E0107 E0111"},
      {"{ y[:] = x }", ""},
  };
  for (const auto &[rest, codes] : cases)
    EXPECT_EQ(Parsed(header + rest + "\n").codes(), codes) << rest;
}

TEST(Parse, FindsTokensAndNodes) {
  Parsed p(returning("alpha * beta"));
  auto offset = static_cast<uint32_t>(p.file.text().find("beta"));
  EXPECT_EQ(p.tree.tokenText(p.tree.tokenAt(offset + 1)), "beta");
  NodeId node = p.tree.nodeAt(offset + 2);
  EXPECT_EQ(p.tree.kind(node), NodeKind::NameExpr);
  EXPECT_EQ(p.tree.kind(p.tree.parent(node)), NodeKind::BinaryExpr);
  EXPECT_EQ(slotName(NodeKind::BinaryExpr, 1), "rhs");
}

TEST(Parse, WarnsOfCommentsThatLookLikeDivisions) {
  EXPECT_EQ(Parsed(returning("x // x")).codes(), "W1101");
  EXPECT_EQ(Parsed(returning("x // 2")).codes(), "W1101");
  EXPECT_EQ(Parsed(returning("x // halves")).codes(), "");
  EXPECT_EQ(Parsed(returning("x // x is doubled")).codes(), "");
}

TEST(Parse, BoundsStackAndTimeOnHostileText) {
  auto repeat = [](const char *piece, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += piece;
    return text;
  };
  constexpr int kMany = 100000;
  EXPECT_EQ(Parsed(returning(repeat("(", kMany) + "x" + repeat(")", kMany))).codes(), "E0114");
  EXPECT_EQ(Parsed(returning(repeat("-", kMany) + "x")).codes(), "E0114");
  EXPECT_EQ(Parsed(returning(repeat("x + ", kMany) + "x")).codes(), "E0114");
  EXPECT_EQ(Parsed(returning("x" + repeat(".T", kMany))).codes(), "E0114");
  EXPECT_TRUE(Parsed("fn f() " + repeat("{", kMany)).sink.hasErrors());
  EXPECT_TRUE(Parsed("fn f() { " + repeat("if a { } else ", kMany)).sink.hasErrors());
  EXPECT_TRUE(Parsed(repeat("f([", kMany)).sink.hasErrors());
  EXPECT_LE(Parsed("fn f() {\n" + repeat("let 3\n", kMany)).sink.all().size(), 101u);
}

} // namespace
} // namespace ptl
