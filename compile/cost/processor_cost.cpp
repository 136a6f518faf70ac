#include "compile/cost/processor_cost.h"

#include "compile/call/known_arguments.h"
#include "compile/call/work.h"
#include "compile/call/work_of_op.h"
#include "compile/cost/statements.h"
#include "compile/entry/manifest.h"
#include "compile/entry/reach.h"
#include "compile/source_spans.h"
#include "compile/tile_module.h"
#include "frontend/base/printed.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/source_range.h"
#include "ir/ops/op_lowering.h"
#include "passes/analysis/op_info.h"
#include "runtime/elem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;

namespace ptl {

namespace {

/// An element that costs at least as many additions is that of a function such as `exp`.
constexpr int32_t kFunctionCost = 12;

/// What may limit a statement, beside memory.
enum class Unit : uint8_t { F32, F64, Bf16, Integers, Functions, Arithmetic };
constexpr size_t kNumUnits = 6;

/// What a statement does.
struct Load {
  double read = 0, written = 0;   ///< bytes
  double operations = 0;          ///< floating point and integer; a multiply-add is two
  double seconds[kNumUnits] = {}; ///< of each unit alone
};

/// An operation that was counted, and where it stands.
struct CountedOp {
  Operation *op;
  const OpWork *work;
  std::vector<Span> spans;
};

class Counts {
public:
  Counts(func::FuncOp function, const WorkByOp &work, const MachinePeaks &peaks)
      : function_(function), work_(work), peaks_(peaks) {
    function.walk([&](Operation *op) {
      // A grid's work is that of the operations within it.
      if (auto found = work.ops.find(op); found != work.ops.end() && !isa<ir::ParallelOp>(op))
        ops_.push_back({op, &found->second, {}});
    });
  }

  /// Tells operations that stand in none of the statements what those stand in that use them.
  void place(const std::vector<StatementPlace> &statements);
  Load loadOf(llvm::function_ref<bool(const CountedOp &)> isWanted) const;
  /// The bytes of all arrays that are in memory.
  double allBytes() const;
  const std::vector<CountedOp> &ops() const { return ops_; }

private:
  /// The grid around it, or itself.
  Operation *passOf(Operation *op) const;
  void addOperations(Load &load, const CountedOp &counted) const;

  func::FuncOp function_;
  const WorkByOp &work_;
  const MachinePeaks &peaks_;
  std::vector<CountedOp> ops_; ///< in the order of the program
};

} // namespace

void Counts::place(const std::vector<StatementPlace> &statements) {
  auto isPlaced = [&](const std::vector<Span> &spans) {
    return std::any_of(statements.begin(), statements.end(),
                       [&](const StatementPlace &each) { return isWithin(spans, each.span); });
  };
  for (CountedOp &counted : ops_) {
    llvm::SmallVector<Operation *> next = {counted.op};
    // Operations that passes have added have no statement of their own; the limit ends long chains.
    for (size_t i = 0; i < next.size() && i < 16; ++i) {
      counted.spans = ir::rangesOf(next[i]->getLoc());
      if (isPlaced(counted.spans))
        break;
      llvm::append_range(next, next[i]->getUsers());
    }
  }
}

Operation *Counts::passOf(Operation *op) const {
  Operation *pass = op;
  // The outermost grid is one pass over memory.
  for (auto grid = op->getParentOfType<ir::ParallelOp>(); grid;
       grid = grid->getParentOfType<ir::ParallelOp>())
    pass = grid;
  return pass;
}

double Counts::allBytes() const {
  double bytes = 0;
  for (const auto &[memory, size] : work_.memories)
    bytes += static_cast<double>(size);
  return bytes;
}

/// The widest element that an operation computes with, but for positions.
static int64_t elementBytes(Operation *op) {
  int64_t bytes = 1;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (mlir::Type type : types)
      if (mlir::Type element = ir::elementTypeOf(type); element.isIntOrFloat())
        bytes = std::max<int64_t>(bytes, element.getIntOrFloatBitWidth() / 8);
  return bytes;
}

static bool isShortFloat(mlir::Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

void Counts::addOperations(Load &load, const CountedOp &counted) const {
  auto amount = static_cast<double>(counted.work->operations);
  const OpRecord *record = ir::recordOf(counted.op);
  if (amount == 0 || !record)
    return;
  int64_t bytes = elementBytes(counted.op);
  auto take = [&](Unit unit, double operations, double rate) {
    load.operations += operations;
    load.seconds[static_cast<size_t>(unit)] += operations / rate;
  };
  mlir::Type element = ir::elementTypeOf(counted.op->getOperandTypes().empty()
                                             ? counted.op->getResult(0).getType()
                                             : counted.op->getOperand(0).getType());
  if (record->opClass == OpClass::Product) {
    if (element.isF64())
      return take(Unit::F64, 2 * amount, peaks_.doubleFlops);
    if (element.isBF16())
      return take(Unit::Bf16, 2 * amount, peaks_.bf16Flops);
    if (element.isF16())
      return take(Unit::F32, 2 * amount, peaks_.halfFlops);
    if (isa<IntegerType>(element)) {
      unsigned width = element.getIntOrFloatBitWidth();
      return take(Unit::Integers, 2 * amount,
                  width <= 8 ? peaks_.byteFlops
                  : width <= 16
                      ? peaks_.pairFlops
                      : peaks_.flops * 4 / static_cast<double>(std::max<int64_t>(bytes, 4)));
    }
    return take(Unit::F32, 2 * amount, peaks_.flops);
  }
  // Short floats are computed as `f32`; a multiply-add, which counts twice, takes an addition's time.
  bool isShort = isShortFloat(element);
  double rate =
      peaks_.flops / 2 * 4 / static_cast<double>(isShort ? std::max<int64_t>(bytes, 4) : bytes);
  bool isFunction = opLowering(record->id).cpuCost >= kFunctionCost;
  take(isFunction ? Unit::Functions : Unit::Arithmetic, amount, rate);
}

Load Counts::loadOf(llvm::function_ref<bool(const CountedOp &)> isWanted) const {
  Load load;
  /// Bytes by grid and array, and the most that they can be.
  std::map<std::pair<Operation *, void *>, std::pair<double, double>> read, written;
  for (const CountedOp &counted : ops_) {
    if (!isWanted(counted))
      continue;
    addOperations(load, counted);
    Operation *pass = passOf(counted.op);
    auto rounds = static_cast<double>(work_.ops.find(pass)->second.executions);
    auto add = [&](auto &sums, Value memory, int64_t bytes) {
      auto whole = static_cast<double>(work_.memories.lookup(memory));
      auto &[sum, most] = sums[{pass, memory.getAsOpaquePointer()}];
      sum += static_cast<double>(bytes);
      most = std::max(most, rounds * whole);
    };
    auto store = dyn_cast<ir::StoreOp>(counted.op);
    for (size_t i = 0; i < counted.work->read.size(); ++i)
      if (int64_t bytes = counted.work->read[i])
        add(read, memoryOf(counted.op->getOperand(static_cast<unsigned>(i))), bytes);
    if (store && memoryOf(store.getRef()))
      add(written, memoryOf(store.getRef()), counted.work->written);
    else
      load.written += static_cast<double>(counted.work->written);
  }
  for (const auto &[key, bytes] : read)
    // Several reads of one array in a pass find it in a cache, so it counts at most once for each
    // run.
    load.read += std::min(bytes.first, bytes.second);
  for (const auto &[key, bytes] : written)
    load.written += std::min(bytes.first, bytes.second);
  return load;
}

// ---- Times --------------------------------------------------------------------------------------

/// What is read and what is written at the same rate as a copy, and what is read beyond that.
static double secondsToMove(const Load &load, double copyRate, double readRate) {
  double copied = 2 * std::min(load.read, load.written);
  double readAlone = std::max(0.0, load.read - load.written);
  double writtenAlone = std::max(0.0, load.written - load.read);
  return (copied + writtenAlone) / copyRate + readAlone / readRate;
}

static constexpr const char *kUnits[kNumUnits] = {"f32 multiply-adds",  "f64 multiply-adds",
                                                  "bf16 multiply-adds", "integer multiply-adds",
                                                  "functions",          "arithmetic"};

namespace {
/// How times are made of loads.
class Pricing {
public:
  Pricing(const MachinePeaks &peaks, bool isInCache) : peaks_(peaks), isInCache_(isInCache) {}

  StatementWork priceOf(const Load &load) const;

private:
  const MachinePeaks &peaks_;
  bool isInCache_;
};
} // namespace

StatementWork Pricing::priceOf(const Load &load) const {
  StatementWork work;
  work.reads = load.read;
  work.writes = load.written;
  work.operations = load.operations;
  work.moveUs = 1e6 * (isInCache_ ? secondsToMove(load, peaks_.cacheBytes, peaks_.cacheReadBytes)
                                  : secondsToMove(load, peaks_.bytes, peaks_.readBytes));
  size_t most = 0;
  for (size_t unit = 0; unit < kNumUnits; ++unit) {
    // Units are taken to work one after the other, while memory moves beside them.
    work.computeUs += 1e6 * load.seconds[unit];
    most = load.seconds[unit] > load.seconds[most] ? unit : most;
  }
  if (work.us() > 0)
    work.by = work.moveUs >= work.computeUs ? (isInCache_ ? "cache" : "memory") : kUnits[most];
  return work;
}

/// The parts of the whole by what bounds them: `memory-bound 87 %`.
static void reportWhole(Cost &cost, const std::vector<StatementWork> &parts) {
  std::map<std::string, double> byBound;
  for (const StatementWork &part : parts) {
    cost.us += part.us();
    if (!part.by.empty())
      byBound[part.by] += part.us();
  }
  auto most = std::max_element(byBound.begin(), byBound.end(),
                               [](const auto &a, const auto &b) { return a.second < b.second; });
  if (most != byBound.end())
    cost.bound =
        printed("bound by %s %.0f %%", most->first.c_str(), 100 * cost.share(most->second));
}

static std::vector<StatementPlace> statementsOf(const CallableDecl &entry) {
  std::vector<StatementPlace> places;
  for (const CallableDecl *decl : reachableFrom(entry))
    forEachStatement(*decl, [&](const StatementPlace &place) { places.push_back(place); });
  return places;
}

static void reportStatements(Cost &cost, Counts &counts, const CallableDecl &entry,
                             const Pricing &pricing,
                             const std::function<Formula(const Stmt &)> &rounds) {
  std::vector<StatementPlace> places = statementsOf(entry), own;
  forEachStatement(entry, [&](const StatementPlace &place) {
    if (place.isLeaf)
      own.push_back(place);
  });
  counts.place(places);
  for (const StatementPlace &place : places) {
    StatementCost statement{place.span, std::string(place.kind)};
    statement.isLeaf = place.isLeaf;
    statement.work = pricing.priceOf(
        counts.loadOf([&](const CountedOp &op) { return isWithin(op.spans, place.span); }));
    statement.us = statement.work->us();
    if (statement.us <= 0)
      continue;
    // Lengths of functions that are called depend on the call.
    bool isOwn = std::any_of(own.begin(), own.end(), [&](const StatementPlace &each) {
      return each.stmt == place.stmt && each.span == place.span;
    });
    if (place.stmt && isOwn)
      statement.rounds = rounds(*place.stmt);
    cost.statements.push_back(std::move(statement));
  }
  std::vector<StatementWork> parts;
  for (const StatementPlace &place : own)
    parts.push_back(pricing.priceOf(
        counts.loadOf([&](const CountedOp &op) { return isWithin(op.spans, place.span); })));
  // What belongs to none of the statements counts in the whole as well.
  parts.push_back(pricing.priceOf(counts.loadOf([&](const CountedOp &op) {
    return std::none_of(own.begin(), own.end(),
                        [&](const StatementPlace &each) { return isWithin(op.spans, each.span); });
  })));
  reportWhole(cost, parts);
}

// ---- The call -----------------------------------------------------------------------------------

/// The arguments of the function that an entry becomes: parameters, outputs, lengths.
static std::vector<KnownArgument> knownArguments(const CallableDecl &decl,
                                                 const ExampleCall &call) {
  size_t arrays = 0;
  std::vector<KnownArgument> known = knownParameters(decl, call.scalars, [&](size_t i) {
    arrays = i + 1;
    return call.extents[i];
  });
  // The outputs follow the parameters.
  for (; arrays < call.extents.size(); ++arrays)
    known.push_back({call.extents[arrays], {}});
  for (int64_t length : call.lengths)
    known.push_back({{}, length});
  return known;
}

static void reportAssumed(Cost &cost, const WorkByOp &work, const SourceManager &sources) {
  for (Operation *op : work.assumed) {
    Span span = spanOf(op->getLoc());
    if (span.file >= sources.size())
      continue;
    const SourceFile &file = sources.file(span.file);
    AssumedDecision decision{file.path() + ":" + std::to_string(file.lineColumn(span.begin).line),
                             op->getNumRegions() == 2 && op->getName().stripDialect() == "while"
                                 ? "the loop runs once"
                                 : "the branch is taken"};
    if (std::find(cost.decisions.begin(), cost.decisions.end(), decision) == cost.decisions.end())
      cost.decisions.push_back(std::move(decision));
  }
}

static bool areKnown(const MachinePeaks &peaks) {
  return peaks.bytes > 0 && peaks.readBytes > 0 && peaks.flops > 0 && peaks.doubleFlops > 0;
}

Cost processorCost(const ProcessorQuestion &question, const MachinePeaks &peaks) {
  const CallableDecl &decl = *question.bound.binding.decl;
  Cost cost;
  cost.entry = decl.name;
  cost.target = "cpu";
  std::string manifest = emitManifest(question.program, question.sources, {{&decl, {}}}, false);
  rt::Manifest described = rt::parseManifest(manifest, cost.unknown).value_or(rt::Manifest{});
  std::optional<ExampleCall> call;
  if (!described.entries.empty())
    call = exampleCall(question.program, question.bound, described.entries.front(), question.sizes,
                       cost.unknown);
  if (!call || !areKnown(peaks)) {
    if (cost.unknown.empty())
      cost.unknown = call ? "the rates of this machine have not been measured"
                          : "it cannot be called from outside";
    return cost;
  }
  cost.sizes = call->sizes;
  CompilerOptions options = question.options;
  // Operations have to say which part of the source they come from.
  options.ranges = true;
  DiagnosticSink sink; // what is wrong with the entry has been reported
  CompileContext context(question.program, question.sources, options, sink);
  std::optional<BuiltEntry> built = buildEntry(context, question.bound.binding, "ptl_entry");
  std::optional<TileModule> tiles;
  if (built)
    tiles = tileModule(context, std::move(built->tensor));
  std::optional<WorkByOp> work;
  if (tiles)
    work = countWorkByOp(*tiles->module, knownArguments(decl, *call));
  if (!work) {
    cost.unknown = tiles ? "the amount of its work depends on data" : "it cannot be compiled";
    return cost;
  }
  reportAssumed(cost, *work, question.sources);
  Counts counts(*tiles->module->getOps<func::FuncOp>().begin(), *work, peaks);
  // Half of the cache is left to other data.
  bool isInCache = peaks.cacheBytes > 0 && peaks.cacheReadBytes > 0 &&
                   counts.allBytes() * 2 <= static_cast<double>(peaks.cacheSize);
  DimLookup values = valuesOf(question.program, question.bound.binding, cost.sizes);
  reportStatements(cost, counts, decl, Pricing(peaks, isInCache), [&](const Stmt &stmt) {
    return roundsOf(stmt, *question.program.dims, values);
  });
  cost.isLeast = true;
  cost.machineText = peaksText(peaks);
  return cost;
}

} // namespace ptl
