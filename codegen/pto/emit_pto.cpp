// Modules, functions, control flow and scalars as `.pto`.
#include "codegen/pto/emit_pto.h"
#include "codegen/pto/loops_as_blocks.h"
#include "codegen/pto/pto_emitter.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <charconv>

using namespace mlir;

namespace ptl::pto {

std::optional<PtoasVersion> PtoasVersion::parse(std::string_view text) {
  PtoasVersion version;
  if (!text.starts_with("0."))
    return std::nullopt;
  text.remove_prefix(2);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version.minor);
  bool isNumber = error == std::errc() && end == text.data() + text.size();
  if (!isNumber || version.minor < kFirst)
    return std::nullopt;
  return version;
}

bool hasChanged(PtoasVersion version, std::string_view arch, PtoasChange change) {
  struct Row {
    unsigned since;
    std::string_view arch;
  };
  static constexpr Row rows[] = {
#define CHANGE(SINCE, ID, ARCH, WHAT) {SINCE, ARCH},
#include "codegen/pto/ptoas_versions.def"
  };
  const Row &row = rows[static_cast<size_t>(change)];
  // An empty architecture means that the change concerns all of them.
  return version.minor >= row.since && (row.arch.empty() || row.arch == arch);
}

std::string_view ptoasName(PtoasVersion version, std::string_view operation) {
#define RENAMED(SINCE, NAME, SPELLING)                                                             \
  if (operation == NAME && version.minor >= SINCE)                                                 \
    return SPELLING;
#include "codegen/pto/ptoas_versions.def"
  return operation;
}

static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

// ---- types --------------------------------------------------------------------------------------

/// `_nx64`
static std::string shapeName(llvm::ArrayRef<int64_t> shape) {
  std::string name;
  for (int64_t extent : shape)
    name += (name.empty() ? "_" : "x") + (extent == kDynamic ? "n" : std::to_string(extent));
  return name;
}

TypeAliases::TypeAliases(llvm::ArrayRef<ModuleOp> modules) {
  auto note = [&](Type type) {
    // The slots of a buffer are used as single tiles, so the type of one slot gets the alias.
    if (auto slots = dyn_cast<MultiTileBufType>(type))
      type = slots.getSlot();
    if (isa<TileBufType, TensorViewType, PartitionViewType>(type))
      aliases_.insert({type, ""});
  };
  for (ModuleOp module : modules)
    module->walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        note(type);
      // A window is printed as a tile of its own with a wider type, which no result shows.
      if (auto window = dyn_cast<SubsetOp>(op))
        note(windowType(window.getSource().getType(), window.getType()));
    });
  // A place with a single tile type needs no details in its name.
  llvm::StringMap<unsigned> ofPlace;
  for (auto &[type, alias] : aliases_)
    if (auto tile = dyn_cast<TileBufType>(type))
      ++ofPlace[ir::placeName(tile.getPlace())];
  llvm::StringMap<unsigned> taken;
  for (auto &[type, alias] : aliases_) {
    if (auto tile = dyn_cast<TileBufType>(type))
      alias = nameOf(tile, ofPlace[ir::placeName(tile.getPlace())] == 1);
    else if (auto view = dyn_cast<TensorViewType>(type))
      alias = "!view_" + printed(view.getElementType()) + shapeName(view.getShape());
    else
      alias = "!part_" + printed(cast<PartitionViewType>(type).getElementType()) +
              shapeName(cast<PartitionViewType>(type).getShape());
    // Types that differ in something that the name leaves out are told apart by a number.
    if (unsigned count = taken[alias]++)
      alias += "_" + std::to_string(count);
  }
}

/// `!acc` if it is the only one there, else `!vec_f32_64x128`, with the layout and the valid part
/// where they say more.
std::string TypeAliases::nameOf(TileBufType tile, bool onlyOfPlace) const {
  std::string name = "!" + ir::placeName(tile.getPlace()).str();
  if (onlyOfPlace)
    return name;
  name += "_" + printed(tile.getElementType()) + "_" + std::to_string(tile.getRows()) + "x" +
          std::to_string(tile.getCols());
  llvm::StringRef layout = layoutName(tile.getLayout());
  // In `vec` only a layout other than row-major is unusual; tiles in `mat` have several layouts;
  // each of the other places has its own.
  if (tile.getPlace() == ir::Place::Vec ? layout != "nd" : tile.getPlace() == ir::Place::Mat)
    name += "_" + layout.str();
  auto extent = [](int64_t valid) {
    return valid == kDynamic ? std::string("n") : std::to_string(valid);
  };
  if (!tile.hasDynamicValid() &&
      (tile.getValidRows() != tile.getRows() || tile.getValidCols() != tile.getCols()))
    name += "_of_" + extent(tile.getValidRows()) + "x" + extent(tile.getValidCols());
  return name;
}

std::string TypeAliases::of(Type type) const {
  if (auto found = aliases_.find(type); found != aliases_.end())
    return found->second;
  // A type without an alias is printed once and kept: printing is slow, and the same few types
  // recur.
  std::string &text = texts_[type];
  return text.empty() ? text = printed(type) : text;
}

std::vector<std::string> TypeAliases::definitions() const {
  std::vector<std::string> lines;
  for (const auto &[type, alias] : aliases_)
    lines.push_back(alias + " = " + printed(type));
  return lines;
}

// ---- functions ----------------------------------------------------------------------------------

std::string PtoFunctionEmitter::name(Value value) {
  while (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
    value = cast.getOperand(0); // from and to unsigned: scalars have no sign in PTOAS
  if (auto constantOp = value.getDefiningOp<arith::ConstantOp>())
    // Constants have no operation of their own in the text; a use names the one at the head of the
    // function.
    return constant(constantOp.getValue());
  return "%" + names_.of(value);
}

std::string PtoFunctionEmitter::names(ValueRange values) {
  std::string text;
  for (Value value : values)
    text += (text.empty() ? "" : ", ") + name(value);
  return text;
}

std::string PtoFunctionEmitter::typed(ValueRange values) {
  std::string text;
  for (Value value : values)
    text += (text.empty() ? "" : ", ") + typeOf(value);
  return text;
}

std::string PtoFunctionEmitter::result(Operation *op) { return name(op->getResult(0)) + " = "; }

void PtoFunctionEmitter::line(Operation *op, const std::string &text) {
  std::optional<SourcePlace> place = placeOf(op);
  // Without a place in the source there is nothing to say, and `loc` is left out.
  if (!place)
    return body_.add(text, place);
  // Most lines are of one file, so its escaped name is kept.
  if (file_.first != place->file) {
    file_ = {place->file, ""};
    llvm::raw_string_ostream out(file_.second);
    llvm::printEscapedString(place->file, out);
  }
  body_.add(text + " loc(\"" + file_.second + "\":" + std::to_string(place->line) + ":" +
                std::to_string(place->column) + ")",
            place);
}

void PtoFunctionEmitter::missing(Operation *op, const std::string &what) {
  findings_.push_back({placeOf(op), 0, what, true});
}

/// Constants stand at the beginning of the function, each once.
std::string PtoFunctionEmitter::constant(TypedAttr value) {
  std::string type = types_.of(value.getType()), digits;
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    // MLIR spells constants of `i1` as words, without a type.
    if (value.getType().isInteger(1))
      digits = integer.getValue().isZero() ? "false" : "true";
    else
      digits = std::to_string(integer.getValue().getSExtValue());
  } else {
    llvm::raw_string_ostream out(digits);
    value.print(out, /*elideType=*/true);
  }
  std::string definition =
      "arith.constant " + digits + (value.getType().isInteger(1) ? std::string() : " : " + type);
  // The definition is the key, so that equal numbers of different types stay apart.
  std::string &known = constantNames_[definition];
  if (known.empty()) {
    std::string base = "c" + digits;
    auto real = dyn_cast<FloatAttr>(value);
    if (real) {
      llvm::SmallString<16> shortest;
      real.getValue().toString(shortest, /*FormatPrecision=*/4, /*FormatMaxPadding=*/8);
      base = "c" + shortest.str().str();
    } else if (!isa<IntegerAttr>(value)) {
      base = "counts";
    }
    if (value.getType().isInteger(1))
      base = digits;
    else if (!value.getType().isIndex())
      base += "_" + type;
    // Names may hold no sign.
    for (char &c : base)
      if (c == '-')
        c = 'm';
    llvm::erase(base, '+');
    // PTOAS prints infinities and NaN as C++ that does not compile.
    if (real && !real.getValue().isFinite())
      return "%" + (known = constantOfBits(real, base));
    known = names_.fresh(base);
    // Numbers of more than 64 bits are sorted as 0.
    auto integer = dyn_cast<IntegerAttr>(value);
    bool small = integer && integer.getValue().getBitWidth() <= 64;
    constants_.push_back({known, definition, value.getType().isIndex(),
                          small ? integer.getValue().getSExtValue() : 0});
  }
  return "%" + known;
}

/// A number that PTOAS prints as C++ that does not compile: the bits of an integer, which it must
/// not know to be a constant, or it makes the number of them.
std::string PtoFunctionEmitter::constantOfBits(FloatAttr value, const std::string &wanted) {
  llvm::APInt bits = value.getValue().bitcastToAPInt();
  auto word = IntegerType::get(function_.getContext(), bits.getBitWidth());
  std::string type = types_.of(word);
  // The condition is false, because there always is a core, but PTOAS does not know that.
  if (never_.empty()) {
    std::string cores = "%" + names_.fresh("cores");
    never_ = "%" + names_.fresh("never");
    made_.push_back(cores + " = pto.get_block_num");
    made_.push_back(never_ + " = arith.cmpi slt, " + cores + ", " + longConstant(0) + " : i64");
  }
  std::string chosen = "%" + names_.fresh(wanted + "_bits"), name = names_.fresh(wanted);
  made_.push_back(chosen + " = arith.select " + never_ + ", " +
                  constant(IntegerAttr::get(word, 0)) + ", " +
                  constant(IntegerAttr::get(word, bits)) + " : " + type);
  made_.push_back("%" + name + " = arith.bitcast " + chosen + " : " + type + " to " +
                  types_.of(value.getType()));
  return name;
}

std::string PtoFunctionEmitter::indexConstant(int64_t value) {
  return constant(IntegerAttr::get(IndexType::get(function_.getContext()), value));
}
std::string PtoFunctionEmitter::longConstant(int64_t value) {
  return constant(IntegerAttr::get(IntegerType::get(function_.getContext(), 64), value));
}

/// Where one hub holds the flags between cores, PTOAS wants to be told where it is: whoever
/// launches the kernel asks the runtime for its address.
bool PtoFunctionEmitter::needsFlagsBase() {
  return !machine_.exchange.throughBuffer && hasCoreEvents(function_);
}

std::string PtoFunctionEmitter::signature() {
  std::string text = "func.func @" + functionName(function_.getSymName()) + "(";
  if (needsFlagsBase())
    text += "%ffts: memref<256xi64>, ";
  for (BlockArgument argument : function_.getArguments())
    text += (argument.getArgNumber() ? ", " : "") + name(argument) + ": " + typeOf(argument);
  text += ") attributes {";
  if (function_->hasAttr("pto.entry"))
    text += "pto.entry, ";
  if (auto kind = function_->getAttrOfType<KernelKindAttr>("pto.kernel_kind"))
    text +=
        "pto.kernel_kind = #pto.kernel_kind<" + stringifyKernelKind(kind.getValue()).str() + ">";
  return text + "} {";
}

TextLines PtoFunctionEmitter::emit() {
  // The body is emitted first, because only that finds the constants that stand before it.
  TextLines text;
  text.indent(2);
  text.add(signature(), placeOf(function_));
  body_.indent(4);
  if (needsFlagsBase())
    body_.add("pto.set_ffts %ffts : memref<256xi64>");
  for (Block &block : function_.getBody()) {
    if (!block.isEntryBlock())
      emitLabel(block);
    emitBlock(block);
  }
  text.indent(2);
  // Positions come first, each kind in the order of its numbers.
  llvm::stable_sort(constants_, [](const Constant &a, const Constant &b) {
    return a.isIndex != b.isIndex ? a.isIndex : a.number < b.number;
  });
  for (const Constant &constant : constants_)
    text.add("%" + constant.name + " = " + constant.definition);
  for (const std::string &line : made_)
    // These use constants, so they stand behind them.
    text.add(line);
  text.append(std::move(body_));
  text.dedent(2);
  text.add("}");
  return text;
}

// ---- control ------------------------------------------------------------------------------------

void PtoFunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    emitOp(&op);
}

std::string PtoFunctionEmitter::label(Block *block) {
  unsigned number =
      // The number of a block is its place in the function.
      static_cast<unsigned>(std::distance(function_.getBody().begin(), block->getIterator()));
  return "^bb" + std::to_string(number);
}

void PtoFunctionEmitter::emitLabel(Block &block) {
  std::string arguments;
  for (BlockArgument argument : block.getArguments())
    arguments += (arguments.empty() ? "(" : ", ") + name(argument) + ": " + typeOf(argument);
  // A label stands to the left of the block's lines.
  body_.dedent(2);
  body_.add(label(&block) + (arguments.empty() ? "" : arguments + ")") + ":");
  body_.indent(2);
}

/// `^bb2(%i : index)`
std::string PtoFunctionEmitter::target(Block *block, ValueRange passed) {
  return label(block) + (passed.empty() ? "" : "(" + names(passed) + " : " + typed(passed) + ")");
}

void PtoFunctionEmitter::emitOp(Operation *op) {
  if (std::string why = reasonOf(op); !why.empty())
    body_.add("// " + why, placeOf(op));
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::ConstantOp, UnrealizedConversionCastOp>([](auto) {}) // made where it is used
      .Case<scf::ForOp>([&](auto loop) { emitFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { emitIf(branch); })
      .Case<scf::WhileOp>([&](auto loop) { emitWhile(loop); })
      .Case<scf::YieldOp, scf::ConditionOp>([&](auto) { emitYield(op); })
      .Case<cf::BranchOp>(
          [&](auto jump) { line(op, "cf.br " + target(jump.getDest(), jump.getDestOperands())); })
      .Case<cf::CondBranchOp>([&](auto branch) {
        line(op, "cf.cond_br " + name(branch.getCondition()) + ", " +
                     target(branch.getTrueDest(), branch.getTrueDestOperands()) + ", " +
                     target(branch.getFalseDest(), branch.getFalseDestOperands()));
      })
      .Case<func::ReturnOp>([&](auto) { body_.add("return", placeOf(op)); })
      .Default([&](Operation *) {
        // Each of the functions says whether it knows the operation; arithmetic is what remains.
        if (Instruction instruction(op); instruction)
          emitInstructionOp(instruction);
        else if (!emitBuffer(op) && !emitView(op) && !emitQueue(op) && !emitOrder(op))
          emitScalar(op);
      });
}

static std::string resultTypes(Operation *op, llvm::function_ref<std::string(Value)> typeOf) {
  std::string text;
  for (Value value : op->getResults())
    text += (text.empty() ? " -> (" : ", ") + typeOf(value);
  return text.empty() ? text : text + ")";
}

void PtoFunctionEmitter::emitFor(scf::ForOp loop) {
  // The names of results are given before the body, so that they do not depend on what is in it.
  std::string results = names(loop.getResults()), carried;
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    carried += (carried.empty() ? " iter_args(" : ", ") + name(argument) + " = " + name(init);
  if (!carried.empty())
    carried += ")" + resultTypes(loop, [&](Value value) { return typeOf(value); });
  // The type of the induction variable stands where it is not index.
  Type type = loop.getInductionVar().getType();
  std::string ofType = type.isIndex() ? "" : " : " + types_.of(type);
  std::string head = name(loop.getInductionVar()) + " = " + name(loop.getLowerBound()) + " to " +
                     name(loop.getUpperBound()) + " step " + name(loop.getStep());
  body_.add((results.empty() ? "" : results + " = ") + "scf.for " + head + carried + ofType + " {",
            placeOf(loop));
  body_.indent(2);
  emitBlock(*loop.getBody());
  body_.dedent(2);
  // The location of a loop stands behind its region, where MLIR's syntax has it.
  line(loop, "}");
}

void PtoFunctionEmitter::emitIf(scf::IfOp branch) {
  std::string results = names(branch.getResults());
  body_.add((results.empty() ? "" : results + " = ") + "scf.if " + name(branch.getCondition()) +
                resultTypes(branch, [&](Value value) { return typeOf(value); }) + " {",
            placeOf(branch));
  body_.indent(2);
  emitBlock(branch.getThenRegion().front());
  body_.dedent(2);
  if (!branch.getElseRegion().empty()) {
    body_.add("} else {", placeOf(branch));
    body_.indent(2);
    emitBlock(branch.getElseRegion().front());
    body_.dedent(2);
  }
  line(branch, "}");
}

void PtoFunctionEmitter::emitWhile(scf::WhileOp loop) {
  std::string results = names(loop.getResults()), inits, from;
  for (auto [argument, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits())) {
    inits += (inits.empty() ? " (" : ", ") + name(argument) + " = " + name(init);
    from += (from.empty() ? "" : ", ") + typeOf(init);
  }
  std::string to = resultTypes(loop, [&](Value value) { return typeOf(value); });
  body_.add((results.empty() ? "" : results + " = ") + "scf.while" +
                (inits.empty() ? " ()" : inits + ")") + " : (" + from + ")" +
                (to.empty() ? " -> ()" : to) + " {",
            placeOf(loop));
  body_.indent(2);
  emitBlock(loop.getBefore().front());
  body_.dedent(2);
  body_.add("} do {", placeOf(loop));
  std::string arguments;
  for (BlockArgument argument : loop.getAfterArguments())
    arguments += (arguments.empty() ? "^bb0(" : ", ") + name(argument) + ": " + typeOf(argument);
  if (!arguments.empty())
    body_.add(arguments + "):");
  body_.indent(2);
  emitBlock(loop.getAfter().front());
  body_.dedent(2);
  line(loop, "}");
}

void PtoFunctionEmitter::emitYield(Operation *op) {
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    std::string passed = names(condition.getArgs());
    body_.add("scf.condition(" + name(condition.getCondition()) + ")" +
                  (passed.empty() ? "" : " " + passed + " : " + typed(condition.getArgs())),
              placeOf(op));
  } else if (op->getNumOperands()) {
    // A yield of nothing is implicit.
    body_.add("scf.yield " + names(op->getOperands()) + " : " + typed(op->getOperands()),
              placeOf(op));
  }
}

// ---- scalars ------------------------------------------------------------------------------------

void PtoFunctionEmitter::emitScalar(Operation *op) {
  // PTOAS has `index` as 32 bits and no cast between it and integers of that width.
  auto cast = dyn_cast<arith::IndexCastOp>(op);
  if (cast && cast.getIn().getType().isIndex() && cast.getType().isInteger() &&
      cast.getType().getIntOrFloatBitWidth() < 64) {
    std::string wide = "%" + names_.fresh("position_i64");
    line(op, wide + " = arith.index_cast " + name(cast.getIn()) + " : index to i64");
    line(op, result(op) + "arith.trunci " + wide + " : i64 to " + typeOf(op->getResult(0)));
    return;
  }
  if (cast && cast.getType().isIndex() && cast.getIn().getType().getIntOrFloatBitWidth() < 64) {
    std::string wide = "%" + names_.fresh("number_i64");
    line(op,
         wide + " = arith.extsi " + name(cast.getIn()) + " : " + typeOf(cast.getIn()) + " to i64");
    line(op, result(op) + "arith.index_cast " + wide + " : i64 to index");
    return;
  }
  unsigned width = isa<arith::ShRUIOp>(op) && op->getResult(0).getType().isInteger()
                       ? op->getResult(0).getType().getIntOrFloatBitWidth()
                       : 64;
  if (width < 64) { // PTOAS casts to a signed number before it shifts; no sign, no difference
    std::string to = "i" + std::to_string(2 * width), from = typeOf(op->getResult(0));
    std::string wide[3];
    // The three names are those of both operands and of the shifted number.
    for (std::string &each : wide)
      each = "%" + names_.fresh(names_.of(op->getResult(0)) + "_wide");
    for (unsigned i : {0u, 1u})
      line(op, wide[i] + " = arith.extui " + name(op->getOperand(i)) + " : " + from + " to " + to);
    line(op, wide[2] + " = arith.shrui " + wide[0] + ", " + wide[1] + " : " + to);
    return line(op, result(op) + "arith.trunci " + wide[2] + " : " + to + " to " + from);
  }
  if (isa<arith::AddFOp>(op)) { // PTOAS has no form for it; the other way round it is the same
    std::string negated = "%" + names_.fresh(names_.of(op->getResult(0)) + "_minus");
    line(op,
         negated + " = arith.negf " + name(op->getOperand(1)) + " : " + typeOf(op->getOperand(1)));
    return line(op, result(op) + "arith.subf " + name(op->getOperand(0)) + ", " + negated + " : " +
                        typeOf(op->getResult(0)));
  }
  std::string head = result(op) + op->getName().getStringRef().str() + " ";
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return line(op, head + arith::stringifyCmpIPredicate(compare.getPredicate()).str() + ", " +
                        names(op->getOperands()) + " : " + typeOf(compare.getLhs()));
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return line(op, head + arith::stringifyCmpFPredicate(compare.getPredicate()).str() + ", " +
                        names(op->getOperands()) + " : " + typeOf(compare.getLhs()));
  if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect())) {
    missing(op, "PTOAS has no `" + op->getName().getStringRef().str() + "`");
    return line(op, head + names(op->getOperands()) + " : " + typed(op->getOperands()) + " -> " +
                        typed(op->getResults()));
  }
  // A cast names both types, other arithmetic names one.
  bool converts =
      op->getNumOperands() == 1 && op->getOperand(0).getType() != op->getResult(0).getType();
  line(op, head + names(op->getOperands()) + " : " +
               (converts ? typeOf(op->getOperand(0)) + " to " : std::string()) +
               typeOf(op->getResult(0)));
}

// ---- modules ------------------------------------------------------------------------------------

Emitted emitPto(ModuleOp kernel, const Machine &machine, PtoasVersion version) {
  return emitPto(llvm::ArrayRef<ModuleOp>(kernel), machine, version);
}

/// The functions of a kernel as the version takes them.
static TextLines emitFunctions(ModuleOp kernel, const Machine &machine, PtoasVersion version,
                               const TypeAliases &types, std::vector<Finding> &findings) {
  TextLines code;
  IRMapping copies;
  OwningOpRef<ModuleOp> copy;
  // Before the version that takes nested `while`, functions that have one are printed as basic
  // blocks, from a copy: the kernel itself must stay as it is.
  bool inBlocks = !hasChanged(version, machine.tools.ptoas, PtoasChange::NestedWhile) &&
                  llvm::any_of(kernel.getOps<func::FuncOp>(), needsBlocks);
  if (inBlocks) {
    copy = cast<ModuleOp>(kernel->clone(copies));
    kernel = *copy;
    for (func::FuncOp function : kernel.getOps<func::FuncOp>())
      if (needsBlocks(function))
        makeBlocks(function);
  }
  // Findings of other kernels, which are not about the copy, come before these.
  size_t before = findings.size();
  for (func::FuncOp function : kernel.getOps<func::FuncOp>())
    code.append(PtoFunctionEmitter(function, machine, version, types, findings).emit());
  if (!inBlocks)
    return code;
  // Lines and findings refer to operations of the copy, which ends here, so they are mapped to the
  // originals.
  llvm::DenseMap<Operation *, Operation *> originals;
  for (auto [original, made] : copies.getOperationMap())
    originals[made] = original;
  code.mapOperations([&](Operation *op) { return originals.lookup(op); });
  for (size_t i = before; i < findings.size(); ++i)
    if (findings[i].place)
      findings[i].place->operation = originals.lookup(findings[i].place->operation);
  return code;
}

Emitted emitPto(llvm::ArrayRef<ModuleOp> kernels, const Machine &machine, PtoasVersion version) {
  TextLines text, code;
  std::vector<Finding> findings;
  TypeAliases types(kernels);
  std::string listed;
  for (ModuleOp kernel : kernels) {
    StringAttr name;
    code.append(emitFunctions(kernel, machine, version, types, findings));
    for (func::FuncOp function : kernel.getOps<func::FuncOp>())
      name = attrs::kernel.of(function);
    listed += (listed.empty() ? "`" : ", `") + (name ? name.str() : std::string("kernel")) + "`";
  }
  text.add("// " + listed + " for " + machine.name + ". ptoas --pto-arch=" + machine.tools.ptoas +
           " --pto-level=level3");
  for (const std::string &definition : types.definitions())
    text.add(definition);
  text.add("module attributes {\"pto.target_arch\" = \"" + machine.tools.ptoas + "\"} {");
  text.append(std::move(code));
  text.add("}");
  return text.finish(std::move(findings));
}

} // namespace ptl::pto
