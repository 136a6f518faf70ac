// Kernels from grids: their functions and arguments, and the host code that launches them.
#include "passes/lower_block/lower_block.h"

#include "ir/dialect/schedule_attributes.h"
#include "ir/dialect/task_attribute.h"
#include "passes/lower_block/check_places.h"
#include "passes/lower_block/cut_choice.h"
#include "passes/lower_block/lower_manual.h"
#include "passes/lower_block/lowering.h"
#include "passes/lower_block/rotate_while.h"
#include "passes/transform/simplify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::block {

namespace {

/// An argument of a kernel and what the host passes for it.
struct Argument {
  std::string name, role; ///< role: of pointers
  Type type;
  Value host;
  StringAttr length; ///< the length it is, by its name in types; null: none
};

class Outliner {
public:
  Outliner(ir::ParallelOp grid, std::string name, const Machine &machine,
           const LowerOptions &options, const Report &report, const ir::Simplifier &simplifier)
      : grid_(grid), name_(std::move(name)), machine_(machine), options_(options), report_(report),
        simplifier_(simplifier), cores_(assignCores(grid)), b_(grid.getContext()) {}

  /// Finds out what the kernel is given. False after an error.
  bool prepare() {
    takeScalars();
    if (!checkQueues())
      return false;
    collectArguments();
    return true;
  }

  /// The kernel; null after an error.
  OwningOpRef<ModuleOp> lower() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(grid_.getLoc());
    (*module)->setAttr("pto.target_arch", b_.getStringAttr(machine_.tools.ptoas));
    (*module)->setAttr("ptl.machine", b_.getStringAttr(machine_.name));
    if (grid_->hasAttr("ptl.manual"))
      (*module)->setAttr("ptl.manual", b_.getUnitAttr());
    bool lowered = true;
    if (cores_.usesCube())
      lowered &= lower(*module, CoreKind::Cube);
    if (lowered && (cores_.usesVector || !cores_.usesCube()))
      lowered &= lower(*module, CoreKind::Vector);
    if (!lowered || failed(mlir::verify(*module)))
      return {};
    simplifier_.run(*module);
    return module;
  }

  llvm::SmallVector<Value> launchOperands() const {
    llvm::SmallVector<Value> operands;
    for (const Argument &argument : arguments_)
      if (argument.host)
        operands.push_back(argument.host);
    return operands;
  }

private:
  /// A queue has a kind of core at each end.
  bool checkQueues() {
    bool fits = true;
    grid_.walk([&](ir::QueueOp queue) {
      if (cores_.isMixed())
        return;
      const char *other = cores_.usesCube() ? "vector cores do" : "cube core does";
      report_(DiagId::QueueSidesDiffer, queue.getLoc(),
              {queue.getName().str(), std::string("the ") + other + " not open it"});
      fits = false;
    });
    return fits;
  }

  static bool isArray(Value value) { return isa<ir::ArrayType, ir::RefType>(value.getType()); }

  static bool isScalar(Operation *op) {
    return op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndex() &&
           op->getNumRegions() == 0 && isPure(op) &&
           llvm::none_of(op->getOperands(), [](Value value) { return isArray(value); });
  }

  /// Whether it is computed from dimensions alone. Lengths of arrays are passed with the arrays.
  static bool isDimension(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto function =
        argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    if (argument)
      return function && function.getArgAttr(argument.getArgNumber(), "ptl.dim");
    return isFromDimensions(value.getDefiningOp());
  }
  static bool isFromDimensions(Operation *op) {
    return isScalar(op) &&
           llvm::none_of(op->getUsers(), [](Operation *user) { return isa<ir::AllocOp>(user); }) &&
           llvm::all_of(op->getOperands(), isDimension);
  }

  /// What a kernel by hand computes may have been found to be what the host computes: from what
  /// else the kernel is given, or from dimensions.
  bool isTaken(Operation *op, const llvm::SetVector<Value> &given) {
    if (!grid_->hasAttr("ptl.manual"))
      return isFromDimensions(op);
    return isFromDimensions(op) ||
           (isScalar(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
              return given.contains(operand) || matchPattern(operand, m_Constant()) ||
                     isDimension(operand);
            }));
  }

  /// What is computed from sizes is computed in the kernel again: who launches it has only what the
  /// source names, and the prover wants to know what depends on what.
  void takeScalars() {
    OpBuilder b(grid_.getContext());
    for (bool changed = true; changed;) {
      changed = false;
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(grid_->getRegions(), captured);
      for (Value value : captured) {
        Operation *made = value.getDefiningOp();
        if (!made || matchPattern(value, m_Constant()) || !isTaken(made, captured))
          continue;
        b.setInsertionPointToStart(&grid_.getBody().front());
        Operation *copy = b.clone(*made);
        value.replaceUsesWithIf(copy->getResult(0), [&](OpOperand &use) {
          return use.getOwner() != copy && grid_->isProperAncestor(use.getOwner());
        });
        changed = true;
      }
    }
  }

  void collectArguments() {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(grid_->getRegions(), captured);
    for (Value operand : grid_->getOperands())
      captured.insert(operand);
    auto function = grid_->getParentOfType<func::FuncOp>();
    llvm::SmallVector<Value> ordered;
    for (Value argument : function.getArguments())
      if (captured.contains(argument))
        ordered.push_back(argument);
    for (Value value : captured)
      if (!llvm::is_contained(function.getArguments(), value)) // of loops of the host, too
        ordered.push_back(value);
    for (Value value : ordered)
      if (isArray(value))
        arguments_.push_back(
            {nameOf(value),
             roleOf(value),
             pto::PtrType::get(b_.getContext(), storedType(ir::elementTypeOf(value.getType()))),
             value,
             {}});
    workspace_ = cores_.isMixed() && !machine_.exchange.throughBuffer
                     ? workspaceOf(cores_, grid_, machine_) + queueBytes(grid_, machine_)
                     : 0;
    if (workspace_)
      arguments_.push_back(
          {"workspace", "workspace", pto::PtrType::get(b_.getContext(), b_.getF32Type()), {}, {}});
    addLengths(function, ordered);
    for (Value value : ordered)
      if (!isArray(value) && !matchPattern(value, m_Constant()) &&
          llvm::none_of(arguments_, [&](const Argument &a) { return a.host == value; }))
        arguments_.push_back({nameOf(value), "", value.getType(), value, {}});
  }

  /// The lengths that the types of arrays in global memory name.
  void addLengths(func::FuncOp function, llvm::ArrayRef<Value> values) {
    llvm::SetVector<StringAttr> names;
    for (Value value : values)
      for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(value.getType()))) {
        if (extent.isConstant() || !names.insert(extent.symbol))
          continue;
        Value length = dimension(function, extent.symbol);
        if (!length) {
          OpBuilder host(grid_);
          length = host.create<ir::DimOp>(grid_.getLoc(), host.getIndexType(), value,
                                          static_cast<int64_t>(axis));
        }
        arguments_.push_back({extent.symbol.str(), "", b_.getIndexType(), length, extent.symbol});
      }
  }

  static Value dimension(func::FuncOp function, StringAttr symbol) {
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ptl.dim") == symbol)
        return argument;
    return {};
  }

  std::string nameOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        for (const char *attribute : {"ptl.name", "ptl.output", "ptl.dim"})
          if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute))
            return name.str();
    if (auto name = dyn_cast<NameLoc>(value.getLoc()))
      return unique(name.getName().str());
    return unique(isArray(value) ? "t" : "s");
  }

  std::string unique(const std::string &name) {
    unsigned count = names_[name]++;
    return count ? name + std::to_string(count) : name;
  }

  std::string roleOf(Value array) {
    bool written = false, read = false;
    grid_.walk([&](Operation *op) {
      if (auto store = dyn_cast<ir::StoreOp>(op); store && store.getRef() == array)
        written = true;
      else if (auto pointer = dyn_cast<ir::PointerOp>(op); pointer && pointer.getArray() == array) {
        written |= pointer.getRole() != "in";
        read |= pointer.getRole() != "out";
      } else
        read |= llvm::is_contained(op->getOperands(), array) && !isa<ir::DimOp>(op);
    });
    return written ? (read ? "inout" : "out") : "in";
  }

  bool lower(ModuleOp module, CoreKind core) {
    bool both = cores_.isMixed();
    const char *suffixes[] = {"_aic", "_aiv"};
    std::string symbol = name_ + (both ? suffixes[core == CoreKind::Vector] : "");
    b_.setInsertionPointToEnd(module.getBody());
    llvm::SmallVector<Type> types;
    for (const Argument &argument : arguments_)
      types.push_back(argument.type);
    auto function = b_.create<func::FuncOp>(grid_.getLoc(), symbol, b_.getFunctionType(types, {}));
    function->setAttr("pto.entry", b_.getUnitAttr());
    function->setAttr("pto.kernel_kind",
                      pto::KernelKindAttr::get(b_.getContext(), core == CoreKind::Cube
                                                                    ? pto::KernelKind::cube
                                                                    : pto::KernelKind::vector));
    function->setAttr("ptl.kernel", b_.getStringAttr(name_));
    Block *entry = function.addEntryBlock();
    if (grid_->hasAttr("ptl.manual"))
      return lowerByHand(function, core,
                         b_.getStringAttr(name_ + suffixes[core == CoreKind::Cube]));
    KernelLowering lowering(function, core, cores_, machine_, options_, report_);
    for (auto [i, argument] : llvm::enumerate(arguments_)) {
      auto number = static_cast<unsigned>(i);
      function.setArgAttr(number, "ptl.name", b_.getStringAttr(argument.name));
      Value value = entry->getArgument(number);
      if (!argument.role.empty())
        function.setArgAttr(number, "ptl.role", b_.getStringAttr(argument.role));
      if (argument.role == "workspace") {
        function.setArgAttr(number, "ptl.bytes", b_.getI64IntegerAttr(workspace_));
        lowering.bindWorkspace(value, workspace_);
      } else if (!argument.role.empty()) {
        lowering.bindPointer(argument.host, value, b_.getStringAttr(argument.name));
      } else {
        lowering.bindScalar(argument.host, value);
        if (argument.length)
          lowering.bindLength(argument.length, value);
      }
    }
    lowering.bindPeer(b_.getStringAttr(name_ + suffixes[core == CoreKind::Cube]));
    return lowering.lowerGrid(grid_);
  }

  bool lowerByHand(func::FuncOp function, CoreKind core, StringAttr peer) {
    IRMapping arguments;
    ManualOptions manual{core, machine_, options_, workspace_, peer, {}};
    for (auto [i, argument] : llvm::enumerate(arguments_)) {
      auto number = static_cast<unsigned>(i);
      function.setArgAttr(number, "ptl.name", b_.getStringAttr(argument.name));
      if (!argument.role.empty())
        function.setArgAttr(number, "ptl.role", b_.getStringAttr(argument.role));
      Value value = function.getArgument(number);
      if (argument.role == "workspace") {
        function.setArgAttr(number, "ptl.bytes", b_.getI64IntegerAttr(workspace_));
        manual.workspace = value;
      } else {
        arguments.map(argument.host, value);
      }
    }
    return lowerManual(function, grid_, arguments, manual, report_);
  }

  ir::ParallelOp grid_;
  std::string name_;
  const Machine &machine_;
  const LowerOptions &options_;
  const Report &report_;
  const ir::Simplifier &simplifier_;
  CoreAssignment cores_;
  OpBuilder b_;
  llvm::SmallVector<Argument> arguments_;
  llvm::StringMap<unsigned> names_;
  int64_t workspace_ = 0;
};

/// Whether the host does this itself: storage, descriptions of it, scalars and control flow.
static bool isHostWork(Operation *op) {
  if (isa<ir::LaunchOp, ir::AllocOp, ir::DimOp, ir::LoadOp, ir::SliceOp, ir::CastOp, ir::ReshapeOp,
          ir::NewAxisOp>(op))
    return !llvm::any_of(op->getOperands(), [&](Value operand) { // beyond edges is a kernel's
      auto slice = dyn_cast<ir::SliceOp>(op);
      auto load = dyn_cast<ir::LoadOp>(op);
      return (slice && slice.getOutside() == operand) || (load && load.getOutside() == operand);
    });
  if (isa<ir::UniqueOp, ir::SortedOp>(op)) // facts about data
    return true;
  auto isArray = [](Value value) { return isa<ir::ArrayType, ir::RefType>(value.getType()); };
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return !isArray(store.getValue()) && store.getDropped().size() == store.getOffsets().size();
  return llvm::none_of(op->getOperands(), isArray) && llvm::none_of(op->getResults(), isArray);
}

/// Names what neither a kernel nor the host can do.
static bool checkHost(func::FuncOp function, const Machine &machine, const Report &report) {
  bool fits = true;
  for (Block &block : function.getBody())
    block.walk([&](Operation *op) {
      if (!fits || isHostWork(op))
        return;
      report(DiagId::NotOnBlockLevel, op->getLoc(),
             {"`" + op->getName().stripDialect().str() + "` of whole arrays", machine.name});
      fits = false;
    });
  return fits;
}

} // namespace

/// Unrolls the loops that say so. Those that products accumulate in stay: the accumulator is of the
/// loop, and steps of a product overlap as they are. What is said in vain is told: false.
static bool unrollLoops(ir::ParallelOp grid, const Report &report) {
  constexpr int64_t mostCopies = 32;
  bool isWell = true;
  llvm::SmallVector<scf::ForOp> loops;
  grid.walk([&](scf::ForOp loop) { // inner ones first
    if (loop->hasAttr("ptl.unroll"))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    int64_t factor = cast<IntegerAttr>(loop->removeAttr("ptl.unroll")).getInt();
    bool multiplies =
        loop->walk([](ir::MatmulOp) { return WalkResult::interrupt(); }).wasInterrupted();
    IntegerAttr lower, upper, step;
    if (factor == 0 && matchPattern(loop.getLowerBound(), m_Constant(&lower)) &&
        matchPattern(loop.getUpperBound(), m_Constant(&upper)) &&
        matchPattern(loop.getStep(), m_Constant(&step)) && step.getInt() > 0)
      factor = (upper.getInt() - lower.getInt() + step.getInt() - 1) / step.getInt();
    auto at = dyn_cast_or_null<LocationAttr>(loop->removeAttr(ir::kUnrollPlaceAttribute));
    std::string why =
        multiplies            ? "products accumulate in the loop, whose steps overlap as they are"
        : factor == 0         ? "nothing says how many turns the loop has: give it a number"
        : factor > mostCopies ? "at most " + std::to_string(mostCopies) + " copies are made"
                              : "";
    if (why.empty() && factor > 1)
      (void)loopUnrollByFactor(loop, static_cast<uint64_t>(factor));
    if (why.empty() || !at)
      continue;
    report(DiagId::ScheduleCannot, at,
           {factor ? "unroll " + std::to_string(factor) : "unroll", why});
    isWell = false;
  }
  return isWell;
}

/// A function that takes the operands of a launch and holds its grid.
static func::FuncOp keepGrid(ModuleOp grids, ir::ParallelOp grid, llvm::StringRef name,
                             ValueRange operands) {
  OpBuilder b = OpBuilder::atBlockEnd(grids.getBody());
  auto function = b.create<func::FuncOp>(grid.getLoc(), name,
                                         b.getFunctionType(operands.getTypes(), TypeRange()));
  b.setInsertionPointToStart(function.addEntryBlock());
  for (auto [argument, operand] : llvm::zip(function.getArguments(), operands))
    argument.setLoc(operand.getLoc());
  IRMapping mapping;
  mapping.map(operands, function.getArguments());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(grid->getRegions(), captured);
  captured.insert(grid->operand_begin(), grid->operand_end());
  for (Value value : captured)
    if (!mapping.contains(value)) // constants
      b.clone(*value.getDefiningOp(), mapping);
  b.clone(*grid, mapping);
  b.create<func::ReturnOp>(grid.getLoc());
  return function;
}

/// Whether kernel `i` of `before` was made of the same grid, as `function` holds it, in the same
/// way.
static bool isMadeOf(const BlockProgram &before, size_t i, func::FuncOp function,
                     const LowerOptions &options) {
  if (i >= before.kernels.size() || !before.kernels[i] || !(before.options[i] == options))
    return false;
  auto grids = before.grids.get().getOps<func::FuncOp>();
  func::FuncOp other = *std::next(grids.begin(), static_cast<ptrdiff_t>(i));
  return function.getSymName() == other.getSymName() &&
         function.getFunctionType() == other.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(&function.getBody(), &other.getBody(),
                                                    OperationEquivalence::None);
}

std::optional<BlockProgram> lowerToBlocks(ModuleOp module, const Machine &machine,
                                          llvm::ArrayRef<LowerOptions> options,
                                          const ir::Simplifier &simplifier, const Report &report,
                                          BlockProgram *before) {
  BlockProgram program;
  program.host = cast<ModuleOp>(module->clone());
  program.grids = ModuleOp::create(module.getLoc());
  auto function = *program.host->getOps<func::FuncOp>().begin();
  llvm::SmallVector<ir::ParallelOp> grids;
  function.walk<WalkOrder::PreOrder>([&](ir::ParallelOp grid) {
    grids.push_back(grid);
    return WalkResult::skip(); // a grid inside a grid is part of its kernel
  });
  llvm::StringRef base = function.getSymName();
  base.consume_front("ptl_");
  for (auto [i, grid] : llvm::enumerate(grids)) {
    std::string name = grids.size() == 1 ? base.str() : (base + "_" + llvm::Twine(i)).str();
    if (auto cores = function->getAttr(ir::kCoresAttribute);
        cores && !grid->hasAttr(ir::kCoresAttribute))
      grid->setAttr(ir::kCoresAttribute, cores);
    Attribute task = grid->getAttr(ir::kTaskAttribute);
    auto group = grid->getAttrOfType<IntegerAttr>(ir::kTileGroupAttribute);
    program.tileGroups.push_back(group ? static_cast<size_t>(group.getInt()) : 0);
    LowerOptions own = i < options.size() ? options[i] : LowerOptions();
    if (!takePlaces(grid, machine, report))
      return std::nullopt;
    bool unrolls = false;
    grid.walk([&](scf::ForOp loop) { unrolls |= loop->hasAttr("ptl.unroll"); });
    program.unrolls.push_back(unrolls);
    if (own.unrolls && !unrollLoops(grid, report))
      return std::nullopt;
    rotateWhileLoops(grid);
    if (!(grid = cutTiles(grid, own, program.parts.emplace_back()))) {
      program.kernels.clear();
      program.uncut = i;
      return program;
    }
    Outliner outliner(grid, name, machine, own, report, simplifier);
    if (!outliner.prepare())
      return std::nullopt;
    llvm::SmallVector<Value> operands = outliner.launchOperands();
    func::FuncOp kept = keepGrid(*program.grids, grid, name, operands);
    bool isKnown = before && isMadeOf(*before, i, kept, own);
    OwningOpRef<ModuleOp> kernel = isKnown ? std::move(before->kernels[i]) : outliner.lower();
    program.options.push_back(own);
    program.ledgers.push_back(isKnown ? std::move(before->ledgers[i]) : std::nullopt);
    if (!kernel)
      return std::nullopt;
    OpBuilder b(grid);
    auto launch = b.create<ir::LaunchOp>(grid.getLoc(),
                                         FlatSymbolRefAttr::get(b.getContext(), name), operands);
    if (task)
      launch->setAttr(ir::kTaskAttribute, task);
    grid.erase();
    program.kernels.push_back(std::move(kernel));
  }
  if (!checkHost(function, machine, report) || failed(mlir::verify(*program.host)))
    return std::nullopt;
  return program;
}

} // namespace ptl::block
