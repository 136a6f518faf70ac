// Columns that the author aligned stay aligned: `=` of neighbouring bindings, comments behind
// lines.
#include "frontend/format/formatter.h"
#include "frontend/format/spacing.h"

#include <algorithm>

namespace ptl {

uint32_t Formatter::sourceColumn(uint32_t offset) const {
  std::optional<uint32_t> start = lineStart(offset);
  // Nothing is aligned that far to the right; the offset is like no other column.
  return start ? columnsOf(tree_.fileText().substr(*start, offset - *start)) : offset;
}

void Formatter::setAnchor(NodeId id, size_t lineIndex) {
  TokenIndex anchor = 0;
  switch (tree_.kind(id)) {
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
  case NodeKind::ConstDecl:
    if (NodeId value = tree_.child(id, 2); value != kNoNode)
      anchor = tree_.node(value).firstToken - 1;
    break;
  case NodeKind::ScheduleAssign:
    anchor = tree_.node(tree_.child(id, 1)).firstToken - 1;
    break;
  case NodeKind::AssignStmt:
    anchor = tree_.node(id).mainToken;
    break;
  case NodeKind::Field:
    anchor = tree_.node(tree_.child(id, 1)).firstToken;
    break;
  case NodeKind::PipeStmt:
  case NodeKind::BufferStmt:
  case NodeKind::EventStmt:
    anchor = tree_.node(tree_.child(id, 2)).firstToken;
    break;
  default:
    return;
  }
  TokenIndex first = tree_.node(id).firstToken;
  // Nothing stands before the anchor that could have another width.
  if (anchor <= first)
    return;
  std::string upTo = flat(first, anchor + 1);
  lines_[lineIndex].anchor = static_cast<uint32_t>(upTo.size() - tree_.tokenText(anchor).size());
  lines_[lineIndex].sourceAnchor = sourceColumn(tree_.token(anchor).begin);
}

void Formatter::align() {
  for (size_t i = 0; i < lines_.size();) {
    size_t end = i + 1;
    const OutputLine &first = lines_[i];
    // Only what was aligned in the source stays aligned; lines that begin in different columns by
    // chance or by intent are left so.
    while (first.anchor > 0 && end < lines_.size() && lines_[end].anchor > 0 &&
           lines_[end].indent == first.indent && lines_[end].sourceAnchor == first.sourceAnchor)
      ++end;
    uint32_t column = 0;
    auto anchorColumn = [&](const OutputLine &l) { return columnsOf(l.text.substr(0, l.anchor)); };
    for (size_t k = i; k < end && first.anchor > 0; ++k)
      column = std::max(column, anchorColumn(lines_[k]));
    // A group is aligned whole or not at all: a line that would become too long would be broken,
    // and broken lines have no anchor, so the next formatting would give another result.
    bool room = first.anchor > 0 && end > i + 1;
    for (size_t k = i; k < end && room; ++k)
      room = lines_[k].indent + columnsOf(lines_[k].text) + column - anchorColumn(lines_[k]) <=
             kFormatColumns;
    for (size_t k = i; k < end && room; ++k)
      lines_[k].text.insert(lines_[k].anchor, column - anchorColumn(lines_[k]), ' ');
    i = end;
  }
  for (size_t i = 0; i < lines_.size();) {
    size_t end = i + 1;
    while (!lines_[i].comment.empty() && end < lines_.size() && !lines_[end].comment.empty() &&
           lines_[end].sourceComment == lines_[i].sourceComment)
      ++end;
    uint32_t column = 0;
    auto widthOf = [](const OutputLine &l) {
      size_t last = l.text.rfind('\n');
      return last == std::string::npos ? l.indent + columnsOf(l.text)
                                       : columnsOf(l.text.substr(last + 1));
    };
    for (size_t k = i; k < end; ++k)
      // Comments are aligned after the code, because its alignment moves their columns.
      column = std::max(column, widthOf(lines_[k]) + 2);
    for (size_t k = i; k < end; ++k)
      if (!lines_[k].comment.empty()) {
        lines_[k].text.append(column - widthOf(lines_[k]), ' ');
        lines_[k].text += lines_[k].comment;
      }
    i = end;
  }
}

} // namespace ptl
