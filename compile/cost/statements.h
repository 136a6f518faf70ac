// Lists the statements of a declaration that views describe individually.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>
#include <string_view>
#include <vector>

namespace ptl {

struct StatementPlace {
  Span span;
  std::string_view kind;      ///< `loop`, `branch`, `section`, `statement`
  bool isLeaf = false;        ///< contains no other statement
  const Stmt *stmt = nullptr; ///< null for the value of a block
};

/// Every statement, outer before inner, in the order of the source.
void forEachStatement(const CallableDecl &decl,
                      const std::function<void(const StatementPlace &)> &visit);

/// Whether one of the spans lies in the statement that has the span `outer`.
bool isWithin(const std::vector<Span> &spans, Span outer);

} // namespace ptl
