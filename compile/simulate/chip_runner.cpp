#include "compile/simulate/chip_runner.h"
#include "compile/simulate/host_places.h"
#include "compile/simulate/host_values.h"
#include "compile/simulate/launch_regions.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/file_location.h"
#include "ir/dialect/host_views.h"
#include "ir/dialect/task_attribute.h"
#include "runtime/abi/check_status.h"
#include "runtime/elem.h"
#include "runtime/format_value.h"
#include "runtime/sim/element.h"
#include "runtime/sim/load/function_loader.h"
#include "runtime/sim/load/load.h"
#include "runtime/sim/scalar.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <cstring>

using namespace mlir;

namespace ptl {

std::unique_ptr<ChipRunner> ChipRunner::create(ChipProgram program, const Machine &machine,
                                               std::string &error) {
  std::unique_ptr<ChipRunner> runner(new ChipRunner(std::move(program), machine));
  for (OwningOpRef<ModuleOp> &module : runner->program_.program.kernels) {
    dropRequirements(*module);
    std::optional<rt::sim::Kernel> kernel = rt::sim::load(*module, "", error);
    if (!kernel)
      return nullptr;
    if (!attrs::byHand.isOn(*module))
      runner->ownKernels_.insert(kernel->name);
    runner->kernels_.push_back(std::move(*kernel));
  }
  return runner;
}

namespace {

/// Runs the host function.
class Host {
public:
  /// `ownKernels`: those that the compiler has made, none of which an author wrote by hand.
  Host(const std::vector<rt::sim::Kernel> &kernels, const std::set<std::string> &ownKernels,
       ModuleOp grids, const Machine &machine, const ChipRun &how)
      : kernels_(kernels), ownKernels_(ownKernels), grids_(grids), chip_(rt::sim::chipOf(machine)),
        how_(how), groups_(how.groups ? how.groups : groupsOf(machine)) {}

  rt::Failure run(func::FuncOp function, const std::vector<const PtlArray *> &arrays,
                  const std::vector<PtlScalar> &scalars, const std::vector<int64_t> &lengths) {
    size_t array = 0, scalar = 0, length = 0;
    for (BlockArgument argument : function.getArguments()) {
      if (ir::isArrayLike(argument.getType())) {
        const PtlArray &given = *arrays[array++];
        HostArray &made = arrays_[argument];
        made.data = static_cast<uint8_t *>(given.data);
        made.extents.assign(given.extents, given.extents + given.rank);
        made.bytes = hostBytes(made.extents, argument.getType());
        if (!how_.values && !llvm::is_contained(how_.known, given.data))
          made.data = nullptr;
        introduce(made, argument);
      } else if (attrs::dim.isOn(function, argument.getArgNumber())) {
        values_[argument] = IntegerAttr::get(argument.getType(), lengths[length++]);
      } else {
        values_[argument] =
            scalar < how_.assumedScalars.size() && how_.assumedScalars[scalar]
                ? assumed(argument.getType())
                : readHostScalar(reinterpret_cast<const uint8_t *>(&scalars[scalar]),
                                 argument.getType());
        ++scalar;
      }
    }
    runBlock(function.getBody().front());
    if (how_.timer && !failure_ && !how_.timer->finish())
      stopInTime(function);
    return failure_;
  }

private:
  using Value = mlir::Value; // not the interpreter's
  static int64_t groupsOf(const Machine &machine) {
    const MachineCore *cores = machine.core("aic");
    return cores && cores->count ? cores->count : 1;
  }

  void introduce(HostArray &array, Value value = {}) {
    if (how_.timer)
      array.number = how_.timer->addArray(array.bytes, array.extents.size(), sourceName(value),
                                          value && value.getDefiningOp());
  }

  /// Lets time pass until nobody is left who conflicts with what the host does now.
  void await(Operation *op, const rt::sim::ArrayAccess &access) {
    if (how_.timer && !how_.timer->await(access))
      stopInTime(op);
  }

  void stop(int32_t code, Operation *op, std::string message, bool lacksValues = false) {
    if (failure_)
      return;
    failure_ = {code, std::move(message), "", 0, 0, lacksValues};
    if (FileLineColLoc at = fileOf(op->getLoc())) {
      failure_.file = at.getFilename().str();
      failure_.line = static_cast<int32_t>(at.getLine());
    }
  }

  int64_t number(Value value) const {
    auto known = dyn_cast_or_null<IntegerAttr>(values_.lookup(value));
    return known ? known.getInt() : 0;
  }

  void runBlock(mlir::Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (failure_)
        return;
      runOp(&op);
    }
  }

  /// Stands for a number that the caller did not give. Kernels see 1; nothing here depends on it.
  static Attribute assumed(mlir::Type type) { return UnitAttr::get(type.getContext()); }

  /// Whether a scalar comes from data that was not given, in a run that only computes times.
  bool isUnknown(Value value) const { return isa_and_nonnull<UnitAttr>(values_.lookup(value)); }

  /// The value for a scalar that is not known: the example that was given for it, if any.
  Attribute unknown(Value value) const {
    auto name = dyn_cast<NameLoc>(value.getDefiningOp()->getLoc());
    auto example = name ? how_.examples.find(name.getName().str()) : how_.examples.end();
    if (example == how_.examples.end() || !value.getType().isIntOrIndex())
      return UnitAttr::get(value.getContext());
    return IntegerAttr::get(value.getType(), example->second);
  }

  /// The names of unknown scalars that these are made of, of each the nearest.
  llvm::SetVector<StringAttr> namesBehind(ValueRange values) const {
    llvm::SetVector<Value> behind(values.begin(), values.end());
    llvm::SetVector<StringAttr> names;
    for (size_t i = 0; i < behind.size(); ++i) {
      Operation *op = behind[i].getDefiningOp();
      if (!op || !isUnknown(behind[i]))
        continue;
      // A name that begins with `_` is none that the source has.
      if (auto name = dyn_cast<NameLoc>(op->getLoc());
          name && behind[i].getType().isIntOrIndex() && !name.getName().strref().starts_with("_"))
        names.insert(name.getName());
      else
        behind.insert(op->operand_begin(), op->operand_end());
    }
    return names;
  }

  /// Whether all is known by which the operation goes.
  bool isDecided(Operation *op, ValueRange by) {
    if (llvm::none_of(by, [&](Value value) { return isUnknown(value); }))
      return true;
    llvm::SetVector<StringAttr> names = namesBehind(by);
    std::string text = "the control flow depends on an element of an array, whose value is not "
                       "known when only times are simulated";
    for (StringAttr name : names)
      text += (name == names.front() ? "; examples may be given: `-D " : " -D ") +
              name.getValue().str() + "=...";
    stop(PTL_ERROR_SIMULATOR, op, text + (names.empty() ? "" : "`"), true);
    return false;
  }

  /// Records, once for each place, what is assumed about data that the caller did not give. False
  /// where nothing may be assumed.
  bool assume(Operation *op, const char *what) {
    if (!how_.decisions)
      return false;
    FileLineColLoc at = fileOf(placeInProgram(op->getLoc()));
    AssumedDecision decision{
        at ? at.getFilename().str() + ":" + std::to_string(at.getLine()) : std::string(), what};
    if (!llvm::is_contained(*how_.decisions, decision))
      how_.decisions->push_back(std::move(decision));
    return true;
  }

  void runOp(Operation *op) {
    if (!isDecided(op, whatDecides(op)))
      return;
    if (auto launch = dyn_cast<ir::LaunchOp>(op))
      return runLaunch(launch);
    if (auto alloc = dyn_cast<ir::AllocOp>(op))
      return allocate(alloc.getResult(), lengthsOf(alloc.getType(), alloc.getLengths()));
    if (auto dim = dyn_cast<ir::DimOp>(op)) {
      values_[dim.getResult()] =
          IntegerAttr::get(dim.getType(), arrays_[dim.getSource()].extents[dim.getAxis()]);
      return;
    }
    if (auto check = dyn_cast<ir::CheckOp>(op)) {
      // Checks of data that is not there are assumed to hold.
      if (!isUnknown(check.getCondition()) && number(check.getCondition()) == 0)
        stop(rt::statusOfCheck(check.getStatus()), op, messageOf(check));
      return;
    }
    if (auto print = dyn_cast<ir::PrintOp>(op))
      return runPrint(print);
    if (isa<ir::LoadOp, ir::SliceOp>(op) && readBox(op))
      return;
    if (isa<ir::CastOp, ir::ReshapeOp, ir::NewAxisOp, ir::ViewOp>(op) &&
        arrays_.count(op->getOperand(0)))
      return describe(op);
    if (op->getNumOperands() == 1 && arrays_.count(op->getOperand(0)))
      if (Attribute fact = factOf(op)) {
        values_[op->getResult(0)] = fact;
        return;
      }
    if (auto store = dyn_cast<ir::StoreOp>(op); store && values_.count(store.getValue()))
      return storeScalar(store);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return runFor(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return runIf(branch);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return runWhile(loop);
    fold(op);
  }

  void runPrint(ir::PrintOp print) {
    for (Value each : print.getXs())
      if (auto array = arrays_.find(each); array != arrays_.end())
        await(print, {array->second.number, false, {}});
    if (!failure_)
      printHostLine(print, arrays_, [&](Value each) { return values_.lookup(each); });
  }

  /// Requirements on data that the caller did not give are taken to hold.
  Attribute factOf(Operation *op) {
    const HostArray &array = arrays_[op->getOperand(0)];
    await(op, {array.number, false, {}});
    if (failure_)
      return {};
    if (array.data || array.bytes == 0 || isa<ir::ArrayType>(op->getResult(0).getType()))
      return evaluateHostFact(op, array);
    return op->getResult(0).getType().isInteger(1) ? BoolAttr::get(op->getContext(), true)
                                                   : Attribute();
  }

  // ---- control flow: arrays that loops carry have become storage

  void bind(ValueRange targets, ValueRange values) {
    llvm::SmallVector<Attribute> present;
    for (Value value : values)
      present.push_back(values_.lookup(value));
    for (auto [target, value] : llvm::zip(targets, present))
      values_[target] = value;
  }

  void runFor(scf::ForOp loop) {
    bind(loop.getRegionIterArgs(), loop.getInitArgs());
    for (int64_t i = number(loop.getLowerBound()); i < number(loop.getUpperBound()) && !failure_;
         i += number(loop.getStep())) {
      values_[loop.getInductionVar()] = IntegerAttr::get(loop.getInductionVar().getType(), i);
      runBlock(*loop.getBody());
      bind(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
    }
    bind(loop.getResults(), loop.getRegionIterArgs());
  }

  void runIf(scf::IfOp branch) {
    bool isAssumed = isUnknown(branch.getCondition()) && assume(branch, "the branch is taken");
    if (!isAssumed && !isDecided(branch, branch.getCondition()))
      return;
    bool isTaken = isAssumed || number(branch.getCondition()) != 0;
    Region &arm = isTaken ? branch.getThenRegion() : branch.getElseRegion();
    if (arm.empty())
      return;
    runBlock(arm.front());
    bind(branch.getResults(), arm.front().getTerminator()->getOperands());
  }

  void runWhile(scf::WhileOp loop) {
    bind(loop.getBeforeArguments(), loop.getInits());
    bool isAssumed = false;
    for (bool isFirst = true; !failure_; isFirst = false) {
      runBlock(*loop.getBeforeBody());
      auto condition = loop.getConditionOp();
      bind(loop.getAfterArguments(), condition.getArgs());
      if (isUnknown(condition.getCondition()) && how_.decisions) {
        if (!isFirst && !isAssumed)
          assume(loop, "the loop ends at the first exit that depends on data");
        if (!isFirst)
          break;
        isAssumed = assume(loop, "the loop runs once");
      } else if (!isDecided(loop, condition.getCondition()) ||
                 number(condition.getCondition()) == 0) {
        break;
      }
      runBlock(*loop.getAfterBody());
      bind(loop.getBeforeArguments(), loop.getAfterBody()->getTerminator()->getOperands());
    }
    bind(loop.getResults(), loop.getAfterArguments());
  }

  /// Describes the same elements with another shape.
  void describe(Operation *op) {
    HostArray array = arrays_[op->getOperand(0)];
    array.isReshaped |= !isa<ir::CastOp>(op);
    if (auto axes = dyn_cast<ir::NewAxisOp>(op)) {
      for (int64_t axis : axes.getAxes())
        array.extents.insert(array.extents.begin() + axis, 1);
    } else if (isa<ir::ReshapeOp, ir::ViewOp>(op)) {
      array.extents.clear();
      size_t next = 1; // after the array, one operand for each length that is not a number
      for (const ir::Extent &extent : ir::extentsOf(op->getResult(0).getType()))
        array.extents.push_back(extent.isConstant() ? extent.length
                                                    : number(op->getOperand(next++)));
    }
    arrays_[op->getResult(0)] = std::move(array);
  }

  void storeScalar(ir::StoreOp store) {
    mlir::Type type = store.getValue().getType();
    HostBox box = boxOf(store.getOffsets(), store.getLengths(), store.getSteps());
    await(store, accessOf(arrays_[store.getRef()], box, true));
    bool hasNone = isUnknown(store.getValue()) || (!how_.values && !arrays_[store.getRef()].data);
    if (failure_ || hasNone)
      return;
    uint8_t *memory = elementAt(arrays_[store.getRef()], box, pto::elementBytes(type));
    if (!memory)
      return stop(PTL_ERROR_INTERNAL, store, "the host stores outside of an array");
    writeHostScalar(memory, type, values_.lookup(store.getValue()));
  }

  HostBox boxOf(ValueRange offsets, ValueRange lengths, ValueRange steps) const {
    HostBox box;
    for (size_t axis = 0; axis < offsets.size(); ++axis) {
      box.offsets.push_back(number(offsets[axis]));
      box.lengths.push_back(number(lengths[axis]));
      box.steps.push_back(steps.empty() ? 1 : number(steps[axis]));
    }
    return box;
  }

  /// Operations on scalars; constants and the like by their own folders.
  void fold(Operation *op) {
    auto operands = llvm::map_to_vector(op->getOperands(),
                                        [&](Value operand) { return values_.lookup(operand); });
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return isUnknown(operand); })) {
      for (Value result : op->getResults())
        values_[result] = unknown(result);
      return;
    }
    llvm::SmallVector<OpFoldResult> results;
    if (Attribute value = evaluateHostScalar(op, operands)) {
      values_[op->getResult(0)] = value;
      return;
    }
    if (failed(op->fold(operands, results)) || results.size() != op->getNumResults()) {
      auto [code, why] = whyNoValue(op, operands);
      return stop(code, op, why);
    }
    for (auto [result, folded] : llvm::zip(op->getResults(), results))
      values_[result] =
          isa<Attribute>(folded) ? cast<Attribute>(folded) : values_.lookup(cast<Value>(folded));
  }

  std::vector<int64_t> lengthsOf(mlir::Type type, ValueRange dynamic) const {
    std::vector<int64_t> extents;
    size_t next = 0;
    for (const ir::Extent &extent : ir::extentsOf(type))
      extents.push_back(extent.isConstant() ? extent.length : number(dynamic[next++]));
    return extents;
  }

  void allocate(Value value, std::vector<int64_t> extents) {
    HostArray array;
    array.bytes = hostBytes(extents, value.getType());
    array.extents = std::move(extents);
    if (how_.values)
      array.data = newStorage(array.bytes);
    introduce(array, value);
    arrays_[value] = array;
  }

  uint8_t *newStorage(int64_t bytes) {
    storage_.push_back(std::make_unique<uint8_t[]>(static_cast<size_t>(bytes) + 64));
    rt::sim::poison(storage_.back().get(), bytes);
    return storage_.back().get();
  }

  /// A box of an array or of storage, as it is then: an array or a scalar.
  bool readBox(Operation *op) {
    auto load = dyn_cast<ir::LoadOp>(op);
    auto slice = dyn_cast<ir::SliceOp>(op);
    if (load ? load.getOutside() != nullptr : slice.getOutside() != nullptr)
      return false;
    Value result = op->getResult(0);
    HostArray source = arrays_[op->getOperand(0)];
    if (ir::isOnlyName(op)) {
      arrays_[result] = std::move(source);
      return true;
    }
    HostBox box = load ? boxOf(load.getOffsets(), load.getLengths(), load.getSteps())
                       : boxOf(slice.getOffsets(), slice.getLengths(), slice.getSteps());
    int64_t bytes = pto::elementBytes(ir::elementTypeOf(result.getType()));
    bool scalar = !isa<ir::ArrayType>(result.getType());
    if (scalar) {
      await(op, accessOf(source, box, false));
      if (failure_)
        return true;
      if (!how_.values && !source.data) {
        values_[result] = unknown(result);
        return true;
      }
      uint8_t *memory = elementAt(source, box, bytes);
      if (memory)
        values_[result] = readHostScalar(memory, result.getType());
      return memory != nullptr;
    }
    std::vector<int64_t> extents;
    llvm::ArrayRef<int64_t> dropped = load ? load.getDropped() : slice.getDropped();
    for (size_t axis = 0; axis < box.lengths.size(); ++axis)
      if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
        extents.push_back(box.lengths[axis]);
    allocate(result, std::move(extents));
    auto copy = [source, box, bytes, to = arrays_[result].data] {
      return !to || copyBox(source, box, bytes, to);
    };
    if (!how_.timer)
      return copy();
    rt::sim::TaskRequest request;
    request.work = copy;
    request.accesses = {accessOf(source, box, false), {arrays_[result].number, true, {}}};
    request.location = rt::sim::sourceLocation(placeInProgram(op->getLoc()));
    if (!how_.timer->submit(std::move(request)))
      stopInTime(op);
    return true;
  }

  static bool isArgument(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }

  rt::sim::Scalar scalarOf(Value value) const {
    if (isUnknown(value))
      return isArgument(value) ? rt::sim::Scalar::real(1) : rt::sim::Scalar::unknown(0);
    Attribute known = values_.lookup(value);
    if (auto real = dyn_cast_or_null<FloatAttr>(known))
      return rt::sim::Scalar::real(real.getValueAsDouble());
    return rt::sim::Scalar::integer(number(value));
  }

  void runLaunch(ir::LaunchOp launch) {
    const rt::sim::Kernel *kernel = nullptr;
    for (const rt::sim::Kernel &each : kernels_)
      if (each.name == launch.getKernel())
        kernel = &each;
    if (!kernel)
      return stop(PTL_ERROR_INTERNAL, launch,
                  "there is no kernel `" + launch.getKernel().str() + "`");
    int64_t groups = how_.timer && !how_.groups ? how_.timer->groupsFor(*kernel) : groups_;
    rt::sim::TaskRequest request;
    request.kernel = kernel;
    request.site = launch.getOperation();
    request.blocks = groups;
    std::vector<LaunchArgument> arguments;
    size_t next = 0;
    for (const rt::sim::Parameter &parameter : kernel->parameters) {
      if (parameter.role == "workspace") {
        takeWorkspace(parameter, request);
        continue;
      }
      Value operand = launch.getArguments()[next++];
      LaunchArgument &argument = arguments.emplace_back();
      if (!parameter.isPointer) {
        if (operand.getType().isIndex() && !isDecided(launch, operand))
          return;
        request.scalars.push_back(scalarOf(operand));
        if (operand.getType().isIndex())
          argument.number = number(operand);
        continue;
      }
      HostArray &array = arrays_[operand];
      bool writes = parameter.role != "in";
      argument = {{}, true, array.number, writes, array.isReshaped};
      request.pointers.push_back({array.data, array.bytes, parameter.name});
      request.arrays.push_back(array.number);
      if (!how_.values && writes) // what it holds from now on is not known
        array.data = nullptr;
    }
    if (how_.timer)
      return submit(launch, std::move(request), arguments);
    rt::sim::Result result =
        rt::sim::runKernel(*kernel, chip_, request.pointers, request.scalars, groups, how_.options);
    if (result.failedCheck)
      return stopAtCheck(*result.failedCheck);
    if (!result.ok)
      stop(codeOfStop(ownKernels_.count(kernel->name)), launch, result.error, result.lacksValues);
  }

  void submit(ir::LaunchOp launch, rt::sim::TaskRequest request,
              llvm::ArrayRef<LaunchArgument> arguments) {
    request.location = rt::sim::sourceLocation(placeInProgram(launch.getLoc()));
    request.name = ir::taskOf(launch).str();
    if (auto grid = grids_.lookupSymbol<func::FuncOp>(launch.getKernel()))
      request.accesses = accessesOfLaunch(grid, arguments);
    if (!how_.timer->submit(std::move(request)))
      stopInTime(launch);
  }

  /// Gives a kernel memory of its own. A timer provides it; without one each launch gets poison.
  void takeWorkspace(const rt::sim::Parameter &parameter, rt::sim::TaskRequest &request) {
    int64_t bytes = parameter.bytes * request.blocks;
    if (how_.timer)
      request.workspaces.push_back(request.pointers.size());
    uint8_t *data = how_.timer ? nullptr : workspaceFor(parameter, bytes).data;
    request.pointers.push_back({data, bytes, parameter.name});
    request.arrays.push_back(0);
  }

  void stopInTime(Operation *op) {
    const rt::sim::Timeline &timeline = how_.timer->timeline();
    if (timeline.failedCheck)
      return stopAtCheck(*timeline.failedCheck);
    // Several kernels may be under way: whose fault it is, is certain where all are the compiler's.
    stop(codeOfStop(ownKernels_.size() == kernels_.size()), op, timeline.error,
         timeline.lacksValues);
  }

  /// With the values that are known.
  std::string messageOf(ir::CheckOp check) const {
    std::vector<PtlValue> values;
    for (Value each : check.getValues()) {
      Attribute known = values_.lookup(each);
      if (!known || isUnknown(each))
        break;
      values.push_back(hostValue(each.getType(), known));
    }
    return rt::formatMessage(check.getMessage().str(), values.data(),
                             static_cast<int32_t>(values.size()));
  }

  /// As the other executors say it.
  void stopAtCheck(const rt::sim::FailedCheck &failed) {
    std::vector<PtlValue> values;
    for (const auto &[type, scalar] : failed.values) {
      PtlValue &value = values.emplace_back();
      value.elem = elemCodeOf(type.kind);
      std::memset(&value.as, 0, sizeof value.as);
      rt::sim::storeScalar(reinterpret_cast<uint8_t *>(&value.as.scalar), type.kind, scalar);
    }
    failure_ = {
        rt::statusOfCheck(failed.check.status),
        rt::formatMessage(failed.check.message, values.data(), static_cast<int32_t>(values.size())),
        failed.at.file, failed.at.line};
  }

  const HostArray &workspaceFor(const rt::sim::Parameter &parameter, int64_t bytes) {
    HostArray &array = workspaces_[&parameter];
    array.bytes = bytes;
    if (!array.data)
      array.data = newStorage(bytes);
    else
      rt::sim::poison(array.data, bytes);
    return array;
  }

  /// The error code when a kernel stops the simulated chip: if the compiler made the kernel, it is
  /// a fault of the compiler.
  int32_t codeOfStop(bool isOwn) const {
    return isOwn && how_.values ? PTL_ERROR_INTERNAL : PTL_ERROR_SIMULATOR;
  }

  const std::vector<rt::sim::Kernel> &kernels_;
  const std::set<std::string> &ownKernels_;
  ModuleOp grids_;
  rt::sim::Chip chip_;
  const ChipRun &how_;
  int64_t groups_;
  llvm::DenseMap<Value, Attribute> values_;
  llvm::DenseMap<Value, HostArray> arrays_;
  llvm::DenseMap<const rt::sim::Parameter *, HostArray> workspaces_;
  std::vector<std::unique_ptr<uint8_t[]>> storage_;
  rt::Failure failure_;
};

} // namespace

rt::Failure ChipRunner::run(const std::vector<const PtlArray *> &arrays,
                            const std::vector<PtlScalar> &scalars,
                            const std::vector<int64_t> &lengths, const ChipRun &how) {
  Host host(kernels_, ownKernels_, *program_.program.grids, machine_, how);
  auto function = *program_.program.host->getOps<func::FuncOp>().begin();
  return host.run(function, arrays, scalars, lengths);
}

} // namespace ptl
