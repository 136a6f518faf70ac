// Expressions of the checked tree as text, with their types. Only for use inside `frontend/sema/dump`.
#pragma once

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/context.h"

#include <string>

namespace ptl {

class ExprDumper {
public:
  explicit ExprDumper(const CheckedProgram &program) : program_(program) {}

  std::string expr(const Expr *expr) const;
  /// Separated by commas.
  std::string list(const std::vector<Expr *> &exprs) const;
  std::string dim(Dim dim) const { return program_.dims->toString(dim); }
  std::string type(const Type *type) const { return type ? toString(*program_.dims, *type) : "-"; }

private:
  std::string extent(const Extent &extent) const { return toString(*program_.dims, extent); }
  std::string constant(const ConstExpr &expr) const;
  std::string op(const OpExpr &expr) const;
  std::string call(const CallExpr &expr) const;
  std::string index(const IndexExpr &expr) const;

  const CheckedProgram &program_;
};

} // namespace ptl
