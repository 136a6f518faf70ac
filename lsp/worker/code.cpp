#include "lsp/worker/code.h"

#include "codegen/cpu/to_llvm.h"
#include "frontend/sema/dump.h"

#include "llvm/IR/OptBisect.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace ptl::worker {

using Clock = std::chrono::steady_clock;

Code::Code(std::unique_ptr<Checked> checked, std::vector<const CallableDecl *> reach,
           std::vector<BoundEntry> entries, CodeOptions options)
    : checked_(std::move(checked)), reach_(std::move(reach)), entries_(std::move(entries)),
      options_(std::move(options)) {
  for (const CallableDecl *decl : reach_)
    places_.push_back(decl->span);
  CompilerOptions compiler;
  compiler.level = options_.level;
  compiler.unchecked = options_.unchecked;
  compiler.ranges = true;
  if (!options_.processor.empty())
    compiler.processor = cpu::Processor::named(options_.processor);
  compiler.onStep = [this](const std::string &step) { watch(step); };
  compiler_ =
      std::make_unique<Compiler>(*checked_->program, checked_->sources, compiler, checked_->sink);
}

Code::~Code() { settle(); }

void Code::settle() {
  llvm_.reset();
  blocks_ = nullptr;
  tiles_ = nullptr;
  compiler_.reset();
  checked_.reset();
  reach_.clear();
  for (BoundEntry &entry : entries_)
    entry.binding.decl = nullptr;
}

size_t Code::bytes() const {
  // What is not settled holds a context, its modules and the checked program.
  size_t total = isSettled() ? 0 : size_t(8) << 20;
  for (const auto &text : texts_)
    total += text ? text->bytes() : 0;
  return total;
}

bool Code::watch(const std::string &step) {
  if (watch_ && !stopped_)
    stopped_ = !(*watch_)(step);
  return !stopped_;
}

template <typename Phase> auto Code::timed(const char *name, Phase phase) {
  Clock::time_point start = Clock::now();
  auto result = phase();
  std::chrono::duration<double, std::milli> time = Clock::now() - start;
  timings_->emplace_back(name, time.count());
  return result;
}

void Code::put(StageId id, StageText text) {
  texts_[numberOf(id)] = std::make_unique<StageText>(std::move(text));
}

const StageText *Code::stage(StageId id, const Watch &watch, Timings &timings) {
  watch_ = &watch;
  timings_ = &timings;
  stopped_ = false;
  bool made = has(id) || make(id);
  failed_ |= !made && !stopped_;
  watch_ = nullptr;
  timings_ = nullptr;
  return made ? texts_[numberOf(id)].get() : nullptr;
}

bool Code::make(StageId id) {
  if (!compiler_)
    return false;
  if (id == StageId::Checked) {
    makeChecked();
    return true;
  }
  if (failed_)
    return false;
  switch (id) {
  case StageId::Checked:
  case StageId::Built:
  case StageId::Tensor:
  case StageId::Tile:
    return tiles_ ? has(id) : makeTiles() && has(id);
  case StageId::Vector:
    if (!makeVectors())
      return false;
    put(id, timed("print", [&] { return printModule(*blocks_); }));
    return true;
  case StageId::Llvm:
    if (!makeLlvm())
      return false;
    watch("print");
    put(id, timed("print", [&] { return printLlvm(*llvm_->module, numbers_); }));
    return true;
  case StageId::Asm:
    return makeLlvm() && makeAssembly();
  }
  return false;
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

bool Code::makeTiles() {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  bool isBuilt = timed("build", [&] {
    for (const BoundEntry &entry : entries_) {
      ir::EntryBinding binding = entry.binding;
      binding.checked = !options_.unchecked;
      auto one = compiler_->build(binding, "ptl_" + entry.name);
      if (!one || stopped_)
        return false;
      if (!module)
        module = std::move(one);
      else
        module->getBody()->getOperations().splice(module->getBody()->end(),
                                                  one->getBody()->getOperations());
    }
    return static_cast<bool>(module);
  });
  if (!isBuilt)
    return false;
  put(StageId::Built, timed("print", [&] { return printModule(*module); }));
  bool isTiled = timed("passes", [&] {
    return compiler_->tile(*module, [&](const std::string &phase, mlir::ModuleOp done) {
      if (std::optional<StageId> id = stageByName(phase))
        put(*id, printModule(done));
    });
  });
  if (!isTiled || stopped_)
    return false;
  tiles_ = std::move(module);
  return true;
}

bool Code::makeVectors() {
  if (blocks_)
    return true;
  if (!tiles_ && !makeTiles())
    return false;
  blocks_ = timed("vectorise", [&] { return compiler_->vectorise(*tiles_); });
  return blocks_ && !stopped_;
}

bool Code::makeLlvm() {
  if (llvm_)
    return true;
  if (!makeVectors())
    return false;
  auto translated = timed("translate", [&]() -> std::optional<cpu::LlvmModule> {
    // Numbers are given once nothing of MLIR's changes locations any more.
    mlir::OwningOpRef<mlir::ModuleOp> copy = blocks_->clone();
    return compiler_->translate(*copy,
                                [&](mlir::ModuleOp lowered) { numbers_ = numberLines(lowered); });
  });
  if (!translated || !watch("optimise"))
    return false;
  auto machine = cpu::makeTargetMachine(compiler_->options().processor);
  if (!machine) {
    compiler_->reportFault("target", llvm::toString(machine.takeError()));
    return false;
  }
  bool isOptimised = timed("optimise", [&] {
    cpu::optimise(*translated->module, **machine, options_.level,
                  [this](llvm::StringRef pass) { return watch("optimise: " + pass.str()); });
    return !stopped_;
  });
  if (!isOptimised)
    return false;
  llvm_ = std::move(translated);
  return true;
}

namespace {
/// Hears of the code generator's passes.
class PassGate : public llvm::OptPassGate {
public:
  explicit PassGate(cpu::OnPass onPass) : onPass_(std::move(onPass)) {}
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) override { return onPass_(pass); }
  bool isEnabled() const override { return true; }

private:
  cpu::OnPass onPass_;
};
} // namespace

static void setLlvmOption(llvm::StringRef name, llvm::StringRef value) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find(name);
  if (found == options.end())
    return;
  found->second->reset();
  found->second->addOccurrence(0, name, value);
}

bool Code::makeAssembly() {
  if (!watch("assembly"))
    return false;
  // LLVM reads the syntax when it makes a target machine. What has no place in the source must not
  // seem to come from the place before it.
  setLlvmOption("x86-asm-syntax", options_.intel ? "intel" : "att");
  setLlvmOption("use-unknown-locations", "Enable");
  auto machine = cpu::makeTargetMachine(compiler_->options().processor);
  llvm::Expected<std::string> text =
      machine ? timed("assembly",
                      [&] {
                        // The code generator rewrites what it is given. That is not the copy:
                        // uses stand in another order there, and some code comes out another way.
                        (*machine)->Options.MCOptions.AsmVerbose = true;
                        auto copy = llvm::CloneModule(*llvm_->module);
                        std::swap(copy, llvm_->module);
                        PassGate gate([this](llvm::StringRef pass) {
                          return watch("assembly: " + pass.str());
                        });
                        llvm_->context->setOptPassGate(gate);
                        return cpu::emitOutput(*copy, **machine, cpu::OutputKind::Assembly);
                      })
              : llvm::Expected<std::string>(machine.takeError());
  if (!text) {
    compiler_->reportFault("assembly", llvm::toString(text.takeError()));
    return false;
  }
  if (stopped_) {
    // The original is used up, and from the copy the code would not be quite the same.
    llvm_.reset();
    return false;
  }
  put(StageId::Asm, cleanAssembly(*text, numbers_));
  return true;
}

} // namespace ptl::worker
