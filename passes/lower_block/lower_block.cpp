// Kernels from grids: their functions and arguments, and the host code that launches them.
#include "passes/lower_block/lower_block.h"

#include "ir/dialect/attributes.h"
#include "passes/lower_block/core_marks.h"
#include "passes/lower_block/cut_products.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/launch_sites.h"
#include "passes/lower_block/loop_stages.h"
#include "passes/lower_block/lower_again.h"
#include "passes/lower_block/lower_control.h"
#include "passes/lower_block/lower_kernel.h"
#include "passes/lower_block/lower_manual.h"
#include "passes/lower_block/outline.h"
#include "passes/lower_block/select_instructions.h"
#include "passes/lower_block/stage_operands.h"
#include "passes/lower_block/unroll_loops.h"
#include "passes/transform/simplify.h"

#include "mlir/IR/Verifier.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ptl::block {

namespace {

/// Makes the kernel of an outlined grid.
class KernelMaker {
public:
  KernelMaker(func::FuncOp outlined, const Machine &machine, const LowerOptions &options,
              const Report &report, const ir::Simplifier &simplifier)
      : outlined_(outlined), grid_(gridOf(outlined)), name_(outlined.getSymName()),
        machine_(machine), options_(options), report_(report), simplifier_(simplifier),
        cores_(markedCores(grid_)), plan_(markedQueues(grid_, cores_)), b_(outlined.getContext()) {}

  /// The kernel; null after an error.
  OwningOpRef<ModuleOp> lower() {
    if (!isPrepared() || !checkQueues())
      return {};
    collectParameters();
    OwningOpRef<ModuleOp> module = ModuleOp::create(grid_.getLoc());
    (*module)->setAttr("pto.target_arch", b_.getStringAttr(machine_.tools.ptoas));
    attrs::machine.set(*module, machine_.name);
    if (attrs::manual.isOn(grid_))
      attrs::byHand.set(*module);
    // A mixed kernel is lowered once for each kind of core.
    bool lowered = true;
    if (cores_.usesCube())
      lowered &= lower(*module, CoreKind::Cube);
    if (lowered && (cores_.usesVector || !cores_.usesCube()))
      lowered &= lower(*module, CoreKind::Vector);
    if (!lowered || failed(mlir::verify(*module)))
      return {};
    // The lowering makes constants where they are used, so many are equal.
    simplifier_.run(*module);
    return module;
  }

private:
  /// Checks that the attributes of the passes before are there and right.
  bool isPrepared() {
    return succeeded(verifyCores(grid_)) && succeeded(verifyQueues(grid_, machine_)) &&
           succeeded(verifyOperands(grid_)) && succeeded(verifyLoopStages(grid_)) &&
           succeeded(verifyProducts(grid_)) && succeeded(verifyInstructions(grid_, machine_));
  }

  /// A queue has a kind of core at each end.
  bool checkQueues() {
    bool fits = true;
    grid_.walk([&](ir::QueueOp queue) {
      if (cores_.isMixed())
        return;
      const char *other = cores_.usesCube() ? "vector cores do" : "cube core does";
      report_(DiagId::QueueSidesDiffer, queue.getLoc(),
              {queue.getName().str(), std::string("the ") + other + " not use it"});
      fits = false;
    });
    return fits;
  }

  /// Global memory that the kernel needs beside its arrays.
  struct Memory {
    std::string name;
    Type element;
    int64_t bytes = 0;          ///< for each core group
    std::optional<size_t> ring; ///< the queue whose slots it is; none: those of all other queues
  };

  /// Collects the parameters of the kernel's functions: those of the grid's function, and after its
  /// arrays memory for queues.
  void collectParameters() {
    // Machines that exchange through buffers on the chip need no global memory for it.
    workspace_ = cores_.isMixed() && !machine_.exchange.throughBuffer
                     ? plan_.workspaceBytes() + queueBytes(grid_, machine_)
                     : 0;
    parameters_.assign(outlined_.getArguments().begin(), outlined_.getArguments().end());
    llvm::StringSet<> taken;
    for (BlockArgument argument : outlined_.getArguments())
      if (auto name = attrs::name.of(outlined_, argument.getArgNumber()))
        taken.insert(name.getValue());
    if (workspace_)
      memories_.push_back({nameBeside("workspace", taken), b_.getF32Type(), workspace_, {}});
    for (auto [number, queue] : llvm::enumerate(plan_.queues))
      if (queue.isRing)
        memories_.push_back({nameBeside("ring", taken),
                             ir::elementTypeOf(queue.values.front().getType()),
                             queue.slots * queue.bytes, number});
    // The arguments are the arrays, then this memory, then scalars.
    parameters_.insert(
        llvm::find_if_not(parameters_, [](Value each) { return ir::isArrayLike(each.getType()); }),
        memories_.size(), Value());
  }

  /// The memory beside arrays that the n-th argument of the kernel's functions is; null: none.
  const Memory *memoryAt(size_t number) const {
    if (parameters_[number])
      return nullptr;
    return &memories_[static_cast<size_t>(
        std::count(parameters_.begin(), parameters_.begin() + static_cast<long>(number), Value()))];
  }

  Type typeOf(size_t number) const {
    MLIRContext *context = b_.getContext();
    if (const Memory *memory = memoryAt(number))
      return pto::PtrType::get(context, memory->element);
    Value parameter = parameters_[number];
    return ir::isArrayLike(parameter.getType())
               ? pto::PtrType::get(context, storedType(ir::elementTypeOf(parameter.getType())))
               : parameter.getType();
  }

  /// A name that no argument has.
  static std::string nameBeside(const std::string &base, llvm::StringSet<> &taken) {
    std::string name = base;
    for (unsigned count = 1; !taken.insert(name).second; ++count)
      name = base + std::to_string(count);
    return name;
  }

  /// Gives the arguments of a function of the kernel their names and roles.
  void describe(func::FuncOp function) {
    for (auto [i, parameter] : llvm::enumerate(parameters_)) {
      auto number = static_cast<unsigned>(i);
      if (const Memory *memory = memoryAt(i)) {
        attrs::name.set(function, number, memory->name);
        attrs::role.set(function, number, "workspace");
        attrs::bytes.set(function, number, memory->bytes);
        continue;
      }
      unsigned from = cast<BlockArgument>(parameter).getArgNumber();
      for (llvm::StringRef name : {attrs::name.key(), attrs::role.key(), attrs::formula.key()})
        if (Attribute attribute = outlined_.getArgAttr(from, name))
          function.setArgAttr(number, name, attribute);
    }
  }

  bool lower(ModuleOp module, CoreKind core) {
    bool both = cores_.isMixed();
    const char *suffixes[] = {"_aic", "_aiv"};
    // The two functions of a mixed kernel are one kernel for the host.
    std::string symbol = name_ + (both ? suffixes[core == CoreKind::Vector] : "");
    b_.setInsertionPointToEnd(module.getBody());
    llvm::SmallVector<Type> types;
    for (size_t i = 0; i < parameters_.size(); ++i)
      types.push_back(typeOf(i));
    auto function = b_.create<func::FuncOp>(grid_.getLoc(), symbol, b_.getFunctionType(types, {}));
    function->setAttr("pto.entry", b_.getUnitAttr());
    function->setAttr("pto.kernel_kind",
                      pto::KernelKindAttr::get(b_.getContext(), core == CoreKind::Cube
                                                                    ? pto::KernelKind::cube
                                                                    : pto::KernelKind::vector));
    attrs::kernel.set(function, name_);
    if (ArrayAttr checked = attrs::checked.of(outlined_))
      attrs::checked.set(function, checked);
    function.addEntryBlock();
    describe(function);
    StringAttr peer = b_.getStringAttr(name_ + suffixes[core == CoreKind::Cube]);
    if (attrs::manual.isOn(grid_))
      return lowerByHand(function, core, peer);
    KernelContext lowering(function, core, cores_, plan_, machine_, options_, report_);
    for (auto [i, value, parameter] : llvm::enumerate(function.getArguments(), parameters_)) {
      if (const Memory *memory = memoryAt(i)) {
        if (memory->ring)
          lowering.bindRing(*memory->ring, value, b_.getStringAttr(memory->name));
        else
          lowering.bindWorkspace(value, workspace_);
        continue;
      }
      unsigned number = cast<BlockArgument>(parameter).getArgNumber();
      if (ir::isArrayLike(parameter.getType())) {
        lowering.bindPointer(parameter, value, attrs::name.of(outlined_, number));
        continue;
      }
      lowering.bindScalar(parameter, value);
      if (auto length = attrs::length.of(outlined_, number))
        lowering.bindLength(length, value);
    }
    lowering.bindPeer(peer);
    return lowerGrid(lowering, grid_);
  }

  bool lowerByHand(func::FuncOp function, CoreKind core, StringAttr peer) {
    IRMapping arguments;
    ManualOptions manual{core, machine_, options_, workspace_, peer, {}};
    for (auto [value, parameter] : llvm::zip(function.getArguments(), parameters_)) {
      if (!parameter)
        manual.workspace = value;
      else
        arguments.map(parameter, value);
    }
    return lowerManual(function, grid_, arguments, manual, report_);
  }

  func::FuncOp outlined_;
  ir::ParallelOp grid_;
  std::string name_;
  const Machine &machine_;
  const LowerOptions &options_;
  const Report &report_;
  const ir::Simplifier &simplifier_;
  CoreAssignment cores_;
  QueuePlan plan_;
  OpBuilder b_;
  /// Arguments of `outlined_`; null: the next one of `memories_`.
  llvm::SmallVector<Value> parameters_;
  std::vector<Memory> memories_;
  int64_t workspace_ = 0;
};

/// Whether the host does this itself: storage, descriptions of it, scalars and control flow.
static bool isHostWork(Operation *op) {
  if (isa<ir::LaunchOp, ir::AllocOp, ir::ViewOp, ir::DimOp, ir::LoadOp, ir::SliceOp, ir::CastOp,
          ir::ReshapeOp, ir::NewAxisOp>(op))
    return !llvm::any_of(op->getOperands(), [&](Value operand) { // beyond edges is a kernel's
      auto slice = dyn_cast<ir::SliceOp>(op);
      auto load = dyn_cast<ir::LoadOp>(op);
      return (slice && slice.getOutside() == operand) || (load && load.getOutside() == operand);
    });
  if (isa<ir::UniqueOp, ir::SortedOp, ir::PrintOp>(op)) // facts about data, and its lines
    return true;
  if (auto store = dyn_cast<ir::StoreOp>(op))
    return !ir::isArrayLike(store.getValue().getType()) &&
           store.getDropped().size() == store.getOffsets().size();
  return llvm::none_of(op->getOperandTypes(), ir::isArrayLike) &&
         llvm::none_of(op->getResultTypes(), ir::isArrayLike);
}

} // namespace

bool checkHost(func::FuncOp function, const Machine &machine, const Report &report) {
  bool fits = true;
  for (Block &block : function.getBody())
    block.walk([&](Operation *op) {
      // One report is enough: further ones would be of the same kind.
      if (!fits || isHostWork(op))
        return;
      report(DiagId::NotOnBlockLevel, op->getLoc(),
             {"`" + op->getName().stripDialect().str() + "` of whole arrays", machine.name});
      fits = false;
    });
  return fits;
}

OwningOpRef<ModuleOp> lowerKernel(func::FuncOp outlined, const Machine &machine,
                                  const LowerOptions &options, const ir::Simplifier &simplifier,
                                  const Report &report) {
  return KernelMaker(outlined, machine, options, report, simplifier).lower();
}

/// Whether kernel `i` of `before` was made of the same grid, as `function` holds it, in the same
/// way.
static bool isMadeOf(const BlockProgram &before, size_t i, func::FuncOp function,
                     const LowerOptions &options) {
  if (i >= before.kernels.size() || !before.kernels[i] || !(before.options[i] == options))
    return false;
  auto grids = before.grids.get().getOps<func::FuncOp>();
  func::FuncOp other = *std::next(grids.begin(), static_cast<ptrdiff_t>(i));
  // Locations count as well, because reports about the kernel show them.
  return function.getSymName() == other.getSymName() &&
         function.getFunctionType() == other.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(&function.getBody(), &other.getBody(),
                                                    OperationEquivalence::None);
}

/// Records the facts about the grids that are needed later, before passes change the grids.
static void beginGrids(func::FuncOp function, llvm::ArrayRef<LowerOptions> options,
                       BlockProgram &program) {
  for (auto [i, grid] : llvm::enumerate(kernelGrids(function))) {
    auto group = attrs::tileGroup.of(grid);
    program.tileGroups.push_back(group ? static_cast<size_t>(group.getInt()) : 0);
    program.options.push_back(i < options.size() ? options[i] : LowerOptions());
    program.unrolls.push_back(saysUnroll(grid));
    program.parts.emplace_back();
    if (auto cores = attrs::cores.of(function); cores && !attrs::cores.isOn(grid))
      attrs::cores.set(grid, cores);
  }
}

/// Runs the passes on tiles. False after an error, or where tiles cannot be cut
/// (`BlockProgram::uncut`).
static bool prepareGrids(func::FuncOp function, const Machine &machine, const Report &report,
                         BlockProgram &program, const AfterPass &afterPass) {
  GridContext context{machine, report, program.parts, {}, program.options};
  for (const GridPass &pass : gridPasses()) {
    if (!runGridPass(pass, function, context)) {
      program.uncut = context.uncut;
      return false;
    }
    if (afterPass)
      afterPass(pass.name, function->getParentOfType<ModuleOp>());
  }
  return true;
}

/// The host and the outlined grids in one module, for those who want to see them.
static void showOutlined(const BlockProgram &program, const char *pass,
                         const AfterPass &afterPass) {
  if (!afterPass)
    return;
  OwningOpRef<ModuleOp> both = program.host.get().clone();
  OpBuilder b = OpBuilder::atBlockEnd(both->getBody());
  for (auto each : program.grids.get().getOps<func::FuncOp>())
    b.clone(*each);
  afterPass(pass, *both);
}

/// Moves the grids out of the function, and runs the passes on them. False after an error.
static bool outlineGrids(func::FuncOp function, const Machine &machine, const Report &report,
                         BlockProgram &program, const AfterPass &afterPass) {
  llvm::SmallVector<ir::ParallelOp> all = kernelGrids(function);
  for (auto [i, grid] : llvm::enumerate(all))
    outlineGrid(grid, kernelName(function, i, all.size()), *program.grids);
  showOutlined(program, "ptl-outline", afterPass);
  GridContext context{machine, report, {}, {}};
  for (const GridPass &pass : kernelPasses()) {
    for (auto outlined : program.grids->getOps<func::FuncOp>())
      if (!runGridPass(pass, outlined, context))
        return false;
    showOutlined(program, pass.name, afterPass);
  }
  return true;
}

std::optional<BlockProgram> lowerToBlocks(ModuleOp module, const Machine &machine,
                                          llvm::ArrayRef<LowerOptions> options,
                                          const ir::Simplifier &simplifier, const Report &report,
                                          BlockProgram *before, const AfterPass &afterPass) {
  // A caller that looks at the module after each pass needs all kernels in it, so none is kept from before.
  if (before && !before->sites.empty() && !afterPass)
    return lowerAgain(module, machine, options, simplifier, report, *before);
  BlockProgram program;
  program.host = cast<ModuleOp>(module->clone(program.fromModule));
  program.grids = ModuleOp::create(module.getLoc());
  auto function = *program.host->getOps<func::FuncOp>().begin();
  beginGrids(function, options, program);
  // This notes the host's own operations before outlining adds others.
  HostOperations host(function);
  if (!prepareGrids(function, machine, report, program, afterPass))
    return program.uncut ? std::optional(std::move(program)) : std::nullopt;
  if (!outlineGrids(function, machine, report, program, afterPass))
    return std::nullopt;
  program.sites = host.sites(function);
  for (auto [i, outlined] : llvm::enumerate(program.grids->getOps<func::FuncOp>())) {
    // Lowering a kernel is the expensive part, so equal grids keep theirs.
    bool isKnown = before && isMadeOf(*before, i, outlined, program.options[i]);
    OwningOpRef<ModuleOp> kernel =
        isKnown ? std::move(before->kernels[i])
                : lowerKernel(outlined, machine, program.options[i], simplifier, report);
    program.ledgers.push_back(isKnown ? std::move(before->ledgers[i]) : std::nullopt);
    if (!kernel)
      return std::nullopt;
    program.kernels.push_back(std::move(kernel));
  }
  if (!checkHost(function, machine, report) || failed(mlir::verify(*program.host)))
    return std::nullopt;
  return program;
}

} // namespace ptl::block
