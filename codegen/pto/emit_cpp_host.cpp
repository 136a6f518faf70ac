#include "codegen/pto/emit_cpp_host.h"

#include "codegen/pto/cpp_expressions.h"
#include "codegen/pto/cpp_host_runtime.h"
#include "codegen/pto/emit_cpp_function.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/host_views.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// An array in global memory: dense.
struct Array {
  std::string pointer;
  llvm::SmallVector<CppExpression> extents;
};

/// The host code of a program while it is written.
struct Host final : CppExtension {
  Host(func::FuncOp function, const Machine &machine, llvm::ArrayRef<CppLaunch> launches,
       std::vector<Finding> &findings)
      : function(function), launches(launches),
        vectors(machine.exchange.vectorPerCube ? machine.exchange.vectorPerCube : 2),
        code(function, machine, noTypes, helpers, findings, this) {}

  bool emit(Operation *op) override;
  std::optional<CppExpression> expression(Operation *op) override;
  void leave(Operation *op) override;

  func::FuncOp function;
  llvm::ArrayRef<CppLaunch> launches;
  int64_t vectors; ///< vector cores of a group
  CppTypes noTypes{{}};
  CppHelpers helpers;
  CppCode code;
  std::string storage, stream, groups;     ///< names of our own
  llvm::StringMap<std::string> dimensions; ///< by their names in the language
  llvm::DenseMap<Value, Array> arrays;
  llvm::DenseMap<Operation *, std::vector<std::string>> dead; ///< after each operation
};

bool isNameCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

/// A formula of the language in C++, which has no power and perhaps other names for the dimensions.
/// Nothing for powers of anything but a name.
std::optional<std::string> formulaOf(llvm::StringRef formula,
                                     const llvm::StringMap<std::string> &dimensions) {
  std::string text;
  while (!formula.empty()) {
    llvm::StringRef word = formula.take_while(isNameCharacter);
    formula = formula.drop_front(word.size());
    auto known = dimensions.find(word);
    std::string factor = known == dimensions.end() ? word.str() : known->second;
    unsigned power = 1;
    if (formula.consume_front("**") && (word.empty() || formula.consumeInteger(10, power)))
      return std::nullopt;
    // In parentheses, because a quotient may stand before it.
    text += power > 1 ? "(" + factor : factor;
    for (unsigned i = 1; i < power; ++i)
      text += " * " + factor;
    text += power > 1 ? ")" : "";
    if (!formula.empty() && !isNameCharacter(formula.front())) {
      text += formula.front();
      formula = formula.drop_front();
    }
  }
  return text;
}

/// A length that the language writes as a formula, such as `2*T`, in C++. Empty where the two mean
/// different things: negative quotients, remainders, functions.
CppExpression extentOf(const Host &host, const ir::Extent &extent) {
  if (extent.isConstant())
    return {std::to_string(extent.length)};
  llvm::StringRef formula = extent.symbol;
  bool mayRound =
      formula.contains('/') && formula.contains('-'); // down in the one, to 0 in the other
  bool calls = false;
  for (size_t at = 1; at < formula.size(); ++at)
    calls |= formula[at] == '(' && llvm::isAlpha(formula[at - 1]);
  if (mayRound || calls || formula.contains('%'))
    return {""};
  std::optional<std::string> text = formulaOf(formula, host.dimensions);
  if (!text)
    return {""};
  // A formula has unknown operators, so it is put in parentheses in any context.
  return {*text,
          llvm::all_of(*text, isNameCharacter) ? Precedence::Primary : Precedence::Conditional};
}

CppExpression knownLength(Host &host, const CppExpression &extent) {
  if (extent.text.empty())
    // Code with a wrong length would compile, so this is a finding.
    host.code.missing(host.function, "the length of an argument, which C++ may round otherwise,");
  return extent;
}

void nameArguments(Host &host) {
  for (BlockArgument argument : host.function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = attrs::firstOf(host.function, number, attrs::name, attrs::output, attrs::dim);
    if (!name)
      continue;
    std::string own = host.code.names().fresh(name.getValue());
    host.code.names().set(argument, own);
    if (attrs::firstOf(host.function, number, attrs::dim))
      host.dimensions[name.getValue()] = own;
  }
  // Dimensions stand behind the arrays whose lengths they are.
  for (BlockArgument argument : host.function.getArguments()) {
    if (!ir::isArrayLike(argument.getType()))
      // Scalars are named alone; arrays also have extents, which views change.
      continue;
    Array &array = host.arrays[argument];
    array.pointer = host.code.names().of(argument);
    for (const ir::Extent &extent : ir::extentsOf(argument.getType()))
      array.extents.push_back(extentOf(host, extent));
  }
}

llvm::SmallVector<CppExpression> extentsOf(Host &host, Type type, ValueRange lengths) {
  llvm::SmallVector<CppExpression> extents;
  size_t next = 0;
  for (const ir::Extent &extent : ir::extentsOf(type))
    extents.push_back(extent.isConstant() ? CppExpression{std::to_string(extent.length)}
                                          : expression(host.code, lengths[next++]));
  return extents;
}

std::string bytesOf(const Array &array, Type element) {
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

/// Storage for the result of an operation, until its last use.
void take(Host &host, Operation *op, const std::string &name, const std::string &bytes) {
  host.code.line(op, "void *" + name + " = " + host.storage + ".take(" + bytes + ");");
  // Without any use the array is given back at once.
  Operation *last = op;
  // Views of the array count as uses of it.
  for (Operation *use : ir::usesOfElements(op->getResult(0)))
    // A use in a nested region counts as that of the operation in this block that holds it, so
    // nothing is given back within a loop that goes on.
    if (Operation *here = op->getBlock()->findAncestorOpInBlock(*use))
      last = last->isBeforeInBlock(here) ? here : last;
  host.dead[last].push_back(name);
}

void emitAlloc(Host &host, ir::AllocOp alloc) {
  Array array{host.code.names().of(alloc.getResult()),
              extentsOf(host, alloc.getType(), alloc.getLengths())};
  take(host, alloc, array.pointer, bytesOf(array, alloc.getType().getElementType()));
  host.arrays[alloc.getResult()] = std::move(array);
}

void emitLaunch(Host &host, ir::LaunchOp launch) {
  auto found = llvm::find_if(
      host.launches, [&](const CppLaunch &each) { return each.name == launch.getKernel(); });
  if (found == host.launches.end())
    return host.code.missing(launch, "there is no kernel `" + launch.getKernel().str() + "`");
  std::string arguments =
      // A kernel of vector cores alone is launched on all of them, and another one on core groups.
      found->onGroups || host.vectors == 1 ? host.groups
                                           : std::to_string(host.vectors) + " * " + host.groups;
  size_t next = 0;
  for (int64_t groupBytes : found->groupBytes) {
    // A workspace is memory for each group that no argument of the program stands for.
    if (groupBytes) {
      std::string workspace = host.code.names().fresh("workspace");
      host.code.line(launch, "void *" + workspace + " = " + host.storage + ".take(" + host.groups +
                                 " * (int64_t)" + std::to_string(groupBytes) + ");");
      // The next kernel may take the same memory, because kernels run in order.
      host.dead[launch].push_back(workspace);
      arguments += ", " + workspace;
      continue;
    }
    Value operand = launch.getArguments()[next++];
    auto array = host.arrays.find(operand);
    arguments +=
        ", " + (array == host.arrays.end() ? textOf(host.code, operand) : array->second.pointer);
  }
  host.code.line(launch, "ptl_" + found->name + "::launch_" + found->name + "(" + host.stream +
                             ", " + arguments + ");");
}

/// `{0}` becomes what prints the first value. A message without values is printed as it is.
std::string printfFormat(llvm::StringRef message, ValueRange values) {
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
    } else if (message[i] == '%' && !values.empty()) {
      text += "%%";
    } else {
      text += message[i];
    }
  }
  return text;
}

void emitCheck(Host &host, ir::CheckOp check) {
  std::string message;
  llvm::raw_string_ostream(message) << '"';
  llvm::raw_string_ostream(message).write_escaped(
      printfFormat(check.getMessage(), check.getValues()));
  message += '"';
  for (Value value : check.getValues())
    // The casts make the arguments fit the conversions on every machine.
    message += std::string(", ") + (isa<FloatType>(value.getType()) ? "(double)" : "(long long)") +
               "(" + textOf(host.code, value) + ")";
  host.code.line(check,
                 "require(" + textOf(host.code, check.getCondition()) + ", " + message + ");");
}

CppExpression elementAt(Host &host, const Array &array, ValueRange offsets) {
  CppExpression at{"0"};
  // Horner's rule: each axis multiplies what came before by its extent.
  for (auto [axis, offset] : llvm::enumerate(offsets)) {
    CppExpression one = expression(host.code, offset);
    if (at.text == "0") {
      at = one;
      continue;
    }
    at = {at.within(Precedence::Product) + " * " +
              knownLength(host, array.extents[axis]).within(Precedence::Unary) +
              (one.text == "0" ? "" : " + " + one.within(Precedence::Product)),
          one.text == "0" ? Precedence::Product : Precedence::Sum};
  }
  return at;
}

void emitStore(Host &host, ir::StoreOp store) {
  auto array = host.arrays.find(store.getRef());
  // The host changes single elements only.
  if (array == host.arrays.end() || isa<ir::ArrayType>(store.getValue().getType()))
    return host.code.missing(store, "a store of the host that has no spelling in C++");
  host.code.line(store, host.storage + ".write<" + cppElement(store.getValue().getType()) + ">(" +
                            array->second.pointer + ", " +
                            elementAt(host, array->second, store.getOffsets()).text + ", " +
                            textOf(host.code, store.getValue()) + ");");
}

void emitHostView(Host &host, Operation *op) {
  Array array = host.arrays[op->getOperand(0)];
  if (auto axes = dyn_cast<ir::NewAxisOp>(op)) {
    for (int64_t axis : axes.getAxes())
      array.extents.insert(array.extents.begin() + axis, CppExpression{"1"});
  } else if (isa<ir::ReshapeOp, ir::ViewOp>(op)) {
    array.extents = extentsOf(host, op->getResult(0).getType(), op->getOperands().drop_front());
  }
  host.arrays[op->getResult(0)] = std::move(array);
}

bool emitBox(Host &host, Operation *op, ValueRange offsets, ValueRange lengths,
             llvm::ArrayRef<int64_t> dropped, bool isPlain) {
  auto source = host.arrays.find(op->getOperand(0));
  if (source == host.arrays.end() || !isPlain)
    return false;
  Value result = op->getResult(0);
  Array from = source->second;
  // A box of one element is read at once, because the host computes with it.
  if (!isa<ir::ArrayType>(result.getType())) {
    std::string element = cppElement(result.getType());
    host.code.line(op, "const " + element + " " + host.code.names().of(result) + " = " +
                           host.storage + ".read<" + element + ">(" + from.pointer + ", " +
                           elementAt(host, from, offsets).text + ");");
    return true;
  }
  // Elements that follow each other: whole axes, but for the first that has more than one place.
  Array box{from.pointer, {}};
  bool isWhole = true, isOne = true;
  llvm::ArrayRef<ir::Extent> kept = ir::extentsOf(result.getType());
  for (auto [axis, length] : llvm::enumerate(lengths)) {
    CppExpression extent = expression(host.code, length);
    bool isDropped = llvm::is_contained(dropped, static_cast<int64_t>(axis));
    const ir::Extent &before = ir::extentsOf(op->getOperand(0).getType())[axis];
    // One formula of dimensions is one length, also where a name stands for the value of the other.
    bool same = extent.text == from.extents[axis].text ||
                (!isDropped && before == kept.front() && !extentOf(host, before).text.empty());
    bool whole = same && matchPattern(offsets[axis], m_Zero());
    if (!isDropped)
      kept = kept.drop_front();
    // Behind an axis that is cut, elements no longer follow each other, so a pointer cannot say the
    // part.
    if (!whole && !isOne)
      return false;
    isWhole &= whole;
    isOne &= extent.text == "1";
    if (!isDropped)
      box.extents.push_back(extent);
  }
  Type element = ir::elementTypeOf(result.getType());
  if (!isWhole)
    box.pointer = "(" + cppElement(element) + " *)" + from.pointer + " + " +
                  elementAt(host, from, offsets).within(Precedence::Product);
  // A box that is written later on is copied; a view would show the change.
  if (!ir::staysAsItIs(op)) {
    std::string name = host.code.names().of(result), bytes = bytesOf(box, element);
    take(host, op, name, bytes);
    host.code.line(op, host.storage + ".copy(" + name + ", " + box.pointer + ", " + bytes + ");");
    box.pointer = name;
  }
  host.arrays[result] = std::move(box);
  return true;
}

bool Host::emit(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ir::AllocOp>([&](auto alloc) { return emitAlloc(*this, alloc), true; })
      .Case<ir::LaunchOp>([&](auto launch) { return emitLaunch(*this, launch), true; })
      .Case<ir::CheckOp>([&](auto check) { return emitCheck(*this, check), true; })
      .Case<ir::StoreOp>([&](auto store) { return emitStore(*this, store), true; })
      .Case<ir::LoadOp, ir::SliceOp>([&](auto box) {
        bool isPlain = !box.getOutside() && box.getSteps().empty();
        return emitBox(*this, box, box.getOffsets(), box.getLengths(), box.getDropped(), isPlain);
      })
      .Case<ir::CastOp, ir::ReshapeOp, ir::NewAxisOp, ir::ViewOp>([&](Operation *view) {
        // A view has no code of its own: it describes the same memory with other extents.
        return arrays.count(view->getOperand(0)) && (emitHostView(*this, view), true);
      })
      .Default([](Operation *) { return false; });
}

std::optional<CppExpression> Host::expression(Operation *op) {
  if (auto dim = dyn_cast<ir::DimOp>(op))
    if (auto array = arrays.find(dim.getSource()); array != arrays.end())
      return knownLength(*this, array->second.extents[dim.getAxis()]);
  if (isa<ir::UniqueOp, ir::SortedOp>(op) && arrays.count(op->getOperand(0))) {
    const Array &array = arrays[op->getOperand(0)];
    std::string element = cppElement(ir::elementTypeOf(op->getOperand(0).getType()));
    CppExpression count = {"1"};
    for (const CppExpression &each : array.extents) {
      // The facts concern the elements in order, whatever the shape.
      CppExpression extent = knownLength(*this, each);
      count = count.text == "1" ? extent
                                : CppExpression{count.within(Precedence::Product) + " * " +
                                                    extent.within(Precedence::Unary),
                                                Precedence::Product};
    }
    return CppExpression{std::string(isa<ir::UniqueOp>(op) ? "isUnique" : "isSorted") + "(" +
                         storage + ".all<" + element + ">(" + array.pointer + ", " + count.text +
                         "))"};
  }
  return std::nullopt;
}

void Host::leave(Operation *op) {
  for (const std::string &name : dead.lookup(op))
    code.body().add(storage + ".give(" + name + ");", placeOf(op));
}

} // namespace

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

void emitHost(TextLines &text, func::FuncOp function, const Machine &machine,
              llvm::ArrayRef<CppLaunch> launches, std::vector<Finding> &findings) {
  Host host(function, machine, launches, findings);
  nameArguments(host);
  const std::string name = hostName(function);
  std::string parameters;
  for (BlockArgument argument : function.getArguments())
    parameters +=
        (host.arrays.count(argument) ? ", void *" : ", " + cppElement(argument.getType()) + " ") +
        host.code.names().of(argument);
  host.storage = host.code.names().fresh("storage");
  host.stream = host.code.names().fresh("stream");
  host.groups = host.code.names().fresh("groups");
  // The host and a kernel with its name have helpers of their own.
  std::string space = "ptl_" + name;
  // A kernel has a namespace of its own, which the host must not reopen with helpers of the same
  // names.
  while (llvm::any_of(launches, [&](const CppLaunch &each) { return "ptl_" + each.name == space; }))
    space += "_host";
  // The body is emitted first: it finds the helpers and the names that are used.
  host.code.body().indent(4);
  emitBlock(host.code, function.getBody().front());
  bool facts = function
                   .walk([](Operation *op) {
                     return isa<ir::UniqueOp, ir::SortedOp>(op) ? WalkResult::interrupt()
                                                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  text.add("namespace " + space + " {");
  text.blank();
  addHostRuntime(text, facts);
  text.blank();
  addCppHelpers(text, host.helpers, "");
  text.add("// Runs `" + name + "` on `" + host.groups +
           "` cube cores and their vector cores; 0 when all is done.");
  text.add("extern \"C\" int run_" + name + "(void *" + host.stream + ", uint32_t " + host.groups +
               parameters + ") {",
           placeOf(function));
  text.add("  try {");
  text.add("    Storage " + host.storage + "(" + host.stream + ");");
  // The lines outlive the host, so they must not refer to operations of it.
  host.code.body().forgetOperations();
  text.append(std::move(host.code.body()));
  // Launches run later than this code; the result is there only after a wait.
  text.add("    " + host.storage + ".wait();");
  text.add("    return 0;");
  text.add("  } catch (const std::exception &problem) {");
  text.add("    std::fprintf(stderr, \"%s\\n\", problem.what());");
  text.add("    return 1;");
  text.add("  }");
  text.add("}");
  text.blank();
  text.add("} // namespace " + space);
}

} // namespace ptl::pto
