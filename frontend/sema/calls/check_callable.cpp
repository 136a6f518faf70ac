#include "frontend/sema/calls/check_callable.h"

#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/calls/check_requirements.h"
#include "frontend/sema/calls/unify.h"
#include "frontend/sema/declarations/check_decl.h"
#include "frontend/sema/expressions/broadcast.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/check_index.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/statements/check_stmt.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

namespace {

/// The state of one call while its arguments are bound to parameters.
struct Binding {
  Context &ctx;
  NodeId node;
  std::string name;
  const std::vector<Local *> &params;
  Unifier unifier;
  std::vector<const CallArgument *> given; ///< parallel to `params`
  std::vector<Operand> operands;           ///< parallel to `params`, empty where not given
  std::vector<Expr *> values;              ///< parallel to `params`
  bool failed = false;

  Binding(Context &ctx, NodeId node, std::string name, const std::vector<Local *> &params,
          const std::vector<DimParam> &dims, const std::vector<TypeParam *> &typeParams)
      : ctx(ctx), node(node), name(std::move(name)), params(params),
        unifier(ctx, dims, typeParams) {
    given.resize(params.size());
    operands.resize(params.size());
    values.resize(params.size());
  }
  void checkValues();
  void unifyValues();
  void convertValues();

private:
  void checkInout(size_t i);
  bool isWeak(size_t i) const;
  std::string argumentText(size_t i) const { return "`" + params[i]->name + "`"; }
};

} // namespace

// ---- Arguments to parameters --------------------------------------------------------------------

static bool bindNamedDim(Binding &binding, const std::vector<DimParam> &dims,
                         const CallArgument &arg) {
  for (const DimParam &dim : dims) {
    if (dim.name != arg.name)
      continue;
    Context &ctx = binding.ctx;
    NodeId value = skipParens(ctx, arg.value);
    Expr *expr = checkIntScalar(ctx, value, "the dimension `" + dim.name + "`");
    // A length that is no polynomial of known ones becomes a symbol, whose value is computed before the call.
    Dim length = dimOrHoist(ctx, expr);
    binding.failed |= !length || !binding.unifier.bindDim(dim.symbol, makeExtent(ctx, length),
                                                          {"`" + dim.name + ":`", arg.span});
    if (length && ctx.facts.proveLess(length, ctx.dims.constant(0)).isTrue()) {
      ctx.sink.report(DiagId::NegativeDimension, arg.span, {dim.name, ctx.dims.toString(length)});
      binding.failed = true;
    }
    return true;
  }
  return false;
}

static bool bindNamedElem(Binding &binding, const std::vector<TypeParam *> &typeParams,
                          const CallArgument &arg) {
  for (const TypeParam *param : typeParams) {
    if (param->name != arg.name)
      continue;
    auto elem = findElem(binding.ctx, arg.value);
    if (!elem)
      binding.ctx.sink.report(DiagId::NotAType, binding.ctx.span(arg.value),
                              {std::string(binding.ctx.text(arg.value))});
    binding.failed |=
        !elem || !binding.unifier.bindElem(param, *elem, {"`" + param->name + ":`", arg.span});
    return true;
  }
  return false;
}

static void bindTunable(Binding &binding, const Tunable &tunable, const CallArgument &arg,
                        CallExpr *call) {
  Context &ctx = binding.ctx;
  Expr *value = checkExpr(ctx, arg.value, tunable.isBool ? boolType(ctx) : intType(ctx));
  value = convertTo(ctx, value, tunable.isBool ? boolType(ctx) : intType(ctx),
                    "the tunable `" + tunable.local->name + "`");
  if (isMissing(value)) {
    binding.failed = true;
    return;
  }
  // A schedule chooses tunables at compile time, so their values must be known then.
  if (!isStaticValue(ctx, value)) {
    ctx.sink.report(DiagId::StaticNotKnown, value->span,
                    {"the tunable `" + tunable.local->name + "`"});
    binding.failed = true;
    return;
  }
  if (value->kind == ExprKind::Const && !tunable.domain.empty()) {
    int64_t number = cast<ConstExpr>(value)->intValue;
    if (std::find(tunable.domain.begin(), tunable.domain.end(), number) == tunable.domain.end()) {
      ctx.sink.report(DiagId::TunableNotInDomain, value->span,
                      {tunable.local->name, std::to_string(number)});
      binding.failed = true;
    }
  }
  call->tunables.push_back({tunable.local, value});
}

static void reportUnknownArgument(Binding &binding, const CallArgument &arg,
                                  std::vector<std::string> names) {
  Context &ctx = binding.ctx;
  Span span = arg.node != kNoNode && ctx.tree.is(arg.node, NodeKind::Arg)
                  ? ctx.span(ArgView(ctx.tree, arg.node).name())
                  : arg.span;
  auto report =
      ctx.sink.report(DiagId::UnknownArgument, span, {binding.name, std::string(arg.name)});
  suggestNearest(report, span, arg.name, names);
  binding.failed = true;
}

/// Assigns positional and named arguments to parameters. Returns the named ones that name no
/// parameter.
static std::vector<const CallArgument *> placeArguments(Binding &binding,
                                                        const std::vector<CallArgument> &args) {
  std::vector<const CallArgument *> others;
  size_t next = 0;
  for (const CallArgument &arg : args) {
    // A slot behind the last parameter stands for no parameter.
    size_t slot = binding.params.size();
    if (arg.name.empty()) {
      slot = next++;
      if (slot >= binding.params.size())
        continue;
    } else {
      for (size_t i = 0; i < binding.params.size(); ++i)
        if (binding.params[i]->name == arg.name)
          slot = i;
    }
    if (slot == binding.params.size()) {
      others.push_back(&arg);
    } else if (binding.given[slot]) {
      binding.ctx.sink.report(DiagId::ArgumentTwice, arg.span, {binding.params[slot]->name})
          .label(binding.given[slot]->span, "given here first");
      binding.failed = true;
    } else {
      binding.given[slot] = &arg;
    }
  }
  if (next > binding.params.size()) {
    auto plural = [](size_t n) {
      return std::to_string(n) + (n == 1 ? " argument" : " arguments");
    };
    binding.ctx.sink.report(DiagId::WrongArgumentCount, binding.ctx.span(binding.node),
                            {binding.name, plural(binding.params.size()), std::to_string(next)});
    binding.failed = true;
  }
  return others;
}

// ---- Values -------------------------------------------------------------------------------------

void Binding::checkInout(size_t i) {
  // Values that were hoisted before the call may depend on what it changes.
  ctx.hoistedValues.change();
  const CallArgument &arg = *given[i];
  Expr *value = checkTarget(ctx, arg.value);
  // It is filled in even if the place cannot be assigned, so that the type of the argument is still checked against the parameter.
  operands[i].expr = value;
  operands[i].node = arg.value;
  operands[i].span = value->span;
  if (isMissing(value))
    return;
  Local *root = rootLocal(value);
  bool assignable =
      root && (root->kind == LocalKind::Var || root->kind == LocalKind::Output || root->isInout);
  if (!assignable) {
    auto report = ctx.sink.report(DiagId::InoutNeedsPlace, value->span, {params[i]->name});
    if (root)
      report.label(root->span,
                   "`" + root->name + "` is a " + std::string(localKindName(root->kind)));
    failed = true;
  }
}

void Binding::checkValues() {
  for (size_t i = 0; i < params.size(); ++i) {
    if (!given[i])
      continue;
    const CallArgument &arg = *given[i];
    Span value = ctx.span(arg.value);
    if (params[i]->isInout && !arg.isInout) {
      ctx.sink.report(DiagId::InoutNotMarked, arg.span, {name, params[i]->name})
          .fix(FixId::MarkInout, "mark it with `inout`, because the call changes it",
               {{{value.file, value.begin, value.begin}, "inout "}});
      failed = true;
    } else if (!params[i]->isInout && arg.isInout) {
      ctx.sink.report(DiagId::InoutMarkedWrongly, arg.span, {name, params[i]->name});
      failed = true;
    }
    if (params[i]->isInout || arg.isInout) {
      checkInout(i);
    } else {
      operands[i] = checkOperand(ctx, arg.value);
    }
    failed |= operands[i].isError();
  }
}

/// Whether an operand takes the element type that others fix: constants and `int` scalars do.
bool Binding::isWeak(size_t i) const {
  return operands[i].isUntyped() || operands[i].isIntScalar();
}

void Binding::unifyValues() {
  // Values with types bind the callee's parameters first; constants then take what these fix.
  for (bool weak : {false, true})
    for (size_t i = 0; i < params.size(); ++i) {
      if (!given[i] || operands[i].isError() || isWeak(i) != weak || !params[i]->type)
        continue;
      const Type *type = params[i]->type;
      if (type->isError()) {
        failed = true;
        continue;
      }
      if (!weak) {
        failed |= !unifier.unify(type, operands[i].expr->type, argumentText(i), operands[i].span);
        continue;
      }
      // A constant or an `int` can only become a number, or an array of any rank that a scalar may stand for.
      bool numeric = type->isScalar() || (type->isArray() && type->prefix && type->extents.empty());
      if (!numeric) {
        ctx.sink.report(
            DiagId::ArgumentMismatch, operands[i].span,
            {argumentText(i), toString(ctx, settle(ctx, operands[i])->type), toString(ctx, type)});
        failed = true;
        continue;
      }
      Elem elem = type->elem;
      // If nothing else fixes the element type, the constant's default type does.
      if (elem.param && !unifier.elemOf(elem.param)) {
        Elem own =
            operands[i].isUntyped() ? defaultElem(*operands[i].constant) : Elem{ElemKind::Int};
        if (operands[i].isUntyped() && elem.param->constraint == ElemConstraint::Float)
          own = Elem{ElemKind::F32};
        failed |= !unifier.bindElem(elem.param, own, {argumentText(i), operands[i].span});
      }
      if (type->isArray()) { // a scalar is an array without leading axes
        const Type *scalar = scalarType(ctx, elem.param ? *unifier.elemOf(elem.param) : elem);
        failed |= !unifier.unify(type, scalar, argumentText(i), operands[i].span);
      }
    }
}

void Binding::convertValues() {
  for (size_t i = 0; i < params.size(); ++i) {
    if (!given[i])
      continue;
    const Type *type = unifier.substitute(params[i]->type);
    const Operand &operand = operands[i];
    bool scalar = type->isScalar() || type->isArray();
    // A constant becomes a value of the parameter's type.
    if (operand.isUntyped())
      values[i] = makeConst(ctx, *operand.constant, scalar ? scalarType(ctx, type->elem) : type,
                            operand.node);
    else if (operand.isIntScalar() && type->isScalar())
      values[i] = convertTo(ctx, operand.expr, type, "the argument " + argumentText(i));
    else
      values[i] = operand.expr;
    failed |= isMissing(values[i]);
    const Local &param = *params[i];
    if (param.symbol && values[i] && values[i]->dim)
      unifier.bindScalar(*param.symbol, values[i]->dim);
  }
}

// ---- Checks of the whole call -------------------------------------------------------------------

/// Makes dimensions of the scalar arguments that the callee's types mention.
static void hoistScalars(Binding &binding, const CallableDecl &callee) {
  // Scalars that no type mentions stay values: a symbol for each of them would only make facts and messages longer.
  for (size_t i = 0; i < binding.params.size(); ++i) {
    const Local &param = *binding.params[i];
    Expr *value = binding.values[i];
    if (!param.symbol || isMissing(value) || value->dim)
      continue;
    auto isMentioned = [&](const Type *type) {
      return mentionsSymbol(type, [&](SymbolId each) { return each == *param.symbol; });
    };
    bool used = isMentioned(callee.returnType);
    for (const Local *other : binding.params)
      used = used || isMentioned(other->type);
    if (used)
      binding.unifier.bindScalar(*param.symbol, dimOrHoist(binding.ctx, value));
  }
}

static void fillDefaults(Binding &binding, const CallableDecl &callee) {
  Context &ctx = binding.ctx;
  for (size_t i = 0; i < binding.params.size(); ++i) {
    if (binding.given[i])
      continue;
    Expr *value = i < callee.paramDefaults.size() ? callee.paramDefaults[i] : nullptr;
    if (value) {
      binding.values[i] = value;
      // The shapes of other parameters and of results may mention this parameter.
      if (binding.params[i]->symbol && value->dim)
        binding.unifier.bindScalar(*binding.params[i]->symbol, value->dim);
      continue;
    }
    ctx.sink
        .report(DiagId::MissingArgument, ctx.span(binding.node),
                {binding.name, binding.params[i]->name})
        .label(binding.params[i]->span,
               "`" + binding.params[i]->name + ": " + toString(ctx, binding.params[i]->type) + "`");
    binding.failed = true;
  }
}

static void checkAllBound(Binding &binding, const CallableDecl &callee, CallExpr *call) {
  Context &ctx = binding.ctx;
  Span span = ctx.span(binding.node);
  for (const DimParam &dim : callee.dims) {
    // What calls a program on parts as a whole runs it on one part, if it does not say otherwise.
    if (dim.isCount() && !binding.unifier.extentOf(dim.symbol))
      binding.unifier.bindDim(dim.symbol, makeExtent(ctx, ctx.dims.constant(1)), {});
    auto extent = binding.unifier.extentOf(dim.symbol);
    call->dimArgs.push_back(extent ? extent->length : Dim());
    if (!extent && !binding.failed) {
      // The end of the call is its closing parenthesis, which the fix goes before.
      Span close = {span.file, span.end - 1, span.end - 1};
      ctx.sink.report(DiagId::DimensionNotFixed, span, {dim.name, callee.name})
          .label(dim.span, "declared here")
          .fix(FixId::DimensionArgument, "pass it by name: `" + dim.name + ": …`",
               {{close, (callee.params.empty() ? "" : ", ") + dim.name + ": 1"}});
      binding.failed = true;
    }
    if (!extent || !dim.isStatic || ctx.inTest() || !extent->length ||
        isStaticDim(ctx, extent->length))
      continue;
    auto report = ctx.sink.report(DiagId::StaticDimensionNeeded, span,
                                  {dim.name, callee.name, toString(ctx.dims, *extent)});
    report.label(dim.span, "`static` here");
    // The caller can often help by marking its own dimension.
    forEachSymbol(extent->length, [&](SymbolId symbol) {
      for (const DimParam &own : ctx.decl ? ctx.decl->dims : std::vector<DimParam>())
        if (own.symbol == symbol && !own.isStatic)
          report.fix(FixId::MakeStatic, "mark it: `static " + own.name + "`",
                     {{{own.span.file, own.span.begin, own.span.begin}, "static "}});
    });
    binding.failed = true;
  }
  for (const TypeParam *param : callee.typeParams) {
    auto elem = binding.unifier.elemOf(param);
    call->elemArgs.push_back(elem.value_or(Elem{}));
    if (elem || binding.failed)
      continue;
    ctx.sink.report(DiagId::DimensionNotFixed, span, {param->name, callee.name})
        .label(param->span, "declared here")
        .help("pass it by name: `" + param->name + ": f32`");
    binding.failed = true;
  }
  // What `..` stands for is part of the call: the body of the callee is built for these axes.
  if (const Shape *prefix = binding.unifier.prefix()) {
    call->prefixHasPrefix = prefix->prefix;
    call->prefixArgs = prefix->extents;
  }
}

/// Whether two argument places share no element for certain: they are disjoint at some axis.
static bool surelyApart(Context &ctx, const Expr *a, const Expr *b) {
  if (a->kind != ExprKind::Index || b->kind != ExprKind::Index)
    return false;
  const auto *x = cast<IndexExpr>(a);
  const auto *y = cast<IndexExpr>(b);
  auto bounds = [&](const IndexItem &item) -> std::pair<Dim, Dim> {
    if (item.kind == IndexItemKind::Position)
      return {item.value->dim, ctx.dims.add(item.value->dim, ctx.dims.constant(1))};
    if (item.kind == IndexItemKind::Range && item.range->step.isConstant(1))
      return {item.range->start, ctx.dims.add(item.range->start, item.range->length)};
    return {};
  };
  for (const IndexItem &left : x->items)
    for (const IndexItem &right : y->items) {
      // Only the same axis of both can keep the places apart; 0 marks a `new` axis, which has no
      // position.
      if (left.axis != right.axis || left.axis == 0)
        continue;
      auto [lo1, hi1] = bounds(left);
      auto [lo2, hi2] = bounds(right);
      if (!lo1 || !lo2)
        continue;
      if (ctx.facts.proveLessEqual(hi1, lo2).isTrue() ||
          ctx.facts.proveLessEqual(hi2, lo1).isTrue())
        return true;
    }
  return false;
}

static void collectRoots(const Expr *expr, std::vector<const Expr *> &places) {
  if (expr && rootLocal(expr))
    places.push_back(expr);
}

static void checkOverlap(Binding &binding) {
  Context &ctx = binding.ctx;
  for (size_t i = 0; i < binding.params.size(); ++i) {
    if (!binding.params[i]->isInout || isMissing(binding.values[i]))
      continue;
    Local *root = rootLocal(binding.values[i]);
    // Each pair of `inout`s is checked once; otherwise it would be reported twice.
    for (size_t j = 0; j < binding.params.size(); ++j) {
      if (i == j || isMissing(binding.values[j]) || (binding.params[j]->isInout && j < i))
        continue;
      std::vector<const Expr *> places;
      collectRoots(binding.values[j], places);
      for (const Expr *place : places)
        // Scalars are copied before the call, so they may come from what it changes.
        if (root && rootLocal(place) == root && !surelyApart(ctx, binding.values[i], place) &&
            !place->type->isScalar()) {
          ctx.sink
              .report(DiagId::ArgumentsOverlap, place->span,
                      {root->name, binding.params[i]->name, binding.params[j]->name})
              .label(binding.values[i]->span, "the call changes this");
          binding.failed = true;
        }
    }
  }
}

static void checkAllowed(Context &ctx, NodeId node, const CallableDecl &callee) {
  bool isFn = callee.kind == DeclKind::Fn;
  bool callerTakesAll = ctx.inProgram() || ctx.inTest();
  if (isFn || callerTakesAll || !ctx.decl)
    return;
  std::string kind = callee.kind == DeclKind::Program ? "the program" : "the kernel";
  ctx.sink.report(DiagId::CallNotAllowed, ctx.span(node), {declKindText(ctx), kind, callee.name})
      .note(
          "a `fn` and a kernel can only call `fn`s; a program and a test can also call kernels and "
          "programs");
}

// ---- Entry points -------------------------------------------------------------------------------

static std::vector<std::string> argumentNames(const CallableDecl &callee) {
  std::vector<std::string> names;
  for (const Local *param : callee.params)
    names.push_back(param->name);
  for (const DimParam &dim : callee.dims)
    names.push_back(dim.name);
  for (const Tunable &tunable : callee.tunables)
    names.push_back(tunable.local->name);
  return names;
}

static void bindOthers(Binding &binding, const CallableDecl &callee,
                       const std::vector<const CallArgument *> &others, CallExpr *call) {
  for (const CallArgument *arg : others) {
    if (bindNamedDim(binding, callee.dims, *arg) || bindNamedElem(binding, callee.typeParams, *arg))
      continue;
    auto tunable = std::find_if(callee.tunables.begin(), callee.tunables.end(),
                                [&](const Tunable &each) { return each.local->name == arg->name; });
    if (tunable != callee.tunables.end())
      bindTunable(binding, *tunable, *arg, call);
    else
      reportUnknownArgument(binding, *arg, argumentNames(callee));
  }
}

/// Completes a call whose arguments have been assigned to parameters.
static Expr *finishCall(Binding &binding, const CallableDecl &callee, CallExpr *call) {
  Context &ctx = binding.ctx;
  // The order matters: types first, then values of these types, then what defaults and scalars
  // bind.
  if (!binding.failed)
    binding.unifyValues();
  if (!binding.failed)
    binding.convertValues();
  fillDefaults(binding, callee);
  if (binding.failed)
    return call;
  hoistScalars(binding, callee);
  binding.failed |= !binding.unifier.settle();
  if (!binding.failed)
    checkAllBound(binding, callee, call);
  if (binding.failed)
    return call;
  for (size_t i = 0; i < callee.params.size(); ++i)
    call->args.push_back({callee.params[i], binding.values[i], callee.params[i]->isInout});
  checkOverlap(binding);
  // The callee's requirements on its dimensions must follow from the caller's facts.
  binding.failed |= !checkRequirements(ctx, binding.node, binding.unifier, callee, call);
  if (binding.failed)
    return call;
  const Type *result = callee.returnType ? callee.returnType : voidType(ctx);
  call->type = binding.unifier.substitute(result);
  bool onChip = ctx.isKind(DeclKind::Kernel) && !ctx.inWhere && call->type->isArray();
  if (onChip && !requireCapacity(ctx, call->type, call->span, "this call"))
    call->type = errorType(ctx);
  return call;
}

Expr *checkCallable(Context &ctx, NodeId node, const CallableDecl &callee,
                    const std::vector<CallArgument> &args) {
  noteCall(ctx, &callee, ctx.span(node));
  checkAllowed(ctx, node, callee);
  auto *call = newExpr<CallExpr>(ctx, node, errorType(ctx));
  call->callee = &callee;
  Binding binding(ctx, node, callee.name, callee.params, callee.dims, callee.typeParams);
  auto others = placeArguments(binding, args);
  bindOthers(binding, callee, others, call);
  binding.checkValues();
  return finishCall(binding, callee, call);
}

Expr *callOn(Context &ctx, NodeId node, const CallableDecl &callee,
             const std::vector<Expr *> &values) {
  noteCall(ctx, &callee, ctx.span(node));
  auto *call = newExpr<CallExpr>(ctx, node, errorType(ctx));
  call->callee = &callee;
  Binding binding(ctx, node, callee.name, callee.params, callee.dims, callee.typeParams);
  std::vector<CallArgument> given(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    given[i].value = node;
    given[i].span = values[i]->span;
    binding.given[i] = &given[i];
    binding.operands[i].expr = values[i];
    binding.operands[i].node = node;
    binding.operands[i].span = values[i]->span;
  }
  return finishCall(binding, callee, call);
}

Expr *checkStructMake(Context &ctx, NodeId node, const StructDecl &decl,
                      const std::vector<CallArgument> &args) {
  auto *make = newExpr<StructMakeExpr>(ctx, node, errorType(ctx));
  make->decl = &decl;
  std::vector<Local *> fields;
  for (const StructField &field : decl.fields) {
    Local *local = ctx.program.make<Local>();
    local->name = field.name;
    local->type = field.type ? field.type : errorType(ctx);
    local->span = field.span;
    fields.push_back(local);
  }
  Binding binding(ctx, node, decl.name, fields, decl.dims, decl.typeParams);
  for (const CallArgument *arg : placeArguments(binding, args))
    if (!bindNamedDim(binding, decl.dims, *arg) && !bindNamedElem(binding, decl.typeParams, *arg)) {
      std::vector<std::string> names;
      for (const StructField &field : decl.fields)
        names.push_back(field.name);
      reportUnknownArgument(binding, *arg, names);
    }
  binding.checkValues();
  if (!binding.failed)
    binding.unifyValues();
  if (!binding.failed)
    binding.convertValues();
  fillDefaults(binding, CallableDecl());
  if (binding.failed || !binding.unifier.settle())
    return make;
  Type *type = copyType(ctx, *errorType(ctx));
  type->kind = TypeKind::Struct;
  type->structDecl = &decl;
  for (const DimParam &dim : decl.dims) {
    auto extent = binding.unifier.extentOf(dim.symbol);
    if (!extent) {
      ctx.sink.report(DiagId::DimensionNotFixed, ctx.span(node), {dim.name, decl.name})
          .label(dim.span, "declared here");
      return make;
    }
    type->dimArgs.push_back(extent->length);
  }
  for (const TypeParam *param : decl.typeParams)
    type->elemArgs.push_back(binding.unifier.elemOf(param).value_or(Elem{}));
  make->fields = binding.values;
  make->type = type;
  return make;
}

} // namespace ptl
