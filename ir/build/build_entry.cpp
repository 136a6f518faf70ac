// The function of an entry: arguments, storage of outputs, requirements.
#include "frontend/sema/limits.h"
#include "ir/build/build_context.h"
#include "ir/dialect/schedule_attributes.h"
#include "machines/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ptl::ir {

Builder::Builder(MLIRContext &context, const CheckedProgram &program, const SourceManager &sources,
                 const EntryBinding &binding, DiagnosticSink &sink)
    : context_(context), program_(program), dims_(*program.dims), names_(dims_), sources_(sources),
      binding_(binding), sink_(sink), builder_(&context), place_(location(binding.decl->nameSpan)),
      mostBuilt_(kMostWrittenOut) {
  for (const auto &module : program.modules)
    mostBuilt_ += module->tree->nodeCount();
}

OwningOpRef<ModuleOp> buildIr(MLIRContext &context, const CheckedProgram &program,
                              const SourceManager &sources, const EntryBinding &binding,
                              const std::string &symbol, DiagnosticSink &sink) {
  context.loadDialect<PtlDialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
  size_t errors = sink.errorCount();
  OwningOpRef<ModuleOp> module =
      Builder(context, program, sources, binding, sink).buildModule(symbol);
  return sink.errorCount() == errors ? std::move(module) : OwningOpRef<ModuleOp>();
}

OwningOpRef<ModuleOp> Builder::buildModule(const std::string &symbol) {
  const CallableDecl &decl = *binding_.decl;
  OwningOpRef<ModuleOp> module = ModuleOp::create(location(decl.span));
  if (decl.isBlockLevel && decl.kind != DeclKind::ManualKernel)
    fail(DiagId::BlockLevelNotOnTarget, decl.nameSpan, {decl.name, binding_.machine});
  else if (!decl.level.empty() && decl.level != "chip" && decl.level != "core")
    fail(DiagId::LevelNotOnTarget, decl.nameSpan, {decl.name, decl.level, binding_.machine});
  else
    buildEntry(*module, symbol);
  return module;
}

/// Reports what a declaration declares with element types that the machine lacks.
void Builder::checkElementTypes(const Frame &frame) {
  Frame copy = frame;
  Frame *outer = std::exchange(frame_, &copy);
  for (const Local *local : frame.decl->locals) {
    if (!local->type || (!local->type->isArray() && !local->type->isScalar()))
      continue;
    ElemKind elem = elemKind(local->type->elem);
    if (llvm::is_contained(binding_.lacking, elem))
      fail(DiagId::ElementTypeNotOnTarget, local->span,
           {local->name, std::string(elemName(elem)), binding_.machine});
  }
  frame_ = outer;
}

/// A fn's results are stored in outputs made for the entry.
std::vector<const Type *> Builder::resultTypes(const CallableDecl &decl) {
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

std::vector<mlir::Type> Builder::argumentTypes() {
  const CallableDecl &decl = *binding_.decl;
  std::vector<mlir::Type> types;
  for (const Local *param : decl.params) {
    if (!param->type->isArray())
      types.push_back(irType(*param->type));
    else if (param->isInout)
      types.push_back(refType(*param->type));
    else
      types.push_back(ArrayType::get(&context_, scalarType(context_, elemKind(param->type->elem)),
                                     irExtents(*param->type), Place::Gm));
  }
  for (const Type *type : resultTypes(decl))
    types.push_back(refType(*type));
  size_t dimensions = frame_->prefix.size() + decl.dims.size();
  types.insert(types.end(), dimensions, builder_.getIndexType());
  return types;
}

void Builder::bindArguments(mlir::Block &body) {
  const CallableDecl &decl = *binding_.decl;
  unsigned next = 0;
  for (Local *param : decl.params)
    bindLocal(*param, Bound::of(body.getArgument(next++)));
  size_t results = resultTypes(decl).size();
  for (size_t i = 0; i < results; ++i, ++next)
    if (decl.kind != DeclKind::Fn)
      bound(*decl.outputs[i]) = Bound::of(body.getArgument(next));
  for (Dim axis : frame_->prefix)
    rootValues_[*axis.symbol()] = body.getArgument(next++);
  for (const DimParam &dim : decl.dims) {
    mlir::Value value = body.getArgument(next++);
    if (auto constant = rootDim(dims_.symbolDim(dim.symbol)).constant())
      value = index(*constant);
    else
      rootValues_[dim.symbol] = value;
    if (dim.local)
      bound(*dim.local) = Bound::of(value);
  }
}

/// `where C <= 8192` bounds what is on chip. The CPU needs no bounds.
void Builder::bindCapacities() {
  if (binding_.machine == "cpu")
    return;
  for (const WhereClause &clause : binding_.decl->wheres) {
    auto *relation = clause.condition && clause.condition->kind == ExprKind::Op
                         ? static_cast<const OpExpr *>(clause.condition)
                         : nullptr;
    if (!relation || !relation->op || relation->args.size() != 2)
      continue;
    OpId id = relation->op->id;
    bool less = id == OpId::Le || id == OpId::Lt, greater = id == OpId::Ge || id == OpId::Gt;
    if (!less && !greater)
      continue;
    Dim small = relation->args[less ? 0 : 1]->dim, large = relation->args[less ? 1 : 0]->dim;
    if (!small || !large)
      continue;
    std::optional<SymbolId> symbol = rootDim(small).symbol();
    std::optional<int64_t> bound = rootDim(large).constant();
    if (symbol && bound)
      capacities_[*symbol] = *bound - (id == OpId::Lt || id == OpId::Gt);
  }
}

/// Outputs get `ptl.output`, dimensions `ptl.dim`: their names for later stages. A fn's results
/// have none.
void Builder::nameOutputsAndDimensions(func::FuncOp function) {
  const CallableDecl &decl = *binding_.decl;
  auto next = static_cast<unsigned>(decl.params.size());
  auto name = [&](llvm::StringRef attribute, llvm::StringRef text) {
    function.setArgAttr(next++, attribute, builder_.getStringAttr(text));
  };
  size_t results = resultTypes(decl).size();
  for (size_t i = 0; i < results; ++i)
    name("ptl.output", decl.kind != DeclKind::Fn ? decl.outputs[i]->name
                       : results == 1            ? "result"
                                                 : "result" + std::to_string(i));
  for (Dim axis : frame_->prefix)
    name("ptl.dim", dims_.toString(axis));
  for (const DimParam &dim : decl.dims)
    name("ptl.dim", dims_.symbol(dim.symbol).name);
}

void Builder::buildEntry(ModuleOp module, const std::string &symbol) {
  const CallableDecl &decl = *binding_.decl;
  Frame frame;
  frame.decl = &decl;
  frame.locals.resize(decl.locals.size());
  frame.elems = binding_.elems;
  frame_ = &frame;
  for (const DimParam &dim : decl.dims) {
    nameCounts_[dims_.symbol(dim.symbol).name] = 1;
    if (auto found =
            binding_.statics.find(dim.local ? dim.local->name : dims_.symbol(dim.symbol).name);
        found != binding_.statics.end())
      bindSymbolConstant(dim.symbol, found->second);
  }
  for (uint32_t i = 0; i < binding_.prefixRank; ++i)
    frame.prefix.push_back(
        dims_.symbolDim(freshSymbol("d" + std::to_string(i), SymbolKind::DimensionParam, {})));

  size_t errors = sink_.errorCount();
  checkElementTypes(frame);
  if (sink_.errorCount() != errors)
    return;

  bindCapacities();
  assumeWheres();
  Location loc = location(decl.nameSpan);
  builder_.setInsertionPointToEnd(module.getBody());
  auto type = builder_.getFunctionType(argumentTypes(), {});
  auto function = make<func::FuncOp>(loc, symbol, type);
  llvm::StringRef kind = decl.kind == DeclKind::Fn             ? "fn"
                         : decl.kind == DeclKind::Kernel       ? "kernel"
                         : decl.kind == DeclKind::ManualKernel ? "manual"
                                                               : "program";
  function->setAttr("ptl.kind", builder_.getStringAttr(kind));
  for (auto [i, param] : llvm::enumerate(decl.params)) {
    auto number = static_cast<unsigned>(i);
    function.setArgAttr(number, "ptl.name", builder_.getStringAttr(param->name));
    // Neighbours on the last axis lie side by side unless the type says something else.
    const std::vector<Dim> &strides = param->type->strides;
    if (!strides.empty() && !strides.back().isConstant(1))
      function.setArgAttr(number, "ptl.strides", builder_.getUnitAttr());
  }
  nameOutputsAndDimensions(function);
  mlir::Block *body = function.addEntryBlock();
  builder_.setInsertionPointToStart(body);
  bindArguments(*body);
  frame.schedule = scheduleOf(decl, frame);
  if (frame.schedule && frame.schedule->cores > 0)
    function->setAttr(kCoresAttribute, builder_.getI64IntegerAttr(frame.schedule->cores));
  bindTunables(frame, binding_.tunables);
  buildWheres();
  initOutputs();
  if (decl.kind == DeclKind::Fn) {
    buildStmts(bodyStmts(*decl.body), 0);
    storeResult(returned_, *body);
  } else {
    buildKernelBody(decl);
  }
  refuseUntaken();
  if (!items_.empty())
    function->setAttr(kItemsAttribute, builder_.getArrayAttr(items_));
  make<func::ReturnOp>(loc);
}

void Builder::buildKernelBody(const CallableDecl &decl) {
  bool isManual = decl.kind == DeclKind::ManualKernel;
  if (isManual && (!binding_.chip || binding_.chip->executable))
    fail(DiagId::BlockLevelNotOnTarget, decl.nameSpan, {decl.name, binding_.machine});
  else if (!decl.isFor(binding_.machine))
    fail(DiagId::NotForTarget, decl.nameSpan,
         {decl.name, llvm::join(decl.targets, ", "), binding_.machine});
  else if (isManual)
    buildManual(decl);
  else
    buildBlock(*decl.body);
  orderTasks(*builder_.getInsertionBlock());
}

void Builder::storeResult(Bound result, mlir::Block &body) {
  const CallableDecl &decl = *binding_.decl;
  auto first = static_cast<unsigned>(decl.params.size());
  std::vector<Bound> parts = result.kind == Bound::Kind::Parts ? result.parts : std::vector{result};
  for (auto [i, part] : llvm::enumerate(parts)) {
    mlir::Value ref = body.getArgument(first + static_cast<unsigned>(i));
    Location loc = location(decl.nameSpan);
    storeBox(readRef(part, loc).value, ref, wholeBox(ref), AssignMode::Set, loc);
  }
}

void Builder::initOutputs() {
  const CallableDecl &decl = *frame_->decl;
  for (size_t i = 0; i < decl.outputs.size() && i < decl.outputInits.size(); ++i) {
    if (!decl.outputInits[i])
      continue;
    mlir::Value ref = bound(*decl.outputs[i]).value;
    Location loc = here(*decl.outputInits[i]);
    storeBox(buildValue(*decl.outputInits[i]), ref, wholeBox(ref), AssignMode::Set, loc);
  }
}

/// Requirements of the entry, checked again here whoever calls; those on tunables are settled
/// before.
void Builder::buildWheres() {
  if (!binding_.checked)
    return;
  for (const WhereClause &clause : binding_.decl->wheres)
    if (clause.condition && !clause.onTunables)
      emitCondition(*clause.condition, "where",
                    "`" + binding_.decl->name + "` needs `" + clause.text + "`",
                    location(clause.span));
}

} // namespace ptl::ir
