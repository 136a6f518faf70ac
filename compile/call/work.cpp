#include "compile/call/work.h"

#include "compile/call/work_formula.h"
#include "compile/call/work_of_op.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/scalar_values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;

namespace ptl {

namespace {

using Extents = std::vector<int64_t>;
using Known = std::optional<int64_t>;

/// Operations that are followed at most: a fraction of a second.
constexpr int64_t kMostSteps = 10'000'000;

/// The operands that give the lengths of a result or of a box.
ValueRange lengthOperands(Operation &op) {
  return llvm::TypeSwitch<Operation *, ValueRange>(&op)
      .Case<ir::LoadOp, ir::SliceOp, ir::StoreOp, ir::AllocOp, ir::ViewOp, ir::ZerosOp, ir::OnesOp,
            ir::FullOp, ir::IndexOp, ir::ReshapeOp, ir::BroadcastOp, ir::RandomOp, ir::OneHotOp,
            ir::TopkOp>([](auto each) { return ValueRange(each.getLengths()); })
      .Default([](Operation *) { return ValueRange(); });
}

bool isScalarInteger(Value value) { return value.getType().isIntOrIndex(); }

/// Which integers decide how much is computed: lengths, bounds of loops, conditions, and what those
/// are made of.
class Relevance {
public:
  explicit Relevance(Operation *root) {
    // Needs are followed backwards from what decides about the amount of work.
    root->walk([&](Operation *op) {
      if (isa<scf::ForOp, ir::ParallelOp, ir::PadOp>(op))
        needAll(op->getOperands());
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        need(branch.getCondition());
      else if (auto condition = dyn_cast<scf::ConditionOp>(op))
        need(condition.getCondition());
      needAll(lengthOperands(*op));
    });
  }
  bool contains(Value value) const { return values_.contains(value); }

private:
  void needAll(ValueRange values) {
    for (Value value : values)
      need(value);
  }
  void needTerminators(Operation *op, unsigned number) {
    for (Region &region : op->getRegions())
      for (mlir::Block &block : region) {
        Operation *end = block.getTerminator();
        auto condition = dyn_cast<scf::ConditionOp>(end);
        // A `while` hands its values on by the condition, other regions by their yield.
        ValueRange values = condition ? ValueRange(condition.getArgs()) : end->getOperands();
        if (number < values.size())
          need(values[number]);
      }
  }
  void need(Value value) {
    // Each value is followed once, which also ends the cycles of loop variables.
    if (!isScalarInteger(value) || !values_.insert(value).second)
      return;
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // The loop variable follows from the bounds, which are needed anyway.
      if (argument && number == 0)
        return;
      number -= argument ? 1 : 0;
      // A carried value needs its start, and what each turn makes of it.
      need(loop.getInitArgs()[number]);
      need(loop.getRegionIterArgs()[number]);
      needTerminators(op, number);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (number < loop.getInits().size())
        need(loop.getInits()[number]);
      needTerminators(op, number);
      for (Region &region : op->getRegions())
        if (number < region.getNumArguments())
          need(region.getArgument(number));
    } else if (isa<scf::IfOp>(op)) {
      needTerminators(op, number);
    } else if (!argument) {
      needAll(op->getOperands());
    }
  }

  llvm::DenseSet<Value> values_;
};

/// What has been counted so far.
struct Tally {
  Work work;
  std::map<Operation *, OpWork> ops; ///< only where each is wanted

  void add(const Tally &other, int64_t times = 1) {
    work = work + other.work * times;
    for (const auto &[op, own] : other.ops)
      ops[op].add(own, times);
  }
  bool isNothing() const { return work == Work() && ops.empty(); }
};

/// Runs a function on its integers alone.
class Counter {
public:
  /// `byOp`: counts each operation, and assumes what data decides: branches are taken, `while`
  /// loops run once.
  explicit Counter(func::FuncOp function, bool byOp = false)
      : function_(function), relevance_(function), byOp_(byOp) {}

  bool count(const std::vector<KnownArgument> &arguments);
  const Work &work() const { return total_.work; }
  WorkByOp takeOps() {
    return {std::move(total_.ops), std::move(memories_), {assumed_.begin(), assumed_.end()}};
  }

private:
  /// The values from outside that a loop's work depends on.
  struct Context {
    llvm::SetVector<Value> values;
    llvm::SetVector<StringAttr> symbols;
  };

  Known valueOf(Value value) const {
    auto found = values_.find(value);
    return found == values_.end() ? Known() : Known(found->second);
  }
  // Other integers are not followed, which keeps the tables small.
  void set(Value value, Known known) {
    if (!relevance_.contains(value))
      return;
    if (known)
      values_[value] = *known;
    else
      values_.erase(value);
  }
  void setAll(ValueRange targets, ValueRange sources) {
    // All sources are read first, since targets may be among them.
    llvm::SmallVector<Known> known;
    for (Value source : sources)
      known.push_back(valueOf(source));
    for (auto [target, value] : llvm::zip(targets, known))
      set(target, value);
  }
  bool anyRelevant(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return relevance_.contains(value); });
  }
  Known evaluated(Operation &op);
  Known extent(const ir::Extent &extent) const;
  std::optional<Extents> extentsOf(mlir::Type type) const;
  void bind(const ir::Extent &extent, Known length) {
    if (extent.symbol && length)
      symbols_[extent.symbol] = *length;
  }
  void bindResult(Operation &op);
  void bindDerived(Operation &op, llvm::ArrayRef<ir::Extent> result);

  bool run(mlir::Block &block);
  bool run(Operation &op);
  bool runFlops(Operation &op);
  bool countOp(Operation &op);
  // A loop without known work makes the whole count unknown.
  bool runFor(scf::ForOp loop);
  bool runGrid(ir::ParallelOp grid, size_t axis);
  bool runIf(scf::IfOp branch);
  bool runWhile(scf::WhileOp loop);
  bool runLoop(Operation &op, llvm::function_ref<bool()> body);
  const Context &contextOf(Operation &op);
  /// The work of `body` alone, which is not added to the total.
  std::optional<Tally> workOf(llvm::function_ref<bool()> body);

  func::FuncOp function_;
  Relevance relevance_;
  bool byOp_;
  llvm::DenseMap<Value, int64_t> values_;
  llvm::DenseMap<Operation *, std::optional<ArithUse>> uses_;
  llvm::DenseMap<StringAttr, int64_t> symbols_;
  std::map<Operation *, Context> contexts_;
  std::map<std::pair<Operation *, std::vector<Known>>, Tally> known_;
  Tally total_;
  llvm::DenseMap<Value, int64_t> memories_;
  llvm::SetVector<Operation *> assumed_;
  int64_t steps_ = 0;
};

// ---- Lengths ------------------------------------------------------------------------------------

Known Counter::extent(const ir::Extent &extent) const {
  if (extent.isConstant())
    return extent.length;
  auto found = symbols_.find(extent.symbol);
  return found == symbols_.end() ? Known() : Known(found->second);
}

std::optional<Extents> Counter::extentsOf(mlir::Type type) const {
  Extents result;
  for (const ir::Extent &each : ir::extentsOf(type)) {
    Known length = extent(each);
    if (!length)
      return std::nullopt;
    result.push_back(*length);
  }
  return result;
}

/// Results whose lengths are new names made of those of operands.
void Counter::bindDerived(Operation &op, llvm::ArrayRef<ir::Extent> result) {
  // The lengths of the result follow from those of the operands in a way of each operation's own.
  auto operand = [&](unsigned number, size_t axis) {
    return extent(ir::extentsOf(op.getOperand(number).getType())[axis]);
  };
  auto sum = [](Known a, Known b) { return a && b ? Known(*a + *b) : Known(); };
  size_t last = result.size() - 1;
  if (auto concat = dyn_cast<ir::ConcatOp>(op)) {
    auto axis = static_cast<size_t>(concat.getAxis());
    Known length = 0;
    for (unsigned i = 0; i < concat.getXs().size(); ++i)
      length = sum(length, operand(i, axis));
    bind(result[axis], length);
  } else if (auto pad = dyn_cast<ir::PadOp>(op)) {
    for (auto [axis, before, after] : llvm::enumerate(pad.getBefore(), pad.getAfter()))
      bind(result[axis], sum(operand(0, axis), sum(valueOf(before), valueOf(after))));
  } else if (isa<ir::InterleaveOp>(op)) {
    bind(result[last], sum(operand(0, last), operand(0, last)));
  } else if (isa<ir::DeinterleaveOp>(op)) {
    if (Known length = operand(0, last))
      bind(result[last], *length / 2);
  } else if (isa<ir::CastOp>(op)) {
    for (size_t axis = 0; axis < result.size(); ++axis)
      bind(result[axis], operand(0, axis));
  }
}

void Counter::bindResult(Operation &op) {
  if (op.getNumResults() == 0)
    return;
  llvm::ArrayRef<ir::Extent> result = ir::extentsOf(op.getResult(0).getType());
  if (result.empty())
    return;
  ValueRange lengths = lengthOperands(op);
  // Dropped axes have a length operand, but no place in the result.
  if (isa<ir::LoadOp, ir::SliceOp>(op)) {
    llvm::ArrayRef<int64_t> dropped = isa<ir::LoadOp>(op) ? cast<ir::LoadOp>(op).getDropped()
                                                          : cast<ir::SliceOp>(op).getDropped();
    size_t axis = 0;
    for (auto [number, length] : llvm::enumerate(lengths))
      if (!llvm::is_contained(dropped, static_cast<int64_t>(number)) && axis < result.size())
        bind(result[axis++], valueOf(length));
  } else if (!lengths.empty()) {
    // The last lengths are given: `one_hot` and `topk` take the others from their operand.
    auto named = llvm::to_vector(
        llvm::make_filter_range(result, [](const ir::Extent &e) { return !e.isConstant(); }));
    size_t skipped = named.size() - std::min<size_t>(named.size(), lengths.size());
    for (size_t i = 0; i + skipped < named.size(); ++i)
      bind(named[i + skipped], valueOf(lengths[i]));
  } else {
    bindDerived(op, result);
  }
}

// ---- Control ------------------------------------------------------------------------------------

std::optional<Tally> Counter::workOf(llvm::function_ref<bool()> body) {
  // The total is put aside, so that the work of the body alone is seen.
  Tally before = std::exchange(total_, Tally());
  bool fine = body();
  Tally inside = std::exchange(total_, std::move(before));
  return fine ? std::optional(std::move(inside)) : std::nullopt;
}

const Counter::Context &Counter::contextOf(Operation &op) {
  auto [entry, isNew] = contexts_.try_emplace(&op);
  Context &context = entry->second;
  if (!isNew)
    return context;
  // Names that are bound inside are no inputs of the loop.
  llvm::DenseSet<StringAttr> bound;
  auto use = [&](mlir::Type type) {
    for (const ir::Extent &each : ir::extentsOf(type))
      if (each.symbol)
        context.symbols.insert(each.symbol);
  };
  // Only values from outside can make two runs of the loop differ.
  auto isInside = [&](Value value) {
    return llvm::any_of(op.getRegions(),
                        [&](Region &region) { return region.isAncestor(value.getParentRegion()); });
  };
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      use(operand.getType());
      if (relevance_.contains(operand) && !isInside(operand))
        context.values.insert(operand);
    }
    if (inner != &op && !lengthOperands(*inner).empty())
      for (mlir::Type type : inner->getResultTypes())
        for (const ir::Extent &each : ir::extentsOf(type))
          bound.insert(each.symbol);
    for (mlir::Type type : inner->getResultTypes())
      use(type);
  });
  context.symbols.remove_if([&](StringAttr symbol) { return bound.contains(symbol); });
  return context;
}

/// Runs a loop, or remembers what it came to when all that its work depends on was the same.
bool Counter::runLoop(Operation &op, llvm::function_ref<bool()> body) {
  // Values that the loop hands out have to be computed again, even if the work is known.
  if (anyRelevant(op.getResults()))
    return body();
  const Context &context = contextOf(op);
  // The key is everything that the loop's work can depend on.
  std::vector<Known> key;
  for (Value value : context.values)
    key.push_back(valueOf(value));
  for (StringAttr symbol : context.symbols)
    key.push_back(extent(ir::Extent::named(symbol)));
  auto found = known_.find({&op, key});
  if (found == known_.end()) {
    std::optional<Tally> work = workOf(body);
    if (!work)
      return false;
    found = known_.emplace(std::pair(&op, std::move(key)), std::move(*work)).first;
  }
  total_.add(found->second);
  return true;
}

bool Counter::runFor(scf::ForOp loop) {
  Known lower = valueOf(loop.getLowerBound()), upper = valueOf(loop.getUpperBound()),
        step = valueOf(loop.getStep());
  setAll(loop.getRegionIterArgs(), loop.getInitArgs());
  mlir::Block &body = *loop.getBody();
  if (!lower || !upper || !step || *step <= 0) { // Fine only when nothing is computed.
    // How often it runs is unknown, so the count is known only if a turn does nothing.
    std::optional<Tally> once = workOf([&] { return run(body); });
    for (Value result : loop.getResults())
      set(result, std::nullopt);
    return once && once->isNothing();
  }
  // If no turn depends on the variables, one turn stands for all.
  bool alike = !anyRelevant(body.getArguments());
  int64_t trips = std::max<int64_t>(0, (*upper - *lower + *step - 1) / *step);
  if (alike && trips > 0) {
    std::optional<Tally> once = workOf([&] { return run(body); });
    if (once)
      total_.add(*once, trips);
    return once.has_value();
  }
  for (int64_t i = 0; i < trips; ++i) {
    set(loop.getInductionVar(), *lower + i * *step);
    if (!run(body))
      return false;
    setAll(loop.getRegionIterArgs(), body.getTerminator()->getOperands());
  }
  setAll(loop.getResults(), loop.getRegionIterArgs());
  return true;
}

bool Counter::runGrid(ir::ParallelOp grid, size_t axis) {
  mlir::Block &body = grid.getBody().front();
  // Each axis is a loop around the next one.
  if (axis == body.getNumArguments())
    return run(body);
  Known lower = valueOf(grid.getLower()[axis]), upper = valueOf(grid.getUpper()[axis]),
        step = valueOf(grid.getSteps()[axis]);
  auto inside = [&] { return runGrid(grid, axis + 1); };
  if (!lower || !upper || !step || *step <= 0) {
    std::optional<Tally> once = workOf(inside);
    return once && once->isNothing();
  }
  Value variable = body.getArgument(static_cast<unsigned>(axis));
  int64_t trips = std::max<int64_t>(0, (*upper - *lower + *step - 1) / *step);
  if (!relevance_.contains(variable) && trips > 0) {
    std::optional<Tally> once = workOf(inside);
    if (once)
      total_.add(*once, trips);
    return once.has_value();
  }
  for (int64_t i = 0; i < trips; ++i) {
    set(variable, *lower + i * *step);
    if (!inside())
      return false;
  }
  return true;
}

bool Counter::runIf(scf::IfOp branch) {
  Known condition = valueOf(branch.getCondition());
  // For costs, an estimate is better than nothing, and it is noted that it is one.
  if (!condition && byOp_) {
    assumed_.insert(branch);
    condition = 1;
  }
  if (condition) {
    mlir::Block *block = *condition ? branch.thenBlock() : branch.elseBlock();
    if (!block)
      return true;
    if (!run(*block))
      return false;
    setAll(branch.getResults(), block->getTerminator()->getOperands());
    return true;
  }
  // Data decides: the count is known if both ways come to the same.
  auto arm = [&](mlir::Block *block) { return workOf([&] { return !block || run(*block); }); };
  std::optional<Tally> taken = arm(branch.thenBlock()), other = arm(branch.elseBlock());
  for (Value result : branch.getResults())
    set(result, std::nullopt);
  if (!taken || !other || !(taken->work == other->work))
    return false;
  total_.add(*taken);
  return true;
}

bool Counter::runWhile(scf::WhileOp loop) {
  setAll(loop.getBeforeArguments(), loop.getInits());
  mlir::Block &before = *loop.getBeforeBody(), &after = *loop.getAfterBody();
  while (true) {
    // The work before the turn is kept, to see whether the turn does anything.
    Work start = total_.work;
    if (!run(before))
      return false;
    scf::ConditionOp condition = loop.getConditionOp();
    setAll(loop.getResults(), condition.getArgs());
    setAll(loop.getAfterArguments(), condition.getArgs());
    Known going = valueOf(condition.getCondition());
    if (going && !*going)
      return true;
    if (!run(after))
      return false;
    if (!going) { // Data decides: fine only when nothing is computed.
      for (Value result : loop.getResults())
        set(result, std::nullopt);
      if (byOp_)
        assumed_.insert(loop);
      return byOp_ || total_.work == start;
    }
    setAll(loop.getBeforeArguments(), after.getTerminator()->getOperands());
  }
}

// ---- Operations ---------------------------------------------------------------------------------

bool Counter::runFlops(Operation &op) {
  Known flops;
  if (countsFlops(op)) {
    flops = flopsOf(op, [&](mlir::Type type) { return extentsOf(type); });
  } else if (auto store = dyn_cast<ir::StoreOp>(op);
             store && store.getAtomic() &&
             isa<FloatType>(ir::elementTypeOf(store.getRef().getType()))) {
    // An atomic addition is one operation for each element.
    flops = 1;
    for (Value length : store.getLengths()) {
      Known known = valueOf(length);
      flops = flops && known ? Known(*flops * *known) : Known();
    }
  } else {
    return true;
  }
  if (!flops)
    return false;
  // What is done in f64 is also counted by itself.
  bool isDouble = touchesElement(op, [](mlir::Type type) { return type.isF64(); });
  total_.work = total_.work + Work{*flops, isDouble ? *flops : 0};
  return true;
}

/// Counts an operation by itself, and remembers how large the arrays are that it reads or writes.
bool Counter::countOp(Operation &op) {
  std::optional<OpWork> own = workOfOp(
      op, [&](mlir::Type type) { return extentsOf(type); },
      [&](Value value) { return valueOf(value); });
  if (!own)
    return false;
  if (own->isNothing())
    return true;
  for (Value memory : memoriesOf(op))
    if (std::optional<Extents> extents = extentsOf(memory.getType()))
      memories_[memory] = bytesOf(memory.getType(), *extents);
  total_.ops[&op].add(*own);
  return true;
}

/// A constant, or arithmetic of what is known. A choice needs to know no more than what is chosen.
Known Counter::evaluated(Operation &op) {
  if (Attribute constant; matchPattern(&op, m_Constant(&constant))) {
    std::optional<Scalar> value = ir::scalarOf(constant);
    return value ? Known(value->i) : Known();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Known which = valueOf(select.getCondition());
    return which ? valueOf(*which ? select.getTrueValue() : select.getFalseValue()) : Known();
  }
  // How an operation computes is looked up once.
  auto [use, isNew] = uses_.try_emplace(&op);
  if (isNew)
    use->second = ir::arithUseOf(&op);
  if (!use->second)
    return std::nullopt;
  llvm::SmallVector<Scalar, 3> operands;
  for (Value operand : op.getOperands()) {
    Known known = valueOf(operand);
    if (!known)
      return std::nullopt;
    operands.push_back(Scalar::integer(*known));
  }
  std::optional<Scalar> value = evaluate(*use->second, operands);
  return value ? Known(value->i) : Known();
}

bool Counter::run(Operation &op) {
  // The limit keeps the count from taking longer than a fraction of a second.
  if (++steps_ > kMostSteps)
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(op, [&] { return runFor(loop); });
  if (auto grid = dyn_cast<ir::ParallelOp>(op)) {
    bool fine = runLoop(op, [&] { return runGrid(grid, 0); });
    if (byOp_)
      ++total_.ops[&op].executions;
    // The grid itself is a launch.
    return fine;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop);
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    set(dim.getResult(), extent(ir::extentsOf(dim.getSource().getType())[dim.getAxis()]));
    return true;
  }
  bindResult(op);
  // Results that nothing depends on are not computed.
  if (op.getNumResults() == 1 && relevance_.contains(op.getResult(0)))
    set(op.getResult(0), evaluated(op));
  return byOp_ ? countOp(op) : runFlops(op);
}

bool Counter::run(mlir::Block &block) {
  for (Operation &op : block)
    if (!run(op))
      return false;
  return true;
}

bool Counter::count(const std::vector<KnownArgument> &arguments) {
  for (auto [argument, known] : llvm::zip(function_.getArguments(), arguments)) {
    // Lengths of arguments bind the names in their types.
    set(argument, known.value);
    for (auto [axis, each] : llvm::enumerate(ir::extentsOf(argument.getType())))
      if (axis < known.extents.size())
        bind(each, known.extents[axis]);
  }
  return run(function_.getBody().front());
}

} // namespace

std::optional<Work> countWork(ModuleOp module, const std::vector<KnownArgument> &arguments) {
  // The first function is the entry.
  for (auto function : module.getOps<func::FuncOp>())
    if (Counter counter(function); counter.count(arguments))
      return counter.work();
    else
      break;
  return std::nullopt;
}

std::optional<WorkByOp> countWorkByOp(ModuleOp module,
                                      const std::vector<KnownArgument> &arguments) {
  for (auto function : module.getOps<func::FuncOp>())
    if (Counter counter(function, /*byOp=*/true); counter.count(arguments))
      return counter.takeOps();
    else
      break;
  return std::nullopt;
}

} // namespace ptl
