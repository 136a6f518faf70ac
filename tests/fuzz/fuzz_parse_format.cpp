// The parser makes a tree of any text; the formatter keeps its tokens and comments and is
// idempotent.
#include "frontend/format/essence.h"
#include "frontend/format/format.h"
#include "frontend/lex/lexer.h"
#include "frontend/parse/parse.h"
#include "tests/fuzz/fuzz_input.h"

using namespace ptl;

/// False for kinds whose children are in the order of the slots, while the text may have another.
static bool inTextOrder(NodeKind kind) {
  switch (kind) {
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
  case NodeKind::ForStmt:
  case NodeKind::ParallelStmt:
  case NodeKind::ArrayType:
    return false;
  default:
    return true;
  }
}

/// Children lie inside their parents, in order, and know them.
static void checkTree(const Tree &tree) {
  for (NodeId id = 0; id < tree.nodeCount(); ++id) {
    const Node &node = tree.node(id);
    if (id != tree.root() && node.parent == kNoNode)
      continue;
    fuzz::require(node.firstToken <= node.endToken && node.mainToken < tree.tokens().size(),
                  "token range");
    TokenIndex at = node.firstToken;
    for (NodeId child : tree.children(id)) {
      if (child == kNoNode)
        continue;
      fuzz::require(tree.parent(child) == id, "a parent that is not one");
      at = inTextOrder(node.kind) ? at : node.firstToken;
      fuzz::require(tree.node(child).firstToken >= at && tree.node(child).endToken <= node.endToken,
                    "a child outside its parent");
      at = tree.node(child).endToken;
    }
    Span span = tree.span(id);
    fuzz::require(span.begin <= span.end && span.end <= tree.fileText().size(),
                  "a span outside the file");
  }
}

/// What formatting has to keep of a text.
static std::string essenceOf(const SourceFile &file) {
  DiagnosticSink sink;
  return essence(file.text(), lex(file, sink));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceFile file = fuzz::inputFile(data, size);
  DiagnosticSink sink;
  Tree tree = parse(file, sink);
  fuzz::require(tree.kind(tree.root()) == NodeKind::Module, "no module");
  fuzz::require(tree.errorTokens().empty() || sink.hasErrors(),
                "a marked error that was not reported");
  checkTree(tree);
  FormatResult once = format(tree);
  SourceFile formatted(1, "<formatted>", once.text);
  fuzz::require(essenceOf(formatted) == essenceOf(file), "formatting lost text");
  // The formatter's own safety net is for mistakes in it.
  for (const UntouchedRegion &region : once.untouched)
    fuzz::require(region.reason.find("meaning") == std::string::npos, "the formatter gave up");
  DiagnosticSink again;
  Tree secondTree = parse(formatted, again);
  FormatResult twice = format(secondTree);
  fuzz::require(twice.text == once.text, "formatting is not idempotent");
  fuzz::require(sink.hasErrors() || !again.hasErrors(), "formatting made an error");
  return 0;
}
