// The function of an entry: arguments, storage of outputs, requirements.
#include "frontend/sema/placement/placement.h"
#include "ir/build/build_assign.h"
#include "ir/build/build_check.h"
#include "ir/build/build_decl.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_index.h"
#include "ir/build/build_ir.h"
#include "ir/build/build_packed.h"
#include "ir/build/build_schedule.h"
#include "ir/build/build_stmt.h"
#include "ir/build/build_type.h"
#include "ir/dialect/attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

/// A fn's results are stored in outputs made for the entry.
static std::vector<const Type *> resultTypes(const CallableDecl &decl) {
  std::vector<const Type *> types;
  if (decl.kind != DeclKind::Fn)
    for (const Local *output : decl.outputs)
      types.push_back(output->type);
  else if (decl.returnType->kind == TypeKind::Tuple)
    types = decl.returnType->elements;
  else if (decl.returnType->kind != TypeKind::Void)
    types.push_back(decl.returnType);
  return types;
}

static std::vector<mlir::Type> argumentTypes(BuildContext &c) {
  const CallableDecl &decl = *c.binding.decl;
  std::vector<mlir::Type> types;
  for (const Local *param : decl.params) {
    // Scalars are passed by value, and arrays as values in global memory unless the function writes
    // them.
    if (!param->type->isArray())
      types.push_back(irType(c, *param->type));
    else if (isPackedType(c, *param->type))
      types.push_back(param->isInout ? mlir::Type(packedRefType(c, *param->type))
                                     : packedType(c, *param->type));
    else if (param->isInout)
      types.push_back(refType(c, *param->type));
    else
      types.push_back(ArrayType::get(&c.context,
                                     scalarType(c.context, elemKind(c, param->type->elem)),
                                     irExtents(c, *param->type), Place::Gm));
  }
  for (const Type *type : resultTypes(decl))
    types.push_back(isPackedType(c, *type) ? packedRefType(c, *type) : refType(c, *type));
  // Dimensions come last, so that their number does not move other arguments.
  size_t dimensions = c.frame->prefix.size() + decl.dims.size();
  types.insert(types.end(), dimensions, c.b.getIndexType());
  return types;
}

static Bound boundArray(BuildContext &c, const Type &type, mlir::Value argument) {
  return isPackedType(c, type) ? packedBound(c, type, argument) : Bound::of(argument);
}

static void bindArguments(BuildContext &c, mlir::Block &body) {
  const CallableDecl &decl = *c.binding.decl;
  unsigned next = 0;
  for (Local *param : decl.params)
    bindLocal(c, *param, boundArray(c, *param->type, body.getArgument(next++)));
  size_t results = resultTypes(decl).size();
  for (size_t i = 0; i < results; ++i, ++next)
    // A `fn` has no outputs by name; its results are stored at the end.
    if (decl.kind != DeclKind::Fn)
      c.bound(*decl.outputs[i]) = boundArray(c, *decl.outputs[i]->type, body.getArgument(next));
  for (Dim axis : c.frame->prefix)
    c.rootValues[*axis.symbol()] = body.getArgument(next++);
  for (const DimParam &dim : decl.dims) {
    mlir::Value value = body.getArgument(next++);
    // A dimension that is constant in this entry keeps its argument, which nothing uses.
    if (auto constant = rootDim(c, c.dims.symbolDim(dim.symbol)).constant())
      value = c.index(*constant);
    else
      c.rootValues[dim.symbol] = value;
    if (dim.local)
      c.bound(*dim.local) = Bound::of(value);
  }
}

/// `where C <= 8192` bounds what is on chip. The CPU needs no bounds.
static void bindCapacities(BuildContext &c) {
  if (c.binding.machine == "cpu")
    return;
  for (const WhereClause &clause : c.binding.decl->wheres) {
    auto *relation = clause.condition && clause.condition->kind == ExprKind::Op
                         ? cast<OpExpr>(clause.condition)
                         : nullptr;
    if (!relation || !relation->op || relation->args.size() != 2)
      continue;
    OpId id = relation->op->id;
    bool less = id == OpId::Le || id == OpId::Lt, greater = id == OpId::Ge || id == OpId::Gt;
    if (!less && !greater)
      continue;
    // The smaller side comes first whichever sign was written.
    Dim small = relation->args[less ? 0 : 1]->dim, large = relation->args[less ? 1 : 0]->dim;
    if (!small || !large)
      continue;
    std::optional<SymbolId> symbol = rootDim(c, small).symbol();
    std::optional<int64_t> bound = rootDim(c, large).constant();
    if (symbol && bound)
      // A strict bound is one less.
      c.capacities[*symbol] = *bound - (id == OpId::Lt || id == OpId::Gt);
  }
}

static llvm::StringRef kindName(const CallableDecl &decl) {
  return decl.kind == DeclKind::Fn             ? "fn"
         : decl.kind == DeclKind::Kernel       ? "kernel"
         : decl.kind == DeclKind::ManualKernel ? "manual"
                                               : "program";
}

static void nameParameters(BuildContext &c, func::FuncOp function) {
  for (auto [i, param] : llvm::enumerate(c.binding.decl->params)) {
    auto number = static_cast<unsigned>(i);
    attrs::name.set(function, number, param->name);
    // An array whose type declares no strides is dense, which whoever calls the entry checks.
    const std::vector<Dim> &strides = param->type->strides;
    if (!strides.empty())
      attrs::strides.set(function, number, strides.back().isConstant(1) ? "rows" : "any");
  }
}

/// Outputs get `ptl.output`, dimensions `ptl.dim`: their names for later stages. A fn's results
/// have none.
static void nameOutputsAndDimensions(BuildContext &c, func::FuncOp function) {
  const CallableDecl &decl = *c.binding.decl;
  auto next = static_cast<unsigned>(decl.params.size());
  auto name = [&](llvm::StringRef attribute, llvm::StringRef text) {
    function.setArgAttr(next++, attribute, c.b.getStringAttr(text));
  };
  size_t results = resultTypes(decl).size();
  for (size_t i = 0; i < results; ++i)
    name(attrs::output, decl.kind != DeclKind::Fn ? decl.outputs[i]->name
                        : results == 1            ? "result"
                                                  : "result" + std::to_string(i));
  for (Dim axis : c.frame->prefix)
    name(attrs::dim, c.dims.toString(axis));
  for (const DimParam &dim : decl.dims)
    name(attrs::dim, c.dims.symbol(dim.symbol).name);
}

static void storeResult(BuildContext &c, Bound result, mlir::Block &body) {
  const CallableDecl &decl = *c.binding.decl;
  auto first = static_cast<unsigned>(decl.params.size());
  std::vector<Bound> parts = result.kind == Bound::Kind::Parts ? result.parts : std::vector{result};
  std::vector<const Type *> types = resultTypes(decl);
  for (auto [i, part] : llvm::enumerate(parts)) {
    mlir::Value ref = body.getArgument(first + static_cast<unsigned>(i));
    Location loc = c.location(decl.nameSpan);
    storeInto(c, readRef(c, part, loc).value, boundArray(c, *types[i], ref), wholeBox(c, ref),
              AssignMode::Set, loc);
  }
}

/// Requirements of the entry, but for those that its caller has checked; those on tunables are settled before. Lengths are looked at
/// whoever calls: that costs nothing, and passes learn from it. A look at all elements is a pass over memory.
static void buildWheres(BuildContext &c) {
  if (!c.binding.checked)
    return;
  for (const WhereClause &clause : c.binding.decl->wheres)
    if (clause.condition && !clause.onTunables &&
        !llvm::is_contained(c.binding.checkedByCaller, &clause))
      emitCondition(c, *clause.condition, "where",
                    "`" + c.binding.decl->name + "` needs `" + clause.text + "`",
                    c.location(clause.span));
}

/// The body with one schedule.
static void buildForm(BuildContext &c, const CallableDecl &decl, Frame frame,
                      const ScheduleDecl *schedule) {
  frame.schedule = schedule;
  Frame *outer = std::exchange(c.frame, &frame);
  LengthNames outside = c.names;
  bindTunables(c, frame, c.binding.tunables);
  buildKernelBody(c, decl);
  refuseUntaken(c);
  c.names = outside;
  c.frame = outer;
}

/// A form of the kernel for each schedule that the lengths of a call decide on, as if a program had called it with
/// the one or the other.
static void buildForms(BuildContext &c, const CallableDecl &decl, const Schedules &schedules,
                       size_t next) {
  if (next == schedules.open.size())
    return buildForm(c, decl, *c.frame, schedules.otherwise);
  const ScheduleDecl *schedule = schedules.open[next];
  mlir::Value holds = buildValue(c, *schedule->when);
  auto branch = c.make<scf::IfOp>(c.location(schedule->span), holds, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  buildForm(c, decl, *c.frame, schedule);
  c.b.setInsertionPointToStart(&branch.getElseRegion().front());
  buildForms(c, decl, schedules, next + 1);
}

/// Elements of less than a byte come from outside in arrays of bytes only, and a generic type stands for whole elements.
static void checkStored(BuildContext &c) {
  auto check = [&](const Type &type, Span span) {
    ElemKind elem = type.isArray() || type.isScalar() ? elemKind(c, type.elem) : ElemKind::Bool;
    if (isPacked(elem) && !isPackedType(c, type))
      c.sink.report(DiagId::OnlyHeld, span, {"a call from outside", std::string(elemName(elem))})
          .help("declare an array of `" + std::string(elemName(elem)) +
                "` with a named last axis: two elements have a byte in memory");
  };
  const CallableDecl &decl = *c.binding.decl;
  for (const Local *param : decl.params)
    check(*param->type, param->span);
  for (const Type *type : resultTypes(decl))
    check(*type, decl.nameSpan);
}

static void buildEntry(BuildContext &c, ModuleOp module, const std::string &symbol) {
  const CallableDecl &decl = *c.binding.decl;
  Frame frame;
  frame.decl = &decl;
  frame.locals.resize(decl.locals.size());
  frame.elems = c.binding.elems;
  c.frame = &frame;
  for (const DimParam &dim : decl.dims) {
    // Names of dimensions are taken, so that fresh symbols avoid them.
    c.nameCounts[c.dims.symbol(dim.symbol).name] = 1;
    if (auto found =
            c.binding.statics.find(dim.local ? dim.local->name : c.dims.symbol(dim.symbol).name);
        found != c.binding.statics.end())
      bindSymbolConstant(c, dim.symbol, found->second);
  }
  for (uint32_t i = 0; i < c.binding.prefixRank; ++i)
    frame.prefix.push_back(
        c.dims.symbolDim(freshSymbol(c, "d" + std::to_string(i), SymbolKind::DimensionParam, {})));

  size_t errors = c.sink.errorCount();
  checkElementTypes(c, frame);
  if (c.sink.errorCount() == errors)
    checkStored(c);
  // With wrong element types everything else would be reported too.
  if (c.sink.errorCount() != errors)
    return;

  // Capacities must be known before types are made, since types hold them.
  bindCapacities(c);
  assumeWheres(c);
  Location loc = c.location(decl.nameSpan);
  c.b.setInsertionPointToEnd(module.getBody());
  auto type = c.b.getFunctionType(argumentTypes(c), {});
  auto function = c.make<func::FuncOp>(loc, symbol, type);
  attrs::kind.set(function, kindName(decl));
  nameParameters(c, function);
  nameOutputsAndDimensions(c, function);
  mlir::Block *body = function.addEntryBlock();
  c.b.setInsertionPointToStart(body);
  bindArguments(c, *body);
  // The schedule may depend on the dimensions that were just bound.
  Schedules schedules = schedulesOf(c, decl, frame);
  frame.schedule = schedules.otherwise;
  bool hasForms = decl.kind == DeclKind::Kernel && !schedules.open.empty();
  if (hasForms)
    attrs::kind.set(function, "program");
  if (!hasForms && frame.schedule && frame.schedule->cores > 0)
    attrs::cores.set(function, frame.schedule->cores);
  bindTunables(c, frame, c.binding.tunables);
  // Requirements are checked before outputs are touched.
  buildWheres(c);
  initOutputs(c);
  if (decl.kind == DeclKind::Fn) {
    buildStmts(c, bodyStmts(c, *decl.body), 0);
    storeResult(c, c.returned, *body);
  } else if (hasForms) {
    buildForms(c, decl, schedules, 0);
  } else {
    buildKernelBody(c, decl);
  }
  // What the schedule says and nothing has taken is reported.
  if (!hasForms)
    refuseUntaken(c);
  if (!c.items.empty())
    attrs::items.set(function, c.items);
  c.make<func::ReturnOp>(loc);
}

OwningOpRef<ModuleOp> buildIr(MLIRContext &context, const CheckedProgram &program,
                              const SourceManager &sources, const EntryBinding &binding,
                              const std::string &symbol, DiagnosticSink &sink) {
  context.loadDialect<PtlDialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
  size_t errors = sink.errorCount();
  BuildContext c(context, program, sources, binding, sink);
  const CallableDecl &decl = *binding.decl;
  OwningOpRef<ModuleOp> module = ModuleOp::create(c.location(decl.span));
  if (decl.isBlockLevel && decl.kind != DeclKind::ManualKernel)
    c.fail(DiagId::BlockLevelNotOnTarget, decl.nameSpan, {decl.name, binding.machine});
  else if (!decl.body)
    c.fail(DiagId::ExternNotOnTarget, decl.nameSpan, {decl.name, binding.machine});
  else if (!decl.level.empty() && decl.level != "chip" && decl.level != "core" &&
           // One processor computes what a program on parts means as a whole.
           !(binding.machine == "cpu" && isPlaced(*decl.module->tree, decl.syntax)))
    c.fail(DiagId::LevelNotOnTarget, decl.nameSpan, {decl.name, decl.level, binding.machine});
  else
    buildEntry(c, *module, symbol);
  return sink.errorCount() == errors ? std::move(module) : OwningOpRef<ModuleOp>();
}

} // namespace ptl::ir
