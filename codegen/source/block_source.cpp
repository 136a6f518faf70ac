// Block level as source: a `manual kernel` for each kernel of a chip, and a program that calls
// them.
#include "codegen/source/block_body.h"
#include "codegen/source/entry.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

namespace {

/// A kernel's functions: one for each kind of core that has something to do.
struct BlockKernel {
  std::string machine;
  llvm::SmallVector<func::FuncOp> functions;
};

class KernelPrinter {
public:
  KernelPrinter(const BlockKernel &kernel, ir::LaunchOp launch, const EntryFacts &facts,
                Unwritable unwritable)
      : kernel_(kernel), launch_(launch), facts_(facts), unwritable_(std::move(unwritable)) {}
  OutlinedKernel print();

private:
  void addOperand(BlockArgument argument, Value operand);
  std::string body();
  std::string typeText(Type type);

  const BlockKernel &kernel_;
  ir::LaunchOp launch_;
  const EntryFacts &facts_;
  Unwritable unwritable_;
  OutlinedKernel result_;
  std::set<std::string> dims_, bound_; ///< in types; those that an argument binds
};

std::string KernelPrinter::typeText(Type type) {
  std::vector<std::string> extents;
  for (const ir::Extent &extent : ir::extentsOf(type)) {
    extents.push_back(extent.isConstant() ? std::to_string(extent.length)
                                          : dimension(extent.symbol.getValue()).text);
    if (!extent.symbol)
      continue;
    for (const std::string &name : identifiersOf(extent.symbol.getValue()))
      dims_.insert(name);
    if (isIdentifier(extent.symbol.getValue()))
      bound_.insert(extent.symbol.str());
  }
  std::string text = elementText(ir::elementTypeOf(type));
  return extents.empty() ? text : text + "[" + llvm::join(extents, ", ") + "]";
}

/// Sizes that are dimensions of the arrays, or of the entry, are no parameters.
void KernelPrinter::addOperand(BlockArgument argument, Value operand) {
  func::FuncOp function = kernel_.functions.front();
  auto text = [&](llvm::StringRef attribute) {
    auto value = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute);
    return value ? value.str() : "";
  };
  std::string name = text("ptl.name"), role = text("ptl.role");
  if (operand.getType().isIndex()) {
    auto own = dyn_cast<BlockArgument>(operand);
    auto host = own ? dyn_cast<func::FuncOp>(own.getOwner()->getParentOp()) : func::FuncOp();
    auto dim =
        host ? host.getArgAttrOfType<StringAttr>(own.getArgNumber(), "ptl.dim") : StringAttr();
    if (dim && dim.getValue() == name) {
      dims_.insert(name);
      return;
    }
    result_.arguments.push_back({operand, name, "int", false});
    return;
  }
  std::string type = typeText(operand.getType());
  if (auto strides = facts_.strides.find(name); strides != facts_.strides.end())
    type += " strides " + strides->second;
  if (role == "out") {
    result_.outputs.emplace_back(operand, type);
    result_.outputNames.push_back(name);
  } else {
    result_.arguments.push_back({operand, name, type, role == "inout"});
  }
}

/// Both sides, or the only one. Queues stand before the sides, which share them.
std::string KernelPrinter::body() {
  Queues queues;
  std::vector<std::string> sides;
  // The first time finds what the consumers of queues say of them.
  for (int pass = 0; pass < 2; ++pass) {
    sides.clear();
    for (func::FuncOp function : kernel_.functions)
      sides.push_back(BlockBody(function, queues, unwritable_).print());
  }
  if (sides.size() == 1)
    return sides[0];
  std::string text;
  for (const auto &[flag, queue] : queues)
    text += queue.declaration + "\n";
  for (size_t i = 0; i < sides.size(); ++i) {
    auto kind = kernel_.functions[i]->getAttrOfType<pto::KernelKindAttr>("pto.kernel_kind");
    bool isCube = kind && kind.getValue() == pto::KernelKind::cube;
    text += std::string("on ") + (isCube ? "aic" : "aiv") + " {\n" + sides[i] + "}\n";
  }
  return text;
}

OutlinedKernel KernelPrinter::print() {
  func::FuncOp function = kernel_.functions.front();
  auto kind = function->getAttrOfType<pto::KernelKindAttr>("pto.kernel_kind");
  bool isCube = kind && kind.getValue() == pto::KernelKind::cube;
  result_.word = "manual kernel";
  result_.clause = kernel_.functions.size() > 1 ? "" : isCube ? "on aic" : "on aiv";
  if (!result_.clause.empty())
    result_.clause += " for " + kernel_.machine;
  size_t next = 0;
  for (BlockArgument argument : function.getArguments()) {
    auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ptl.role");
    if (role && role.getValue() == "workspace")
      continue;
    if (next < launch_.getArguments().size())
      addOperand(argument, launch_.getArguments()[next++]);
  }
  result_.dims.assign(dims_.begin(), dims_.end());
  for (const std::string &dim : dims_) {
    bool isBound = llvm::any_of(result_.arguments, [&](const OutlinedKernel::Argument &argument) {
      return llvm::any_of(ir::extentsOf(argument.value.getType()), [&](const ir::Extent &extent) {
        return extent.symbol && extent.symbol.getValue() == dim;
      });
    });
    if (!isBound)
      result_.namedDims.push_back(dim);
  }
  for (const std::string &condition : facts_.wheres)
    if (llvm::all_of(identifiersOf(condition),
                     [&](const std::string &name) { return dims_.count(name) != 0; }))
      result_.wheres.push_back(condition);
  result_.body = body();
  return result_;
}

} // namespace

/// A kernel that is launched once, with what the entry was given, is the entry.
static ir::LaunchOp onlyLaunch(func::FuncOp host) {
  auto kind = host->getAttrOfType<StringAttr>("ptl.kind");
  if (!kind || kind.getValue() != "kernel")
    return {};
  ir::LaunchOp only;
  for (Operation &op : host.getBody().front().without_terminator()) {
    if (auto launch = dyn_cast<ir::LaunchOp>(op)) {
      if (only)
        return {};
      only = launch;
    } else if (!isPositionOp(&op) && !op.hasTrait<OpTrait::ConstantLike>() &&
               !isa<ir::CheckOp>(op)) {
      return {};
    }
  }
  bool isPlain = only && llvm::all_of(only.getArguments(),
                                      [](Value operand) { return isa<BlockArgument>(operand); });
  return isPlain ? only : ir::LaunchOp();
}

SourceResult printBlocks(func::FuncOp host, llvm::ArrayRef<ModuleOp> kernels,
                         const EntryFacts &facts) {
  SourceResult result{"", "", host.getLoc()};
  Unwritable unwritable = [&](Operation *op, const std::string &why) {
    if (!result.problem.empty())
      return;
    result.problem = why;
    result.at = op->getLoc();
  };
  std::map<std::string, BlockKernel> byName;
  for (ModuleOp module : kernels)
    for (auto function : module.getOps<func::FuncOp>())
      if (auto name = function->getAttrOfType<StringAttr>("ptl.kernel")) {
        BlockKernel &kernel = byName[name.str()];
        kernel.machine = facts.target;
        kernel.functions.push_back(function);
      }
  KernelOfLaunch kernelOfLaunch = [&](ir::LaunchOp launch) {
    auto found = byName.find(launch.getKernel().str());
    if (found != byName.end())
      return KernelPrinter(found->second, launch, facts, unwritable).print();
    unwritable(launch, "`" + launch.getKernel().str() + "` is not there");
    return OutlinedKernel();
  };
  if (ir::LaunchOp only = onlyLaunch(host)) {
    OutlinedKernel kernel = kernelOfLaunch(only);
    kernel.wheres = facts.wheres;
    result.text = docLines(facts.doc) + (facts.isPub ? "pub " : "") + kernel.text(facts.name);
  } else {
    Entry entry(host, facts);
    result.text = ProgramEntry(entry, unwritable, kernelOfLaunch).print();
  }
  if (!result.problem.empty())
    result.text.clear();
  return result;
}

} // namespace ptl::source
