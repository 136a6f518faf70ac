#include "compile/graph/program_graph.h"

#include "compile/source_spans.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/source_range.h"
#include "ir/dialect/task_attribute.h"
#include "passes/analysis/program_storage.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/outline.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace ptl {

static std::string typeText(mlir::Type type, bool capacities) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << ir::elementTypeOf(type);
  if (!ir::isArrayLike(type))
    return text;
  out << "[";
  llvm::interleaveComma(ir::extentsOf(type), out, [&](const ir::Extent &extent) {
    if (extent.isConstant())
      out << extent.length;
    else if (capacities && extent.capacity != ir::Extent::kUnknown)
      out << extent.capacity;
    else
      out << extent.symbol.getValue().split(':').first;
  });
  out << "]";
  return text;
}

/// An operation that computes, and is no way to look at an array or to read it.
static bool isComputed(mlir::Operation *op) {
  return ir::opIdOf(op) && !mlir::isa<ir::LoadOp, ir::SliceOp, ir::CastOp>(op);
}

/// An operation that the graph shows, and not a way to look at an array.
static bool isShown(mlir::Operation *op) {
  return isComputed(op) && op->getNumResults() > 0 &&
         (mlir::isa<ir::ArrayType>(op->getResult(0).getType()) ||
          llvm::any_of(op->getOperands(),
                       [](mlir::Value each) { return mlir::isa<ir::ArrayType>(each.getType()); }));
}

namespace {

/// Finds the shown operations whose results a value is made of, through views, loops and storage.
class Origins {
public:
  explicit Origins(const llvm::MapVector<mlir::Operation *, uint32_t> &numbers)
      : numbers_(numbers) {}

  std::vector<uint32_t> of(mlir::Operation *op) {
    for (mlir::Value operand : op->getOperands())
      visit(operand);
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

private:
  void visit(mlir::Value value) {
    if (!seen_.insert(value).second)
      return;
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value))
      return visitArgument(argument);
    mlir::Operation *op = value.getDefiningOp();
    // An operation that the graph shows is an origin, and what it is made of are its own operands.
    if (auto known = numbers_.find(op); known != numbers_.end()) {
      found_.push_back(known->second);
      return;
    }
    if (mlir::isa<ir::AllocOp>(op))
      return visitStores(value);
    if (op->getNumRegions() > 0)
      return visitYields(op, mlir::cast<mlir::OpResult>(value).getResultNumber());
    for (mlir::Value operand : op->getOperands())
      visit(operand);
  }
  void visitStores(mlir::Value storage) {
    for (mlir::Operation *user : storage.getUsers())
      if (auto store = mlir::dyn_cast<ir::StoreOp>(user); store && store.getRef() == storage)
        visit(store.getValue());
  }
  void visitYields(mlir::Operation *op, unsigned number) {
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        if (mlir::Operation *end = block.empty() ? nullptr : &block.back();
            end && number < end->getNumOperands())
          visit(end->getOperand(number));
  }
  /// What a loop carries comes from before it and from its own end.
  void visitArgument(mlir::BlockArgument argument) {
    if (mlir::isa<ir::RefType>(argument.getType()))
      return;
    auto loop = mlir::dyn_cast_or_null<mlir::scf::ForOp>(argument.getOwner()->getParentOp());
    // The first argument of a body is the position, which no operation makes.
    if (!loop || argument.getArgNumber() == 0)
      return;
    unsigned number = argument.getArgNumber() - 1;
    visit(loop.getInitArgs()[number]);
    visit(loop.getBody()->getTerminator()->getOperand(number));
  }

  const llvm::MapVector<mlir::Operation *, uint32_t> &numbers_;
  llvm::DenseSet<mlir::Value> seen_;
  std::vector<uint32_t> found_;
};

/// What one function at tile level does, task by task.
class TaskReader {
public:
  TaskReader(ProgramGraph &graph, const SourceManager &sources)
      : graph_(graph), sources_(sources) {}

  void read(mlir::func::FuncOp function);
  /// The tasks that have an operation of that place.
  std::vector<uint32_t> tasksAt(mlir::Location location) const {
    auto found = places_.find(mlir::LocationAttr(location));
    return found == places_.end() ? std::vector<uint32_t>() : found->second;
  }

private:
  void readArguments(mlir::func::FuncOp function);
  void readTask(mlir::Operation *op);
  void note(mlir::Operation *op, uint32_t task);
  std::optional<uint32_t> arrayOf(mlir::Value value);
  uint32_t addArray(mlir::Value value, GraphArray::Kind kind, std::string name);
  static void add(std::vector<uint32_t> &to, uint32_t number) {
    if (std::find(to.begin(), to.end(), number) == to.end())
      to.push_back(number);
  }

  ProgramGraph &graph_;
  const SourceManager &sources_;
  llvm::DenseMap<mlir::Value, uint32_t> arrays_;
  llvm::DenseMap<mlir::Attribute, std::vector<uint32_t>> places_;
};

} // namespace

/// What the source says there, on one line and short.
static std::string sourceText(const SourceManager &sources, const std::vector<Span> &spans,
                              FileId file) {
  for (Span span : spans) {
    if (span.file != file)
      continue;
    std::string text(sources.file(span.file).text().substr(span.begin, span.end - span.begin));
    text = text.substr(0, text.find('\n'));
    constexpr size_t kLongest = 28;
    if (text.size() <= kLongest)
      return text;
    size_t end = kLongest - 1;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end; // not within a character
    return text.substr(0, end) + "…";
  }
  return "";
}

uint32_t TaskReader::addArray(mlir::Value value, GraphArray::Kind kind, std::string name) {
  GraphArray array;
  array.kind = kind;
  array.type = typeText(value.getType(), false);
  array.spans = ir::rangesOf(value.getLoc());
  array.name = name.empty() ? sourceText(sources_, array.spans, graph_.file) : std::move(name);
  ir::ArrayBytes bytes = ir::bytesOf(value.getType());
  array.factor = bytes.factor;
  array.lengths = std::move(bytes.lengths);
  graph_.arrays.push_back(std::move(array));
  uint32_t number = static_cast<uint32_t>(graph_.arrays.size() - 1);
  arrays_[value] = number;
  return number;
}

void TaskReader::readArguments(mlir::func::FuncOp function) {
  for (mlir::BlockArgument argument : function.getArguments()) {
    if (!ir::isArrayLike(argument.getType()))
      continue;
    mlir::StringAttr name =
        attrs::firstOf(function, argument.getArgNumber(), attrs::name, attrs::output);
    bool isOutput = bool(attrs::output.of(function, argument.getArgNumber()));
    addArray(argument, isOutput ? GraphArray::Kind::Output : GraphArray::Kind::Input,
             name ? name.str() : std::string());
  }
}

/// The array that a value outside of tasks looks at.
std::optional<uint32_t> TaskReader::arrayOf(mlir::Value value) {
  while (true) {
    if (auto known = arrays_.find(value); known != arrays_.end())
      return known->second;
    mlir::Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (mlir::isa<ir::AllocOp>(op) || isComputed(op))
      return ir::isArrayLike(value.getType())
                 ? std::optional(addArray(value, GraphArray::Kind::Intermediate,
                                          block::nameOf(value.getLoc())))
                 : std::nullopt;
    // A view has the array that it shows as its only array operand.
    auto source = llvm::find_if(op->getOperands(),
                                [](mlir::Value each) { return ir::isArrayLike(each.getType()); });
    if (source == op->operand_end())
      return std::nullopt;
    value = *source;
  }
}

void TaskReader::note(mlir::Operation *op, uint32_t task) {
  if (isComputed(op))
    add(places_[mlir::LocationAttr(op->getLoc())], task);
}

void TaskReader::readTask(mlir::Operation *op) {
  uint32_t number = static_cast<uint32_t>(graph_.tasks.size());
  GraphTask task;
  task.isGrid = mlir::isa<ir::ParallelOp>(op);
  task.task = ir::taskOf(op).str();
  task.spans = ir::rangesOf(op->getLoc());
  llvm::SetVector<mlir::Value> outside(op->operand_begin(), op->operand_end());
  mlir::getUsedValuesDefinedAbove(op->getRegions(), outside);
  llvm::DenseSet<mlir::Value> written, loaded;
  op->walk([&](mlir::Operation *inner) {
    note(inner, number);
    if (auto store = mlir::dyn_cast<ir::StoreOp>(inner)) {
      written.insert(store.getRef());
      loaded.insert(store.getValue());
      // What is added to is read, too.
      if (store.getAtomic())
        loaded.insert(store.getRef());
      // The first store to an array from outside shows how large tiles are.
      if (task.tile.empty() && task.isGrid && outside.contains(store.getRef()))
        task.tile = typeText(store.getValue().getType(), /*capacities=*/true);
    } else {
      for (mlir::Value operand : inner->getOperands())
        loaded.insert(operand);
    }
  });
  for (mlir::Value value : outside) {
    std::optional<uint32_t> array =
        ir::isArrayLike(value.getType()) ? arrayOf(value) : std::nullopt;
    if (!array)
      continue;
    if (written.contains(value))
      add(task.writes, *array);
    if (loaded.contains(value))
      add(task.reads, *array);
  }
  for (mlir::Value result : op->getResults())
    if (std::optional<uint32_t> array =
            ir::isArrayLike(result.getType()) ? arrayOf(result) : std::nullopt)
      add(task.writes, *array);
  graph_.tasks.push_back(std::move(task));
}

void TaskReader::read(mlir::func::FuncOp function) {
  readArguments(function);
  function.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    bool isTask = mlir::isa<ir::ParallelOp, ir::StoreOp>(op) || isShown(op);
    if (!isTask)
      return mlir::WalkResult::advance();
    readTask(op);
    // What stands inside a task is part of it.
    return mlir::WalkResult::skip();
  });
}

// ---- the recorder -------------------------------------------------------------------------------

struct GraphRecorder::Seen {
  const SourceManager &sources;
  FileId file;
  std::string entry, target;
  /// Operations at tensor level with their places, which live as long as the context of MLIR.
  std::vector<std::pair<GraphOp, mlir::LocationAttr>> ops;
  ProgramGraph graph; ///< of the last attempt, without times

  void readOps(mlir::func::FuncOp function);
  void readTasks(mlir::func::FuncOp function);
  void nameTasks();
};

GraphRecorder::GraphRecorder(const SourceManager &sources, const ir::EntryBinding &binding,
                             std::string target)
    : seen_(new Seen{
          sources, binding.decl->span.file, binding.decl->name, std::move(target), {}, {}}) {}
GraphRecorder::~GraphRecorder() = default;

void GraphRecorder::Seen::readOps(mlir::func::FuncOp function) {
  ops.clear();
  llvm::MapVector<mlir::Operation *, uint32_t> numbers;
  function.walk([&](mlir::Operation *op) {
    if (isShown(op))
      numbers.insert({op, static_cast<uint32_t>(numbers.size())});
  });
  for (auto [op, number] : numbers) {
    GraphOp shown;
    shown.name = block::nameOf(op->getLoc());
    shown.op = op->getName().stripDialect().str();
    shown.type = typeText(op->getResult(0).getType(), /*capacities=*/true);
    shown.operands = Origins(numbers).of(op);
    shown.spans = ir::rangesOf(op->getLoc());
    ops.emplace_back(std::move(shown), op->getLoc());
  }
}

/// A task is called by the names in the source of what it computes, else by what it writes.
void GraphRecorder::Seen::nameTasks() {
  for (uint32_t number = 0; number < graph.tasks.size(); ++number) {
    GraphTask &task = graph.tasks[number];
    std::vector<std::string> names;
    auto add = [&](const std::string &name) {
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    };
    // The names of all operations say nothing about a task that is the whole program.
    if (graph.tasks.size() > 1)
      for (const GraphOp &op : graph.ops)
        if (std::find(op.tasks.begin(), op.tasks.end(), number) != op.tasks.end())
          add(op.name);
    for (uint32_t array : task.writes)
      if (names.empty() || graph.arrays[array].kind == GraphArray::Kind::Output)
        add(graph.arrays[array].name);
    constexpr size_t kMost = 3;
    for (size_t i = 0; i < std::min(kMost, names.size()); ++i)
      task.name += (i ? ", " : "") + names[i];
    if (names.size() > kMost)
      task.name += ", …";
  }
}

void GraphRecorder::Seen::readTasks(mlir::func::FuncOp function) {
  graph = {};
  graph.entry = entry;
  graph.target = target;
  graph.file = file;
  TaskReader reader(graph, sources);
  reader.read(function);
  auto grids = block::kernelGrids(function);
  size_t next = 0;
  for (GraphTask &task : graph.tasks)
    if (task.isGrid && target != "cpu")
      task.kernel = block::kernelName(function, next++, grids.size());
  for (const auto &[op, location] : ops) {
    graph.ops.push_back(op);
    graph.ops.back().tasks = reader.tasksAt(location);
  }
  // An operation that became part of another, such as a scale of a product, stands with what uses it.
  // From the last one on, since users come later and have to have their tasks first.
  for (size_t i = graph.ops.size(); i-- > 0;)
    for (const GraphOp &user : graph.ops)
      if (graph.ops[i].tasks.empty() &&
          std::find(user.operands.begin(), user.operands.end(), i) != user.operands.end())
        graph.ops[i].tasks = user.tasks;
  nameTasks();
}

void GraphRecorder::onPhase(const std::string &phase, mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (phase == "tensor")
      seen_->readOps(function);
    else if (phase == "tile")
      seen_->readTasks(function);
    return;
  }
}

/// The bytes of an array whose lengths are all known.
static std::optional<int64_t> bytesFor(const GraphArray &array,
                                       const std::vector<ExampleSize> &sizes) {
  int64_t bytes = array.factor;
  for (const std::string &length : array.lengths) {
    auto known = std::find_if(sizes.begin(), sizes.end(),
                              [&](const ExampleSize &each) { return each.name == length; });
    if (known == sizes.end() || __builtin_mul_overflow(bytes, known->value, &bytes))
      return std::nullopt;
  }
  return bytes;
}

/// The times of launches on a chip.
static void timeKernels(ProgramGraph &graph, const Cost &cost) {
  for (GraphTask &task : graph.tasks) {
    for (const auto &[kernel, us] : cost.launches)
      if (!task.kernel.empty() && kernel == task.kernel) {
        task.us = task.us.value_or(0) + us;
        ++task.runs;
      }
  }
}

/// On this processor times are known by statement: a task has those of the statements that no other task has a part of.
static void timeStatements(ProgramGraph &graph, const Cost &cost) {
  std::vector<bool> isShared(graph.tasks.size(), false);
  std::vector<double> sums(graph.tasks.size(), 0);
  for (const StatementCost &statement : cost.statements) {
    if (!statement.isLeaf)
      continue;
    std::vector<bool> has(graph.tasks.size(), false);
    for (const GraphOp &op : graph.ops)
      for (Span span : op.spans)
        if (isWithin(span, statement.span))
          for (uint32_t task : op.tasks)
            has[task] = true;
    bool shared = std::count(has.begin(), has.end(), true) > 1;
    for (size_t task = 0; task < has.size(); ++task)
      if (has[task]) {
        sums[task] += statement.us;
        isShared[task] = isShared[task] || shared;
      }
  }
  for (size_t task = 0; task < sums.size(); ++task)
    if (!isShared[task] && sums[task] > 0)
      graph.tasks[task].us = sums[task];
}

ProgramGraph GraphRecorder::graph(const Cost *cost) const {
  ProgramGraph graph = seen_->graph;
  if (!cost)
    return graph;
  graph.sizes = cost->sizes;
  // A time without the parts that are unknown would be read as the time of all.
  if (cost->unknown.empty()) {
    graph.us = cost->us;
    graph.bound = cost->bound;
    graph.isLeast = cost->isLeast;
    if (cost->isLeast)
      timeStatements(graph, *cost);
    else
      timeKernels(graph, *cost);
  }
  for (GraphArray &array : graph.arrays)
    array.bytes = bytesFor(array, graph.sizes);
  return graph;
}

} // namespace ptl
