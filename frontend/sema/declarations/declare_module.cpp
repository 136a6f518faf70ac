#include "frontend/sema/declarations/declare_module.h"

#include "frontend/sema/declarations/check_decl.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/declarations/check_module.h"
#include "frontend/sema/expressions/convert.h"
#include "frontend/sema/module_index.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

// ---- Names --------------------------------------------------------------------------------------

/// Names a declaration unless an earlier one has the name.
template <typename Map, typename Decl>
static void declareName(const ModuleScope &scope, Map &map, Decl *decl, DeclSpace space,
                        const Tree &tree, NodeId node) {
  // The parser has reported a missing name.
  if (decl->name.empty())
    return;
  // When a part of a file is checked, the index of the whole file decides which declaration has the
  // name.
  if (scope.index) {
    DeclSite site = scope.index->find(space, decl->name);
    if (site.tree != &tree || site.node != node)
      return;
  }
  map.try_emplace(decl->name, decl);
}

template <typename Decl> static Decl *makeDecl(ProgramState &state, const Tree &tree, NodeId node) {
  Decl *decl = state.program.make<Decl>();
  decl->name = tree.text(tree.child(node, 0));
  decl->nameSpan = tree.span(tree.child(node, 0));
  decl->span = tree.span(node);
  decl->doc = tree.docComment(node);
  decl->isPub = tree.has(node, NodeFlag::Pub);
  return decl;
}

static LazyState lazyState(CheckedModule &module, const Tree &tree, NodeId node) {
  LazyState lazy;
  lazy.module = &module;
  lazy.tree = &tree;
  lazy.syntax = node;
  return lazy;
}

DeclState *makeCallable(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node) {
  state.decls.push_back(std::make_unique<DeclState>());
  DeclState &declState = *state.decls.back();
  beginDecl(declState, state, module, tree, node);
  DeclSpace space = DeclSpace::Callable;
  ModuleScope &scope = *state.scopes.at(&module);
  if (isNamed(tree, node, space))
    declareName(scope, scope.callables, declState.decl, space, tree, node);
  return &declState;
}

StructDecl *makeStruct(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node) {
  ModuleScope &scope = *state.scopes.at(&module);
  StructDecl *decl = makeDecl<StructDecl>(state, tree, node);
  decl->module = &module;
  decl->syntax = node;
  declareName(scope, scope.structs, decl, DeclSpace::Struct, tree, node);
  return decl;
}

TypeAliasDecl *makeAlias(ProgramState &state, CheckedModule &module, const Tree &tree,
                         NodeId node) {
  ModuleScope &scope = *state.scopes.at(&module);
  TypeAliasDecl *decl = makeDecl<TypeAliasDecl>(state, tree, node);
  state.aliasStates[decl] = lazyState(module, tree, node);
  declareName(scope, scope.aliases, decl, DeclSpace::Alias, tree, node);
  return decl;
}

ConstDecl *makeConst(ProgramState &state, CheckedModule &module, const Tree &tree, NodeId node) {
  ModuleScope &scope = *state.scopes.at(&module);
  ConstDecl *decl = makeDecl<ConstDecl>(state, tree, node);
  state.constStates[decl] = lazyState(module, tree, node);
  declareName(scope, scope.consts, decl, DeclSpace::Const, tree, node);
  return decl;
}

static void declareItem(ProgramState &state, CheckedModule &module, NodeId item) {
  const Tree &tree = *module.tree;
  bool isRoot = state.program.modules.front().get() == &module;
  switch (tree.kind(item)) {
  case NodeKind::TestDecl:
  case NodeKind::BenchDecl:
  case NodeKind::PropertyDecl:
    // Tests of imported files are theirs to run.
    if (!isRoot)
      break;
    [[fallthrough]];
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    module.callables.push_back(makeCallable(state, module, tree, item)->decl);
    break;
  case NodeKind::StructDecl:
    module.structs.push_back(makeStruct(state, module, tree, item));
    break;
  case NodeKind::TypeDecl:
    module.aliases.push_back(makeAlias(state, module, tree, item));
    break;
  case NodeKind::ConstDecl:
    module.consts.push_back(makeConst(state, module, tree, item));
    break;
  default:
    break;
  }
}

void declareModule(ProgramState &state, CheckedModule &module) {
  const Tree &tree = *module.tree;
  for (NodeId item : tree.children(tree.root()))
    declareItem(state, module, item);
  // Editors find duplicates for the whole file.
  if (!state.onDemand)
    reportDuplicates(namedDecls(tree), state.sink);
}

// ---- Constants ----------------------------------------------------------------------------------

/// The value with the type that was written, and whether it fits.
static bool giveType(Context &ctx, NodeId typeNode, NodeId valueNode, ConstValue &value) {
  if (typeNode == kNoNode)
    return true;
  const Type *type = resolveType(ctx, typeNode);
  // An error type was reported when it was resolved.
  if (type->isError())
    return false;
  bool fits = type->isScalar() && convertConst(value, type->elem).fits;
  if (!fits) {
    auto report = ctx.sink.report(DiagId::ConstantDoesNotFit, ctx.span(valueNode),
                                  {toString(value), toString(ctx, type)});
    if (type->isScalar())
      noteIntegers(report, type->elem.kind, value);
    return false;
  }
  value.type = type->elem.kind;
  value.isFloat = isFloat(*value.type);
  return true;
}

static std::optional<ConstValue> checkConstValue(Context &ctx, NodeId node) {
  ConstDeclView view(ctx.tree, node);
  if (ctx.tree.is(view.value(), NodeKind::Error))
    return std::nullopt;
  size_t errors = ctx.sink.errorCount();
  auto value = evalConst(ctx, view.value());
  if (!value) {
    // A mistake within the value was reported already.
    if (ctx.sink.errorCount() == errors)
      ctx.sink.report(DiagId::NotAConstant, ctx.span(view.value()),
                      {std::string(ctx.text(view.name()))});
    return std::nullopt;
  }
  if (!giveType(ctx, view.type(), view.value(), *value))
    return std::nullopt;
  return value;
}

static Expr *constExpr(Context &ctx, const ConstValue &value, NodeId node) {
  ConstExpr *expr = ctx.program.make<ConstExpr>();
  Elem elem = defaultElem(value);
  ConstBits bits = convertConst(value, elem);
  expr->type = scalarType(ctx, elem);
  expr->span = ctx.span(node);
  expr->syntax = node;
  expr->floatValue = bits.floatValue;
  expr->intValue = bits.intValue;
  // Constants without a type act as `int`, so they are dimensions too.
  if (elem.kind == ElemKind::Int)
    expr->dim = ctx.dims.constant(bits.intValue);
  return expr;
}

/// Begins to complete a constant or an alias, unless it is complete or being completed: then whether
/// it is right. A definition that comes back to itself is reported once.
template <typename Decl>
static std::optional<bool> begun(ProgramState &state, LazyState &lazy, const Decl &decl) {
  if (lazy.isDone)
    return !lazy.hasErrors;
  if (!lazy.isActive) {
    lazy.isActive = true;
    return std::nullopt;
  }
  if (!lazy.hasErrors)
    state.sinkOf(*lazy.tree).report(DiagId::CyclicDefinition, decl.nameSpan, {decl.name});
  lazy.hasErrors = true;
  return false;
}

bool completeConst(ProgramState &state, const ConstDecl &decl) {
  LazyState &lazy = state.constStates.at(&decl);
  if (std::optional<bool> known = begun(state, lazy, decl))
    return *known;
  Context ctx(state, *lazy.module, *lazy.tree);
  auto value = checkConstValue(ctx, lazy.syntax);
  auto define = state.options.defines.find(decl.name);
  // Definitions on the command line replace the values of the root file.
  if (value && isRootModule(ctx) && define != state.options.defines.end())
    value->number = Rational(define->second);
  // Computing the value may complete other constants, so the entry is looked up again.
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
  if (std::optional<bool> known = begun(state, lazy, alias))
    return *known;
  auto &decl = const_cast<TypeAliasDecl &>(alias);
  Context ctx(state, *lazy.module, *lazy.tree);
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
    // A tuple holds what its elements hold.
    return std::any_of(type.elements.begin(), type.elements.end(),
                       [&](const Type *element) { return holds(*element, wanted, seen); });
  if (type.kind != TypeKind::Struct)
    return false;
  if (type.structDecl == &wanted)
    return true;
  // Each struct is looked at once.
  if (std::find(seen.begin(), seen.end(), type.structDecl) != seen.end())
    return false;
  seen.push_back(type.structDecl);
  return std::any_of(type.structDecl->fields.begin(), type.structDecl->fields.end(),
                     [&](const StructField &field) { return holds(*field.type, wanted, seen); });
}

/// A struct that holds itself has no size.
static void checkHoldsItself(Context &ctx, StructDecl &decl) {
  // Types are replaced after the search, because it reads them.
  std::vector<StructField *> wrong;
  for (StructField &field : decl.fields) {
    std::vector<const StructDecl *> seen;
    if (!holds(*field.type, decl, seen))
      continue;
    ctx.sink.report(DiagId::StructContainsItself, field.span, {decl.name});
    wrong.push_back(&field);
  }
  for (StructField *field : wrong)
    field->type = ctx.state.errorType;
}

void completeStruct(ProgramState &state, CheckedModule &module, const Tree &tree,
                    StructDecl &decl) {
  Context ctx(state, module, tree);
  checkStructHeader(ctx, decl);
  checkFields(ctx, decl);
  checkHoldsItself(ctx, decl);
}

void completeModule(ProgramState &state, CheckedModule &module) {
  std::vector<std::unique_ptr<Context>> contexts;
  // The headers come first, because fields and aliases may name any struct.
  for (StructDecl *decl : module.structs) {
    contexts.push_back(std::make_unique<Context>(state, module, *module.tree));
    checkStructHeader(*contexts.back(), *decl);
  }
  // Constants and aliases come before fields, which use them.
  for (const ConstDecl *decl : module.consts)
    completeConst(state, *decl);
  for (const TypeAliasDecl *decl : module.aliases)
    completeAlias(state, *decl);
  for (size_t i = 0; i < module.structs.size(); ++i)
    checkFields(*contexts[i], *module.structs[i]);
  for (size_t i = 0; i < module.structs.size(); ++i)
    checkHoldsItself(*contexts[i], *module.structs[i]);
}

// ---- Imports ------------------------------------------------------------------------------------

void warnUnusedImports(ProgramState &state, CheckedModule &module) {
  const ModuleScope &scope = *state.scopes.at(&module);
  std::vector<std::pair<Span, std::string>> unused;
  for (const auto *map : {&scope.modules, &scope.names})
    for (const auto &[name, import] : *map)
      if (!import.used)
        unused.push_back({import.span, name});
  // The map has no order of the text.
  std::sort(unused.begin(), unused.end(),
            [](const auto &a, const auto &b) { return a.first.begin < b.first.begin; });
  for (const auto &[span, name] : unused)
    state.sink.report(DiagId::UnusedImport, span, {name});
}

} // namespace ptl
