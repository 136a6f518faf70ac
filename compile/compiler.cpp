#include "compile/compiler.h"

#include "codegen/cpu/to_llvm.h"
#include "compile/chip/chip.h"
#include "compile/chip/chip_fixes.h"
#include "compile/chip/stage_record.h"
#include "frontend/base/output.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/pto_dialect.h"
#include "machines/machine.h"
#include "passes/analysis/buffer_overflow.h"
#include "passes/analysis/source_place.h"
#include "passes/transform/pipeline.h"
#include "passes/transform/simplify.h"
#include "runtime/abi/kernel_abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

namespace ptl {

static std::unique_ptr<mlir::MLIRContext> makeContext(bool forChip) {
  mlir::DialectRegistry registry;
  registry.insert<ir::PtlDialect>();
  if (forChip) // without those of LLVM, of which there are many operations
    registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                    mlir::func::FuncDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                    mlir::ub::UBDialect, pto::PtoDialect>();
  else
    cpu::registerCpuDialects(registry);
  // Entries are small; the caller's threads are better spent on several of them.
  auto context =
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

Compiler::Compiler(const CheckedProgram &program, const SourceManager &sources,
                   CompilerOptions options, DiagnosticSink &sink)
    : program_(program), sources_(sources), options_(std::move(options)), sink_(sink),
      context_(makeContext(options_.chip.has_value())),
      simplifier_(std::make_unique<ir::Simplifier>(*context_)) {
  context_->getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      messages_ += (messages_.empty() ? "" : "; ") + diagnostic.str();
  });
}

Compiler::~Compiler() = default;

template <typename Module> static std::string textOf(Module &&module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text;
}

static std::string textOf(llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

void Compiler::reportFault(const std::string &stage, const std::string &message,
                           mlir::ModuleOp module, Span at, const std::string &details) {
  std::string why = message.empty() ? "no reason given" : message;
  DiagnosticBuilder builder = sink_.report(DiagId::CompilerFault, at, {stage, why});
  builder.note("this is a fault of the compiler, not of the program: nothing was emitted");
  if (!internalError_ && options_.keepFault)
    builder.note(options_.keepFault(sources_, {stage, details.empty() ? why : why + "\n" + details,
                                               module ? textOf(module) : ""}));
  internalError_ = true;
}

mlir::OwningOpRef<mlir::ModuleOp> Compiler::emptyModule() {
  return mlir::ModuleOp::create(mlir::UnknownLoc::get(context_.get()));
}

/// Runs a stage. If it gives nothing although no error was reported, the fault is the compiler's.
template <typename Phase>
auto Compiler::collecting(const std::string &stage, mlir::ModuleOp module, Phase phase) {
  messages_.clear();
  size_t errors = sink_.errorCount();
  auto result = phase();
  if (!result && sink_.errorCount() == errors)
    reportFault(stage, messages_, module);
  return result;
}

/// A file of the dump folder, which there is.
void Compiler::dump(const std::string &phase, const std::string &text) {
  ::mkdir(options_.dumpFolder.c_str(), 0777);
  char name[32];
  std::snprintf(name, sizeof name, "/%02u-", dumps_++);
  std::string reason, path = options_.dumpFolder + name + phase;
  if (!writeOutput(path, text, &reason))
    sink_.report(DiagId::CannotWriteFile, kNoSpan, {path, reason});
}

/// Element types that a machine's file does not list; `int` is every machine's.
static std::vector<ElemKind> lackingTypes(const Machine &machine) {
  std::vector<ElemKind> lacking;
  for (const ElemInfo &info : elemInfos)
    // Conditions are masks on chips; their arrays in memory are another matter.
    if (info.kind != ElemKind::Int && info.kind != ElemKind::Bool &&
        !llvm::is_contained(machine.elementTypes, info.name))
      lacking.push_back(info.kind);
  return lacking;
}

mlir::OwningOpRef<mlir::ModuleOp> Compiler::build(const ir::EntryBinding &binding,
                                                  const std::string &symbol) {
  step("build");
  ir::EntryBinding wanted = binding;
  wanted.ranges = options_.ranges;
  if (options_.chip) {
    wanted.machine = options_.chip->name;
    wanted.chip = &*options_.chip;
    wanted.ranges = true; // errors of the block level are about places in the source
  }
  wanted.lacking = lackingTypes(options_.chip ? *options_.chip : *knownMachine("cpu"));
  binding_ = wanted;
  auto module = collecting("build", {}, [&] {
    auto built = ir::buildIr(*context_, program_, sources_, wanted, symbol, sink_);
    if (built && mlir::failed(mlir::verify(*built)))
      built = nullptr;
    return built;
  });
  if (module && !options_.dumpFolder.empty())
    dump("tensor.mlir", textOf(*module));
  return module;
}

static ir::PipelineOptions pipelineOptions(const CompilerOptions &options) {
  ir::PipelineOptions pipeline;
  pipeline.verifyEach = options.verifyEach;
  pipeline.timePasses = options.timePasses;
  pipeline.legalizeFor = options.legalizeFor;
  if (options.chip) {
    pipeline.legalizeFor = options.chip;
    pipeline.inChunks = true;
  }
  const Machine *machine = options.chip ? &*options.chip : knownMachine("cpu");
  if (machine && machine->tiling) {
    pipeline.productM = machine->tiling->productM;
    pipeline.productN = machine->tiling->productN;
    pipeline.tileBytes = machine->tiling->rowBytes;
  }
  return pipeline;
}

/// What schedules say, and had no effect; whether there is such.
static bool reportRefused(mlir::ModuleOp module, const SourceManager &sources,
                          DiagnosticSink &sink) {
  bool any = false;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (auto refused = attrs::refused.take(function))
      for (mlir::Attribute each : refused) {
        auto parts = mlir::cast<mlir::ArrayAttr>(each);
        mlir::Location at = mlir::cast<mlir::LocationAttr>(parts[2]);
        Span span = spanOf(at);
        sink.report(DiagId::ScheduleCannot,
                    span == kNoSpan ? spanAt(sources, block::placeOf(at)) : span,
                    {mlir::cast<mlir::StringAttr>(parts[0]).str(),
                     mlir::cast<mlir::StringAttr>(parts[1]).str()});
        any = true;
      }
  return any;
}

bool Compiler::tile(mlir::ModuleOp module, const OnPhase &onPhase) {
  bool done = collecting("passes", module, [&] {
    ir::PipelineOptions pipeline = pipelineOptions(options_);
    if (!legalizes_)
      pipeline.legalizeFor.reset();
    pipeline.halvings = halvings_;
    if (options_.onStep)
      pipeline.onPass = [&](llvm::StringRef pass) { options_.onStep(pass.str()); };
    if (stages_ || options_.afterPass)
      pipeline.afterPass = [&](llvm::StringRef pass, mlir::ModuleOp made) {
        keepTiles(pass, made);
      };
    pipeline.onPhase = [&](const std::string &phase, mlir::ModuleOp done) {
      if (!options_.dumpFolder.empty())
        dump(phase + ".mlir", textOf(done));
      if (onPhase)
        onPhase(phase, done);
    };
    return mlir::succeeded(ir::runTilePipeline(module, *simplifier_, pipeline));
  });
  return !reportRefused(module, sources_, sink_) && done;
}

mlir::OwningOpRef<mlir::ModuleOp> Compiler::vectorise(mlir::ModuleOp module) {
  step("vectorise");
  return collecting("vectorise", module,
                    [&] { return cpu::lowerToBlocks(module, options_.processor); });
}

std::optional<cpu::LlvmModule>
Compiler::translate(mlir::ModuleOp blocks, const std::function<void(mlir::ModuleOp)> &onLowered) {
  step("translate");
  return collecting("translate", blocks, [&]() -> std::optional<cpu::LlvmModule> {
    auto code = cpu::blocksToLlvm(blocks, onLowered);
    if (code)
      return std::move(*code);
    messages_ += llvm::toString(code.takeError());
    return std::nullopt;
  });
}

std::optional<cpu::LlvmModule> Compiler::lower(mlir::ModuleOp module) {
  if (!tile(module))
    return std::nullopt;
  mlir::OwningOpRef<mlir::ModuleOp> blocks = vectorise(module);
  if (!blocks)
    return std::nullopt;
  if (!options_.dumpFolder.empty())
    dump("vector.mlir", textOf(*blocks));
  std::optional<cpu::LlvmModule> code = translate(*blocks);
  if (!code || !optimise(*code, options_.level))
    return std::nullopt;
  if (!options_.dumpFolder.empty())
    dump("llvm.ll", textOf(*code->module));
  return code;
}

bool Compiler::optimise(cpu::LlvmModule &code, int level) {
  step("optimise");
  return collecting("optimise", {}, [&] {
    auto machine = cpu::makeTargetMachine(options_.processor);
    if (!machine) {
      messages_ += llvm::toString(machine.takeError());
      return false;
    }
    cpu::optimise(*code.module, **machine, level);
    return true;
  });
}

/// What compiled code may call; it runs in this process, where these symbols are not exported.
static cpu::JitCode::Symbols runtimeSymbols() {
#define PTL_SYMBOL(NAME) {#NAME, reinterpret_cast<void *>(&NAME)}
  return {PTL_SYMBOL(ptl_rt_parallel_for), PTL_SYMBOL(ptl_rt_thread_count),
          PTL_SYMBOL(ptl_rt_thread_index), PTL_SYMBOL(ptl_rt_scratch),
          PTL_SYMBOL(ptl_rt_scratch_mark), PTL_SYMBOL(ptl_rt_scratch_release),
          PTL_SYMBOL(ptl_rt_alloc),        PTL_SYMBOL(ptl_rt_free),
          PTL_SYMBOL(ptl_rt_fail),         PTL_SYMBOL(ptl_rt_status),
          PTL_SYMBOL(ptl_rt_print),        PTL_SYMBOL(ptl_rt_program),
          PTL_SYMBOL(ptl_rt_submit),       PTL_SYMBOL(ptl_rt_await),
          PTL_SYMBOL(ptl_rt_release),      PTL_SYMBOL(ptl_rt_grid)};
#undef PTL_SYMBOL
}

std::optional<cpu::JitCode> Compiler::load(cpu::LlvmModule code,
                                           const cpu::JitCode::Objects &objects,
                                           cpu::CodeQuality quality) {
  step("native code");
  return collecting("native code", {}, [&]() -> std::optional<cpu::JitCode> {
    auto loaded = cpu::JitCode::create(std::move(code.context), std::move(code.module),
                                       options_.processor, runtimeSymbols(), objects, quality);
    if (loaded)
      return std::move(*loaded);
    messages_ += llvm::toString(loaded.takeError());
    return std::nullopt;
  });
}

std::optional<cpu::JitCode> Compiler::compile(const ir::EntryBinding &binding,
                                              const std::string &symbol) {
  mlir::OwningOpRef<mlir::ModuleOp> module = build(binding, symbol);
  std::optional<cpu::LlvmModule> entry;
  if (module)
    entry = lower(*module);
  return entry ? load(std::move(*entry), {}, cpu::qualityAt(options_.level)) : std::nullopt;
}

Compiler::Translated Compiler::translated(const ir::EntryBinding &binding,
                                          const std::string &symbol) {
  mlir::OwningOpRef<mlir::ModuleOp> module = build(binding, symbol), blocks;
  if (module && tile(*module))
    blocks = vectorise(*module);
  std::optional<cpu::LlvmModule> code;
  if (blocks)
    code = translate(*blocks);
  Translated result;
  if (code) {
    if (options_.functionObjects)
      result.functions = cpu::takeFunctions(*code->module);
    llvm::raw_string_ostream out(result.bytes);
    llvm::WriteBitcodeToFile(*code->module, out);
  }
  return result;
}

std::optional<cpu::JitCode> Compiler::compile(const Translated &translated, int level,
                                              cpu::CodeQuality quality) {
  cpu::LlvmModule code{std::make_unique<llvm::LLVMContext>(), nullptr};
  auto module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(translated.bytes, "translated"), *code.context);
  if (!module) {
    reportFault("translate", llvm::toString(module.takeError()));
    return std::nullopt;
  }
  code.module = std::move(*module);
  if (!optimise(code, level))
    return std::nullopt;
  cpu::JitCode::Objects objects;
  if (options_.functionObjects) {
    step("shared code");
    auto shared =
        options_.functionObjects->objects(translated.functions, options_.processor, level, quality);
    if (!shared) {
      reportFault("native code", llvm::toString(shared.takeError()));
      return std::nullopt;
    }
    objects = std::move(*shared);
  }
  return load(std::move(code), objects, quality);
}

} // namespace ptl
