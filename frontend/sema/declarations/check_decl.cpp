// Callables: signature, conditions, body.
#include "frontend/sema/declarations/check_decl.h"

#include "frontend/lex/literal.h"
#include "frontend/sema/analysis/condition_facts.h"
#include "frontend/sema/analysis/flow.h"
#include "frontend/sema/block/fuse_parts.h"
#include "frontend/sema/block/fuse_sections.h"
#include "frontend/sema/calls/associative.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/declarations/check_module.h"
#include "frontend/sema/declarations/check_packed.h"
#include "frontend/sema/expressions/check_expr.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/make_node.h"
#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/placement/level_counts.h"
#include "frontend/sema/reported.h"
#include "frontend/sema/statements/check_stmt.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/walk.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

static DeclKind kindOf(const Tree &tree, NodeId node) {
  switch (tree.kind(node)) {
  case NodeKind::KernelDecl:
    return tree.has(node, NodeFlag::Extern)   ? DeclKind::ExternKernel
           : tree.has(node, NodeFlag::Manual) ? DeclKind::ManualKernel
                                              : DeclKind::Kernel;
  case NodeKind::ProgramDecl:
    return DeclKind::Program;
  case NodeKind::TestDecl:
    return DeclKind::Test;
  case NodeKind::PropertyDecl:
    return DeclKind::Property;
  case NodeKind::BenchDecl:
    return DeclKind::Bench;
  default:
    return DeclKind::Fn;
  }
}

static bool isCallable(DeclKind kind) {
  return kind != DeclKind::Test && kind != DeclKind::Property && kind != DeclKind::Bench;
}

static NodeId whereNode(const Tree &tree, NodeId node, DeclKind kind) {
  if (kind == DeclKind::Property)
    return PropertyDeclView(tree, node).where();
  return isCallable(kind) ? CallableView(tree, node).where() : kNoNode;
}

static NodeId bodyNode(const Tree &tree, NodeId node, DeclKind kind) {
  switch (kind) {
  case DeclKind::Test:
    return TestDeclView(tree, node).body();
  case DeclKind::Bench:
    return BenchDeclView(tree, node).body();
  case DeclKind::Property:
    return PropertyDeclView(tree, node).body();
  default:
    return CallableView(tree, node).body();
  }
}

// ---- Signature ----------------------------------------------------------------------------------

static void checkExternSources(Context &ctx, NodeId node) {
  if (node == kNoNode)
    return;
  for (NodeId source : ctx.tree.children(node)) {
    if (!ctx.tree.is(source, NodeKind::ExternSource))
      continue;
    ExternSourceView view(ctx.tree, source);
    checkTargetName(ctx, view.target());
    std::string_view text = ctx.text(view.text());
    // The quotes are part of the token.
    if (text.size() >= 2)
      text = text.substr(1, text.size() - 2);
    ctx.decl->externSources.emplace_back(ctx.text(view.target()), text);
  }
}

static void checkCallableSignature(Context &ctx, NodeId node) {
  CallableView view(ctx.tree, node);
  CallableDecl &decl = *ctx.decl;
  checkGenerics(ctx, view.generics(), decl.typeParams, decl.dims);
  if (view.generics() != kNoNode)
    for (NodeId param : ctx.tree.children(view.generics()))
      if (ctx.tree.is(param, NodeKind::SampledDim))
        ctx.sink.report(
            DiagId::HeaderPartNotHere, ctx.span(param),
            {"`" + std::string(declKindName(decl.kind)) + "`", "range for a dimension"});
  declareLevelCounts(ctx);
  checkTunables(ctx, view.tune());
  checkParams(ctx, view.params());
  checkResults(ctx, view.results());
  checkClause(ctx, view.clause());
  checkExternSources(ctx, view.sources());
  decl.paramDefaults.resize(decl.params.size());
  decl.isBlockLevel = decl.kind == DeclKind::ManualKernel;
}

static void addSampleRange(Context &ctx, const DimParam &dim, NodeId param) {
  auto &ranges = ctx.decl->sampleRanges;
  // Any range that is not empty will do for a declaration in error.
  constexpr std::pair<int64_t, int64_t> whenInError = {1, 2};
  ranges.push_back(whenInError);
  NodeId domain = ctx.tree.is(param, NodeKind::SampledDim) ? ctx.tree.child(param, 1) : kNoNode;
  if (domain == kNoNode || !ctx.tree.is(domain, NodeKind::RangeExpr) ||
      RangeExprView(ctx.tree, domain).step() != kNoNode) {
    if (domain == kNoNode || !ctx.tree.is(domain, NodeKind::Error))
      ctx.sink.report(DiagId::SampledRange, ctx.span(param), {dim.name});
    return;
  }
  RangeExprView range(ctx.tree, domain);
  auto lo = requireConstInt(ctx, range.start(), "the start of the range");
  auto hi = requireConstInt(ctx, range.stop(), "the end of the range");
  if (!lo || !hi)
    return;
  if (*lo >= *hi || *lo < 0) {
    ctx.sink.report(DiagId::EmptySampledRange, ctx.span(domain),
                    {dim.name, std::to_string(*lo), std::to_string(*hi)});
    return;
  }
  ranges.back() = {*lo, *hi};
  // Within a property the dimension lies in its range.
  Dim value = ctx.dims.symbolDim(dim.symbol);
  ctx.facts.addLessEqual(ctx.dims.constant(*lo), value, dim.span);
  ctx.facts.addLess(value, ctx.dims.constant(*hi), dim.span);
}

static void checkPropertySignature(Context &ctx, NodeId node) {
  PropertyDeclView view(ctx.tree, node);
  CallableDecl &decl = *ctx.decl;
  checkGenerics(ctx, view.generics(), decl.typeParams, decl.dims);
  if (view.generics() == kNoNode)
    return;
  size_t next = 0;
  for (NodeId param : ctx.tree.children(view.generics())) {
    if (ctx.tree.is(param, NodeKind::TypeParam))
      ctx.sink.report(DiagId::HeaderPartNotHere, ctx.span(param), {"`property`", "type parameter"});
    // A parameter in error has no dimension, so the two lists advance separately.
    else if (next < decl.dims.size() && !ctx.tree.is(param, NodeKind::Error))
      addSampleRange(ctx, decl.dims[next++], param);
  }
}

static void nameDecl(Context &ctx, NodeId node) {
  CallableDecl &decl = *ctx.decl;
  NodeId name = ctx.tree.child(node, 0);
  decl.span = ctx.span(node);
  decl.nameSpan = ctx.span(name);
  decl.name = ctx.text(name);
  // Tests, properties and benches are named by a string, whose quotes are dropped.
  if (!isCallable(decl.kind) && decl.name.size() >= 2 && decl.name.front() == '"')
    decl.name = stringLiteralValue(decl.name);
  decl.doc = ctx.tree.docComment(node);
  decl.isPub = ctx.tree.has(node, NodeFlag::Pub);
}

void beginDecl(DeclState &state, ProgramState &program, CheckedModule &module, const Tree &tree,
               NodeId node) {
  CallableDecl *decl = program.program.make<CallableDecl>();
  decl->kind = kindOf(tree, node);
  decl->module = &module;
  decl->syntax = node;
  decl->returnType = program.voidType;
  state.decl = decl;
  state.context = std::make_unique<Context>(program, module, tree);
  state.context->decl = decl;
  state.context->declState = &state;
  nameDecl(*state.context, node);
  // Calls in other declarations find the state by the declaration.
  program.stateOf[decl] = &state;
}

void checkDeclSignature(DeclState &state) {
  Context &ctx = *state.context;
  size_t errors = ctx.sink.errorCount();
  if (isCallable(state.decl->kind))
    checkCallableSignature(ctx, state.decl->syntax);
  else if (state.decl->kind == DeclKind::Property)
    checkPropertySignature(ctx, state.decl->syntax);
  state.signatureDone = true;
  state.decl->hasErrors = ctx.sink.errorCount() > errors;
}

// ---- Conditions ---------------------------------------------------------------------------------

/// A condition that speaks of tunables and nothing else filters their domain.
static bool isOnTunables(Context &ctx, const Expr *condition) {
  bool hasTunable = false, hasOther = false;
  auto note = [&](bool isTunable) { (isTunable ? hasTunable : hasOther) = true; };
  forEachExpr(condition, [&](const Expr *expr) {
    if (expr->kind == ExprKind::LocalRef)
      note(cast<LocalRefExpr>(expr)->local->kind == LocalKind::Tunable);
    else if (expr->kind == ExprKind::Dim)
      forEachSymbol(expr->dim, [&](SymbolId symbol) {
        note(ctx.dims.symbol(symbol).kind == SymbolKind::Tunable);
      });
  });
  return hasTunable && !hasOther;
}

/// Facts about data are `all(…)`, `unique(…)` and `sorted(…)`; apart from them a condition reads no
/// arrays, because the caller checks it before the data is looked at.
static bool readsData(const Expr *expr) {
  if (!expr)
    return false;
  // An index reads an element even where its result is a scalar.
  if (expr->kind == ExprKind::Index)
    return true;
  if (auto *logical = dyn_cast<LogicalExpr>(expr)) {
    return readsData(logical->lhs) || readsData(logical->rhs);
  }
  if (expr->kind == ExprKind::Convert)
    return readsData(cast<ConvertExpr>(expr)->arg);
  auto *op = dyn_cast<OpExpr>(expr);
  if (!op)
    // An array as a whole is data, unless one of the facts takes it.
    return expr->type->isArray();
  bool isFact =
      op->op && (op->op->name == "all" || op->op->name == "unique" || op->op->name == "sorted");
  return !isFact && std::any_of(op->args.begin(), op->args.end(), readsData);
}

static void checkWhere(Context &ctx, const WhereClause &clause) {
  if (clause.condition->type->isError())
    return;
  if (readsData(clause.condition))
    ctx.sink.report(DiagId::WhereReadsData, clause.span, {clause.text})
        .help("`where` can only state facts about all elements: `all(x < N)`, `unique(x)`, "
              "`sorted(x)`");
  else if (conditionProof(ctx, clause.condition) == Proof::False)
    ctx.sink.report(DiagId::WhereNeverHolds, clause.span, {clause.text});
}

static void checkWheres(Context &ctx, NodeId node) {
  if (node == kNoNode)
    return;
  ctx.inWhere = true;
  for (NodeId condition : ctx.tree.children(node)) {
    WhereClause clause;
    // `where associative` is a promise and no condition.
    if (readAssociative(ctx, condition, &clause)) {
      ctx.decl->wheres.push_back(std::move(clause));
      continue;
    }
    clause.condition = checkCondition(ctx, condition);
    clause.text = ctx.text(condition);
    clause.span = ctx.span(condition);
    clause.onTunables = isOnTunables(ctx, clause.condition);
    checkWhere(ctx, clause);
    // Later conditions and the body may rely on earlier ones.
    assumeCondition(ctx, clause.condition);
    ctx.decl->wheres.push_back(std::move(clause));
  }
  ctx.inWhere = false;
  // The body relies on what is said of tunables, so it has to hold for the values that they have.
  auto defaultOf = [&](const Local &local) -> std::optional<int64_t> {
    for (const Tunable &tunable : ctx.decl->tunables)
      if (tunable.local == &local)
        return tunable.defaultValue;
    return std::nullopt;
  };
  if (const WhereClause *where = excludingWhere(*ctx.decl, defaultOf)) {
    auto report = ctx.sink.report(DiagId::WhereIsFalse, where->span, {ctx.decl->name, where->text});
    for (const Tunable &tunable : ctx.decl->tunables)
      if (!tunable.isBool)
        report.label(tunable.local->span, "`" + tunable.local->name + "` is " +
                                              std::to_string(tunable.defaultValue) + " by default");
  }
}

/// Children of `list` of one kind, in order.
static std::vector<NodeId> partsOf(const Tree &tree, NodeId list, NodeKind kind) {
  std::vector<NodeId> parts;
  if (list != kNoNode)
    for (NodeId node : tree.children(list))
      if (tree.is(node, kind))
        parts.push_back(node);
  return parts;
}

static Expr *checkValueFor(Context &ctx, NodeId node, const Local &local, std::string_view what) {
  const Type *type = local.type;
  // The value may be a scalar that fills the array.
  const Type *expected = type->isArray() ? scalarType(ctx, type->elem) : type;
  Expr *value = checkExpr(ctx, node, expected);
  if (type->isArray() && value->type->isScalar())
    return convertTo(ctx, value, expected, what);
  return convertTo(ctx, value, type, what);
}

static void checkDefaults(Context &ctx, NodeId node) {
  CallableDecl &decl = *ctx.decl;
  CallableView view(ctx.tree, node);
  std::vector<NodeId> params = partsOf(ctx.tree, view.params(), NodeKind::Param);
  for (size_t i = 0; i < params.size() && i < decl.params.size(); ++i)
    if (NodeId value = ParamView(ctx.tree, params[i]).value(); value != kNoNode)
      decl.paramDefaults[i] = checkValueFor(ctx, value, *decl.params[i],
                                            "the default of `" + decl.params[i]->name + "`");
  size_t next = 0;
  for (NodeId result : partsOf(ctx.tree, view.results(), NodeKind::Result)) {
    ResultView resultView(ctx.tree, result);
    // Results in error have no output, so the two lists advance separately.
    if (resultView.name() == kNoNode || next >= decl.outputs.size())
      continue;
    if (resultView.value() != kNoNode)
      decl.outputInits[next] =
          checkValueFor(ctx, resultView.value(), *decl.outputs[next],
                        "the initial value of `" + decl.outputs[next]->name + "`");
    ++next;
  }
}

void checkDeclConditions(DeclState &state) {
  Context &ctx = *state.context;
  size_t errors = ctx.sink.errorCount();
  NodeId node = state.decl->syntax;
  if (isCallable(state.decl->kind))
    checkPackedArrays(ctx);
  checkWheres(ctx, whereNode(ctx.tree, node, state.decl->kind));
  if (isCallable(state.decl->kind))
    checkDefaults(ctx, node);
  state.decl->hasErrors |= ctx.sink.errorCount() > errors;
}

// ---- Body ---------------------------------------------------------------------------------------

/// Whether a `break` in a block leaves the loop that it is the body of.
static bool breaksOut(const Block *block) {
  if (!block)
    return false;
  return std::any_of(block->stmts.begin(), block->stmts.end(), [](const Stmt *stmt) {
    switch (stmt->kind) {
    case StmtKind::Break:
      return true;
    case StmtKind::If: {
      const auto &branch = *cast<IfStmt>(stmt);
      return breaksOut(branch.thenBlock) || breaksOut(branch.elseBlock);
    }
    case StmtKind::Block:
      return breaksOut(cast<BlockStmt>(stmt)->block);
    // A `break` in an inner loop leaves that loop and not this one.
    default:
      return false;
    }
  });
}

/// Whether control never leaves the end of a block.
static bool alwaysReturns(Context &ctx, const Block &block) {
  for (const Stmt *stmt : block.stmts) {
    // A statement in error may have been a `return`, so a missing result is not reported.
    if (stmt->kind == StmtKind::Return || stmt->kind == StmtKind::Error)
      return true;
    if (stmt->kind == StmtKind::Block && alwaysReturns(ctx, *cast<BlockStmt>(stmt)->block))
      return true;
    if (stmt->kind == StmtKind::If) {
      const auto &branch = *cast<IfStmt>(stmt);
      if (branch.thenBlock && branch.elseBlock && alwaysReturns(ctx, *branch.thenBlock) &&
          alwaysReturns(ctx, *branch.elseBlock))
        return true;
    }
    // A loop that never ends by its condition and has no `break` is only left by `return`.
    if (stmt->kind == StmtKind::While) {
      const auto &loop = *cast<WhileStmt>(stmt);
      if (conditionProof(ctx, loop.condition) == Proof::True && !breaksOut(loop.body))
        return true;
    }
  }
  return false;
}

static void checkFnResult(Context &ctx, NodeId node) {
  CallableDecl &decl = *ctx.decl;
  if (decl.body->value) {
    decl.body->value = convertToResult(ctx, decl.body->value, decl.returnType, "the result");
    return;
  }
  if (alwaysReturns(ctx, *decl.body) || decl.returnType->isError())
    return;
  // The report stands at the closing brace, where the value is missing.
  Span end = ctx.span(node);
  end.begin = end.end - 1;
  ctx.sink.report(DiagId::MissingResult, end, {decl.name, toString(ctx, decl.returnType)})
      .help("end the body with `return` or with the value");
}

/// What a schedule sees of a body: its labels, and whether some may be missing. Never 0.
static uint64_t labelsHash(const Scope &scope, bool hasErrors) {
  uint64_t hash = hasErrors;
  for (const LabelInfo &label : scope.labels) {
    uint64_t kind = static_cast<uint64_t>(label.kind) * 2 + label.isParallel;
    // The multiplier is 2⁶⁴ divided by the golden ratio, as is usual for mixing hashes.
    hash = (hash + kind + 1) * 0x9E3779B97F4A7C15u + std::hash<std::string>()(label.name);
  }
  return hash | 1;
}

void checkDeclBody(DeclState &state) {
  state.bodyDone = true;
  Context &ctx = *state.context;
  CallableDecl &decl = *state.decl;
  NodeId node = bodyNode(ctx.tree, decl.syntax, decl.kind);
  size_t errors = ctx.sink.errorCount();
  ctx.errorsBefore = errors;
  // The analysis of flow starts from the facts of the header, without those of the body.
  FactSet entry = ctx.facts;
  if (node != kNoNode) {
    bool givesValue = decl.kind == DeclKind::Fn && decl.returnType->kind != TypeKind::Void;
    decl.body = checkBlock(ctx, node, givesValue, givesValue ? decl.returnType : nullptr);
    if (givesValue && ctx.tree.is(node, NodeKind::Block))
      checkFnResult(ctx, node);
  }
  // Each analysis relies on what the one before has checked, so errors stop the chain.
  if (ctx.sink.errorCount() == errors)
    analyseFlow(ctx, entry);
  if (ctx.sink.errorCount() == errors && isAssociative(decl))
    checkElementwise(ctx, decl);
  if (ctx.sink.errorCount() == errors && decl.kind == DeclKind::Kernel && decl.isBlockLevel)
    fuseSections(ctx);
  if (ctx.sink.errorCount() == errors && decl.kind == DeclKind::Program)
    fusePartSections(ctx);
  decl.hasErrors |= ctx.sink.errorCount() > errors;
  // Names may seem unused where errors have cut the check short.
  ctx.suppressUnused = decl.hasErrors || node == kNoNode;
  state.labels = labelsHash(ctx.scope, decl.hasErrors);
  leaveScope(ctx);
}

// ---- Recursion ----------------------------------------------------------------------------------

void noteCall(Context &ctx, const CallableDecl *callee, Span span) {
  if (ctx.declState)
    ctx.declState->calls.push_back({callee, span});
}

void checkRecursion(ProgramState &state) {
  std::unordered_map<const CallableDecl *, size_t> indexOf;
  for (const auto &decl : state.decls)
    // Calls are recorded per declaration, and become edges between positions in this list.
    indexOf.emplace(decl->decl, indexOf.size());
  std::vector<CallNode> graph;
  for (const auto &decl : state.decls) {
    CallNode node{decl->decl->name, decl->decl->nameSpan, {}};
    for (const auto &[callee, span] : decl->calls)
      if (auto found = indexOf.find(callee); found != indexOf.end())
        node.calls.push_back({found->second, span});
    graph.push_back(std::move(node));
  }
  reportRecursion(graph, state.sink,
                  [&](size_t index) { state.decls[index]->decl->hasErrors = true; });
}

} // namespace ptl
