#include "runtime/sim/load/load.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/source_range.h"
#include "runtime/sim/execution.h"
#include "runtime/sim/load/function_loader.h"

using namespace mlir;

namespace ptl::rt::sim {

SourceLocation sourceLocation(Location location) {
  SourceLocation result;
  // The outermost name counts, since passes put names around places. Of fused places the first one
  // in a file is taken: operations that were joined come in their order.
  if (auto named = dyn_cast<NameLoc>(location)) {
    result = sourceLocation(named.getChildLoc());
    result.name = named.getName().str();
  } else if (auto file = dyn_cast<FileLineColLoc>(location)) {
    result = {file.getFilename().str(),
              static_cast<int32_t>(file.getLine()),
              static_cast<int32_t>(file.getColumn()),
              {},
              {}};
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (result = sourceLocation(part); !result.file.empty())
        break;
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    result = sourceLocation(call.getCallee());
  }
  return result;
}

bool FunctionLoader::fail(Operation *op, const llvm::Twine &message) {
  // The first error names the cause; those that follow from it would only hide it.
  if (!error_.empty())
    return false;
  std::string place = toString(sourceLocation(op->getLoc()));
  error_ = (place.empty() ? "" : place + ": ") +
           ("`" + op->getName().getStringRef() + "` " + message).str();
  return false;
}

Register FunctionLoader::newRegister(Type type) {
  if (isa<pto::TileBufType, pto::MultiTileBufType>(type))
    return {RegisterKind::Tile, function_.numTiles++};
  if (isa<pto::PtrType, pto::TensorViewType, pto::PartitionViewType>(type))
    return {RegisterKind::View, function_.numViews++};
  return {RegisterKind::Scalar, function_.numScalars++};
}

Register FunctionLoader::define(Value value) {
  Register result = newRegister(value.getType());
  registers_[value] = result;
  return result;
}

Step &FunctionLoader::add(StepKind kind, Operation *op) {
  Step step;
  step.kind = kind;
  step.location = static_cast<int32_t>(function_.locations.size());
  function_.locations.push_back(sourceLocation(op->getLoc()));
  function_.locations.back().spans = ir::rangesOf(op->getLoc());
  function_.steps.push_back(std::move(step));
  return function_.steps.back();
}

Step &FunctionLoader::add(StepKind kind, Operation *op, ValueRange operands) {
  Step &step = add(kind, op);
  for (Value operand : operands)
    step.operands.push_back(registerOf(operand));
  if (op->getNumResults() == 1)
    step.result = define(op->getResult(0));
  return step;
}

bool FunctionLoader::loadBlock(Block &block) {
  for (Operation &op : block)
    if (!loadOp(&op))
      return false;
  return true;
}

bool FunctionLoader::loadOp(Operation *op) {
  bool known = false;
  if (!loadControl(op, known))
    return false;
  if (!known && !loadScalar(op, known))
    return false;
  if (known)
    return true;
  if (isa<pto::PtoDialect>(op->getDialect()))
    return loadBlockLevel(op);
  return fail(op, "is not known to the simulator");
}

std::optional<Function> FunctionLoader::load() {
  // Steps are a list with structured loops and branches; jumps between blocks have no place in it.
  if (!llvm::hasSingleElement(func_.getBody())) {
    fail(func_, "has to be one block");
    return std::nullopt;
  }
  for (BlockArgument argument : func_.getArguments())
    function_.arguments.push_back(define(argument));
  if (!loadBlock(func_.getBody().front()))
    return std::nullopt;
  return std::move(function_);
}

// ---- kernels ------------------------------------------------------------------------------------

/// The kernel that a function belongs to.
static std::string kernelOf(func::FuncOp func) {
  if (auto name = attrs::kernel.of(func))
    return name.str();
  StringRef symbol = func.getSymName();
  // Functions of a kernel without a name of its own are told apart by these suffixes.
  if (!symbol.consume_back("_aic"))
    symbol.consume_back("_aiv");
  return symbol.str();
}

std::vector<std::string> kernelNames(ModuleOp module) {
  std::vector<std::string> names;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration() && !llvm::is_contained(names, kernelOf(func)))
      names.push_back(kernelOf(func));
  return names;
}

static bool loadParameters(func::FuncOp func, Kernel &kernel, std::string &error) {
  std::vector<Parameter> parameters;
  for (BlockArgument argument : func.getArguments()) {
    Parameter parameter;
    Type type = argument.getType();
    if (auto pointer = dyn_cast<pto::PtrType>(type)) {
      parameter.isPointer = true;
      type = pointer.getElementType();
    }
    std::optional<ElemKind> kind = ir::registerKindOf(type);
    if (!kind) {
      error = "argument " + std::to_string(argument.getArgNumber()) + " of `" +
              func.getSymName().str() + "` is neither a pointer nor a scalar";
      return false;
    }
    parameter.type.kind = *kind;
    unsigned number = argument.getArgNumber();
    if (auto name = attrs::name.of(func, number))
      parameter.name = name.str();
    if (auto role = attrs::role.of(func, number))
      parameter.role = role.str();
    if (auto bytes = attrs::bytes.of(func, number))
      parameter.bytes = bytes.getInt();
    parameters.push_back(std::move(parameter));
  }
  // A mixed kernel has a function for each kind of core, and a launch passes both the same
  // arguments.
  if (kernel.parameters.empty())
    kernel.parameters = std::move(parameters);
  else if (kernel.parameters.size() != parameters.size())
    error = "the functions of `" + kernel.name + "` have different arguments";
  return error.empty();
}

static bool loadFunction(func::FuncOp func, Kernel &kernel, std::vector<QueueKey> &keys,
                         std::string &error) {
  bool cube = pto::isCube(func);
  std::optional<Function> &slot = cube ? kernel.cube : kernel.vector;
  if (slot) {
    error = "`" + kernel.name + "` has two functions for one kind of core";
    return false;
  }
  if (!loadParameters(func, kernel, error))
    return false;
  slot = FunctionLoader(kernel, keys, func, cube, error).load();
  return slot.has_value();
}

std::optional<Kernel> load(ModuleOp module, StringRef kernelName, std::string &error) {
  Kernel kernel;
  kernel.name = kernelName.str();
  if (kernelName.empty()) {
    std::vector<std::string> names = kernelNames(module);
    if (names.size() != 1) {
      error = "the module has " + std::to_string(names.size()) + " kernels, so one has to be named";
      return std::nullopt;
    }
    kernel.name = names.front();
  }
  if (auto machine = attrs::machine.of(module))
    kernel.machine = machine.str();
  std::vector<QueueKey> keys;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration() && kernelOf(func) == kernel.name &&
        !loadFunction(func, kernel, keys, error))
      return std::nullopt;
  if (!kernel.cube && !kernel.vector) {
    error = "the module has no kernel `" + kernel.name + "`";
    return std::nullopt;
  }
  return kernel;
}

} // namespace ptl::rt::sim
