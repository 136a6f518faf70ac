// The header of a callable: dimensions, type parameters, tunables, parameters, results, clauses.
#include "frontend/sema/declarations/check_header.h"

#include "frontend/sema/names/declare_local.h"
#include "frontend/sema/names/unknown_names.h"
#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/types/const_eval.h"
#include "frontend/sema/types/make_type.h"
#include "frontend/sema/types/resolve_type.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

std::string_view declKindName(DeclKind kind) {
  switch (kind) {
  case DeclKind::Fn:
    return "fn";
  case DeclKind::Kernel:
    return "kernel";
  case DeclKind::ManualKernel:
    return "manual kernel";
  case DeclKind::ExternKernel:
    return "extern kernel";
  case DeclKind::Program:
    return "program";
  case DeclKind::Test:
    return "test";
  case DeclKind::Property:
    return "property";
  case DeclKind::Bench:
    return "bench";
  }
  return "declaration";
}

static std::string kindText(const CallableDecl &decl) {
  return "`" + std::string(declKindName(decl.kind)) + "`";
}

// ---- Generic parameters -------------------------------------------------------------------------

static void addTypeParam(Context &ctx, NodeId node, std::vector<TypeParam *> &typeParams) {
  TypeParamView view(ctx.tree, node);
  TypeParam *param = ctx.program.make<TypeParam>();
  param->name = ctx.text(view.name());
  param->span = ctx.span(view.name());
  std::string_view kind = ctx.text(view.kind());
  if (auto constraint = constraintByName(kind))
    param->constraint = *constraint;
  else if (!kind.empty())
    ctx.sink.report(DiagId::UnknownConstraint, ctx.span(view.kind()), {std::string(kind)})
        .help("the kinds are `float integer number any`");
  for (const TypeParam *other : typeParams)
    if (other->name == param->name && !param->name.empty())
      ctx.sink.report(DiagId::DuplicateName, param->span, {param->name, "type parameter"})
          .label(other->span, "first declared here");
  typeParams.push_back(param);
  ctx.typeParams.push_back(param);
}

static DimParam &addDimParam(Context &ctx, NodeId name, bool isStatic,
                             std::vector<DimParam> &dims) {
  DimParam dim;
  dim.name = ctx.text(name);
  dim.span = ctx.span(name);
  dim.isStatic = isStatic;
  dim.local = declareLocal(ctx, LocalKind::Dimension, dim.name, dim.span, intType(ctx), name);
  dim.symbol = *dim.local->symbol;
  if (isStatic)
    ctx.staticSymbols.push_back(dim.symbol);
  dims.push_back(std::move(dim));
  return dims.back();
}

void checkGenerics(Context &ctx, NodeId node, std::vector<TypeParam *> &typeParams,
                   std::vector<DimParam> &dims) {
  if (node == kNoNode)
    return;
  for (NodeId param : ctx.tree.children(node)) {
    switch (ctx.tree.kind(param)) {
    case NodeKind::TypeParam:
      addTypeParam(ctx, param, typeParams);
      break;
    case NodeKind::DimParam:
      addDimParam(ctx, ctx.tree.child(param, 0), ctx.tree.has(param, NodeFlag::Static), dims);
      break;
    // A range belongs to properties; the dimension is known all the same.
    case NodeKind::SampledDim:
      addDimParam(ctx, ctx.tree.child(param, 0), false, dims);
      break;
    default:
      break;
    }
  }
  // One name is either a dimension or an element type.
  // The later of the two names is the duplicate.
  for (const TypeParam *type : typeParams)
    for (const DimParam &dim : dims)
      if (dim.name == type->name && !dim.name.empty())
        ctx.sink.report(
            DiagId::DuplicateName,
            std::max(dim.span.begin, type->span.begin) == dim.span.begin ? dim.span : type->span,
            {dim.name, dim.span.begin > type->span.begin ? "type parameter" : "dimension"});
}

// ---- Tunables -----------------------------------------------------------------------------------

static bool addDomainRange(Context &ctx, NodeId node, Tunable &tunable) {
  RangeExprView view(ctx.tree, node);
  auto lo = requireConstInt(ctx, view.start(), "the start of the domain");
  auto hi = requireConstInt(ctx, view.stop(), "the end of the domain");
  std::optional<int64_t> step = 1;
  if (view.step() != kNoNode)
    step = requireConstInt(ctx, view.step(), "the step of the domain");
  if (!lo || !hi || !step)
    return false;
  // The limit bounds the memory of the list.
  constexpr uint64_t largestDomain = 65536;
  // The distance is computed without a sign, because `hi - lo` may not fit a signed number.
  uint64_t distance = *hi > *lo ? static_cast<uint64_t>(*hi) - static_cast<uint64_t>(*lo) : 0;
  if (*step <= 0 || distance / static_cast<uint64_t>(*step) > largestDomain) {
    ctx.sink.report(DiagId::TunableDomain, ctx.span(node), {tunable.local->name})
        .note("a range has a positive step and at most 65536 values");
    return false;
  }
  uint64_t width = static_cast<uint64_t>(*step), count = distance / width;
  // The last step may be shorter, but its start still belongs to the domain.
  count += distance % width != 0;
  for (uint64_t i = 0; i < count; ++i)
    tunable.domain.push_back(static_cast<int64_t>(static_cast<uint64_t>(*lo) + i * width));
  return true;
}

static bool addDomain(Context &ctx, NodeId node, Tunable &tunable) {
  switch (ctx.tree.kind(node)) {
  case NodeKind::ElementType:
    if (ctx.tree.mainKind(node) != TokenKind::TBool)
      break;
    tunable.isBool = true;
    tunable.domain = {0, 1};
    return true;
  case NodeKind::RangeExpr:
    return addDomainRange(ctx, node, tunable);
  case NodeKind::ListExpr:
    for (NodeId element : ctx.tree.children(node)) {
      auto value = requireConstInt(ctx, element, "each value of a domain");
      if (!value)
        return false;
      tunable.domain.push_back(*value);
    }
    return true;
  case NodeKind::Error:
    return false;
  default:
    break;
  }
  ctx.sink.report(DiagId::TunableDomain, ctx.span(node), {tunable.local->name});
  return false;
}

static void checkTunableValues(Context &ctx, NodeId node, const Tunable &tunable) {
  TuneParamView view(ctx.tree, node);
  const std::string &name = tunable.local->name;
  for (int64_t value : tunable.domain)
    if (!tunable.isBool && value < 1) {
      ctx.sink.report(DiagId::TunableNotPositive, ctx.span(view.domain()),
                      {name, std::to_string(value)});
      return;
    }
  bool isLegal = tunable.domain.empty() || std::find(tunable.domain.begin(), tunable.domain.end(),
                                                     tunable.defaultValue) != tunable.domain.end();
  if (!isLegal)
    ctx.sink
        .report(DiagId::TunableNotInDomain, ctx.span(view.value()),
                {name, std::to_string(tunable.defaultValue)})
        .label(ctx.span(view.domain()), "the domain");
  else if (!tunable.isBool && tunable.defaultValue < 1)
    ctx.sink.report(DiagId::TunableNotPositive, ctx.span(view.value()),
                    {name, std::to_string(tunable.defaultValue)});
}

static void addTunable(Context &ctx, NodeId node) {
  TuneParamView view(ctx.tree, node);
  Tunable tunable;
  NodeId value = view.value();
  auto constant = evalConst(ctx, value);
  // Without a domain the default decides whether the tunable is a `bool`.
  tunable.isBool = constant && constant->kind == ConstKind::Bool;
  if (ctx.tree.is(view.domain(), NodeKind::ElementType))
    tunable.isBool = ctx.tree.mainKind(view.domain()) == TokenKind::TBool;
  tunable.local =
      declareLocal(ctx, LocalKind::Tunable, ctx.text(view.name()), ctx.span(view.name()),
                   tunable.isBool ? boolType(ctx) : intType(ctx), view.name());
  bool hasDomain = view.domain() == kNoNode || addDomain(ctx, view.domain(), tunable);
  bool hasDefault = false;
  // A default must be of the kind that the domain says.
  if (constant && (constant->kind == ConstKind::Bool) == tunable.isBool &&
      (tunable.isBool || (constant->integer() && !constant->isFloat))) {
    tunable.defaultValue = tunable.isBool ? constant->boolean : *constant->integer();
    hasDefault = true;
  } else if (!ctx.tree.is(value, NodeKind::Error)) {
    ctx.sink.report(DiagId::TunableDefault, ctx.span(value), {tunable.local->name});
  }
  if (hasDomain && hasDefault)
    checkTunableValues(ctx, node, tunable);
  ctx.decl->tunables.push_back(std::move(tunable));
}

void checkTunables(Context &ctx, NodeId node) {
  if (node == kNoNode)
    return;
  if (ctx.decl->kind == DeclKind::Fn || ctx.decl->kind == DeclKind::ExternKernel)
    // A `fn` runs as a part of its callers and an `extern` kernel is compiled elsewhere, so neither
    // is tuned by itself.
    ctx.sink.report(DiagId::HeaderPartNotHere, ctx.span(node), {kindText(*ctx.decl), "tune"});
  for (NodeId param : ctx.tree.children(node))
    if (ctx.tree.is(param, NodeKind::TuneParam))
      addTunable(ctx, param);
}

// ---- Parameters and results ---------------------------------------------------------------------

/// Kernels and programs take and give arrays in global memory.
static const Type *checkSignaturePlace(Context &ctx, const Type *type, Span span) {
  // A `fn` may take and give tiles in any place.
  if (!type->isArray() || ctx.inFn())
    return type;
  if (type->place != Place::Inferred && type->place != Place::Gm)
    ctx.sink.report(DiagId::PlaceInSignature, span,
                    {kindText(*ctx.decl), std::string(placeName(type->place))});
  // In a signature arrays without a place lie in global memory.
  return withPlace(ctx, type, Place::Gm, type->layout);
}

static bool isParamType(const Type &type) {
  return type.kind == TypeKind::Error || type.kind == TypeKind::Scalar ||
         type.kind == TypeKind::Array || type.kind == TypeKind::Struct;
}

static Local *declareParam(Context &ctx, NodeId node) {
  ParamView view(ctx.tree, node);
  bool isInout = ctx.tree.has(node, NodeFlag::Inout);
  // `..` in a parameter introduces the prefix of the signature.
  ctx.prefixBinds = true;
  const Type *type = resolveType(ctx, view.type());
  ctx.prefixBinds = false;
  if (!isParamType(*type)) {
    ctx.sink.report(DiagId::TypeOfParameter, ctx.span(view.type()),
                    {kindText(*ctx.decl), toString(ctx, type)});
    type = errorType(ctx);
  }
  type = checkSignaturePlace(ctx, type, ctx.span(view.type()));
  return declareLocal(ctx, LocalKind::Param, ctx.text(view.name()), ctx.span(view.name()), type,
                      view.name(), {}, isInout);
}

static void addParam(Context &ctx, NodeId node, Local *local) {
  ParamView view(ctx.tree, node);
  bool isInout = local->isInout;
  if (isInout && ctx.inFn())
    ctx.sink.report(DiagId::InoutInFn, local->span)
        .help("return the new value, or make it a `kernel`");
  if (!ctx.decl->params.empty() && view.value() == kNoNode && !isInout) {
    // Arguments are matched by position, so a parameter without a default cannot follow one with
    // it.
    const Local *before = ctx.decl->params.back();
    if (ctx.declState->lastHasDefault)
      ctx.sink.report(DiagId::DefaultNotLast, local->span, {local->name, before->name})
          .label(before->span, "this one has a default");
  }
  ctx.declState->lastHasDefault = view.value() != kNoNode;
  ctx.decl->params.push_back(local);
  ctx.decl->paramDefaults.push_back(nullptr);
}

void checkParams(Context &ctx, NodeId node) {
  // A signature must not depend on tunables: callers would see another type for each value.
  ctx.tunablesAllowed = false;
  // Scalars first: `x: f32[n], n: int` speaks of one that comes later.
  std::unordered_map<NodeId, Local *> scalars;
  for (NodeId param : ctx.tree.children(node))
    if (ctx.tree.is(param, NodeKind::Param) &&
        ctx.tree.is(ParamView(ctx.tree, param).type(), NodeKind::ElementType))
      scalars[param] = declareParam(ctx, param);
  for (NodeId param : ctx.tree.children(node))
    if (ctx.tree.is(param, NodeKind::Param)) {
      auto scalar = scalars.find(param);
      addParam(ctx, param, scalar == scalars.end() ? declareParam(ctx, param) : scalar->second);
    }
  ctx.tunablesAllowed = true;
}

static const Type *typeOfResults(Context &ctx, const std::vector<const Type *> &types) {
  if (types.empty())
    return voidType(ctx);
  if (types.size() == 1)
    return types[0];
  // One result in error is enough to have no type of all.
  for (const Type *type : types)
    if (type->isError())
      return type;
  return tupleType(ctx, types);
}

static const Type *checkResult(Context &ctx, NodeId node) {
  ResultView view(ctx.tree, node);
  const Type *type = resolveType(ctx, view.type());
  if (!type->strides.empty()) {
    ctx.sink.report(DiagId::StridesNotOnParameter, ctx.span(view.type()));
    // Strides describe an array that exists already, so only parameters may have them.
    Type *dense = copyType(ctx, *type);
    dense->strides.clear();
    type = dense;
  }
  type = checkSignaturePlace(ctx, type, ctx.span(view.type()));
  if (ctx.inFn()) {
    if (view.name() != kNoNode)
      ctx.sink.report(DiagId::ResultHasName, ctx.span(view.name()))
          .fix(FixId::DropResultName, "remove the name, and return the value",
               {{{ctx.span(view.name()).file, ctx.span(view.name()).begin,
                  ctx.span(view.type()).begin},
                 ""}});
    else if (view.value() != kNoNode)
      ctx.sink.report(DiagId::FnResultInitialised, ctx.span(view.value()));
    return type;
  }
  if (view.name() == kNoNode) {
    ctx.sink.report(DiagId::ResultNeedsName, ctx.span(node), {kindText(*ctx.decl)})
        .help("write `-> (y: " + std::string(ctx.text(view.type())) + ")`");
    return type;
  }
  bool isOutputType = type->isError() || type->isArray() || type->isScalar();
  if (!isOutputType) {
    ctx.sink.report(DiagId::TypeOfParameter, ctx.span(view.type()),
                    {kindText(*ctx.decl), toString(ctx, type)});
    type = errorType(ctx);
  }
  ctx.decl->outputs.push_back(declareLocal(ctx, LocalKind::Output, ctx.text(view.name()),
                                           ctx.span(view.name()), type, view.name()));
  ctx.decl->outputInits.push_back(nullptr);
  return type;
}

void checkResults(Context &ctx, NodeId node) {
  std::vector<const Type *> types;
  ctx.tunablesAllowed = false;
  if (node != kNoNode)
    for (NodeId result : ctx.tree.children(node))
      if (ctx.tree.is(result, NodeKind::Result))
        types.push_back(checkResult(ctx, result));
  ctx.tunablesAllowed = true;
  ctx.decl->returnType = typeOfResults(ctx, types);
  const CallableDecl &decl = *ctx.decl;
  // A kernel or program that writes nothing has no effect, so its signature is a mistake.
  bool writesNothing = types.empty() && node == kNoNode && !ctx.inFn() &&
                       std::none_of(decl.params.begin(), decl.params.end(),
                                    [](const Local *param) { return param->isInout; });
  if (writesNothing)
    ctx.sink
        .report(DiagId::NothingWritten, decl.nameSpan,
                {std::string(declKindName(decl.kind)), decl.name})
        .help("declare an output, `-> (y: f32[N])`, or make a parameter `inout`");
}

// ---- Clauses ------------------------------------------------------------------------------------

static void checkKnown(Context &ctx, NodeId node, DiagId id,
                       const std::vector<std::string> &names) {
  std::string_view name = ctx.text(node);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end())
    return;
  auto builder = ctx.sink.report(id, ctx.span(node), {std::string(name)});
  if (suggestNearest(builder, ctx.span(node), name, names))
    return;
  std::string all = "use one of `";
  for (const std::string &one : names)
    all += (all.back() == '`' ? "" : " ") + one;
  builder.help(all + "`");
}

void checkLevelName(Context &ctx, NodeId node) {
  static const std::vector<std::string> levels = {"core", "aic", "aiv",      "die",     "chip",
                                                  "host", "pod", "superpod", "cluster", "global"};
  if (!ctx.decl || !isMeshAxis(ctx.tree, ctx.decl->syntax, ctx.text(node)))
    checkKnown(ctx, node, DiagId::UnknownLevel, levels);
}

void checkCoreName(Context &ctx, NodeId node) {
  static const std::vector<std::string> cores = {"aic", "aiv", "core"};
  checkKnown(ctx, node, DiagId::UnknownCore, cores);
}

void checkTargetName(Context &ctx, NodeId node) {
  std::vector<std::string> names = ctx.state.options.machines->names();
  names.push_back("reference");
  checkKnown(ctx, node, DiagId::UnknownMachine, names);
}

void checkClause(Context &ctx, NodeId node) {
  if (ctx.tree.is(node, NodeKind::OnClause)) {
    OnClauseView view(ctx.tree, node);
    bool isGroup = ctx.isKind(DeclKind::ManualKernel) && ctx.text(view.core()) == "group";
    if (!isGroup) { // both kinds, in sections
      checkCoreName(ctx, view.core());
      ctx.decl->core = ctx.text(view.core());
    }
    if (view.targets() != kNoNode)
      for (NodeId target : ctx.tree.children(view.targets())) {
        checkTargetName(ctx, target);
        ctx.decl->targets.emplace_back(ctx.text(target));
      }
    if (ctx.inFn() || ctx.inProgram())
      ctx.sink.report(DiagId::HeaderPartNotHere, ctx.span(node), {kindText(*ctx.decl), "on"});
  } else if (ctx.tree.is(node, NodeKind::AtClause)) {
    AtClauseView view(ctx.tree, node);
    checkLevelName(ctx, view.level());
    ctx.decl->level = ctx.text(view.level());
    if (view.role() != kNoNode)
      ctx.decl->role = ctx.text(view.role());
    if (view.mesh() != kNoNode)
      checkLevelName(ctx, MeshClauseView(ctx.tree, view.mesh()).level());
    if (!ctx.inProgram())
      ctx.sink.report(DiagId::HeaderPartNotHere, ctx.span(node), {kindText(*ctx.decl), "at"});
  }
}

} // namespace ptl
