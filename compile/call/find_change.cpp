#include "compile/call/find_change.h"

#include "codegen/reference/agreement.h"
#include "compile/simulate/chip_runner.h"
#include "ir/build/build_ir.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/element_types.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/execute/execute.h"
#include "passes/transform/plan_buffers.h"
#include "runtime/elem.h"
#include "runtime/npy/owned_array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace mlir;

namespace ptl {

using reference::RefArray;
using reference::RunStatus;

namespace {

/// The result of a stage.
struct Outcome {
  bool isRun = true; ///< false: nothing here executes it
  bool isStopped = false;
  bool isUnspecified = false;   ///< it divided by zero, which executors may take as they like
  std::string why;              ///< it stopped, or is not run
  std::vector<RefArray> arrays; ///< that may be written, in order
};

ElemKind kindOf(const PtlArray &array) {
  ElemKind kind =
      elemKindByName(rt::elemName(static_cast<PtlElem>(array.elem))).value_or(ElemKind::F32);
  // The IR has the codes of scales.
  return kind == ElemKind::F8E8M0 ? ElemKind::U8 : kind;
}

std::vector<int64_t> shapeOf(const PtlArray &array) {
  return {array.extents, array.extents + array.rank};
}

RefArray valuesOf(const PtlArray &array) {
  return reference::arrayFromMemory(kindOf(array), shapeOf(array), array.data);
}

/// One value per argument of the function.
std::vector<reference::Value> argumentsOf(func::FuncOp function, const StageCall &call) {
  std::vector<reference::Value> arguments;
  // Arrays, scalars and lengths are given in separate lists, each in the order of the arguments.
  size_t array = 0, scalar = 0, length = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (ir::isArrayLike(argument.getType())) {
      arguments.push_back(reference::Value::array(valuesOf(*call.arrays[array++])));
    } else if (attrs::dim.isOn(function, argument.getArgNumber())) {
      arguments.push_back(reference::Value::integer(call.lengths[length++]));
    } else {
      mlir::Type type = argument.getType();
      ElemKind kind = type.isIndex() ? ElemKind::Int : ir::elemKindOf(type);
      arguments.push_back(reference::Value::scalar(kind, loadElem(&call.scalars[scalar++], kind)));
    }
  }
  return arguments;
}

Outcome runTiles(ModuleOp module, const StageCall &call) {
  auto function = *module.getOps<func::FuncOp>().begin();
  execute::Result result = execute::execute(function, argumentsOf(function, call));
  Outcome outcome;
  // What the executor does not know is no change of the program.
  outcome.isRun = result.status != RunStatus::Unsupported;
  outcome.isStopped = !result.ok();
  outcome.isUnspecified = result.status == RunStatus::Arithmetic;
  outcome.why = result.message;
  outcome.arrays = std::move(result.storage);
  return outcome;
}

/// Gives each buffer bytes of its own; the machine with memories that have these.
Machine placeApart(block::BlockProgram &program, Machine machine) {
  // Without a limit each buffer gets bytes of its own.
  for (MemorySpace &space : machine.memories)
    space.bytes = space.reserved = 0; // no limit
  std::map<std::string, int64_t> peaks;
  for (OwningOpRef<ModuleOp> &kernel : program.kernels) {
    BufferLedger ledger;
    (void)block::planBuffers(*kernel, machine, ledger);
    for (const LedgerFunction &function : ledger.functions)
      for (const LedgerSpace &space : function.spaces)
        peaks[space.place] = std::max(peaks[space.place], space.peak);
  }
  for (MemorySpace &space : machine.memories)
    space.bytes = peaks[space.place] + 1024;
  return machine;
}

/// Copies of the arrays of a call, and what is in them afterwards.
class Arrays {
public:
  explicit Arrays(const StageCall &call) {
    for (const PtlArray *array : call.arrays) {
      std::vector<int64_t> shape = shapeOf(*array);
      owned_.push_back(rt::OwnedArray::make(static_cast<PtlElem>(array->elem), shape)
                           .value_or(rt::OwnedArray()));
      if (owned_.back().bytes() > 0)
        std::memcpy(owned_.back().data(), array->data, static_cast<size_t>(owned_.back().bytes()));
    }
    for (const rt::OwnedArray &array : owned_)
      views_.push_back(array.view());
    for (const PtlArray &view : views_)
      pointers_.push_back(&view);
  }

  const std::vector<const PtlArray *> &pointers() const { return pointers_; }
  RefArray values(size_t index) const { return valuesOf(views_[index]); }

private:
  std::vector<rt::OwnedArray> owned_;
  std::vector<PtlArray> views_;
  std::vector<const PtlArray *> pointers_;
};

Outcome runBlocks(const Stage &stage, const Machine &machine, const StageCall &call,
                  const rt::sim::Options &how) {
  // Running changes the module, so a copy is run.
  ChipProgram program = copyOf(stage.blocks);
  Machine own = machine;
  // The simulator needs addresses, so buffers without any get bytes of their own.
  if (stage.level == Stage::Level::Unplaced)
    own = placeApart(program.program, machine);
  Outcome outcome;
  auto function = *stage.blocks.program.host.get().getOps<func::FuncOp>().begin();
  std::unique_ptr<ChipRunner> runner = ChipRunner::create(std::move(program), own, outcome.why);
  outcome.isStopped = runner == nullptr; // what the simulator does not know, no pass may make
  if (!runner)
    return outcome;
  Arrays arrays(call);
  // The arrays are copied, since each stage has to begin with the same contents.
  ChipRun run;
  run.options = how;
  rt::Failure failure = runner->run(arrays.pointers(), call.scalars, call.lengths, run);
  outcome.isStopped = static_cast<bool>(failure);
  outcome.isUnspecified = failure.code == PTL_ERROR_ARITHMETIC;
  outcome.why = failure.message;
  size_t next = 0;
  for (BlockArgument argument : function.getArguments())
    // Only what may be written is compared.
    if (ir::isArrayLike(argument.getType())) {
      if (isa<ir::RefType>(argument.getType()))
        outcome.arrays.push_back(arrays.values(next));
      ++next;
    }
  return outcome;
}

/// How a stage is run: in program order, and where pipes are in order by events, in others.
std::vector<rt::sim::Options> waysToRun(Stage::Level level) {
  std::vector<rt::sim::Options> ways(1);
  // Without events only program order is right.
  ways[0].oneByOne = level != Stage::Level::Synchronised;
  if (level == Stage::Level::Synchronised)
    // With events every order that they allow has to give the same.
    for (rt::sim::Schedule schedule :
         {rt::sim::Schedule::Eager, rt::sim::Schedule::Lazy, rt::sim::Schedule::Random}) {
      ways.emplace_back();
      ways.back().schedule = schedule;
      ways.back().stretched = schedule == rt::sim::Schedule::Random;
    }
  return ways;
}

/// The names of the arguments that may be written.
std::vector<std::string> namesOf(func::FuncOp function) {
  std::vector<std::string> names;
  for (BlockArgument argument : function.getArguments())
    if (isa<ir::RefType>(argument.getType())) {
      std::string name = "result " + std::to_string(names.size());
      if (auto known =
              attrs::firstOf(function, argument.getArgNumber(), attrs::output, attrs::name))
        name = known.str();
      names.push_back(name);
    }
  return names;
}

/// Calls `visit` with the float types of all values.
template <typename Visit> void forEachFloat(ModuleOp module, Visit visit) {
  module.walk([&](Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      if (isa<FloatType>(ir::elementTypeOf(type)))
        visit(ir::elemKindOf(ir::elementTypeOf(type)));
  });
}

/// Compares outcomes of stages with that of the first.
class Comparison {
public:
  Comparison(const StageCall &call, ModuleOp module, Outcome first)
      : first_(std::move(first)), names_(namesOf(*module.getOps<func::FuncOp>().begin())) {
    // The shortest float type of the program decides how exactly results can agree.
    forEachFloat(module, [&](ElemKind kind) { takeType(kind); });
    for (const PtlArray *array : call.arrays)
      if (isFloat(kindOf(*array))) {
        takeType(kindOf(*array));
        if (elemBits(kindOf(*array)) <= 8)
          takeScale(valuesOf(*array));
      }
  }

  bool isDecided() const { return !first_.isUnspecified; }

  /// Empty if they agree.
  std::string difference(const Outcome &outcome) const {
    // An unspecified result agrees with anything.
    if (outcome.isUnspecified)
      return "";
    // A stage that stops where the first one ran, or the other way round, has changed the program.
    if (outcome.isStopped != first_.isStopped)
      return outcome.isStopped ? "it stops: " + outcome.why
                               : "it runs, but before it stopped with: " + first_.why;
    for (size_t i = 0; !outcome.isStopped && i < first_.arrays.size(); ++i) {
      reference::Agreement agreement{shortest_, scale_, hasFloat_};
      std::string text = reference::firstDifference(first_.arrays[i], outcome.arrays[i], agreement);
      if (!text.empty())
        return "`" + names_[i] + "`: " + text;
    }
    return "";
  }

private:
  void takeType(ElemKind kind) {
    hasFloat_ = true;
    if (elemInfo(kind).mantissaBits < elemInfo(shortest_).mantissaBits)
      shortest_ = kind;
  }
  /// Eight bits hold so few digits that one rounding of an operand is as large as what a difference
  /// leaves of it.
  void takeScale(const RefArray &array) {
    for (double value : array.floats)
      if (std::isfinite(value))
        scale_ = std::max(scale_, 10 * std::fabs(value));
  }

  Outcome first_;
  std::vector<std::string> names_;
  ElemKind shortest_ = ElemKind::F32;
  double scale_ = 0;
  bool hasFloat_ = false;
};

} // namespace

std::optional<StageDifference> findChange(const StageRecord &record, const Machine *machine,
                                          const StageCall &call) {
  std::optional<Comparison> comparison;
  for (const Stage &stage : record.all())
    // Each stage is run in each way, so that the first difference names its pass.
    for (const rt::sim::Options &how : waysToRun(stage.level)) {
      Outcome outcome = stage.level == Stage::Level::Tiles ? runTiles(moduleOf(stage), call)
                                                           : runBlocks(stage, *machine, call, how);
      if (!outcome.isRun)
        continue;
      // The first stage that runs is what all others are compared with.
      if (!comparison) {
        comparison.emplace(call, moduleOf(stage), std::move(outcome));
        // If that is unspecified, nothing can be compared.
        if (!comparison->isDecided())
          return std::nullopt;
        continue;
      }
      std::string text = comparison->difference(outcome);
      if (text.empty())
        continue;
      if (how.schedule != rt::sim::Schedule::Program)
        text += " (with the schedule `" +
                std::string(rt::sim::scheduleNames[static_cast<size_t>(how.schedule)]) + "`)";
      auto entry = *moduleOf(stage).getOps<func::FuncOp>().begin();
      llvm::StringRef name = entry.getSymName();
      name.consume_front("ptl_");
      return StageDifference{stage.pass, "`" + name.str() + "`: " + text, moduleOf(stage)};
    }
  return std::nullopt;
}

} // namespace ptl
