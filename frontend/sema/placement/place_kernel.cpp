#include "frontend/sema/placement/place_kernel.h"

#include "frontend/sema/placement/place_expression.h"
#include "frontend/sema/placement/place_statement.h"

#include <utility>

namespace ptl {

/// Parts that are chips run any kernel of this language; others those that the reference executor can run, too.
void KernelWalk::refuseUnlessRun(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  std::string name = "`" + callee.name + "`";
  if (callee.kind == DeclKind::ExternKernel)
    p_.refuse(expr, name,
              "it is an `extern` kernel, and parts have no code in other languages; write it as a "
              "`kernel` or a `fn`");
  if (isPlaced(*callee.module->tree, callee.syntax))
    p_.refuse(expr, name,
              "its header places arrays over parts itself; write a `fn` that both call");
  // The error was reported elsewhere.
  if (!callee.body || callee.hasErrors)
    throw Refused();
  for (const auto &[tunable, value] : expr.tunables)
    if (value->kind != ExprKind::Const && !(value->dim && p_.isKnown(p_.inProgram(value->dim))))
      p_.refuse(*value, name, "the value of `" + tunable->name + "` depends on data");
}

/// The call with its arguments, and the expressions of these.
PlacedValue KernelWalk::argumentsOf(const CallExpr &expr, std::vector<const Expr *> &args) {
  const CallableDecl &callee = *expr.callee;
  PlacedValue made;
  made.kind = PlacedKind::Call;
  made.expr = &expr;
  for (Dim dim : expr.dimArgs)
    made.lengths.push_back(p_.inProgram(dim));
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const CallArg &arg = expr.args[i];
    // A default may speak of other parameters, so the callee evaluates it.
    bool isDefault = i < callee.paramDefaults.size() && callee.paramDefaults[i] == arg.value;
    args.push_back(isDefault ? nullptr : arg.value);
    made.operands.push_back(isDefault ? std::nullopt : std::optional(p_.value(*arg.value)));
  }
  return made;
}

ValueId KernelWalk::result(const CallExpr &expr, const PlacedValue &made, size_t number,
                           const Type &type) {
  std::string name = "`" + expr.callee->name + "`";
  if (!type.isArray() && !type.isScalar())
    p_.refuse(expr, name, "its results are neither arrays nor numbers");
  PlacedValue value = made;
  value.result = number;
  value.elem = p_.elemOf(type.elem);
  value.shape = p_.shapeOf(type);
  for (Dim length : value.shape)
    if (!p_.isKnown(length))
      p_.refuse(expr, name, "a length of its result depends on data");
  return p_.add(std::move(value));
}

/// What a call leaves in an `inout` argument is assigned to it, whole or by elements.
void KernelWalk::giveBack(const CallExpr &expr, const CallArg &arg, ValueId id) {
  // The value gets a name, because what is assigned is an expression.
  auto name = std::make_shared<Local>();
  name->name = expr.callee->name;
  name->kind = LocalKind::Let;
  name->type = arg.value->type;
  auto given = std::make_shared<LocalRefExpr>();
  given->local = p_.placed_.flags.emplace_back(std::move(name)).get();
  given->type = arg.value->type;
  given->span = arg.value->span;
  p_.placed_.made.push_back(given);
  p_.frame_->locals[given->local] = id;
  AssignStmt assign;
  assign.span = arg.value->span;
  assign.value = given.get();
  if (auto *index = dyn_cast<IndexExpr>(arg.value)) {
    assign.place = index;
    assign.target = cast<LocalRefExpr>(*index->base).local;
  } else {
    assign.target = cast<LocalRefExpr>(*arg.value).local;
  }
  p_.assign(assign);
}

std::vector<ValueId> KernelWalk::call(const CallExpr &expr) {
  refuseUnlessRun(expr);
  const CallableDecl &callee = *expr.callee;
  std::vector<const Expr *> args;
  PlacedValue made = argumentsOf(expr, args);
  made.placement = ExpressionWalk(p_).operandPlacements(
      {expr, callee.name, args},
      [](std::span<const PlacedOperand> here) { return placeWhole(here); }, made);
  std::vector<const Type *> types;
  if (callee.outputs.size() == 1)
    types = {expr.type};
  else if (callee.outputs.size() > 1)
    types.assign(expr.type->elements.begin(), expr.type->elements.end());
  for (const CallArg &arg : expr.args)
    if (arg.isInout)
      types.push_back(arg.value->type);
  // All results are made by one execution, so they follow each other.
  std::vector<ValueId> results;
  for (const Type *type : types)
    results.push_back(result(expr, made, results.size(), *type));
  size_t next = callee.outputs.size();
  for (const CallArg &arg : expr.args)
    if (arg.isInout)
      giveBack(expr, arg, results[next++]);
  results.resize(callee.outputs.size());
  return results;
}

} // namespace ptl
