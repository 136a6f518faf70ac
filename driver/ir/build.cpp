#include "codegen/cpu/link.h"
#include "compile/call/drawn_call.h"
#include "compile/chip/lower_to_chip.h"
#include "compile/graph/graph_html.h"
#include "compile/graph/graph_json.h"
#include "compile/graph/graph_svg.h"
#include "compile/graph/graph_text.h"
#include "compile/native_code.h"
#include "compile/stage_table.h"
#include "driver/defines.h"
#include "driver/ir/command_options.h"
#include "driver/ir/commands.h"
#include "driver/ir/emit_graph.h"
#include "driver/ir/variants.h"
#include "driver/ir/verify_emitted.h"
#include "frontend/lex/lexer.h"
#include "frontend/parse/parse.h"
#include "frontend/sema/dump/dump.h"
#include "frontend/syntax/kinds.h"
#include "passes/analysis/memory_map.h"
#include "runtime/emit_header.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace ptl {

namespace {

/// Everything one `ptlc build` makes, by name of the kind.
class Builder {
public:
  Builder(Session &session, const Target &target, std::string output)
      : session_(session), target_(target), output_(std::move(output)) {}

  bool chooseKinds(std::string *error);
  ExitCode run(const std::string &file);

private:
  bool emit(StageId id, std::string_view text);
  bool wants(StageId id) const {
    return std::find(kinds_.begin(), kinds_.end(), id) != kinds_.end();
  }
  StageLevel lastLevel() const;
  std::string pathFor(StageId id) const;
  void emitSource(const std::string &file);
  std::string emitInterfaces(const CheckedProgram &program,
                             const std::vector<ManifestEntry> &entries);
  std::optional<BuiltEntry> buildVariant(const CompileContext &context, const ManifestEntry &entry,
                                         const ManifestVariant &variant);
  std::optional<TensorModule> buildAll(const CompileContext &context,
                                       const std::vector<ManifestEntry> &entries);
  ExitCode compile(const CheckedProgram &program, const std::vector<ManifestEntry> &entries,
                   const std::string &manifest);
  std::string printed(mlir::ModuleOp module);
  bool wantsGraph() const {
    return wants(StageId::Graph) || wants(StageId::GraphSvg) || wants(StageId::GraphHtml);
  }
  bool emitGraphs(const CompileContext &context, const std::vector<ManifestEntry> &entries);
  void emitPhases(const CompileContext &context, TensorModule tensor);
  ExitCode emitBlocks(const CompileContext &context, const std::vector<ManifestEntry> &entries);
  bool runStages(const CheckedProgram &program, const std::vector<ManifestEntry> &entries);
  bool emitTexts(std::vector<ChipProgram> programs, const Machine &machine);
  void emitCode(const CompileContext &context, cpu::LlvmModule code, const std::string &manifest);
  void link(const std::string &object);
  std::string targetProblem(const StageInfo &kind) const;

  Session &session_;
  const Target &target_;
  std::string output_;
  std::vector<StageId> kinds_;
};

/// Why the kind of output is not made for the target; empty if it is.
std::string Builder::targetProblem(const StageInfo &kind) const {
  std::string name = "`--emit=" + std::string(kind.emittedName()) + "` ";
  if (kind.machine == StageMachine::Chip && !target_.isChip())
    return name + "is made for a chip: name the chip, as in `--target a3`";
  bool isCode = kind.level == StageLevel::Vector || kind.level == StageLevel::Llvm;
  if (kind.machine == StageMachine::Cpu && isCode && target_.isChip())
    return name + "is made for the processor of this computer, not for `" + target_.name +
           "`: leave out `--target`";
  return {};
}

bool Builder::chooseKinds(std::string *error) {
  for (const std::string &list : session_.options().values(OptionId::Emit)) {
    for (size_t begin = 0; begin <= list.size();) {
      size_t end = std::min(list.find(',', begin), list.size());
      std::string_view name = std::string_view(list).substr(begin, end - begin);
      auto kind = std::find_if(stageInfos.begin(), stageInfos.end(), [&](const StageInfo &each) {
        return each.isEmitted() && each.emittedName() == name;
      });
      if (kind == stageInfos.end()) {
        *error = "`--emit` has no kind `" + std::string(name) + "`; the kinds are";
        for (const StageInfo &each : stageInfos)
          if (each.isEmitted())
            *error += " " + std::string(each.emittedName());
        return false;
      }
      kinds_.push_back(kind->id);
      begin = end + 1;
    }
  }
  if (kinds_.empty() && output_.empty()) {
    *error = "choose the output: `-o OUT.so`, or `--emit=KIND`";
    return false;
  }
  // Longer extensions stand before the one they end in only by chance, so take the longest that
  // fits.
  const StageInfo *best = nullptr;
  for (const StageInfo &kind : stageInfos)
    if (kind.isEmitted() && output_.ends_with(kind.emittedExtension()) &&
        (!best || kind.emittedExtension().size() > best->emittedExtension().size()))
      best = &kind;
  if (kinds_.empty() && !best) {
    *error = "the extension of `" + output_ +
             "` does not determine the kind of output: use .so, .o, .ll, .s or .pto, or add "
             "`--emit=KIND`";
    return false;
  }
  if (kinds_.empty())
    kinds_.push_back(best->id);
  for (StageId id : kinds_)
    if (std::string problem = targetProblem(stageInfo(id)); !problem.empty()) {
      *error = problem;
      return false;
    }
  // Machine code is not written to a terminal.
  bool binary = wants(StageId::Object) || wants(StageId::Library);
  if (binary && output_.empty())
    *error = "name the output with `-o`";
  return error->empty();
}

StageLevel Builder::lastLevel() const {
  StageLevel last = StageLevel::Source;
  for (StageId id : kinds_)
    last = std::max(last, stageInfo(id).level);
  return last;
}

std::string Builder::pathFor(StageId id) const {
  if (output_.empty())
    return "-";
  std::string extension(stageInfo(id).emittedExtension());
  // Several outputs need different names.
  return kinds_.size() == 1 ? output_ : output_ + extension;
}

bool Builder::emit(StageId id, std::string_view text) {
  return !wants(id) || session_.write(pathFor(id), text);
}

void Builder::emitSource(const std::string &file) {
  std::optional<FileId> id = session_.load(file);
  if (!id || lastLevel() != StageLevel::Source)
    return;
  const SourceFile &source = session_.sources().file(*id);
  Tree tree = parse(source, session_.sink());
  emit(StageId::Tree, dump(tree));
  std::string tokens;
  for (TokenIndex i = 0; i < tree.tokens().size(); ++i) {
    LineColumn place = source.lineColumn(tree.token(i).begin);
    tokens += std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
              std::string(describe(tree.tokenKind(i))) + " " + std::string(tree.tokenText(i)) +
              "\n";
  }
  emit(StageId::Tokens, tokens);
}

/// Gives the manifest.
std::string Builder::emitInterfaces(const CheckedProgram &program,
                                    const std::vector<ManifestEntry> &entries) {
  bool unchecked = session_.options().has(OptionId::Unchecked);
  std::string manifest = emitManifest(program, session_.sources(), entries, unchecked);
  emit(StageId::Manifest, manifest);
  // Names in the header come from the library's file.
  std::string name = output_.substr(output_.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  if (wants(StageId::Header)) {
    std::string problem;
    std::optional<rt::Manifest> parsed = rt::parseManifest(manifest, problem);
    emit(StageId::Header,
         parsed ? rt::emitHeader(*parsed, name.empty() ? "ptl_library" : name) : "");
  }
  std::string python = "\"\"\"Entries compiled from PTL; the library lies beside this file.\"\"\"\n"
                       "import pathlib\n\nimport ptl\n\n"
                       "_library = ptl.load(str(pathlib.Path(__file__).with_suffix(\".so\")))\n";
  for (const ManifestEntry &entry : entries)
    python += entry.decl->name + " = _library." + entry.decl->name + "\n";
  emit(StageId::Python, python);
  return manifest;
}

/// One variant at the tensor level. Nothing after an error, which has been reported.
std::optional<BuiltEntry> Builder::buildVariant(const CompileContext &context,
                                                const ManifestEntry &entry,
                                                const ManifestVariant &variant) {
  ir::EntryBinding binding = bindingOf(session_, entry, variant);
  if (session_.failed())
    return std::nullopt;
  return buildEntry(context, binding, variant.symbol);
}

/// One module with all variants; each was built on its own. Nothing after an error.
std::optional<TensorModule> Builder::buildAll(const CompileContext &context,
                                              const std::vector<ManifestEntry> &entries) {
  std::vector<BuiltEntry> all;
  for (const ManifestEntry &entry : entries)
    for (const ManifestVariant &variant : entry.variants) {
      std::optional<BuiltEntry> one = buildVariant(context, entry, variant);
      if (!one)
        return std::nullopt;
      all.push_back(std::move(*one));
    }
  return joinEntries(context, std::move(all));
}

/// With `-g`, every operation says which place in the source it stands for.
std::string Builder::printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  // The addresses of grid bodies are LLVM's while the bodies are still functions of MLIR; the
  // readable form stands anyway.
  flags.assumeVerified();
  flags.enableDebugInfo(session_.options().has(OptionId::DebugInfo));
  module.print(out, flags);
  return text;
}

/// False after an error.
bool Builder::emitGraphs(const CompileContext &context, const std::vector<ManifestEntry> &entries) {
  auto graphs = graphsOf(session_, context, target_, entries);
  if (!graphs)
    return false;
  const SourceManager &sources = session_.sources();
  if (wants(StageId::Graph))
    emit(StageId::Graph, graphDocument(*graphs, sources));
  if (wants(StageId::GraphSvg))
    emit(StageId::GraphSvg, graphSvg(*graphs, sources).text);
  if (wants(StageId::GraphHtml))
    emit(StageId::GraphHtml, graphHtml(*graphs, sources).text);
  return true;
}

void Builder::emitPhases(const CompileContext &context, TensorModule tensor) {
  TileOptions how;
  how.onPhase = [&](const std::string &phase, mlir::ModuleOp done) {
    emit(phase == "tensor" ? StageId::Tensor : StageId::Tile, printed(done));
  };
  std::optional<TileModule> tiles = tileModule(context, std::move(tensor), how);
  if (!tiles || !wants(StageId::Vector) || session_.failed())
    return;
  if (std::optional<VectorModule> vectors = vectorise(context, *tiles))
    emit(StageId::Vector, printed(*vectors->module));
}

static std::string proofText(const std::string &symbol, const prove::ProofResult &result) {
  std::string verdict = result.proved()           ? "proved"
                        : result.findings.empty() ? "cannot be proved"
                                                  : "faults";
  std::string untried;
  if (result.untried)
    untried =
        "  not tried, because they need too many operations: " + std::to_string(result.untried) +
        (result.untried == 1 ? " size, " : " sizes, the first of them ") + result.firstUntried +
        "\n";
  return symbol + ": " + verdict + ", " + std::to_string(result.instances) + " instances, " +
         std::to_string(result.events) + " operations\n" + untried + prove::toText(result);
}

/// `.pto` and C++ of all entries. False if a tool that should judge them is missing.
bool Builder::emitTexts(std::vector<ChipProgram> programs, const Machine &machine) {
  bool verified = true;
  std::vector<mlir::ModuleOp> kernels;
  for (ChipProgram &program : programs)
    for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels) {
      // Requirements are for the prover; tools for chips do not know them.
      dropRequirements(*kernel);
      kernels.push_back(*kernel);
    }
  if (wants(StageId::Pto))
    if (std::optional<pto::Emitted> text = emitPtoText(session_, kernels, machine)) {
      emit(StageId::Pto, text->text);
      verified &= verifyPtoText(session_, *text, machine);
    }
  if (!wants(StageId::Cpp))
    return verified;
  std::string all;
  for (const ChipProgram &program : programs) {
    all += emitCppText(session_, program, machine, pathFor(StageId::Cpp)).text;
    verified = verified && verifyCppText(session_, program, machine);
  }
  emit(StageId::Cpp, all);
  return verified;
}

/// Whether the strides of a type are those of its shape.
static bool isDense(DimContext &dims, const Type &type) {
  Dim expected = dims.constant(1);
  for (size_t i = type.strides.size(); i-- > 0;) {
    if (type.strides[i] != expected)
      return false;
    expected = dims.mul(expected, type.extents[i].length);
  }
  return true;
}

/// What is emitted is launched by others, who do not pack arrays as the runtime does.
static void warnOfStrides(Session &session, const CheckedProgram &program,
                          const CallableDecl &decl) {
  for (const Local *param : decl.params) {
    const Type &type = *param->type;
    if (isDense(*program.dims, type))
      continue;
    std::string strides;
    for (Dim stride : type.strides)
      strides += (strides.empty() ? "[" : ", ") + program.dims->toString(stride);
    session.sink()
        .report(DiagId::EmittedAsDense, param->span, {param->name, strides + "]"})
        .help("pack the array before the kernel is launched, as `ptlc run` does");
  }
}

/// The block level of each variant, one kernel after the other.
ExitCode Builder::emitBlocks(const CompileContext &context,
                             const std::vector<ManifestEntry> &entries) {
  std::string host, blocks, sync, proof;
  std::vector<ChipProgram> programs;
  BufferLedger ledger;
  std::vector<StatementParts> statements;
  const Machine &machine = *context.options().chip;
  for (const ManifestEntry &entry : entries) {
    if (wants(StageId::Pto) || wants(StageId::Cpp))
      warnOfStrides(session_, context.program(), *entry.decl);
    for (const ManifestVariant &variant : entry.variants) {
      std::optional<BuiltEntry> built = buildVariant(context, entry, variant);
      std::optional<ChipProgram> program;
      if (built)
        program = lowerToChip(context, *built).program;
      // The reason has been reported.
      if (!program)
        return session_.failed() ? ExitCode::SourceErrors : ExitCode::Fine;
      if (wants(StageId::Host))
        host += printed(*program->program.host);
      if (wants(StageId::Block))
        for (mlir::OwningOpRef<mlir::ModuleOp> &kernel : program->program.kernels)
          blocks += printed(*kernel);
      ledger.machine = program->ledger.machine;
      ledger.functions.insert(ledger.functions.end(), program->ledger.functions.begin(),
                              program->ledger.functions.end());
      ledger.kernels.insert(ledger.kernels.end(), program->ledger.kernels.begin(),
                            program->ledger.kernels.end());
      statements.insert(statements.end(), program->statements.begin(), program->statements.end());
      if (wants(StageId::Proof))
        proof += proofText(variant.symbol, program->proof);
      llvm::raw_string_ostream out(sync);
      if (wants(StageId::Sync))
        for (const pto::SyncResult &each : program->sync)
          pto::writeSyncJson(variant.symbol, each, out);
      programs.push_back(std::move(*program));
    }
  }
  emit(StageId::Sync, sync);
  emit(StageId::Proof, proof);
  if (wants(StageId::Ledger))
    emit(StageId::Ledger, ledgerJson(ledger, statements));
  if (wants(StageId::Memory))
    emit(StageId::Memory,
         statementsText(statements) + ledgerText(ledger) + "\n" + memoryMapText(ledger));
  if (wants(StageId::MemorySvg))
    emit(StageId::MemorySvg, memoryMapSvg(ledger));
  emit(StageId::Host, host);
  emit(StageId::Block, blocks);
  return emitTexts(std::move(programs), machine) ? ExitCode::Fine : ExitCode::Missing;
}

void Builder::link(const std::string &object) {
  // The runtime lies beside the compiler; programs that are installed elsewhere find it by its
  // name.
  std::string runtime = executableFolder() + "../lib";
  std::string path = pathFor(StageId::Library), temporary = path + ".part";
  llvm::Error error = cpu::linkSharedLibrary(
      {object}, {"-L" + runtime, "-lptl_rt", "--rpath=" + runtime, "-z", "defs"}, temporary);
  // A library appears under its name only when it is complete.
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0)
    error = llvm::errorCodeToError(std::error_code(errno, std::generic_category()));
  if (error) {
    ::unlink(temporary.c_str());
    session_.sink().report(DiagId::CannotWriteFile, kNoSpan,
                           {path, llvm::toString(std::move(error))});
  }
}

void Builder::emitCode(const CompileContext &context, cpu::LlvmModule code,
                       const std::string &manifest) {
  // The library describes itself: see docs/manifest.md.
  llvm::Constant *text = llvm::ConstantDataArray::getString(*code.context, manifest);
  new llvm::GlobalVariable(*code.module, text->getType(), true, llvm::GlobalValue::ExternalLinkage,
                           text, "ptl_manifest");
  auto machine =
      cpu::makeTargetMachine(context.options().processor, cpu::qualityAt(context.options().level));
  if (!machine) {
    context.log().reportFault("target", llvm::toString(machine.takeError()));
    return;
  }
  auto produce = [&](StageId id, cpu::OutputKind kind, const std::string &path) {
    llvm::Expected<std::string> bytes = cpu::emitOutput(*code.module, **machine, kind);
    if (!bytes) {
      context.log().reportFault("code", llvm::toString(bytes.takeError()));
      return false;
    }
    return session_.write(path, *bytes);
  };
  if (wants(StageId::Llvm))
    produce(StageId::Llvm, cpu::OutputKind::LlvmText, pathFor(StageId::Llvm));
  if (wants(StageId::Asm))
    produce(StageId::Asm, cpu::OutputKind::Assembly, pathFor(StageId::Asm));
  if (!wants(StageId::Object) && !wants(StageId::Library))
    return;
  std::string object =
      wants(StageId::Object) ? pathFor(StageId::Object) : pathFor(StageId::Library) + ".part.o";
  if (produce(StageId::Object, cpu::OutputKind::Object, object) && wants(StageId::Library))
    link(object);
  // The object was only a step towards the library.
  if (!wants(StageId::Object))
    ::unlink(object.c_str());
}

/// Runs each variant after every pass, with drawn arguments. False where a pass changed a result.
bool Builder::runStages(const CheckedProgram &program, const std::vector<ManifestEntry> &entries) {
  const Options &options = session_.options();
  CompiledExecutor executor(program, session_.sources(), compilerOptions(options, target_),
                            session_.sink());
  for (const ManifestEntry &entry : entries)
    for (const ManifestVariant &variant : entry.variants) {
      ir::EntryBinding binding = bindingOf(session_, entry, variant);
      if (!callDrawn(executor, *entry.decl, variant, binding.tunables,
                     callWords(options, *entry.decl)))
        std::fprintf(stderr, "%s: no arguments that it can be run with were found\n",
                     entry.decl->name.c_str());
    }
  return !executor.hadInternalError();
}

ExitCode Builder::compile(const CheckedProgram &program, const std::vector<ManifestEntry> &entries,
                          const std::string &manifest) {
  CompilerOptions options = compilerOptions(session_.options(), target_);
  options.reportsParts = wants(StageId::Ledger) || wants(StageId::Memory);
  options.recheck = std::make_shared<CheckOptions>(session_.checkOptions());
  options.ranges = wantsGraph(); // its boxes lead to the source
  const CompileContext context(program, session_.sources(), std::move(options), session_.sink());
  if (wantsGraph() && !emitGraphs(context, entries))
    return context.log().hadInternalError() ? ExitCode::Internal : ExitCode::Fine;
  if (context.options().chip && lastLevel() >= StageLevel::Block) {
    ExitCode code = emitBlocks(context, entries);
    if (context.options().keepsStages && !session_.failed() && !runStages(program, entries))
      return ExitCode::Internal;
    return context.log().hadInternalError() ? ExitCode::Internal : code;
  }
  std::optional<TensorModule> tensor = buildAll(context, entries);
  if (tensor) {
    if (wants(StageId::Built))
      emit(StageId::Built, printed(*tensor->module));
    if (wants(StageId::Tensor) || wants(StageId::Tile) || wants(StageId::Vector))
      // Lowering consumes the module, which is still needed for code.
      emitPhases(context, copyOf(*tensor));
    if (lastLevel() == StageLevel::Llvm && !session_.failed())
      if (std::optional<cpu::LlvmModule> code = lowerToLlvm(context, std::move(*tensor)))
        emitCode(context, std::move(*code), manifest);
  }
  return context.log().hadInternalError() ? ExitCode::Internal : ExitCode::Fine;
}

ExitCode Builder::run(const std::string &file) {
  if (lastLevel() == StageLevel::Source) {
    emitSource(file);
    return session_.finish();
  }
  std::unique_ptr<CheckedProgram> program = session_.check(file);
  if (program && wants(StageId::Checked))
    emit(StageId::Checked, dumpChecked(*program));
  if (!program || session_.failed() || lastLevel() == StageLevel::Checked)
    return session_.finish();
  std::vector<ManifestEntry> entries = chooseVariants(session_, *program);
  // A library and what describes it may have no entries; other kinds of output are about at least one.
  bool library = wants(StageId::Library) || wants(StageId::Manifest) || wants(StageId::Python) ||
                 wants(StageId::Header);
  bool any = std::any_of(entries.begin(), entries.end(),
                         [](const ManifestEntry &entry) { return !entry.variants.empty(); });
  if (!any && !library && !session_.failed())
    session_.sink().report(DiagId::NoVariant, entries.front().decl->nameSpan,
                           {entries.front().decl->name, missingDefines(*entries.front().decl)});
  if (session_.failed())
    return session_.finish();
  std::string manifest = emitInterfaces(*program, entries);
  ExitCode code =
      lastLevel() > StageLevel::Variants ? compile(*program, entries, manifest) : ExitCode::Fine;
  session_.writeDependencies(output_.empty() ? file : output_);
  return session_.finish(code);
}

} // namespace

ExitCode runBuild(const Options &options) {
  if (options.positional().size() != 1)
    return usageError("give one file: `ptlc build FILE -o OUT`");
  Session session(options);
  std::optional<Target> target = chosenTarget(session);
  if (!target)
    return session.finish(ExitCode::Usage);
  if (target->isReference())
    return usageError("nothing is built for `reference`, which interprets programs");
  if (std::optional<ExitCode> code = processorProblem(session, &*target, false))
    return *code;
  std::string output(options.value(OptionId::Output)), error;
  Builder builder(session, *target, output == "-" ? "" : output);
  if (!builder.chooseKinds(&error))
    return usageError(error);
  return builder.run(options.positional().front());
}

} // namespace ptl
