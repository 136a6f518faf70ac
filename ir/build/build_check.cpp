// Checks, and what they say when they fail.
#include "ir/build/build_check.h"
#include "frontend/sema/reported.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"

using namespace mlir;

namespace ptl::ir {

void emitCheck(BuildContext &c, mlir::Value condition, const char *status,
               const std::string &message, llvm::ArrayRef<mlir::Value> values, Location loc) {
  c.make<CheckOp>(loc, condition, c.b.getStringAttr(status), c.b.getStringAttr(message), values);
}

/// In messages of checks a brace begins a value, unless there are two.
static std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    result.append(c == '{' ? 2 : 1, c);
  return result;
}

/// Whether it is a parameter or an output of the entry.
static bool isOfHeader(BuildContext &c, const Expr &expr) {
  const auto *local = dyn_cast<LocalRefExpr>(&expr);
  return local && c.frame->decl == c.binding.decl &&
         (local->local->kind == LocalKind::Param || local->local->kind == LocalKind::Output);
}

std::string namedIn(BuildContext &c, const Expr &expr, const std::string &otherwise) {
  constexpr size_t kLongest = 40;
  std::string_view text = c.sources.text(expr.span);
  bool isShort =
      !text.empty() && text.size() <= kLongest && text.find('\n') == std::string_view::npos;
  return isShort && (!c.isInKernel() || isOfHeader(c, expr)) ? "`" + escaped(text) + "`"
                                                             : otherwise;
}

std::string axisIn(BuildContext &c, const Expr &array, int64_t axis) {
  std::string name = namedIn(c, array, "");
  return " (axis " + std::to_string(axis) + (name.empty() ? "" : " of " + name) + ")";
}

void emitCondition(BuildContext &c, const Expr &condition, const char *status,
                   const std::string &message, Location loc) {
  std::string text = escaped(message);
  llvm::SmallVector<mlir::Value> values;
  for (const Expr *each : reportedValues(condition, c.sources)) {
    text += (values.empty() ? ": `" : ", `") + escaped(c.sources.text(each->span)) + "` is {" +
            std::to_string(values.size()) + "}";
    values.push_back(buildValue(c, *each));
    c.prebuilt[each] = values.back();
  }
  mlir::Value holds = buildValue(c, condition);
  c.prebuilt.clear();
  emitCheck(c, holds, status, text, values, loc);
}

void buildAssert(BuildContext &c, const AssertStmt &stmt) {
  std::string message = stmt.message.empty() ? "`" + stmt.text + "` does not hold" : stmt.message;
  emitCondition(c, *stmt.condition, "assert", message, c.location(stmt.span));
  assume(c, *stmt.condition);
}

} // namespace ptl::ir
