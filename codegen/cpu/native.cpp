#include "codegen/cpu/native.h"

#include "codegen/cpu/lazy_calls.h"
#include "codegen/cpu/object_emitter.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <mutex>

using namespace llvm;

namespace ptl::cpu {

static void initialiseTargets() {
  // LLVM's registry is global and its initialisation is not safe for several threads.
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
  });
}

// The vector unit of a processor, where `has` says which features it has, by their names in LLVM.
static VectorUnit vectorUnit(function_ref<bool(StringRef)> has) {
  VectorUnit unit;
  // AVX without AVX2 has no integer vectors of 32 bytes, but LLVM splits those.
  unit.bytes = has("avx512f") ? 64 : has("avx") ? 32 : 16;
  unit.scalesByPowers = has("avx512f");
  unit.bf16Pairs = has("avx512bf16");
  // The same instructions on registers of 256 bits are a feature of their own.
  unit.i16DotBytes = unit.byteDotBytes = has("avx512vnni") ? 64 : has("avxvnni") ? 32 : 0;
  bool hasMatrices = has("amx-tile");
  unit.matrices.bytes = hasMatrices && has("amx-int8");
  unit.matrices.bf16 = hasMatrices && has("amx-bf16");
  unit.matrices.f16 = hasMatrices && has("amx-fp16");
  unit.gathersFast = has("fast-gather") && !has("prefer-no-gather");
  unit.i16PairBytes = has("avx512bw") ? 64 : has("avx2") ? 32 : has("sse2") ? 16 : 0;
  return unit;
}

/// Asks LLVM's tables of this machine's architecture.
static std::unique_ptr<MCSubtargetInfo> subtargetOf(StringRef name, StringRef features) {
  initialiseTargets();
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(sys::getProcessTriple(), error);
  return std::unique_ptr<MCSubtargetInfo>(
      target ? target->createMCSubtargetInfo(sys::getProcessTriple(), name, features) : nullptr);
}

static bool isFeatureName(const MCSubtargetInfo &tables, StringRef name) {
  return any_of(tables.getAllProcessorFeatures(),
                [&](const SubtargetFeatureKV &each) { return name == each.Key; });
}

Processor Processor::host() {
  static const Processor host = [] {
    SubtargetFeatures features;
    for (const auto &feature : sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
    Processor result{
        sys::getProcessTriple(), sys::getHostCPUName().str(), features.getString(), {}};
    // What a processor is fast at goes with its name; it reports only what it has.
    std::unique_ptr<MCSubtargetInfo> known = subtargetOf(result.name, "");
    result.vectors = vectorUnit([&](StringRef name) {
      std::string isOn = ("+" + name).str();
      bool isTuning = name.contains("gather");
      return isTuning ? known && isFeatureName(*known, name) && known->checkFeatures(isOn)
                      : is_contained(features.getFeatures(), isOn);
    });
    return result;
  }();
  return host;
}

/// The name and the features of `x86-64-v4+avx512vnni-avx512bf16`. Names of LLVM have dashes of their
/// own, so a dash begins a feature only where one of that name follows.
static std::pair<std::string, std::string> splitName(const std::string &name,
                                                     function_ref<bool(StringRef)> isFeature) {
  size_t end = name.size();
  std::string features;
  // The search goes backwards, so that the end of each feature is known where it begins.
  for (size_t i = name.size(); i-- > 1;) {
    bool begins = name[i] == '+' || (name[i] == '-' && isFeature(name.substr(i + 1, end - i - 1)));
    if (!begins)
      continue;
    features = name.substr(i, end - i) + (features.empty() ? "" : ",") + features;
    end = i;
  }
  return {name.substr(0, end), features};
}

static std::pair<std::string, std::string> splitName(const std::string &name) {
  std::unique_ptr<MCSubtargetInfo> tables = subtargetOf("", "");
  return splitName(name, [&](StringRef feature) { return isFeatureName(*tables, feature); });
}

std::string Processor::problemOf(const std::string &name) {
  std::unique_ptr<MCSubtargetInfo> tables = subtargetOf("", "");
  auto [processor, features] = splitName(name);
  if (!tables->isCPUStringValid(processor))
    return "LLVM knows no processor `" + processor + "`";
  for (StringRef feature : split(features, ','))
    if (!feature.empty() && !isFeatureName(*tables, feature.drop_front()))
      return "LLVM knows no feature `" + feature.drop_front().str() + "`";
  return "";
}

std::vector<std::string> Processor::lackingHere() const {
  std::unique_ptr<MCSubtargetInfo> wanted = subtargetOf(name, features);
  StringMap<bool> here = sys::getHostCPUFeatures();
  std::vector<std::string> lacking;
  // What the tables call tuning is not among what a machine reports to have.
  for (const SubtargetFeatureKV &each : wanted->getAllProcessorFeatures())
    if (auto found = here.find(each.Key);
        found != here.end() && !found->second && wanted->hasFeature(each.Value))
      lacking.push_back(each.Key);
  return lacking;
}

Processor Processor::named(const std::string &text) {
  auto [name, features] = splitName(text);
  Processor result{sys::getProcessTriple(), name, features, {}};
  if (auto machine = makeTargetMachine(result)) {
    result.vectors = vectorUnit([&](StringRef feature) {
      return (*machine)->getMCSubtargetInfo()->checkFeatures(("+" + feature).str());
    });
  } else {
    // The caller reports unknown names (`problemOf`); here the unit of the least processor is left.
    consumeError(machine.takeError());
  }
  return result;
}

// Several of LLVM's algorithms take a time that grows with the square of a function's blocks (memory
// SSA, dominator updates, live ranges): 3,000 products in one function took minutes. Beyond these
// sizes a function gets what takes a time in proportion to its size. The largest function of the
// examples has 86 blocks and 2,700 instructions.
static constexpr size_t kBlocksForFullQuality = 2'000;
static constexpr size_t kInstructionsForFullQuality = 60'000;

static bool tooLargeForFullQuality(const Function &function) {
  return function.size() > kBlocksForFullQuality ||
         function.getInstructionCount() > kInstructionsForFullQuality;
}

static bool tooLargeForFullQuality(const Module &module) {
  return any_of(module, [](const Function &each) { return tooLargeForFullQuality(each); });
}

static CodeGenOptLevel generatorLevel(CodeQuality quality) {
  return quality == CodeQuality::Quick ? CodeGenOptLevel::None : CodeGenOptLevel::Default;
}

Expected<std::unique_ptr<TargetMachine>> makeTargetMachine(const Processor &processor,
                                                           CodeQuality quality) {
  initialiseTargets();
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(processor.triple, error);
  if (!target)
    return createStringError(error);
  TargetOptions options;
  // Contracting a * b + c happens where the lowering says so, never behind its back.
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(processor.triple, processor.name, processor.features, options,
                                  Reloc::PIC_, std::nullopt, generatorLevel(quality)));
  if (!machine)
    return createStringError("no code generator for " + processor.triple);
  return machine;
}

// Without these the x86 back end cuts 512-bit vectors in two on several processors.
static void preferWideVectors(Module &module, TargetMachine &machine) {
  bool wide = machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (wide) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
}

// The passes that code needs which is already vectorised, unrolled and inlined: they merge repeated
// computations of the lowering and hoist what a loop does not change. The rest of LLVM's pipeline
// finds nothing to do and takes two thirds of its time.
static constexpr StringRef kPipeline =
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),gvn,dse,instcombine<no-verify-fixpoint>,simplifycfg";

// The part of these passes that functions get which are too large for the others.
static constexpr StringRef kPipelineOfLargeFunctions =
    "sroa<preserve-cfg>,early-cse,simplifycfg,dse";

static FunctionPassManager pipelineOf(PassBuilder &builder, int level) {
  if (level >= 3)
    return builder.buildFunctionSimplificationPipeline(OptimizationLevel::O3,
                                                       ThinOrFullLTOPhase::None);
  FunctionPassManager passes;
  // Level 0 has no passes at all.
  if (level > 0)
    cantFail(builder.parsePassPipeline(passes, kPipeline));
  return passes;
}

void optimise(Module &module, TargetMachine &machine, int level, const OnPass &onPass) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  preferWideVectors(module, machine);
  // The lowering emits vectors already; vectorising again only costs time.
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  // Where unrolling pays, the lowering has done it.
  tuning.LoopUnrolling = false;
  PassInstrumentationCallbacks callbacks;
  if (onPass)
    callbacks.registerShouldRunOptionalPassCallback(
        [&](StringRef pass, Any) { return onPass(pass); });
  PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  FunctionPassManager passes = pipelineOf(builder, level), linear;
  if (level > 0)
    cantFail(builder.parsePassPipeline(linear, kPipelineOfLargeFunctions));
  for (Function &function : module)
    if (!function.isDeclaration())
      // Functions are decided one by one, so that one large function does not slow the code of the
      // others.
      (tooLargeForFullQuality(function) ? linear : passes).run(function, functions);
}

Expected<std::string> emitOutput(Module &module, TargetMachine &machine, OutputKind kind) {
  SmallVector<char, 0> buffer;
  raw_svector_ostream stream(buffer);
  if (kind == OutputKind::LlvmText) {
    module.print(stream, nullptr);
    return std::string(buffer.data(), buffer.size());
  }
  auto fileType =
      kind == OutputKind::Assembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile;
  // The code generator has one level for a whole module.
  CodeGenOptLevel level = machine.getOptLevel();
  if (tooLargeForFullQuality(module))
    machine.setOptLevel(generatorLevel(CodeQuality::Quick));
  auto restored = llvm::make_scope_exit([&] { machine.setOptLevel(level); });
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, fileType))
    return createStringError("this target cannot emit such a file");
  passes.run(module);
  return std::string(buffer.data(), buffer.size());
}

/// The passes of the code generator, and where they write.
struct ObjectEmitter::Generator {
  SmallVector<char, 0> buffer;
  raw_svector_ostream stream{buffer};
  legacy::PassManager passes;
};

ObjectEmitter::ObjectEmitter(std::unique_ptr<TargetMachine> machine)
    : machine_(std::move(machine)) {}
ObjectEmitter::~ObjectEmitter() = default;

Expected<std::string> ObjectEmitter::emit(Module &module) {
  // The kept passes are those of the full quality; a module that is too large gets others, made for it alone.
  if (tooLargeForFullQuality(module))
    return emitOutput(module, *machine_, OutputKind::Object);
  if (!generator_) {
    auto made = std::make_unique<Generator>();
    if (machine_->addPassesToEmitFile(made->passes, made->stream, nullptr,
                                      CodeGenFileType::ObjectFile))
      return createStringError("this target cannot emit such a file");
    generator_ = std::move(made);
  }
  generator_->buffer.clear();
  generator_->passes.run(module);
  return std::string(generator_->buffer.data(), generator_->buffer.size());
}

JitCode::JitCode(std::unique_ptr<orc::LLJIT> jit, std::unique_ptr<LazyCalls> calls)
    : jit_(std::move(jit)), calls_(std::move(calls)) {}
JitCode::JitCode(JitCode &&) noexcept = default;
JitCode &JitCode::operator=(JitCode &&other) noexcept {
  // The old calls hold names that the old compiler owns, so they go first.
  calls_ = std::move(other.calls_);
  jit_ = std::move(other.jit_);
  return *this;
}
JitCode::~JitCode() = default;

/// Lets code call `symbols` and any function that this process exports.
static Error defineSymbols(orc::LLJIT &jit, const JitCode::Symbols &symbols) {
  orc::SymbolMap map;
  for (const auto &[name, address] : symbols)
    // The runtime is linked into this process, perhaps without exported symbols.
    map[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                      JITSymbolFlags::Exported};
  auto &library = jit.getMainJITDylib();
  if (auto error = library.define(orc::absoluteSymbols(std::move(map))))
    return error;
  // The C library's mathematics are looked up in the process.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  return Error::success();
}

Expected<JitCode> JitCode::create(std::unique_ptr<LLVMContext> context,
                                  std::unique_ptr<Module> module, const Processor &processor,
                                  const Symbols &symbols, const Objects &objects,
                                  CodeQuality quality) {
  initialiseTargets();
  orc::JITTargetMachineBuilder builder{Triple(processor.triple)};
  builder.setCPU(processor.name);
  builder.setCodeGenOptLevel(
      generatorLevel(tooLargeForFullQuality(*module) ? CodeQuality::Quick : quality));
  builder.setRelocationModel(Reloc::PIC_);
  builder.addFeatures(SubtargetFeatures(processor.features).getFeatures());
  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit)
    return jit.takeError();
  if (auto error = defineSymbols(**jit, symbols))
    return error;
  for (const auto &object : objects)
    // The object is shared with the cache, so it is not copied.
    if (auto error = (*jit)->addObjectFile(MemoryBuffer::getMemBuffer(*object, "function", false)))
      return error;
  orc::ThreadSafeModule safe(std::move(module), std::move(context));
  if (auto error = (*jit)->addIRModule(std::move(safe)))
    return error;
  return JitCode(std::move(*jit));
}

/// For code that was compiled before: it needs no code generator, whose tables take milliseconds.
class NoCompiler : public orc::IRCompileLayer::IRCompiler {
public:
  NoCompiler() : IRCompiler({}) {}
  Expected<std::unique_ptr<MemoryBuffer>> operator()(Module &) override {
    return createStringError("nothing is compiled here");
  }
};

Expected<JitCode> JitCode::fromObject(std::string object, const Symbols &symbols,
                                      std::vector<LazyFunction> functions) {
  auto jit =
      orc::LLJITBuilder()
          .setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(Triple(sys::getProcessTriple())))
          // Only the mangling of ELF is needed; asking the target for its layout would load its
          // tables.
          .setDataLayout(DataLayout("e-m:e"))
          .setCompileFunctionCreator([](orc::JITTargetMachineBuilder) {
            return Expected<std::unique_ptr<orc::IRCompileLayer::IRCompiler>>(
                std::make_unique<NoCompiler>());
          })
          // The code has no static constructors, which the usual platform would compile code for.
          .setPlatformSetUp(orc::setUpInactivePlatform)
          .create();
  if (!jit)
    return jit.takeError();
  if (auto error = defineSymbols(**jit, symbols))
    return error;
  std::unique_ptr<LazyCalls> calls;
  if (!functions.empty()) {
    auto made = LazyCalls::define(**jit, std::move(functions));
    if (!made)
      return made.takeError();
    calls = std::move(*made);
  }
  if (auto error = (*jit)->addObjectFile(MemoryBuffer::getMemBufferCopy(object, "kept code")))
    return error;
  return JitCode(std::move(*jit), std::move(calls));
}

void *JitCode::lookup(const std::string &symbol) const {
  auto address = jit_->lookup(symbol);
  if (!address) {
    consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void *>();
}

} // namespace ptl::cpu
