#include "lsp/worker/code.h"

#include "codegen/cpu/to_llvm.h"
#include "compile/source/explicit_source.h"
#include "frontend/sema/dump/dump.h"
#include "ir/dialect/source_range.h"
#include "lsp/worker/assembly.h"
#include "lsp/worker/print_ir.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/CommandLine.h"

namespace ptl::worker {

Code::Code(std::unique_ptr<Checked> checked, std::vector<const CallableDecl *> reach,
           std::vector<BoundEntry> entries, CodeOptions options, FunctionCache &functions)
    : checked_(std::move(checked)), reach_(std::move(reach)), entries_(std::move(entries)),
      options_(std::move(options)), functions_(functions) {
  for (const CallableDecl *decl : reach_)
    places_.push_back(decl->span);
  CompilerOptions how;
  how.level = options_.level;
  how.unchecked = options_.unchecked;
  // Locations carry whole source ranges: the map from lines to the source, and hovers, need both
  // ends.
  how.ranges = true;
  how.triesHelps = options_.helps;
  how.reportsParts = true;
  how.recheck = checked_->options;
  if (!options_.processor.empty())
    how.processor = cpu::Processor::named(options_.processor);
  how.chip = options_.chip;
  how.onStep = [this](const std::string &step) { watch(step); };
  context_ = std::make_unique<const CompileContext>(*checked_->program, checked_->sources,
                                                    std::move(how), checked_->sink);
}

Code::~Code() { settle(); }

void Code::settle() {
  keys_.clear();
  // Keys and programs hold operations of the context's modules, so they are freed before the
  // context.
  programs_.clear();
  vectors_.reset();
  tiles_.reset();
  context_.reset();
  checked_.reset();
  reach_.clear();
  for (BoundEntry &entry : entries_)
    entry.binding.decl = nullptr;
}

size_t Code::bytes() const {
  // Until it is settled, code owns an MLIR context, its modules and the checked program. Their size
  // is not measured; 8 MiB is a typical value, so that the cache's limit is in bytes for all
  // entries.
  size_t total = isSettled() ? 0 : size_t(8) << 20;
  for (const auto &text : texts_)
    total += text ? text->bytes() : 0;
  for (const auto &[sizes, text] : graphs_)
    total += text.bytes();
  return total;
}

bool Code::watch(const std::string &step) {
  if (watch_ && !stopped_)
    stopped_ = !(*watch_)(step);
  return !stopped_;
}

void Code::put(StageId id, StageText text) {
  texts_[numberOf(id)] = std::make_unique<StageText>(std::move(text));
}

const StageText *Code::stage(StageId id, const Watch &watch, Timings &timings) {
  watch_ = &watch;
  timings_ = &timings;
  stopped_ = false;
  bool made = has(id) || make(id);
  // A stopped request is not a failure: the next request for the stage starts again.
  failed_ |= !made && !stopped_;
  watch_ = nullptr;
  timings_ = nullptr;
  return made ? texts_[numberOf(id)].get() : nullptr;
}

bool Code::make(StageId id) {
  if (!context_ || id == StageId::GraphSvg) // that one is asked for with sizes
    return false;
  if (id == StageId::Checked) {
    makeChecked();
    return true;
  }
  if (id == StageId::Explicit || id == StageId::Manual)
    return timed("explicit", [&] { return makeExplicit(id); });
  if (options_.chip)
    return makeForChip(id);
  // After an error only the stages before it exist. The checked tree and the source forms above do
  // not depend on lowering.
  if (failed_)
    return false;
  switch (id) {
  case StageId::Checked:
  case StageId::Built:
  case StageId::Tensor:
  case StageId::Tile:
    // One run of the passes stores all three stages, since each is printed on the way to the next.
    return tiles_ ? has(id) : makeTiles() && has(id);
  case StageId::Vector:
    if (!makeVectors())
      return false;
    put(id, timed("print", [&] { return printModule(*vectors_->module); }));
    return true;
  case StageId::Llvm:
  case StageId::Asm:
    return makeFunctions(id);
  default:
    return false; // of chips
  }
}

void Code::makeChecked() {
  StageText result;
  size_t line = 0;
  for (const CallableDecl *decl : reach_) {
    std::vector<Span> spans;
    std::string text = dumpCallable(*checked_->program, *decl, &spans);
    if (line > 0) {
      result.text += "\n";
      ++line;
    }
    result.text += text;
    for (Span span : spans) {
      if (span.file != kNoFile)
        result.map.set(line, result.map.intern({span}));
      ++line;
    }
  }
  put(StageId::Checked, std::move(result));
}

std::optional<TensorModule> Code::makeBuilt() {
  std::vector<BuiltEntry> built;
  bool isBuilt = timed("build", [&] {
    for (const BoundEntry &entry : entries_) {
      ir::EntryBinding binding = entry.binding;
      binding.checked = !options_.unchecked;
      std::optional<BuiltEntry> one = buildEntry(*context_, binding, "ptl_" + entry.name);
      if (!one || stopped_)
        return false;
      built.push_back(std::move(*one));
    }
    return !built.empty();
  });
  if (!isBuilt)
    return std::nullopt;
  TensorModule tensor = joinEntries(*context_, std::move(built));
  put(StageId::Built, timed("print", [&] { return printModule(*tensor.module); }));
  return tensor;
}

bool Code::makeTiles() {
  std::optional<TensorModule> tensor = makeBuilt();
  if (!tensor)
    return false;
  TileOptions how;
  how.onPhase = [&](const std::string &phase, mlir::ModuleOp done) {
    if (std::optional<StageId> id = stageByName(phase))
      put(*id, printModule(done));
  };
  auto tiles = timed("passes", [&] { return tileModule(*context_, std::move(*tensor), how); });
  if (!tiles || stopped_)
    return false;
  tiles_ = std::move(tiles);
  return true;
}

/// As source, in the form that an author would have written.
bool Code::makeExplicit(StageId id) {
  StageText result;
  ExplicitLevel level = id == StageId::Manual ? ExplicitLevel::Manual : ExplicitLevel::Tile;
  for (const BoundEntry &entry : entries_) {
    std::optional<ExplicitText> text = explicitSource(*context_, entry.binding, entry.name, level);
    if (!text || stopped_)
      return false;
    if (!result.text.empty())
      result.text += "\n";
    size_t first = static_cast<size_t>(std::count(result.text.begin(), result.text.end(), '\n'));
    for (size_t line = 0; line < text->origins.size(); ++line)
      if (!text->origins[line].empty())
        result.map.set(first + line, result.map.intern(text->origins[line]));
    result.text += text->text;
  }
  put(id, std::move(result));
  return true;
}

bool Code::makeVectors() {
  if (vectors_)
    return true;
  if (!tiles_ && !makeTiles())
    return false;
  vectors_ = timed("vectorise", [&] { return vectorise(*context_, *tiles_); });
  return vectors_ && !stopped_;
}

void Code::makeKeys() {
  const cpu::Processor &processor = context_->options().processor;
  std::string context = processor.triple + " " + processor.name + " " + processor.features + " " +
                        std::to_string(options_.level) + (options_.intel ? " intel" : " att");
  FunctionKeys keys(*vectors_->module);
  for (auto function : vectors_->module->getOps<mlir::func::FuncOp>())
    if (!function.isExternal())
      keys_.push_back(keys.of(function, context));
}

/// Compiles only the functions whose code is not cached, and joins all of them: after an edit of
/// one kernel the other functions of the file cost a look-up.
bool Code::makeFunctions(StageId id) {
  if (!makeVectors())
    return false;
  // Keys describe the vectorised functions, so they are valid as long as these.
  if (keys_.empty())
    timed("compare", [&] { return makeKeys(), true; });
  std::vector<FunctionCodePtr> codes;
  std::vector<size_t> missing;
  for (const FunctionKey &key : keys_) {
    codes.push_back(functions_.find(key.digest, id));
    if (!codes.back())
      missing.push_back(codes.size() - 1);
  }
  if (!missing.empty() && !compile(id, missing, codes))
    return false;
  put(id, timed("print", [&] {
        std::vector<PlacedCode> placed;
        for (size_t i = 0; i < keys_.size(); ++i) {
          placed.push_back({keys_[i].name, codes[i], {}});
          for (mlir::Location location : keys_[i].locations)
            placed.back().origins.push_back(ir::rangesOf(location));
        }
        return joined(placed, id);
      }));
  return true;
}

/// A declaration for a function that is compiled separately.
static mlir::func::FuncOp declarationOf(mlir::func::FuncOp function) {
  auto declaration = mlir::cast<mlir::func::FuncOp>(function->cloneWithoutRegions());
  declaration->removeAttr("llvm.linkage");
  declaration.setPrivate();
  return declaration;
}

std::optional<cpu::LlvmModule> Code::translate(const std::vector<size_t> &wanted) {
  VectorModule part{mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_->mlir()))};
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(part.module->getBody());
  std::vector<std::string> elsewhere;
  size_t number = 0, next = 0;
  for (mlir::Operation &op : *vectors_->module->getBody()) {
    auto function = mlir::dyn_cast<mlir::func::FuncOp>(op);
    // Globals, and functions without a body, are needed by any of the wanted functions: all are
    // copied.
    if (!function || function.isExternal()) {
      builder.clone(op);
    } else if (next < wanted.size() && wanted[next] == number) {
      numberPlaces(mlir::cast<mlir::func::FuncOp>(builder.clone(op)), keys_[number]);
      ++next;
    } else {
      builder.insert(declarationOf(function));
      elsewhere.push_back(keys_[number].name);
    }
    number += function && !function.isExternal();
  }
  std::optional<cpu::LlvmModule> code = translateToLlvm(*context_, std::move(part), addDebugScopes);
  // Declared functions become local to the same object in the end, so that calls of them are
  // direct, as in a module that holds all functions.
  if (code)
    for (const std::string &name : elsewhere)
      if (llvm::Function *function = code->module->getFunction(name))
        function->setDSOLocal(true);
  return code;
}

static void setLlvmOption(llvm::StringRef name, llvm::StringRef value) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  if (found == options.end())
    return;
  found->second->reset();
  found->second->addOccurrence(0, name, value);
}

bool Code::compile(StageId id, const std::vector<size_t> &wanted,
                   std::vector<FunctionCodePtr> &codes) {
  auto code = timed("translate", [&] { return translate(wanted); });
  if (!code || !watch("optimise"))
    return false;
  // LLVM reads the syntax of assembly from its command line when it creates a target machine.
  // Instructions without a location must not inherit the location of their predecessor, which would
  // show them under the wrong source line.
  setLlvmOption("x86-asm-syntax", options_.intel ? "intel" : "att");
  setLlvmOption("use-unknown-locations", "Enable");
  auto machine =
      cpu::makeTargetMachine(context_->options().processor, cpu::qualityAt(options_.level));
  if (!machine) {
    context_->log().reportFault("target", llvm::toString(machine.takeError()));
    return false;
  }
  timed("optimise", [&] {
    cpu::optimise(*code->module, **machine, options_.level,
                  [this](llvm::StringRef pass) { return watch("optimise: " + pass.str()); });
    return true;
  });
  if (stopped_ || !watch(id == StageId::Asm ? "assembly" : "print"))
    return false;
  FunctionCodes made;
  if (id == StageId::Llvm) {
    made = timed("print", [&] { return printFunctions(*code->module); });
  } else {
    // Emitting assembly consumes the module, so its references are collected before.
    Needs needs = needsOf(*code->module);
    std::optional<std::string> text = timed("assembly", [&] { return assemble(*code, **machine); });
    if (!text)
      return false;
    made = timed("print", [&] { return splitAssembly(*text, needs); });
  }
  for (size_t number : wanted) {
    codes[number] = std::make_shared<FunctionCode>(std::move(made[keys_[number].name]));
    functions_.add(keys_[number].digest, id, codes[number]);
  }
  return true;
}

namespace {
/// Reports the code generator's passes.
class PassGate : public llvm::OptPassGate {
public:
  explicit PassGate(cpu::OnPass onPass) : onPass_(std::move(onPass)) {}
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) override { return onPass_(pass); }
  bool isEnabled() const override { return true; }

private:
  cpu::OnPass onPass_;
};
} // namespace

std::optional<std::string> Code::assemble(cpu::LlvmModule &code, llvm::TargetMachine &machine) {
  machine.Options.MCOptions.AsmVerbose = true;
  PassGate gate([this](llvm::StringRef pass) { return watch("assembly: " + pass.str()); });
  code.context->setOptPassGate(gate);
  llvm::Expected<std::string> text =
      cpu::emitOutput(*code.module, machine, cpu::OutputKind::Assembly);
  if (!text) {
    context_->log().reportFault("assembly", llvm::toString(text.takeError()));
    return std::nullopt;
  }
  return stopped_ ? std::nullopt : std::optional(std::move(*text));
}

} // namespace ptl::worker
