// Emits the host code around kernels as C++: storage, scalars, control flow, launches.
#include "codegen/pto/cpp_host_emitter.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/host_views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

std::string hostName(func::FuncOp host) {
  llvm::StringRef name = host.getSymName();
  name.consume_front("ptl_");
  return name.str();
}

bool needsHost(func::FuncOp host) {
  unsigned launches = 0;
  bool isPlain = true;
  for (Operation &op : host.getBody().front()) {
    if (auto launch = dyn_cast<ir::LaunchOp>(op)) {
      ++launches;
      // A launch that only passes on what the entry was given needs no code around it.
      isPlain &= llvm::all_of(launch.getArguments(), [](Value value) {
        return isa<BlockArgument>(value) || matchPattern(value, m_Constant());
      });
    }
    // Loops and branches decide about launches, so they need code.
    isPlain &= op.getNumRegions() == 0;
  }
  return launches != 1 || !isPlain;
}

/// The runtime of the device, or memory of this machine in CPU simulation.
static constexpr llvm::StringLiteral kStorage =
    R"(// Memory of the device, for one run. Kernels follow each other, so what is given back may be taken
// at once.
class Storage {
public:
  explicit Storage(void *stream) : stream_(stream) {}
  Storage(const Storage &) = delete;
  ~Storage() {
    settle();
    for (const Block &block : blocks_)
      release(block.memory);
  }
  void *take(int64_t bytes) {
    Block *best = nullptr;
    for (Block &block : blocks_)
      if (block.isFree && block.bytes >= bytes && (!best || block.bytes < best->bytes))
        best = &block;
    if (!best) {
      void *memory = allocate(bytes < 1 ? 1 : bytes);
      if (!memory)
        throw std::runtime_error("out of memory");
      best = &blocks_.emplace_back(Block{memory, bytes, true});
    }
    best->isFree = false;
    return best->memory;
  }
  void give(void *memory) {
    for (Block &block : blocks_)
      if (block.memory == memory)
        block.isFree = true;
  }
  // An element as it is when all that was started before is done.
  template <typename T> T read(const void *from, int64_t at) {
    T value;
    wait();
    fetch(&value, (const char *)from + at * (int64_t)sizeof(T), sizeof(T));
    return value;
  }
  template <typename T> void write(void *to, int64_t at, T value) {
    wait();
    store((char *)to + at * (int64_t)sizeof(T), &value, sizeof(T));
  }
  template <typename T> std::vector<T> all(const void *from, int64_t count) {
    std::vector<T> values(count);
    wait();
    if (count > 0)
      fetch(values.data(), from, count * sizeof(T));
    return values;
  }
#ifdef __CPU_SIM
  void wait() {}
  void copy(void *to, const void *from, int64_t bytes) { std::memcpy(to, from, bytes); }

private:
  void settle() {}
  static void *allocate(int64_t bytes) { return std::aligned_alloc(512, (bytes + 511) / 512 * 512); }
  static void release(void *block) { std::free(block); }
  static void fetch(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
  static void store(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }
#else
  void wait() { expect(aclrtSynchronizeStream(stream_)); }
  void copy(void *to, const void *from, int64_t bytes) {
    expect(aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
  }

private:
  static void expect(aclError error) {
    if (error != ACL_SUCCESS)
      throw std::runtime_error("the device's runtime fails: " + std::to_string((int)error));
  }
  void settle() { (void)aclrtSynchronizeStream(stream_); }
  static void *allocate(int64_t bytes) {
    void *block = nullptr;
    return aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS ? block : nullptr;
  }
  static void release(void *block) { (void)aclrtFree(block); }
  static void fetch(void *to, const void *from, size_t bytes) {
    expect(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  }
  static void store(void *to, const void *from, size_t bytes) {
    expect(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
#endif
  struct Block {
    void *memory;
    int64_t bytes;
    bool isFree;
  };
  [[maybe_unused]] void *stream_;
  std::vector<Block> blocks_;
};
)";

static constexpr llvm::StringLiteral kRequire = R"(
inline void require(bool holds, const char *message) {
  if (!holds)
    throw std::runtime_error(message);
}
template <typename... Values> void require(bool holds, const char *message, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, message, values...);
  if (!holds)
    throw std::runtime_error(text);
}
)";

/// Facts about data; the helpers have these names.
static constexpr llvm::StringLiteral kFacts = R"(
template <typename T> bool isSorted(const std::vector<T> &values) {
  return std::is_sorted(values.begin(), values.end());
}
template <typename T> bool isUnique(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}
)";

CppHostEmitter::CppHostEmitter(func::FuncOp host, const Machine &machine,
                               llvm::ArrayRef<CppLaunch> launches, std::vector<Finding> &findings)
    : CppFunctionEmitter(host, machine, noTypes_, helpers_, findings), host_(host),
      launches_(launches),
      vectors_(machine.exchange.vectorPerCube ? machine.exchange.vectorPerCube : 2) {}

static void addText(TextLines &text, llvm::StringRef lines) {
  for (llvm::StringRef rest = lines; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    text.addFlush(line.str());
    rest = after;
  }
}

/// Text of a type of the language, as `2*T`, in C++: names are those of the parameters. Empty where
/// the two mean different things: negative quotients, remainders, functions.
static CppExpression extentOf(const ir::Extent &extent) {
  if (extent.isConstant())
    return {std::to_string(extent.length)};
  std::string text = extent.symbol.str();
  llvm::StringRef formula = text;
  bool mayRound =
      formula.contains('/') && formula.contains('-'); // down in the one, to 0 in the other
  bool calls = false;
  for (size_t at = 1; at < text.size(); ++at)
    calls |= text[at] == '(' && llvm::isAlpha(text[at - 1]);
  if (mayRound || calls || formula.contains('%'))
    return {""};
  bool isName = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  // A formula has unknown operators, so it is put in parentheses in any context.
  return {text, isName ? Precedence::Primary : Precedence::Conditional};
}

CppExpression CppHostEmitter::known(const CppExpression &extent) {
  if (extent.text.empty())
    // Code with a wrong length would compile, so this is a finding.
    missing(host_, "the length of an argument, which C++ may round otherwise,");
  return extent;
}

void CppHostEmitter::nameArguments() {
  for (BlockArgument argument : host_.getArguments()) {
    if (auto name =
            attrs::firstOf(host_, argument.getArgNumber(), attrs::name, attrs::output, attrs::dim))
      names_.set(argument, names_.fresh(name.getValue()));
    if (!isa<ir::ArrayType, ir::RefType>(argument.getType()))
      // Scalars are named alone; arrays also have extents, which views change.
      continue;
    Array &array = arrays_[argument];
    array.pointer = names_.of(argument);
    for (const ir::Extent &extent : ir::extentsOf(argument.getType()))
      array.extents.push_back(extentOf(extent));
  }
}

void CppHostEmitter::emit(TextLines &text) {
  nameArguments();
  const std::string name = hostName(host_);
  std::string parameters;
  for (BlockArgument argument : host_.getArguments())
    parameters +=
        (arrays_.count(argument) ? ", void *" : ", " + cppElement(argument.getType()) + " ") +
        names_.of(argument);
  storage_ = names_.fresh("storage");
  stream_ = names_.fresh("stream");
  groups_ = names_.fresh("groups");
  // The host and a kernel with its name have helpers of their own.
  std::string space = "ptl_" + name;
  while (
      llvm::any_of(launches_, [&](const CppLaunch &each) { return "ptl_" + each.name == space; }))
    space += "_host";
  // The body is emitted first: it finds the helpers and the names that are used.
  body_.indent(4);
  emitBlock(host_.getBody().front());
  bool facts = host_
                   .walk([](Operation *op) {
                     return isa<ir::UniqueOp, ir::SortedOp>(op) ? WalkResult::interrupt()
                                                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  text.add("namespace " + space + " {");
  text.blank();
  addText(text, kStorage);
  addText(text, kRequire);
  if (facts)
    addText(text, kFacts);
  text.blank();
  addCppHelpers(text, helpers_, "");
  text.add("// Runs `" + name + "` on `" + groups_ +
           "` cube cores and their vector cores; 0 when all is done.");
  text.add("extern \"C\" int run_" + name + "(void *" + stream_ + ", uint32_t " + groups_ +
               parameters + ") {",
           placeOf(host_));
  text.add("  try {");
  text.add("    Storage " + storage_ + "(" + stream_ + ");");
  // The lines outlive this emitter, so they must not refer to operations of it.
  body_.forgetOperations();
  text.append(std::move(body_));
  // Launches run later than this code; the result is there only after a wait.
  text.add("    " + storage_ + ".wait();");
  text.add("    return 0;");
  text.add("  } catch (const std::exception &problem) {");
  text.add("    std::fprintf(stderr, \"%s\\n\", problem.what());");
  text.add("    return 1;");
  text.add("  }");
  text.add("}");
  text.blank();
  text.add("} // namespace " + space);
}

bool CppHostEmitter::emitOther(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ir::AllocOp>([&](auto alloc) { return emitAlloc(alloc), true; })
      .Case<ir::LaunchOp>([&](auto launch) { return emitLaunch(launch), true; })
      .Case<ir::CheckOp>([&](auto check) { return emitCheck(check), true; })
      .Case<ir::StoreOp>([&](auto store) { return emitStore(store), true; })
      .Case<ir::LoadOp, ir::SliceOp>([&](auto box) {
        bool isPlain = !box.getOutside() && box.getSteps().empty();
        return emitBox(box, box.getOffsets(), box.getLengths(), box.getDropped(), isPlain);
      })
      .Case<ir::CastOp, ir::ReshapeOp, ir::NewAxisOp>([&](Operation *view) {
        // A view has no code of its own: it describes the same memory with other extents.
        return arrays_.count(view->getOperand(0)) && (emitView(view), true);
      })
      .Default([](Operation *) { return false; });
}

std::optional<CppExpression> CppHostEmitter::otherExpression(Operation *op) {
  if (auto dim = dyn_cast<ir::DimOp>(op))
    if (auto array = arrays_.find(dim.getSource()); array != arrays_.end())
      return known(array->second.extents[dim.getAxis()]);
  if (isa<ir::UniqueOp, ir::SortedOp>(op) && arrays_.count(op->getOperand(0))) {
    const Array &array = arrays_[op->getOperand(0)];
    std::string element = cppElement(ir::elementTypeOf(op->getOperand(0).getType()));
    CppExpression count = {"1"};
    for (const CppExpression &each : array.extents) {
      // The facts concern the elements in order, whatever the shape.
      CppExpression extent = known(each);
      count = count.text == "1" ? extent
                                : CppExpression{count.within(Precedence::Product) + " * " +
                                                    extent.within(Precedence::Unary),
                                                Precedence::Product};
    }
    return CppExpression{std::string(isa<ir::UniqueOp>(op) ? "isUnique" : "isSorted") + "(" +
                         storage_ + ".all<" + element + ">(" + array.pointer + ", " + count.text +
                         "))"};
  }
  return std::nullopt;
}

llvm::SmallVector<CppExpression> CppHostEmitter::extentsOf(Type type, ValueRange lengths) {
  llvm::SmallVector<CppExpression> extents;
  size_t next = 0;
  for (const ir::Extent &extent : ir::extentsOf(type))
    extents.push_back(extent.isConstant() ? CppExpression{std::to_string(extent.length)}
                                          : expression(lengths[next++]));
  return extents;
}

std::string CppHostEmitter::bytesOf(const Array &array, Type element) {
  std::string text;
  for (const CppExpression &extent : array.extents)
    // An extent of one changes no product.
    if (extent.text != "1")
      text += extent.within(Precedence::Unary) + " * ";
  // The host's compiler need not have the short floats.
  if (isa<FloatType>(element) && elementBytes(element) < 4)
    return text + std::to_string(elementBytes(element));
  return text + "sizeof(" + cppElement(element) + ")";
}

void CppHostEmitter::emitAlloc(ir::AllocOp alloc) {
  Array array{names_.of(alloc.getResult()), extentsOf(alloc.getType(), alloc.getLengths())};
  take(alloc, array.pointer, bytesOf(array, alloc.getType().getElementType()));
  arrays_[alloc.getResult()] = std::move(array);
}

/// Storage for the result of an operation, until its last use.
void CppHostEmitter::take(Operation *op, const std::string &name, const std::string &bytes) {
  line(op, "void *" + name + " = " + storage_ + ".take(" + bytes + ");");
  Operation *last = op;
  // Views of the array count as uses of it.
  for (Operation *use : ir::usesOfElements(op->getResult(0)))
    // A use in a nested region counts as that of the operation in this block that holds it, so
    // nothing is given back within a loop that goes on.
    if (Operation *here = op->getBlock()->findAncestorOpInBlock(*use))
      last = last->isBeforeInBlock(here) ? here : last;
  dead_[last].push_back(name);
}

void CppHostEmitter::leave(Operation *op) {
  for (const std::string &name : dead_.lookup(op))
    body_.add(storage_ + ".give(" + name + ");", placeOf(op));
}

void CppHostEmitter::emitLaunch(ir::LaunchOp launch) {
  auto found = llvm::find_if(
      launches_, [&](const CppLaunch &each) { return each.name == launch.getKernel(); });
  if (found == launches_.end())
    return missing(launch, "there is no kernel `" + launch.getKernel().str() + "`");
  std::string arguments =
      // A kernel of vector cores alone is launched on all of them, and another one on core groups.
      found->onGroups || vectors_ == 1 ? groups_ : std::to_string(vectors_) + " * " + groups_;
  size_t next = 0;
  for (int64_t groupBytes : found->groupBytes) {
    // A workspace is memory for each group that no argument of the program stands for.
    if (groupBytes) {
      std::string workspace = names_.fresh("workspace");
      line(launch, "void *" + workspace + " = " + storage_ + ".take(" + groups_ + " * (int64_t)" +
                       std::to_string(groupBytes) + ");");
      // The next kernel may take the same memory, because kernels run in order.
      dead_[launch].push_back(workspace);
      arguments += ", " + workspace;
      continue;
    }
    Value operand = launch.getArguments()[next++];
    auto array = arrays_.find(operand);
    arguments += ", " + (array == arrays_.end() ? text(operand) : array->second.pointer);
  }
  line(launch,
       "ptl_" + found->name + "::launch_" + found->name + "(" + stream_ + ", " + arguments + ");");
}

/// `{0}` becomes what prints the first value.
static std::string printfFormat(llvm::StringRef message, ValueRange values) {
  std::string text;
  for (size_t i = 0; i < message.size(); ++i) {
    unsigned index = 0;
    llvm::StringRef rest = message.drop_front(i);
    // Messages write a brace as two.
    if (rest.starts_with("{{")) {
      text += message[++i];
    } else if (rest.consume_front("{") && !rest.consumeInteger(10, index) &&
               rest.starts_with("}") && index < values.size()) {
      bool isReal = isa<FloatType>(values[index].getType());
      // Numbered conversions (`%1$g`) let a value appear anywhere, or twice.
      text += "%" + std::to_string(index + 1) + (isReal ? "$g" : "$lld");
      i = static_cast<size_t>(rest.data() - message.data());
    } else if (message[i] == '%') {
      text += "%%";
    } else {
      text += message[i];
    }
  }
  return text;
}

void CppHostEmitter::emitCheck(ir::CheckOp check) {
  std::string message;
  llvm::raw_string_ostream(message) << '"';
  llvm::raw_string_ostream(message).write_escaped(
      check.getValues().empty() ? check.getMessage().str()
                                : printfFormat(check.getMessage(), check.getValues()));
  message += '"';
  for (Value value : check.getValues())
    // The casts make the arguments fit the conversions on every machine.
    message += std::string(", ") + (isa<FloatType>(value.getType()) ? "(double)" : "(long long)") +
               "(" + text(value) + ")";
  line(check, "require(" + text(check.getCondition()) + ", " + message + ");");
}

CppExpression CppHostEmitter::elementAt(const Array &array, ValueRange offsets) {
  CppExpression at{"0"};
  // Horner's rule: each axis multiplies what came before by its extent.
  for (auto [axis, offset] : llvm::enumerate(offsets)) {
    CppExpression one = expression(offset);
    if (at.text == "0") {
      at = one;
      continue;
    }
    at = {at.within(Precedence::Product) + " * " +
              known(array.extents[axis]).within(Precedence::Unary) +
              (one.text == "0" ? "" : " + " + one.within(Precedence::Product)),
          one.text == "0" ? Precedence::Product : Precedence::Sum};
  }
  return at;
}

void CppHostEmitter::emitStore(ir::StoreOp store) {
  auto array = arrays_.find(store.getRef());
  // The host changes single elements only.
  if (array == arrays_.end() || isa<ir::ArrayType>(store.getValue().getType()))
    return missing(store, "a store of the host that has no spelling in C++");
  line(store, storage_ + ".write<" + cppElement(store.getValue().getType()) + ">(" +
                  array->second.pointer + ", " + elementAt(array->second, store.getOffsets()).text +
                  ", " + text(store.getValue()) + ");");
}

void CppHostEmitter::emitView(Operation *op) {
  Array array = arrays_[op->getOperand(0)];
  if (auto axes = dyn_cast<ir::NewAxisOp>(op)) {
    for (int64_t axis : axes.getAxes())
      array.extents.insert(array.extents.begin() + axis, CppExpression{"1"});
  } else if (isa<ir::ReshapeOp>(op)) {
    array.extents = extentsOf(op->getResult(0).getType(), op->getOperands().drop_front());
  }
  arrays_[op->getResult(0)] = std::move(array);
}

bool CppHostEmitter::emitBox(Operation *op, ValueRange offsets, ValueRange lengths,
                             llvm::ArrayRef<int64_t> dropped, bool isPlain) {
  auto source = arrays_.find(op->getOperand(0));
  if (source == arrays_.end() || !isPlain)
    return false;
  Value result = op->getResult(0);
  Array from = source->second;
  // A box of one element is read at once, because the host computes with it.
  if (!isa<ir::ArrayType>(result.getType())) {
    std::string element = cppElement(result.getType());
    line(op, "const " + element + " " + names_.of(result) + " = " + storage_ + ".read<" + element +
                 ">(" + from.pointer + ", " + elementAt(from, offsets).text + ");");
    return true;
  }
  // Elements that follow each other: whole axes, but for the first that has more than one place.
  Array box{from.pointer, {}};
  bool isWhole = true, isOne = true;
  for (auto [axis, length] : llvm::enumerate(lengths)) {
    CppExpression extent = expression(length);
    bool whole = extent.text == from.extents[axis].text && matchPattern(offsets[axis], m_Zero());
    if (!whole && !isOne)
      return false;
    isWhole &= whole;
    isOne &= extent.text == "1";
    if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
      box.extents.push_back(extent);
  }
  Type element = ir::elementTypeOf(result.getType());
  if (!isWhole)
    box.pointer = "(" + cppElement(element) + " *)" + from.pointer + " + " +
                  elementAt(from, offsets).within(Precedence::Product);
  // A box that is written later on is copied; a view would show the change.
  if (!ir::staysAsItIs(op)) {
    std::string name = names_.of(result), bytes = bytesOf(box, element);
    take(op, name, bytes);
    line(op, storage_ + ".copy(" + name + ", " + box.pointer + ", " + bytes + ");");
    box.pointer = name;
  }
  arrays_[result] = std::move(box);
  return true;
}

} // namespace ptl::pto
