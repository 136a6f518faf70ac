#include "frontend/syntax/signature.h"

#include "frontend/syntax/typed_nodes.h"

namespace ptl {

static NodeId bodyOf(const Tree &tree, NodeId id) {
  switch (tree.kind(id)) {
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    return CallableView(tree, id).body();
  default:
    return kNoNode;
  }
}

std::string signatureText(const Tree &tree, NodeId declaration) {
  Span span = tree.span(declaration);
  NodeId body = bodyOf(tree, declaration);
  uint32_t end = body == kNoNode ? span.end : tree.span(body).begin;
  std::string text(tree.fileText().substr(span.begin, end - span.begin));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

std::string signatureLine(const Tree &tree, NodeId declaration) {
  std::string line;
  for (char c : signatureText(tree, declaration)) {
    bool isSpace = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!isSpace)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return line;
}

} // namespace ptl
