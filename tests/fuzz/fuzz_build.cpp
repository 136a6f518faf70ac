// Builds every input that checks without errors, for this processor and for every chip: each
// declaration ends in code or in a diagnostic that names the source, never in an error of the
// compiler itself.
#include "codegen/pto/emit_pto.h"
#include "compile/chip/chip_text.h"
#include "compile/chip/feasibility.h"
#include "compile/entry/manifest.h"
#include "compile/native_code.h"
#include "frontend/base/install.h"
#include "frontend/sema/check.h"
#include "tests/fuzz/fuzz_input.h"

using namespace ptl;

/// Ends the run if a diagnostic reports a fault of the compiler.
static void requireNoFault(const DiagnosticSink &sink, const std::string &target) {
  for (const Diagnostic &diagnostic : sink.all())
    if (diagnostic.id == DiagId::CompilerFault) {
      std::fprintf(stderr, "fuzz: %s: %s\n", target.c_str(), diagnostic.message.c_str());
      for (const std::string &note : diagnostic.notes)
        std::fprintf(stderr, "  %s\n", note.c_str());
      fuzz::require(false, "an error of the compiler itself");
    }
}

static void buildFor(const std::string &target, const Machine *chip, const CheckedProgram &program,
                     const SourceManager &sources, const BoundEntry &entry) {
  DiagnosticSink sink;
  CompilerOptions options;
  if (chip)
    options.chip = *chip;
  CompileContext context(program, sources, options, sink);
  if (!chip) {
    if (auto built = buildEntry(context, entry.binding, "entry"))
      (void)lowerToLlvm(context, std::move(built->tensor));
  } else if (std::optional<ChipProgram> lowered = lowerEntry(context, entry).program) {
    std::vector<mlir::ModuleOp> kernels;
    for (auto &kernel : lowered->program.kernels)
      kernels.push_back(*kernel);
    (void)pto::emitPto(kernels, *chip);
    (void)cppText(*lowered, *chip);
  }
  requireNoFault(sink, target + ", `" + entry.name + "`");
}

static void buildAll(const CheckedProgram &program, const SourceManager &sources,
                     const MachineSet &machines) {
  for (const CallableDecl *decl : program.modules.front()->callables) {
    if (decl->kind == DeclKind::Test || decl->kind == DeclKind::Property ||
        decl->kind == DeclKind::Bench)
      continue;
    std::string problem;
    for (const BoundEntry &entry : bindEntries(program, *decl, {}, problem)) {
      bool isManual = entry.binding.decl->kind == DeclKind::ManualKernel;
      if (!isManual && decl->isFor("cpu"))
        buildFor("cpu", nullptr, program, sources, entry);
      for (const char *name : {"a2", "a3", "a5"})
        if (const Machine *chip = machines.find(name);
            chip && isForChips(*decl) && decl->isFor(name))
          buildFor(name, chip, program, sources, entry);
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  FileId root = sources.add("<fuzz>", std::string(reinterpret_cast<const char *>(data), size));
  DiagnosticSink sink;
  CheckOptions options;
  options.stdPath = standardLibraryFolder();
  std::unique_ptr<CheckedProgram> program = checkFile(sources, root, options, sink);
  if (!sink.hasErrors())
    buildAll(*program, sources, *options.machines);
  return 0;
}
