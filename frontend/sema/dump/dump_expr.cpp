#include "frontend/sema/dump/dump_expr.h"

#include "frontend/sema/block/checked_block.h"
#include "frontend/sema/dump/dump_block.h"

#include <charconv>

namespace ptl {

static std::string number(double value) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

std::string ExprDumper::list(const std::vector<Expr *> &exprs) const {
  std::string text;
  for (const Expr *expr : exprs)
    text += (text.empty() ? "" : ", ") + this->expr(expr);
  return text;
}

std::string ExprDumper::constant(const ConstExpr &expr) const {
  const Elem &elem = expr.type->elem;
  std::string suffix = ":" + type(expr.type);
  if (elem.param || isFloat(elem.kind))
    return number(expr.floatValue) + suffix;
  if (elem.kind == ElemKind::Bool)
    return expr.intValue ? "true" : "false";
  if (elem.kind == ElemKind::Int)
    return std::to_string(expr.intValue);
  return (elem.kind == ElemKind::U64 ? std::to_string(static_cast<uint64_t>(expr.intValue))
                                     : std::to_string(expr.intValue)) +
         suffix;
}

std::string ExprDumper::op(const OpExpr &expr) const {
  std::string text = std::string(expr.op ? expr.op->mnemonic : "?") + "(";
  bool isFirst = true;
  auto add = [&](const std::string &part) {
    text += (isFirst ? "" : ", ") + part;
    isFirst = false;
  };
  for (size_t i = 0; i < expr.args.size(); ++i)
    // Positions that are checked at run time have the mark of checked indices.
    add((expr.args[i] ? this->expr(expr.args[i]) : "-") + (i == 1 && expr.needsCheck ? "?" : ""));
  if (!expr.rest.empty())
    add(list(expr.rest));
  if (!expr.axes.empty()) {
    std::string axes = "axes [";
    for (size_t i = 0; i < expr.axes.size(); ++i)
      axes += (i ? ", " : "") + std::to_string(expr.axes[i]);
    add(axes + "]");
  }
  if (expr.reducesAll)
    add("all");
  if (!expr.shape.empty() || expr.shapeHasPrefix) {
    std::string shape = expr.shapeHasPrefix ? "shape [.." : "shape [";
    for (size_t i = 0; i < expr.shape.size(); ++i)
      shape += (i || expr.shapeHasPrefix ? ", " : "") + dim(expr.shape[i]);
    add(shape + "]");
  }
  if (!expr.equation.empty())
    add("\"" + expr.equation + "\"");
  return text + "):" + type(expr.type);
}

std::string ExprDumper::call(const CallExpr &expr) const {
  std::string text = expr.callee->name;
  std::string binding;
  for (size_t i = 0; i < expr.dimArgs.size() && i < expr.callee->dims.size(); ++i)
    binding +=
        (binding.empty() ? "" : ", ") + expr.callee->dims[i].name + "=" + dim(expr.dimArgs[i]);
  for (size_t i = 0; i < expr.elemArgs.size() && i < expr.callee->typeParams.size(); ++i)
    binding += (binding.empty() ? "" : ", ") + expr.callee->typeParams[i]->name + "=" +
               toString(expr.elemArgs[i]);
  if (expr.callee->hasPrefix) {
    binding +=
        std::string(binding.empty() ? "" : ", ") + "..=[" + (expr.prefixHasPrefix ? ".." : "");
    for (size_t i = 0; i < expr.prefixArgs.size(); ++i)
      binding += (i || expr.prefixHasPrefix ? ", " : "") + extent(expr.prefixArgs[i]);
    binding += "]";
  }
  if (!binding.empty())
    text += "[" + binding + "]";
  text += "(";
  for (size_t i = 0; i < expr.args.size(); ++i)
    text += (i ? ", " : "") + std::string(expr.args[i].isInout ? "inout " : "") +
            this->expr(expr.args[i].value);
  for (const auto &[tunable, value] : expr.tunables)
    text += (text.back() == '(' ? "" : ", ") + tunable->name + ": " + this->expr(value);
  text += ")";
  for (const RuntimeCheck &check : expr.checks)
    text += " check{" + check.text + "}";
  return text + ":" + type(expr.type);
}

std::string ExprDumper::index(const IndexExpr &expr) const {
  std::string text = std::string(expr.isLoad ? "load " : "") + this->expr(expr.base) + "[";
  for (size_t i = 0; i < expr.items.size(); ++i) {
    const IndexItem &item = expr.items[i];
    text += i ? ", " : "";
    switch (item.kind) {
    case IndexItemKind::Full:
      text += ":";
      break;
    case IndexItemKind::Rest:
      text += "..";
      break;
    case IndexItemKind::NewAxis:
      text += "new";
      break;
    case IndexItemKind::Gather:
      text += "gather " + this->expr(item.value);
      break;
    case IndexItemKind::Position:
      text += this->expr(item.value);
      break;
    case IndexItemKind::Range:
      if (item.range && item.range->start && item.range->length)
        text +=
            dim(item.range->start) + " len " + dim(item.range->length) +
            (item.range->step && !item.range->step.isConstant(1) ? " step " + dim(item.range->step)
                                                                 : "");
      else
        text += this->expr(item.value);
      break;
    }
    bool isBounded = item.kind == IndexItemKind::Position || item.kind == IndexItemKind::Range ||
                     item.kind == IndexItemKind::Gather;
    if (isBounded && item.needsCheck)
      text += "?";
  }
  text += "]";
  if (expr.outside)
    text += " outside " + this->expr(expr.outside);
  return text + ":" + type(expr.type);
}

std::string ExprDumper::expr(const Expr *expr) const {
  if (!expr)
    return "-";
  switch (expr->kind) {
  case ExprKind::Error:
    return "<error>";
  case ExprKind::Const:
    return constant(*cast<ConstExpr>(expr));
  case ExprKind::LocalRef:
    return cast<LocalRefExpr>(expr)->local->name;
  case ExprKind::Dim:
    return "{" + dim(expr->dim) + "}";
  case ExprKind::Op:
    return op(*cast<OpExpr>(expr));
  case ExprKind::Convert: {
    auto *convert = cast<ConvertExpr>(expr);
    return "convert" + std::string(convert->checkRange ? "?" : "") + "(" +
           this->expr(convert->arg) +
           (convert->round == RoundMode::Even
                ? ""
                : ", " + std::string(roundModeNames[static_cast<size_t>(convert->round)])) +
           (convert->saturate ? ", saturate" : "") + "):" + type(expr->type);
  }
  case ExprKind::Call:
    return call(*cast<CallExpr>(expr));
  case ExprKind::Index:
    return index(*cast<IndexExpr>(expr));
  case ExprKind::If: {
    auto *branch = cast<IfExpr>(expr);
    return "if " + this->expr(branch->condition) + " then " + this->expr(branch->thenBlock->value) +
           " else " + this->expr(branch->elseBlock->value);
  }
  case ExprKind::Range: {
    auto *range = cast<RangeExpr>(expr);
    return this->expr(range->lo) + ".." + this->expr(range->hi) +
           (range->step ? " step " + this->expr(range->step) : "");
  }
  case ExprKind::Tiles: {
    auto *tiles = cast<TilesExpr>(expr);
    return "tiles(" + this->expr(tiles->lo) + ".." + this->expr(tiles->hi) + ", " +
           this->expr(tiles->size) + ")";
  }
  case ExprKind::Field: {
    auto *field = cast<FieldExpr>(expr);
    return this->expr(field->base) + "." + field->field;
  }
  case ExprKind::Tuple:
    return "(" + list(cast<TupleExpr>(expr)->elements) + ")";
  case ExprKind::List:
    return "[" + list(cast<ListExpr>(expr)->elements) + "]";
  case ExprKind::StructMake: {
    auto *make = cast<StructMakeExpr>(expr);
    return make->decl->name + "{" + list(make->fields) + "}";
  }
  case ExprKind::Logical: {
    auto *logical = cast<LogicalExpr>(expr);
    return "(" + this->expr(logical->lhs) + (logical->isAnd ? " and " : " or ") +
           this->expr(logical->rhs) + ")";
  }
  case ExprKind::String:
    return "\"" + cast<StringExpr>(expr)->value + "\"";
  case ExprKind::Block:
    return blockCall(*this, *cast<BlockExpr>(expr));
  case ExprKind::EnumTag:
    return "." + cast<EnumTagExpr>(expr)->tag;
  }
  return "?";
}

} // namespace ptl
