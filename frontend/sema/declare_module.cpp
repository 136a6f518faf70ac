// What a file declares: names first, then constants, aliases and structs, which need each other in
// any order.

#include "frontend/sema/check_decl.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

// ---- Names --------------------------------------------------------------------------------------

template <typename Map, typename Decl>
static void declareName(ProgramState &state, Map &map, Decl *decl) {
  if (decl->name.empty())
    return;
  auto [slot, isNew] = map.try_emplace(decl->name, decl);
  if (!isNew)
    state.sink.report(DiagId::DuplicateDeclaration, decl->nameSpan, {decl->name})
        .label(slot->second->nameSpan, "first declared here");
}

template <typename Decl>
static Decl *makeDecl(ProgramState &state, CheckedModule &module, NodeId node) {
  Decl *decl = state.program.make<Decl>();
  const Tree &tree = *module.tree;
  decl->name = tree.text(tree.child(node, 0));
  decl->nameSpan = tree.span(tree.child(node, 0));
  decl->span = tree.span(node);
  decl->doc = tree.docComment(node);
  decl->isPub = tree.has(node, NodeFlag::Pub);
  return decl;
}

static LazyState lazyState(CheckedModule &module, NodeId node) {
  LazyState lazy;
  lazy.module = &module;
  lazy.syntax = node;
  return lazy;
}

static void declareCallable(ProgramState &state, CheckedModule &module, NodeId node) {
  bool isRoot = state.program.modules.front().get() == &module;
  NodeKind kind = module.tree->kind(node);
  bool isTest =
      kind == NodeKind::TestDecl || kind == NodeKind::BenchDecl || kind == NodeKind::PropertyDecl;
  // Tests of imported files are theirs to run.
  if (isTest && !isRoot)
    return;
  state.decls.push_back(std::make_unique<DeclState>());
  DeclState &declState = *state.decls.back();
  beginDecl(declState, state, module, node);
  if (isTest)
    return;
  ModuleScope &scope = *state.scopes.at(&module);
  declareName(state, scope.callables, declState.decl);
  auto clash = scope.structs.find(declState.decl->name);
  if (clash != scope.structs.end() && !declState.decl->name.empty())
    state.sink
        .report(DiagId::DuplicateDeclaration, declState.decl->nameSpan, {declState.decl->name})
        .label(clash->second->nameSpan, "first declared here");
}

static void declareStruct(ProgramState &state, CheckedModule &module, NodeId node) {
  ModuleScope &scope = *state.scopes.at(&module);
  StructDecl *decl = makeDecl<StructDecl>(state, module, node);
  decl->module = &module;
  decl->syntax = node;
  module.structs.push_back(decl);
  declareName(state, scope.structs, decl);
}

static void declareAlias(ProgramState &state, CheckedModule &module, NodeId node) {
  ModuleScope &scope = *state.scopes.at(&module);
  TypeAliasDecl *decl = makeDecl<TypeAliasDecl>(state, module, node);
  module.aliases.push_back(decl);
  state.aliasStates[decl] = lazyState(module, node);
  declareName(state, scope.aliases, decl);
  auto clash = scope.structs.find(decl->name);
  if (clash != scope.structs.end() && !decl->name.empty())
    state.sink.report(DiagId::DuplicateDeclaration, decl->nameSpan, {decl->name})
        .label(clash->second->nameSpan, "first declared here");
}

void declareModule(ProgramState &state, CheckedModule &module) {
  const Tree &tree = *module.tree;
  ModuleScope &scope = *state.scopes.at(&module);
  auto items = tree.children(tree.root());
  // Structs first: they clash with callables and with aliases.
  for (NodeId item : items)
    if (tree.is(item, NodeKind::StructDecl))
      declareStruct(state, module, item);
  for (NodeId item : items) {
    switch (tree.kind(item)) {
    case NodeKind::FnDecl:
    case NodeKind::KernelDecl:
    case NodeKind::ProgramDecl:
    case NodeKind::TestDecl:
    case NodeKind::BenchDecl:
    case NodeKind::PropertyDecl:
      declareCallable(state, module, item);
      break;
    case NodeKind::TypeDecl:
      declareAlias(state, module, item);
      break;
    case NodeKind::ConstDecl: {
      ConstDecl *decl = makeDecl<ConstDecl>(state, module, item);
      module.consts.push_back(decl);
      state.constStates[decl] = lazyState(module, item);
      declareName(state, scope.consts, decl);
      break;
    }
    default:
      break;
    }
  }
}

// ---- Constants ----------------------------------------------------------------------------------

/// The value with the type that was written, and whether it fits.
static bool giveType(Context &ctx, NodeId typeNode, NodeId valueNode, ConstValue &value) {
  if (typeNode == kNoNode)
    return true;
  const Type *type = resolveType(ctx, typeNode);
  if (type->isError())
    return false;
  bool fits = type->isScalar() && convertConst(value, type->elem).fits;
  if (!fits) {
    ctx.sink.report(DiagId::ConstantDoesNotFit, ctx.span(valueNode),
                    {toString(value), toString(ctx, type)});
    return false;
  }
  value.type = type->elem.kind;
  value.isFloat = isFloat(*value.type);
  return true;
}

std::optional<ConstValue> checkConstValue(Context &ctx, NodeId node) {
  ConstDeclView view(ctx.tree, node);
  if (ctx.tree.is(view.value(), NodeKind::Error))
    return std::nullopt;
  size_t errors = ctx.sink.errorCount();
  auto value = evalConst(ctx, view.value());
  if (!value) {
    if (ctx.sink.errorCount() == errors)
      ctx.sink.report(DiagId::NotAConstant, ctx.span(view.value()),
                      {std::string(ctx.text(view.name()))});
    return std::nullopt;
  }
  if (!giveType(ctx, view.type(), view.value(), *value))
    return std::nullopt;
  return value;
}

Elem elemOfConst(const ConstValue &value) {
  if (value.type)
    return Elem{*value.type};
  if (value.kind == ConstKind::Bool)
    return Elem{ElemKind::Bool};
  return Elem{value.isIntegral() ? ElemKind::Int : ElemKind::F32};
}

static Expr *constExpr(Context &ctx, const ConstValue &value, NodeId node) {
  ConstExpr *expr = ctx.program.make<ConstExpr>();
  Elem elem = elemOfConst(value);
  ConstBits bits = convertConst(value, elem);
  expr->kind = ExprKind::Const;
  expr->type = scalarType(ctx, elem);
  expr->span = ctx.span(node);
  expr->syntax = node;
  expr->floatValue = bits.floatValue;
  expr->intValue = bits.intValue;
  if (elem.kind == ElemKind::Int)
    expr->dim = ctx.dims.constant(bits.intValue);
  return expr;
}

bool completeConst(ProgramState &state, const ConstDecl &decl) {
  LazyState &lazy = state.constStates.at(&decl);
  if (lazy.isDone)
    return !lazy.hasErrors;
  if (lazy.isActive) {
    if (!lazy.hasErrors)
      state.sink.report(DiagId::CyclicDefinition, decl.nameSpan, {decl.name});
    lazy.hasErrors = true;
    return false;
  }
  lazy.isActive = true;
  Context ctx(state, *lazy.module);
  auto value = checkConstValue(ctx, lazy.syntax);
  auto define = state.options.defines.find(decl.name);
  if (value && isRootModule(ctx) && define != state.options.defines.end())
    value->number = Rational(define->second);
  LazyState &after = state.constStates.at(&decl);
  after.isActive = false;
  after.isDone = true;
  after.hasErrors |= !value;
  if (after.hasErrors)
    return false;
  // The declaration is ours: only its users see it as finished.
  const_cast<ConstDecl &>(decl).value =
      constExpr(ctx, *value, ConstDeclView(ctx.tree, lazy.syntax).value());
  state.constValues[&decl] = *value;
  return true;
}

// ---- Aliases ------------------------------------------------------------------------------------

bool completeAlias(ProgramState &state, const TypeAliasDecl &alias) {
  LazyState &lazy = state.aliasStates.at(&alias);
  if (lazy.isDone)
    return !lazy.hasErrors;
  if (lazy.isActive) {
    if (!lazy.hasErrors)
      state.sink.report(DiagId::CyclicDefinition, alias.nameSpan, {alias.name});
    lazy.hasErrors = true;
    return false;
  }
  lazy.isActive = true;
  auto &decl = const_cast<TypeAliasDecl &>(alias);
  Context ctx(state, *lazy.module);
  TypeDeclView view(ctx.tree, lazy.syntax);
  checkGenerics(ctx, view.generics(), decl.typeParams, decl.dims);
  decl.type = resolveType(ctx, view.type());
  LazyState &after = state.aliasStates.at(&alias);
  after.isActive = false;
  after.isDone = true;
  after.hasErrors |= decl.type->isError();
  return !after.hasErrors;
}

// ---- Structs ------------------------------------------------------------------------------------

/// Headers of all structs come before the fields of any.
static void checkStructHeader(Context &ctx, StructDecl &decl) {
  checkGenerics(ctx, StructDeclView(ctx.tree, decl.syntax).generics(), decl.typeParams, decl.dims);
}

static void checkFields(Context &ctx, StructDecl &decl) {
  for (NodeId node : StructDeclView(ctx.tree, decl.syntax).fields()) {
    if (!ctx.tree.is(node, NodeKind::Field))
      continue;
    FieldView view(ctx.tree, node);
    StructField field;
    field.name = ctx.text(view.name());
    field.span = ctx.span(view.name());
    field.type = resolveType(ctx, view.type());
    for (const StructField &other : decl.fields)
      if (other.name == field.name && !field.name.empty())
        ctx.sink.report(DiagId::DuplicateName, field.span, {field.name, "field"})
            .label(other.span, "first declared here");
    decl.fields.push_back(std::move(field));
  }
}

/// Whether a struct holds `wanted`, itself or through other structs.
static bool holds(const Type &type, const StructDecl &wanted,
                  std::vector<const StructDecl *> &seen) {
  if (type.kind == TypeKind::Tuple)
    return std::any_of(type.elements.begin(), type.elements.end(),
                       [&](const Type *element) { return holds(*element, wanted, seen); });
  if (type.kind != TypeKind::Struct)
    return false;
  if (type.structDecl == &wanted)
    return true;
  if (std::find(seen.begin(), seen.end(), type.structDecl) != seen.end())
    return false;
  seen.push_back(type.structDecl);
  return std::any_of(type.structDecl->fields.begin(), type.structDecl->fields.end(),
                     [&](const StructField &field) { return holds(*field.type, wanted, seen); });
}

static void checkStructFields(ProgramState &state, CheckedModule &module,
                              const std::vector<std::unique_ptr<Context>> &contexts) {
  for (size_t i = 0; i < module.structs.size(); ++i)
    checkFields(*contexts[i], *module.structs[i]);
  for (StructDecl *decl : module.structs)
    for (StructField &field : decl->fields) {
      std::vector<const StructDecl *> seen;
      if (!holds(*field.type, *decl, seen))
        continue;
      state.sink.report(DiagId::StructContainsItself, field.span, {decl->name});
      field.type = state.errorType;
    }
}

void completeModule(ProgramState &state, CheckedModule &module) {
  std::vector<std::unique_ptr<Context>> structContexts;
  for (StructDecl *decl : module.structs) {
    structContexts.push_back(std::make_unique<Context>(state, module));
    checkStructHeader(*structContexts.back(), *decl);
  }
  for (const ConstDecl *decl : module.consts)
    completeConst(state, *decl);
  for (const TypeAliasDecl *decl : module.aliases)
    completeAlias(state, *decl);
  checkStructFields(state, module, structContexts);
}

// ---- Imports ------------------------------------------------------------------------------------

void warnUnusedImports(ProgramState &state, CheckedModule &module) {
  const ModuleScope &scope = *state.scopes.at(&module);
  std::vector<std::pair<Span, std::string>> unused;
  for (const auto *map : {&scope.modules, &scope.names})
    for (const auto &[name, import] : *map)
      if (!import.used)
        unused.push_back({import.span, name});
  std::sort(unused.begin(), unused.end(),
            [](const auto &a, const auto &b) { return a.first.begin < b.first.begin; });
  for (const auto &[span, name] : unused)
    state.sink.report(DiagId::UnusedImport, span, {name});
}

} // namespace ptl
