// Block level as source: a `manual kernel` for each kernel of a chip, and a program that calls
// them.
#include "codegen/source/block_body.h"
#include "codegen/source/block_drains.h"
#include "codegen/source/entry.h"
#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_literals.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
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
  /// `isEntry`: the kernel stands for the entry, so it is called as that is, with all of its parameters.
  OutlinedKernel print(bool isEntry);

private:
  void takeEntrysParameters();
  void addOperand(BlockArgument argument, Value operand);
  void knowLengths(const std::set<std::string> &inTypes);
  std::string body();
  std::string typeText(Type type);

  const BlockKernel &kernel_;
  ir::LaunchOp launch_;
  const EntryFacts &facts_;
  Unwritable unwritable_;
  OutlinedKernel result_;
  std::set<std::string> dims_, bound_, strides_; ///< in types; those that an argument binds
  GivenArguments given_;
  std::vector<std::string> unused_; ///< parameters that no core uses
  Positions host_;
  Names names_;
};

std::string KernelPrinter::typeText(Type type) {
  std::vector<std::string> extents;
  for (const ir::Extent &extent : ir::extentsOf(type)) {
    extents.push_back(extent.isConstant() ? std::to_string(extent.length)
                                          : dimension(extent.symbol.getValue()).text);
    // A constant extent binds no name.
    if (!extent.symbol)
      continue;
    for (const std::string &name : identifiersOf(extent.symbol.getValue()))
      dims_.insert(name);
    // An axis whose length is a name determines that dimension; a formula does not.
    if (isIdentifier(extent.symbol.getValue()))
      bound_.insert(extent.symbol.str());
  }
  std::string text = elementText(ir::elementTypeOf(type));
  return extents.empty() ? text : text + "[" + llvm::join(extents, ", ") + "]";
}

/// Whether storage has no contents yet when it is launched: what the kernel reads of it, it has written before.
static bool beginsEmpty(Value storage, ir::LaunchOp launch) {
  mlir::Block *block = launch->getBlock();
  auto argument = dyn_cast<BlockArgument>(storage);
  auto host = launch->getParentOfType<func::FuncOp>();
  bool isMade = argument ? argument.getOwner()->getParentOp() == host &&
                               attrs::output.of(host, argument.getArgNumber())
                         : isa_and_nonnull<ir::AllocOp>(storage.getDefiningOp());
  // Around a loop storage keeps what the round before has written.
  return isMade && storage.getParentBlock() == block &&
         llvm::none_of(storage.getUsers(), [&](Operation *user) {
           return !isa<ir::DimOp>(user) &&
                  block->findAncestorOpInBlock(*user)->isBeforeInBlock(launch);
         });
}

/// Sizes that are dimensions of the arrays, or of the entry, are no parameters.
void KernelPrinter::addOperand(BlockArgument argument, Value operand) {
  func::FuncOp function = kernel_.functions.front();
  auto text = [&](llvm::StringRef attribute) {
    auto value = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute);
    return value ? value.str() : "";
  };
  std::string name = text(attrs::name), role = text(attrs::role);
  GivenArgument &given = given_[argument.getArgNumber()];
  given.operand = operand;
  if (operand.getType().isIndex()) {
    // A size that dimensions determine is written with their names.
    if (std::optional<std::string> meaning = host_.inNames(operand)) {
      for (const std::string &each : identifiersOf(*meaning))
        dims_.insert(each);
      (isIdentifier(*meaning) ? given.name : given.meaning) = *meaning;
      return;
    }
    given.name = names_.fresh(name);
    // Another size is passed as an argument.
    result_.arguments.push_back({operand, given.name, "int", false});
    return;
  }
  std::string type = typeText(operand.getType());
  // Strides were given for arrays of the entry by name. What the compiler makes reads dense arrays,
  // and has no use for them.
  auto isGiven = [&](const std::string &dim) {
    return llvm::any_of(function.getArguments(), [&](BlockArgument each) {
      auto own = attrs::name.of(function, each.getArgNumber());
      return own && own.getValue() == dim;
    });
  };
  if (auto strides = facts_.strides.find(name);
      strides != facts_.strides.end() && llvm::all_of(identifiersOf(strides->second), isGiven)) {
    type += " strides " + strides->second;
    // Names that only strides have are dimensions, which the argument binds as it binds its lengths.
    for (const std::string &each : identifiersOf(strides->second)) {
      dims_.insert(each);
      strides_.insert(each);
    }
  }
  given.name = names_.fresh(name);
  // What is only written is a result, and so is what is only read where it has been written.
  if (role == "out" || (role == "inout" && beginsEmpty(operand, launch_))) {
    result_.outputs.emplace_back(operand, type);
    result_.outputNames.push_back(given.name);
  } else {
    result_.arguments.push_back({operand, given.name, type, role == "inout"});
  }
}

/// Lengths that the host computes and types speak of are dimensions of the kernel.
void KernelPrinter::knowLengths(const std::set<std::string> &inTypes) {
  llvm::SmallVector<Value> work(launch_.getArguments());
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *made = value.getDefiningOp();
    if (!made || !value.getType().isIndex() || !seen.insert(value).second)
      // Each value is visited once; shared operands would multiply otherwise.
      continue;
    if (std::string name = lengthNameOf(value, inTypes); !name.empty())
      host_.knowComputedLength(name, value);
    work.append(made->operand_begin(), made->operand_end());
  }
}

/// Both sides, or the only one. What they share stands before them.
std::string KernelPrinter::body() {
  SharedByCores shared;
  shared.unused = unused_;
  std::vector<std::string> sides;
  // The first time finds what the other side says of queues and events.
  for (int pass = 0; pass < 2; ++pass) {
    sides.clear();
    for (func::FuncOp function : kernel_.functions)
      sides.push_back(printSide(function, shared, given_, unwritable_));
  }
  std::string text = shared.declarations(unwritable_);
  if (sides.size() == 1)
    return text + sides[0];
  // A kernel for one kind of core has no sections.
  for (size_t i = 0; i < sides.size(); ++i)
    text += std::string("on ") + (pto::isCube(kernel_.functions[i]) ? "aic" : "aiv") + " {\n" +
            sides[i] + "}\n";
  return text;
}

/// All parameters of the entry in their order, also those that no core uses, with their defaults.
void KernelPrinter::takeEntrysParameters() {
  std::vector<OutlinedKernel::Argument> all;
  auto host = launch_->getParentOfType<func::FuncOp>();
  for (BlockArgument argument : host.getArguments()) {
    auto name = attrs::name.of(host, argument.getArgNumber());
    if (!name)
      continue;
    auto used =
        llvm::find_if(result_.arguments, [&](const auto &each) { return each.value == argument; });
    bool isUsed = used != result_.arguments.end();
    bool isPosition = argument.getType().isIndex();
    all.push_back(isUsed
                      ? *used
                      : OutlinedKernel::Argument{argument, names_.fresh(name.str()),
                                                 isPosition ? "int" : typeText(argument.getType()),
                                                 isa<ir::RefType>(argument.getType())});
    if (!isUsed)
      unused_.push_back(all.back().name);
    all.back().fallback = defaultText(facts_, name.str(), argument.getType());
  }
  result_.arguments = std::move(all);
}

OutlinedKernel KernelPrinter::print(bool isEntry) {
  func::FuncOp function = kernel_.functions.front();
  result_.word = "manual kernel";
  result_.clause = kernel_.functions.size() > 1 ? "on group"
                   : pto::isCube(function)      ? "on aic"
                                                : "on aiv";
  result_.clause += " for " + kernel_.machine;
  std::set<std::string> inTypes;
  for (Value operand : launch_.getArguments())
    for (const ir::Extent &extent : ir::extentsOf(operand.getType()))
      if (extent.symbol)
        inTypes.merge(identifiersOf(extent.symbol.getValue()));
  // Dimensions come first, so that no parameter takes their names.
  for (const std::string &name : inTypes)
    names_.reserve(name);
  // Computed lengths are known before parameters, which may be made of them.
  knowLengths(inTypes);
  auto host = launch_->getParentOfType<func::FuncOp>();
  for (BlockArgument argument : host.getArguments())
    if (auto dim = attrs::dim.of(host, argument.getArgNumber()))
      host_.knowLength(dim.str(), argument);
  auto isUsed = [&](unsigned number) {
    return llvm::any_of(kernel_.functions,
                        [&](func::FuncOp each) { return !each.getArgument(number).use_empty(); });
  };
  size_t next = 0;
  for (BlockArgument argument : function.getArguments()) {
    auto role = attrs::role.of(function, argument.getArgNumber());
    // A workspace is a buffer that the kernel declares, and no argument.
    if (role && role.getValue() == "workspace")
      continue;
    if (next >= launch_.getArguments().size())
      break;
    Value operand = launch_.getArguments()[next++];
    // A scalar that no core uses is dropped; arrays stay, because they bind dimensions.
    if (ir::rankOf(operand.getType()) > 0 || isUsed(argument.getArgNumber()))
      addOperand(argument, operand);
  }
  if (isEntry)
    takeEntrysParameters();
  result_.dims.assign(dims_.begin(), dims_.end());
  for (const std::string &dim : dims_) {
    bool isBound = llvm::any_of(result_.arguments, [&](const OutlinedKernel::Argument &argument) {
      return llvm::any_of(ir::extentsOf(argument.value.getType()), [&](const ir::Extent &extent) {
        return extent.symbol && extent.symbol.getValue() == dim;
      });
    });
    // Dimensions that no array determines are passed by name.
    if (!isBound && strides_.count(dim) == 0)
      result_.namedDims.push_back(dim);
  }
  result_.body = body();
  // The kernel states the requirements on the dimensions that its body uses.
  std::set<std::string> used = identifiersOf(result_.body);
  for (const std::string &condition : facts_.wheres) {
    std::set<std::string> names = identifiersOf(condition);
    auto isDim = [&](const std::string &name) { return dims_.count(name) != 0; };
    auto isUsed = [&](const std::string &name) { return used.count(name) != 0; };
    // Other requirements speak of what the kernel does not have or does not use.
    if (llvm::all_of(names, isDim) && llvm::any_of(names, isUsed))
      result_.wheres.push_back(condition);
  }
  return result_;
}

} // namespace

/// Parameters of kernels that only this program calls stand in the order in which they are used:
/// arrays, then scalars.
static void orderArguments(OutlinedKernel &kernel) {
  auto rank = [&](const OutlinedKernel::Argument &argument) {
    bool isScalar = ir::rankOf(argument.value.getType()) == 0;
    return std::tuple(isScalar, argument.isInout, firstUse(kernel.body, argument.name));
  };
  llvm::stable_sort(kernel.arguments,
                    [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
}

/// A kernel that is launched once, with what the entry was given, is the entry.
static ir::LaunchOp onlyLaunch(func::FuncOp host) {
  auto kind = attrs::kind.of(host);
  if (!kind || (kind.getValue() != "kernel" && kind.getValue() != "manual"))
    return {};
  ir::LaunchOp only;
  // A second launch, or anything else with an effect, makes it a program.
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
  // Computed arguments need a program too.
  bool isPlain = only && llvm::all_of(only.getArguments(),
                                      [](Value operand) { return isa<BlockArgument>(operand); });
  return isPlain ? only : ir::LaunchOp();
}

/// Removes operations that only the prover reads and those that reading the text adds again, and
/// merges repeated computations.
static void tidy(ModuleOp kernel) {
  llvm::SmallVector<ir::CheckOp> requirements;
  kernel.walk([&](ir::CheckOp check) { requirements.push_back(check); });
  // Requirements are removed first, so that what only they use is merged or dropped.
  for (ir::CheckOp check : requirements)
    check.erase();
  // A grid around sections for both kinds of cores has no text, so there the waits are written.
  auto functions = llvm::to_vector(kernel.getOps<func::FuncOp>());
  if (llvm::count_if(functions, [](func::FuncOp each) { return attrs::kernel.isOn(each); }) == 1)
    llvm::for_each(functions, removeDrains);
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

/// Numbers that no core of a kernel uses are none of its parameters, so nothing is computed for them.
/// Positions stay: they may be lengths that types speak of.
static void releaseUnused(func::FuncOp host, const std::map<std::string, BlockKernel> &kernels) {
  host.walk([&](ir::LaunchOp launch) {
    auto found = kernels.find(launch.getKernel().str());
    if (found == kernels.end())
      return;
    size_t next = 0;
    func::FuncOp first = found->second.functions.front();
    for (BlockArgument argument : first.getArguments()) {
      auto role = attrs::role.of(first, argument.getArgNumber());
      if ((role && role.getValue() == "workspace") || next >= launch.getArguments().size())
        continue;
      OpOperand &operand = launch->getOpOperand(static_cast<unsigned>(next++));
      Type type = operand.get().getType();
      bool isUsed = llvm::any_of(found->second.functions, [&](func::FuncOp each) {
        return !each.getArgument(argument.getArgNumber()).use_empty();
      });
      Operation *made = operand.get().getDefiningOp();
      if (isUsed || !made || isConstantLike(made) || !type.isSignlessIntOrFloat())
        continue;
      OpBuilder b(launch);
      operand.set(b.create<arith::ConstantOp>(launch.getLoc(), b.getZeroAttr(type)));
    }
  });
}

/// Removes operations that nothing uses, or only requirements and checks of bounds do. Requirements are in the
/// header, and bounds are checked by kernels, as are requirements on positions.
static void dropRequirements(func::FuncOp host, const EntryFacts &facts,
                             const std::map<std::string, BlockKernel> &kernels) {
  Entry entry(host, facts);
  llvm::SmallVector<Operation *> checks;
  host.walk([&](ir::CheckOp check) {
    if (isMadeAgain(check) || isBoundOfPosition(check) || entry.isRequirement(check))
      checks.push_back(check);
  });
  for (Operation *check : checks)
    check->erase();
  // What a launch does with each of its operands. Workspaces are no arguments of it.
  auto rolesOf = [&](ir::LaunchOp launch) {
    llvm::SmallVector<std::pair<Value, llvm::StringRef>> roles;
    auto found = kernels.find(launch.getKernel().str());
    func::FuncOp function = found == kernels.end() ? func::FuncOp() : found->second.functions[0];
    for (BlockArgument argument : function ? function.getArguments() : Block::BlockArgListType()) {
      auto role = attrs::role.of(function, argument.getArgNumber());
      if (!role || role.getValue() != "workspace")
        roles.emplace_back(launch.getArguments()[roles.size()], role ? role.getValue() : "in");
    }
    return roles;
  };
  auto onlyWrites = [&](Operation *user, Value array) {
    auto launch = dyn_cast<ir::LaunchOp>(user);
    return launch && llvm::all_of(rolesOf(launch), [&](const auto &operand) {
             return operand.first != array || operand.second == "out";
           });
  };
  // A launch whose outputs nobody reads is dead once requirements that read them are gone. Each must be an array of the host that
  // others only write, too: arms of a branch fill one array.
  auto isUnread = [&](ir::LaunchOp launch) {
    bool writes = false;
    for (auto [operand, role] : rolesOf(launch)) {
      if (role == "in")
        continue;
      writes = true;
      Value array = operand;
      if (!array.getDefiningOp<ir::AllocOp>() ||
          !llvm::all_of(array.getUsers(), [&](Operation *user) {
            return user == launch || isa<ir::DimOp>(user) || onlyWrites(user, array);
          }))
        return false;
    }
    // A launch that writes nothing has another purpose.
    return writes;
  };
  // A launch that is dropped may leave others dead, so this goes on until nothing changes. Walking
  // backwards visits users before what they use.
  // The host also computes what kernels have come to know as numbers.
  releaseUnused(host, kernels);
  for (bool changed = true; changed;) {
    changed = false;
    host.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      auto launch = dyn_cast<ir::LaunchOp>(op);
      if (!(launch && isUnread(launch)) && !isOpTriviallyDead(op))
        return;
      op->erase();
      changed = true;
    });
  }
}

SourceResult printBlocks(func::FuncOp host, llvm::ArrayRef<ModuleOp> kernels,
                         const EntryFacts &facts) {
  SourceResult result{"", "", host.getLoc()};
  Unwritable unwritable = firstProblemOf(result);
  std::map<std::string, BlockKernel> byName;
  std::vector<OwningOpRef<ModuleOp>> tidied;
  for (ModuleOp kernel : kernels) {
    // The copy is changed, because the kernels are still needed as they are.
    ModuleOp module = *tidied.emplace_back(kernel.clone());
    tidy(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (auto name = attrs::kernel.of(function)) {
        BlockKernel &kernel = byName[name.str()];
        kernel.machine = facts.target;
        kernel.functions.push_back(function);
      }
    // Manual kernels have no places for scales.
    module.walk([&](Operation *op) {
      pto::Instruction instruction(op);
      if (instruction && instruction.info().mnemonic.starts_with("tmatmul.mx"))
        unwritable(op, "a product of blocks with scales");
    });
  }
  dropRequirements(host, facts, byName);
  KernelOfLaunch kernelOfLaunch = [&](ir::LaunchOp launch) {
    auto found = byName.find(launch.getKernel().str());
    if (found != byName.end()) {
      bool isEntry = onlyLaunch(host) == launch;
      OutlinedKernel kernel =
          KernelPrinter(found->second, launch, facts, unwritable).print(isEntry);
      if (!isEntry)
        orderArguments(kernel);
      return kernel;
    }
    unwritable(launch, "`" + launch.getKernel().str() + "` is not there");
    return OutlinedKernel();
  };
  if (ir::LaunchOp only = onlyLaunch(host)) {
    OutlinedKernel kernel = kernelOfLaunch(only);
    // The only kernel stands for the entry, so it has the entry's requirements.
    kernel.wheres = facts.wheres;
    result.text = docLines(facts.doc) + (facts.isPub ? "pub " : "") + kernel.text(facts.name);
  } else {
    Entry entry(host, facts);
    entry.findNamesInTypes();
    result.text = ProgramEntry(entry, unwritable, kernelOfLaunch).print();
  }
  if (!result.problem.empty())
    // Half a text would be misleading.
    result.text.clear();
  return result;
}

} // namespace ptl::source
