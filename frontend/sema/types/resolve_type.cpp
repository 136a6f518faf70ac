// Types as written -> `Type`.
#include "frontend/sema/types/resolve_type.h"

#include "frontend/base/counted.h"
#include "frontend/sema/declarations/check_header.h"
#include "frontend/sema/declarations/declare_module.h"
#include "frontend/sema/names/lookup.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/types/capacity.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_dim.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

// ---- Element types ------------------------------------------------------------------------------

std::optional<Elem> findElem(Context &ctx, std::string_view name) {
  for (const TypeParam *param : ctx.typeParams)
    if (param->name == name)
      // The kind is only a placeholder; the parameter stands for the type.
      return Elem{ElemKind::F32, param};
  if (auto kind = elemKindByName(name))
    return Elem{*kind};
  return std::nullopt;
}

static std::optional<Elem> accOfElem(std::optional<Elem> elem) {
  if (!elem)
    return elem;
  // What accumulates a type parameter is only known once it has an element type.
  if (elem->param)
    elem->acc = true;
  else
    elem->kind = accOf(elem->kind);
  return elem;
}

/// `acc(T)`
static std::optional<Elem> findAcc(Context &ctx, NodeId node) {
  CallExprView call(ctx.tree, node);
  if (!ctx.tree.is(call.callee(), NodeKind::NameExpr) ||
      ctx.tree.mainText(call.callee()) != "acc" || call.args().size() != 1)
    return std::nullopt;
  return accOfElem(findElem(ctx, ArgView(ctx.tree, call.args()[0]).value()));
}

std::optional<Elem> findElem(Context &ctx, NodeId node) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::ElementType:
  case NodeKind::NameExpr:
    return findElem(ctx, ctx.tree.mainText(node));
  case NodeKind::NamedType:
    return findElem(ctx, ctx.text(node));
  case NodeKind::CallExpr:
    return findAcc(ctx, node);
  case NodeKind::AccType: {
    NodeId inner = ctx.tree.child(node, 0);
    return inner == kNoNode ? std::nullopt : accOfElem(findElem(ctx, inner));
  }
  default:
    return std::nullopt;
  }
}

// ---- Named types --------------------------------------------------------------------------------

/// What `Row` or `nn.Mlp` names; `report`: unknown names and private ones.
static TypeRef typeOfPath(Context &ctx, NodeId node, bool report) {
  std::vector<NodeId> names;
  switch (ctx.tree.kind(node)) {
  case NodeKind::NamedType:
    return typeOfPath(ctx, NamedTypeView(ctx.tree, node).path(), report);
  case NodeKind::Path:
    names.assign(ctx.tree.children(node).begin(), ctx.tree.children(node).end());
    break;
  case NodeKind::MemberExpr: {
    MemberExprView member(ctx.tree, node);
    names = {member.base(), member.name()};
    break;
  }
  case NodeKind::NameExpr:
    names = {node};
    break;
  default:
    return {};
  }
  if (names.empty())
    return {};
  std::string_view first = ctx.tree.mainText(names[0]);
  if (names.size() == 1) {
    TypeRef ref = lookupType(ctx, first);
    if (!ref && report)
      reportUnknownType(ctx, first, ctx.span(node));
    return ref;
  }
  // A local hides the module of the same name.
  ValueRef module = ctx.scope.find(first) ? ValueRef() : lookupValue(ctx, first);
  std::string_view last = ctx.tree.mainText(names[1]);
  if (names.size() == 2 && module.module) {
    // Without reports a private name is no type; otherwise `lookupTypeIn` says that it is private.
    if (!report && !moduleExports(ctx, *module.module, last))
      return {};
    return lookupTypeIn(ctx, *module.module, last, ctx.span(names[1]));
  }
  if (report)
    reportUnknownType(ctx, ctx.text(node), ctx.span(node));
  return {};
}

bool namesType(Context &ctx, NodeId node) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::ElementType:
  case NodeKind::NamedType:
  case NodeKind::ArrayType:
  case NodeKind::AccType:
  case NodeKind::TupleType:
    return true;
  case NodeKind::IndexExpr:
    return namesType(ctx, IndexExprView(ctx.tree, node).base());
  case NodeKind::CallExpr:
    return findAcc(ctx, node).has_value();
  case NodeKind::NameExpr: {
    std::string_view name = ctx.tree.mainText(node);
    // A local of that name is a value, though a type may have the same name.
    return !ctx.scope.find(name) && (findElem(ctx, name) || lookupType(ctx, name));
  }
  case NodeKind::MemberExpr:
    return ctx.tree.is(MemberExprView(ctx.tree, node).base(), NodeKind::NameExpr) &&
           bool(typeOfPath(ctx, node, false));
  default:
    return false;
  }
}

/// The bracketed arguments of a struct or alias: dimensions and element types in any order.
struct TypeArgs {
  std::vector<Dim> dims;
  std::vector<Elem> elems;
};

static TypeArgs resolveTypeArgs(Context &ctx, std::span<const NodeId> nodes) {
  TypeArgs args;
  for (NodeId node : nodes) {
    if (auto elem = findElem(ctx, node);
        // A dimension in scope hides an element type of the same name.
        elem && !(ctx.tree.is(node, NodeKind::NameExpr) && ctx.scope.find(ctx.tree.mainText(node))))
      args.elems.push_back(*elem);
    else
      args.dims.push_back(resolveExtent(ctx, node).length);
  }
  return args;
}

static bool checkArgCounts(Context &ctx, NodeId node, const std::string &name, const TypeArgs &args,
                           size_t dims, size_t elems) {
  if (args.dims.size() == dims && args.elems.size() == elems)
    return true;
  std::string wanted = counted(dims, "dimension");
  if (elems || !args.elems.empty())
    wanted += " and " + counted(elems, "element type");
  std::string given = std::to_string(args.dims.size());
  if (elems || !args.elems.empty())
    given += " and " + std::to_string(args.elems.size());
  ctx.sink.report(DiagId::TypeArgumentCount, ctx.span(node), {name, wanted, given});
  return false;
}

static const Type *structType(Context &ctx, const StructDecl &decl, TypeArgs args) {
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Struct;
  type->structDecl = &decl;
  type->dimArgs = std::move(args.dims);
  type->elemArgs = std::move(args.elems);
  return type;
}

static const Type *aliasType(Context &ctx, const TypeAliasDecl &alias, const TypeArgs &args) {
  DimSubstitution dims;
  for (size_t i = 0; i < alias.dims.size(); ++i) {
    if (!args.dims[i])
      return errorType(ctx);
    dims[alias.dims[i].symbol] = args.dims[i];
  }
  std::vector<std::pair<const TypeParam *, Elem>> elems;
  for (size_t i = 0; i < alias.typeParams.size(); ++i)
    elems.push_back({alias.typeParams[i], args.elems[i]});
  return alias.type ? substituteType(ctx, alias.type, dims, elems) : errorType(ctx);
}

static const Type *namedType(Context &ctx, NodeId node, NodeId name,
                             std::span<const NodeId> argNodes) {
  TypeRef ref = typeOfPath(ctx, name, true);
  TypeArgs args = resolveTypeArgs(ctx, argNodes);
  if (!ref)
    return errorType(ctx);
  if (ref.structDecl) {
    if (!checkArgCounts(ctx, node, ref.structDecl->name, args, ref.structDecl->dims.size(),
                        ref.structDecl->typeParams.size()))
      return errorType(ctx);
    return structType(ctx, *ref.structDecl, std::move(args));
  }
  if (!completeAlias(ctx.state, *ref.alias))
    return errorType(ctx);
  if (!checkArgCounts(ctx, node, ref.alias->name, args, ref.alias->dims.size(),
                      ref.alias->typeParams.size()))
    return errorType(ctx);
  return aliasType(ctx, *ref.alias, args);
}

// ---- Substitution -------------------------------------------------------------------------------

static Elem substituteElem(Elem elem,
                           const std::vector<std::pair<const TypeParam *, Elem>> &elems) {
  for (const auto &[param, with] : elems)
    if (elem.param == param)
      return elem.acc ? *accOfElem(with) : with;
  return elem;
}

const Type *substituteType(Context &ctx, const Type *type, const DimSubstitution &dims,
                           const std::vector<std::pair<const TypeParam *, Elem>> &elems) {
  Type copy = *type;
  copy.elem = substituteElem(type->elem, elems);
  if (type->isScalar())
    return copy.elem == type->elem ? type : scalarType(ctx, copy.elem);
  // A missing dimension, of something in error, stays missing.
  auto replace = [&](Dim dim) { return dim ? ctx.dims.substitute(dim, dims) : dim; };
  for (Extent &extent : copy.extents) {
    Dim length = replace(extent.length);
    // An extent that changes is no longer that of its range variable.
    extent = makeExtent(ctx, length, length == extent.length ? extent.range : nullptr);
  }
  for (Dim &stride : copy.strides)
    stride = replace(stride);
  for (Dim &arg : copy.dimArgs)
    arg = replace(arg);
  for (Elem &elem : copy.elemArgs)
    elem = substituteElem(elem, elems);
  for (const Type *&element : copy.elements)
    element = substituteType(ctx, element, dims, elems);
  return copyType(ctx, copy);
}

const Type *fieldType(Context &ctx, const Type *structType, const StructField &field) {
  const StructDecl &decl = *structType->structDecl;
  if (!field.type)
    return errorType(ctx);
  DimSubstitution dims;
  for (size_t i = 0; i < decl.dims.size() && i < structType->dimArgs.size(); ++i)
    // A struct that was used with too few arguments is in error; its missing dimensions stay as
    // they are.
    if (structType->dimArgs[i])
      dims[decl.dims[i].symbol] = structType->dimArgs[i];
  std::vector<std::pair<const TypeParam *, Elem>> elems;
  for (size_t i = 0; i < decl.typeParams.size() && i < structType->elemArgs.size(); ++i)
    elems.push_back({decl.typeParams[i], structType->elemArgs[i]});
  return substituteType(ctx, field.type, dims, elems);
}

// ---- Arrays -------------------------------------------------------------------------------------

/// Whether `..` means something here; reports otherwise.
static bool notePrefix(Context &ctx, NodeId node) {
  // In a parameter `..` introduces the prefix; elsewhere it refers to that of the signature.
  if (ctx.prefixBinds && ctx.decl)
    ctx.decl->hasPrefix = true;
  if (ctx.decl && ctx.decl->hasPrefix)
    return true;
  ctx.sink.report(DiagId::PrefixNotInSignature, ctx.span(node));
  return false;
}

static const Type *shapedType(Context &ctx, NodeId node, Elem elem, std::span<const NodeId> dims) {
  Type *type = copyType(ctx, Type{});
  type->kind = TypeKind::Array;
  type->elem = elem;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!ctx.tree.is(dims[i], NodeKind::RestIndex)) {
      type->extents.push_back(resolveExtent(ctx, dims[i]));
      continue;
    }
    if (i > 0)
      ctx.sink.report(DiagId::PrefixNotFirst, ctx.span(dims[i]));
    if (!notePrefix(ctx, dims[i]) || i > 0)
      return errorType(ctx);
    type->prefix = true;
  }
  // `int` has no width in memory, so arrays need an element type with one.
  if (elem.kind == ElemKind::Int && !elem.param) {
    ctx.sink.report(DiagId::ArrayOfInt, ctx.span(node))
        .help("use `i32` or `i64`; elements of any integer type may index");
    return errorType(ctx);
  }
  // `f32[]` is a scalar.
  if (type->extents.empty() && !type->prefix)
    return scalarType(ctx, elem);
  return type;
}

static Place resolvePlaceName(Context &ctx, NodeId node) {
  std::string_view name = ctx.text(node);
  Place place = placeByName(name);
  if (place == Place::Inferred && !name.empty())
    ctx.sink.report(DiagId::UnknownPlace, ctx.span(node), {std::string(name)})
        .help("places are `gm vec mat left right acc bias scale`");
  return place;
}

void resolvePlace(Context &ctx, NodeId node, Place &place, Layout &layout) {
  PlaceView view(ctx.tree, node);
  place = resolvePlaceName(ctx, view.place());
  if (view.layout() == kNoNode)
    return;
  std::string_view name = ctx.text(view.layout());
  layout = layoutByName(name);
}

static const Type *withSuffixes(Context &ctx, NodeId node, const Type *type) {
  ArrayTypeView view(ctx.tree, node);
  if (view.place() == kNoNode && view.strides() == kNoNode && view.distribution() == kNoNode)
    return type;
  if (type->isError())
    return type;
  if (!type->isArray()) {
    ctx.sink.report(DiagId::SuffixNeedsArray, ctx.span(node), {toString(ctx, type)});
    return type;
  }
  Type *copy = copyType(ctx, *type);
  if (view.place() != kNoNode)
    resolvePlace(ctx, view.place(), copy->place, copy->layout);
  if (view.strides() != kNoNode) {
    for (NodeId stride : ShapeView(ctx.tree, view.strides()).dims())
      copy->strides.push_back(resolveDim(ctx, stride));
    // Strides need all axes, and a prefix has an unknown number of them.
    if (copy->strides.size() != copy->extents.size() || copy->prefix) {
      ctx.sink.report(DiagId::StrideCount, ctx.span(view.strides()),
                      {std::to_string(copy->strides.size()), toString(ctx, type)});
      copy->strides.clear();
    }
  }
  if (view.distribution() != kNoNode) {
    forEachLevelName(ctx.tree, view.distribution(),
                     [&](NodeId name) { checkLevelName(ctx, name); });
    // Tunables are not allowed in the types of a header.
    if (!ctx.inProgram() || ctx.tunablesAllowed)
      ctx.sink.report(DiagId::BadDistribution, ctx.span(view.distribution()),
                      {std::string(ctx.text(view.distribution())),
                       "only the header of a program places arrays; the placement of all other "
                       "values follows from it"});
  }
  return copy;
}

static const Type *arrayTypeOf(Context &ctx, NodeId node) {
  ArrayTypeView view(ctx.tree, node);
  std::span<const NodeId> dims;
  // An element type takes a shape; the name of a struct or alias takes arguments in the same
  // brackets.
  if (view.shape() != kNoNode)
    dims = ShapeView(ctx.tree, view.shape()).dims();
  const Type *type = nullptr;
  if (auto elem = findElem(ctx, view.base()))
    type = view.shape() == kNoNode ? scalarType(ctx, *elem) : shapedType(ctx, node, *elem, dims);
  else if (ctx.tree.is(view.base(), NodeKind::NamedType))
    type = namedType(ctx, node, view.base(), dims);
  else {
    if (ctx.tree.is(view.base(), NodeKind::InferredType))
      ctx.sink.report(DiagId::InferredTypeHere, ctx.span(view.base()));
    return errorType(ctx);
  }
  return withSuffixes(ctx, node, type);
}

static const Type *indexedType(Context &ctx, NodeId node) {
  IndexExprView view(ctx.tree, node);
  if (auto elem = findElem(ctx, view.base()))
    return shapedType(ctx, node, *elem, view.indices());
  return namedType(ctx, node, view.base(), view.indices());
}

const Type *resolveType(Context &ctx, NodeId node) {
  if (node == kNoNode)
    return errorType(ctx);
  // Names of element types come before those of structs and aliases.
  if (auto elem = findElem(ctx, node))
    return scalarType(ctx, *elem);
  switch (ctx.tree.kind(node)) {
  case NodeKind::Error:
    return errorType(ctx);
  case NodeKind::ArrayType:
    return arrayTypeOf(ctx, node);
  case NodeKind::IndexExpr:
    return indexedType(ctx, node);
  case NodeKind::NamedType:
  case NodeKind::NameExpr:
  case NodeKind::MemberExpr:
    return namedType(ctx, node, node, {});
  case NodeKind::InferredType:
    ctx.sink.report(DiagId::InferredTypeHere, ctx.span(node));
    return errorType(ctx);
  case NodeKind::TupleType: {
    std::vector<const Type *> elements;
    for (NodeId element : TupleTypeView(ctx.tree, node).types())
      elements.push_back(resolveType(ctx, element));
    bool isError = std::any_of(elements.begin(), elements.end(),
                               [](const Type *type) { return type->isError(); });
    return isError ? errorType(ctx) : tupleType(ctx, std::move(elements));
  }
  default:
    ctx.sink.report(DiagId::NotAType, ctx.span(node), {std::string(ctx.text(node))});
    return errorType(ctx);
  }
}

TypeAnnotation resolveAnnotation(Context &ctx, NodeId node) {
  TypeAnnotation annotation;
  annotation.span = ctx.span(node);
  bool isInferred = ctx.tree.is(node, NodeKind::InferredType);
  if (ctx.tree.is(node, NodeKind::ArrayType)) {
    // `let x: _ in vec = …` infers the type and pins the place.
    ArrayTypeView view(ctx.tree, node);
    isInferred = ctx.tree.is(view.base(), NodeKind::InferredType);
    if (isInferred && view.place() != kNoNode)
      resolvePlace(ctx, view.place(), annotation.place, annotation.layout);
    if (isInferred && view.shape() != kNoNode)
      ctx.sink.report(DiagId::InferredTypeHere, ctx.span(view.base()));
  }
  if (!isInferred) {
    annotation.type = resolveType(ctx, node);
    annotation.place = annotation.type->place;
    annotation.layout = annotation.type->layout;
  }
  // Global memory is the only place of arrays in programs, so saying it there is fine.
  bool isPinned = annotation.place != Place::Inferred && annotation.place != Place::Gm;
  if (isPinned && !ctx.inKernel() && !ctx.inFn())
    ctx.sink.report(DiagId::PlaceOutsideKernel, annotation.span,
                    {std::string(placeName(annotation.place))});
  return annotation;
}

bool mentionsSymbol(const Type *type, const std::function<bool(SymbolId)> &isWanted) {
  if (!type)
    return false;
  bool found = false;
  auto look = [&](Dim dim) {
    if (dim)
      forEachSymbol(dim, [&](SymbolId symbol) { found = found || isWanted(symbol); });
  };
  for (const Extent &extent : type->extents)
    look(extent.length);
  for (Dim dim : type->dimArgs)
    look(dim);
  for (const Type *element : type->elements)
    found = found || mentionsSymbol(element, isWanted);
  return found;
}

} // namespace ptl
