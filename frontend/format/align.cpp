// Columns that the author aligned stay aligned: `=` of neighbouring bindings, comments behind
// lines.
#include "frontend/format/align.h"
#include "frontend/format/source_text.h"

#include <algorithm>

namespace ptl {

void setAnchor(const Tree &tree, const Spacing &spacing, NodeId id, OutputLine &line) {
  TokenIndex anchor = 0;
  switch (tree.kind(id)) {
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
  case NodeKind::ConstDecl:
    if (NodeId value = tree.child(id, 2); value != kNoNode)
      anchor = tree.node(value).firstToken - 1;
    break;
  case NodeKind::ScheduleAssign:
    anchor = tree.node(tree.child(id, 1)).firstToken - 1;
    break;
  case NodeKind::AssignStmt:
    anchor = tree.node(id).mainToken;
    break;
  case NodeKind::Field:
    anchor = tree.node(tree.child(id, 1)).firstToken;
    break;
  case NodeKind::PipeStmt:
  case NodeKind::BufferStmt:
  case NodeKind::EventStmt:
    anchor = tree.node(tree.child(id, 2)).firstToken;
    break;
  default:
    return;
  }
  TokenIndex first = tree.node(id).firstToken;
  // Nothing stands before the anchor that could have another width.
  if (anchor <= first)
    return;
  std::string upTo = spacing.flat(first, anchor + 1);
  line.anchor = static_cast<uint32_t>(upTo.size() - tree.tokenText(anchor).size());
  line.sourceAnchor = sourceColumn(tree, tree.token(anchor).begin);
}

void align(std::vector<OutputLine> &lines) {
  for (size_t i = 0; i < lines.size();) {
    size_t end = i + 1;
    const OutputLine &first = lines[i];
    // Only what was aligned in the source stays aligned; lines that begin in different columns by
    // chance or by intent are left so.
    while (first.anchor > 0 && end < lines.size() && lines[end].anchor > 0 &&
           lines[end].indent == first.indent && lines[end].sourceAnchor == first.sourceAnchor)
      ++end;
    uint32_t column = 0;
    auto anchorColumn = [&](const OutputLine &l) { return columnsOf(l.text.substr(0, l.anchor)); };
    for (size_t k = i; k < end && first.anchor > 0; ++k)
      column = std::max(column, anchorColumn(lines[k]));
    // A group is aligned whole or not at all: a line that would become too long would be broken,
    // and broken lines have no anchor, so the next formatting would give another result.
    bool room = first.anchor > 0 && end > i + 1;
    for (size_t k = i; k < end && room; ++k)
      room = lines[k].indent + columnsOf(lines[k].text) + column - anchorColumn(lines[k]) <=
             kFormatColumns;
    for (size_t k = i; k < end && room; ++k)
      lines[k].text.insert(lines[k].anchor, column - anchorColumn(lines[k]), ' ');
    i = end;
  }
  for (size_t i = 0; i < lines.size();) {
    size_t end = i + 1;
    while (!lines[i].comment.empty() && end < lines.size() && !lines[end].comment.empty() &&
           lines[end].sourceComment == lines[i].sourceComment)
      ++end;
    uint32_t column = 0;
    auto widthOf = [](const OutputLine &l) {
      size_t last = l.text.rfind('\n');
      return last == std::string::npos ? l.indent + columnsOf(l.text)
                                       : columnsOf(l.text.substr(last + 1));
    };
    for (size_t k = i; k < end; ++k)
      // Comments are aligned after the code, because its alignment moves their columns.
      column = std::max(column, widthOf(lines[k]) + 2);
    for (size_t k = i; k < end; ++k)
      if (!lines[k].comment.empty()) {
        lines[k].text.append(column - widthOf(lines[k]), ' ');
        lines[k].text += lines[k].comment;
      }
    i = end;
  }
}

} // namespace ptl
