// What the table of node kinds says, as functions, and the text of trees.
#pragma once

#include "frontend/syntax/tree.h"

namespace ptl {

/// `BinaryExpr`
std::string_view kindName(NodeKind kind);
/// The name of child `index` of a kind (`lhs`); list elements share the name of their list.
std::string_view slotName(NodeKind kind, uint32_t index);
/// The tree as indented text, one node per line: for `--emit=tree` and tests.
std::string dump(const Tree &tree);

bool isDeclaration(NodeKind kind);
bool isType(NodeKind kind);

} // namespace ptl
