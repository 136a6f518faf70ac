#include "driver/ir/chip_runner.h"

#include "runtime/sim/element.h"
#include "runtime/sim/load/load.h"
#include "runtime/sim/scalar.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <cstring>

using namespace mlir;

namespace ptl {

std::unique_ptr<ChipRunner> ChipRunner::create(ChipProgram program, const Machine &machine,
                                               std::string &error) {
  std::unique_ptr<ChipRunner> runner(new ChipRunner(std::move(program), machine));
  for (OwningOpRef<ModuleOp> &module : runner->program_.program.kernels) {
    std::optional<rt::sim::Kernel> kernel = rt::sim::load(*module, "", error);
    if (!kernel)
      return nullptr;
    runner->kernels_.push_back(std::move(*kernel));
  }
  return runner;
}

namespace {

/// An array of the host, dense.
struct HostArray {
  uint8_t *data = nullptr;
  std::vector<int64_t> extents;
  int64_t bytes = 0;
};

/// Runs the host function.
class Host {
public:
  Host(const std::vector<rt::sim::Kernel> &kernels, const Machine &machine,
       const rt::sim::Options &options, int64_t groups)
      : kernels_(kernels), chip_(rt::sim::chipOf(machine)), options_(options), groups_(groups) {}

  rt::Failure run(func::FuncOp function, const std::vector<const PtlArray *> &arrays,
                  const std::vector<PtlScalar> &scalars, const std::vector<int64_t> &lengths) {
    size_t array = 0, scalar = 0, length = 0;
    for (BlockArgument argument : function.getArguments()) {
      if (isa<ir::ArrayType, ir::RefType>(argument.getType())) {
        const PtlArray &given = *arrays[array++];
        HostArray &made = arrays_[argument];
        made.data = static_cast<uint8_t *>(given.data);
        made.extents.assign(given.extents, given.extents + given.rank);
        made.bytes = bytesOf(made.extents, argument.getType());
      } else if (function.getArgAttr(argument.getArgNumber(), "ptl.dim")) {
        values_[argument] = IntegerAttr::get(argument.getType(), lengths[length++]);
      } else {
        setScalar(argument, scalars[scalar++]);
      }
    }
    runBlock(function.getBody().front());
    return failure_;
  }

private:
  static int64_t bytesOf(const std::vector<int64_t> &extents, mlir::Type type) {
    int64_t elements = 1;
    for (int64_t extent : extents)
      elements *= extent;
    return elements * pto::elementBytes(ir::elementTypeOf(type));
  }

  void setScalar(Value value, const PtlScalar &cell) {
    mlir::Type type = value.getType();
    if (auto real = dyn_cast<FloatType>(type)) {
      rt::sim::Scalar read =
          rt::sim::loadScalar(reinterpret_cast<const uint8_t *>(&cell), elemKindOf(type));
      values_[value] = FloatAttr::get(real, read.f);
    } else {
      int64_t number =
          type.isIndex()
              ? cell.i64
              : rt::sim::loadScalar(reinterpret_cast<const uint8_t *>(&cell), elemKindOf(type)).i;
      values_[value] = IntegerAttr::get(type, number);
    }
  }

  static ElemKind elemKindOf(mlir::Type type) {
    return type.isInteger(1) ? ElemKind::Bool
           : type.isIndex()  ? ElemKind::I64
                             : ir::elemKindOf(type);
  }

  void stop(int32_t code, Operation *op, std::string message) {
    if (failure_)
      return;
    failure_ = {code, std::move(message), "", 0};
    op->getLoc()->walk([&](Location inner) {
      if (auto at = dyn_cast<FileLineColLoc>(inner); at && failure_.line == 0) {
        failure_.file = at.getFilename().str();
        failure_.line = static_cast<int32_t>(at.getLine());
      }
      return WalkResult::advance();
    });
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

  void runOp(Operation *op) {
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
      if (number(check.getCondition()) == 0)
        stop(check.getStatus() == "where" ? PTL_ERROR_WHERE : PTL_ERROR_ASSERT, op,
             check.getMessage().str());
      return;
    }
    if (isa<ir::LoadOp, ir::SliceOp>(op) && readBox(op))
      return;
    if (isa<ir::CastOp>(op) && arrays_.count(op->getOperand(0))) {
      arrays_[op->getResult(0)] = HostArray(arrays_[op->getOperand(0)]);
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop.getNumResults() == 0) {
      for (int64_t i = number(loop.getLowerBound()); i < number(loop.getUpperBound()) && !failure_;
           i += number(loop.getStep())) {
        values_[loop.getInductionVar()] = IntegerAttr::get(loop.getInductionVar().getType(), i);
        runBlock(*loop.getBody());
      }
      return;
    }
    fold(op);
  }

  /// Operations on scalars, by their own folders.
  void fold(Operation *op) {
    llvm::SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(values_.lookup(operand));
    llvm::SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != op->getNumResults())
      return stop(PTL_ERROR_SIMULATOR, op,
                  "the simulator's host cannot run `" + op->getName().getStringRef().str() + "`");
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
    array.bytes = bytesOf(extents, value.getType());
    array.extents = std::move(extents);
    storage_.push_back(std::make_unique<uint8_t[]>(static_cast<size_t>(array.bytes) + 64));
    array.data = storage_.back().get();
    rt::sim::poison(array.data, array.bytes);
    arrays_[value] = array;
  }

  /// A whole array read from storage, as it is then.
  bool readBox(Operation *op) {
    auto load = dyn_cast<ir::LoadOp>(op);
    if (!load || !load.getDropped().empty() || !load.getSteps().empty() || load.getOutside())
      return false;
    HostArray source = arrays_[load.getRef()];
    std::vector<int64_t> extents;
    for (auto [offset, length] : llvm::zip(load.getOffsets(), load.getLengths())) {
      if (number(offset) != 0)
        return false;
      extents.push_back(number(length));
    }
    if (extents != source.extents)
      return false;
    allocate(op->getResult(0), extents);
    std::memcpy(arrays_[op->getResult(0)].data, source.data, static_cast<size_t>(source.bytes));
    return true;
  }

  rt::sim::Scalar scalarOf(Value value) const {
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
      return stop(PTL_ERROR_SIMULATOR, launch,
                  "there is no kernel `" + launch.getKernel().str() + "`");
    std::vector<rt::sim::GlobalArray> pointers;
    std::vector<rt::sim::Scalar> scalars;
    std::vector<uint8_t> workspace;
    size_t next = 0;
    for (const rt::sim::Parameter &parameter : kernel->parameters) {
      if (parameter.role == "workspace") {
        workspace.assign(static_cast<size_t>(parameter.bytes * groups_), 0);
        rt::sim::poison(workspace.data(), static_cast<int64_t>(workspace.size()));
        pointers.push_back(
            {workspace.data(), static_cast<int64_t>(workspace.size()), parameter.name});
        continue;
      }
      Value operand = launch.getArguments()[next++];
      if (parameter.isPointer) {
        const HostArray &array = arrays_[operand];
        pointers.push_back({array.data, array.bytes, parameter.name});
      } else {
        scalars.push_back(scalarOf(operand));
      }
    }
    rt::sim::Result result =
        rt::sim::runKernel(*kernel, chip_, pointers, scalars, groups_, options_);
    if (!result.ok)
      stop(PTL_ERROR_SIMULATOR, launch, result.error);
  }

  const std::vector<rt::sim::Kernel> &kernels_;
  rt::sim::Chip chip_;
  const rt::sim::Options &options_;
  int64_t groups_;
  llvm::DenseMap<Value, Attribute> values_;
  llvm::DenseMap<Value, HostArray> arrays_;
  std::vector<std::unique_ptr<uint8_t[]>> storage_;
  rt::Failure failure_;
};

} // namespace

rt::Failure ChipRunner::run(const std::vector<const PtlArray *> &arrays,
                            const std::vector<PtlScalar> &scalars,
                            const std::vector<int64_t> &lengths, const rt::sim::Options &options,
                            int64_t groups) {
  Host host(kernels_, machine_, options, groups);
  auto function = *program_.program.host->getOps<func::FuncOp>().begin();
  return host.run(function, arrays, scalars, lengths);
}

} // namespace ptl
