#include "driver/ir/verify_emitted.h"

#include "codegen/pto/emit_pto.h"
#include "codegen/pto/verify.h"
#include "compile/chip/chip_text.h"
#include "compile/source_spans.h"

namespace ptl {

static void report(Session &session, DiagId id, const std::string &by,
                   const std::vector<pto::Finding> &findings) {
  for (const pto::Finding &finding : findings) {
    Span at = kNoSpan;
    if (finding.place)
      at = spanAt(session.sources(),
                  {finding.place->file, finding.place->line, finding.place->column});
    session.sink().report(id, at, {by, finding.message});
  }
}

std::optional<pto::Emitted> emitPtoText(Session &session, llvm::ArrayRef<mlir::ModuleOp> kernels,
                                        const Machine &machine) {
  pto::PtoasVersion version;
  if (session.options().has(OptionId::PtoasVersion)) {
    std::string_view text = session.options().value(OptionId::PtoasVersion);
    std::optional<pto::PtoasVersion> asked = pto::PtoasVersion::parse(text);
    if (!asked) {
      session.sink().report(
          DiagId::CannotVerify, kNoSpan,
          {"`" + std::string(text) +
           "` is not a version of PTOAS that `.pto` can be written for; `0.27` is one"});
      return std::nullopt;
    }
    version = *asked;
  }
  pto::Emitted emitted = pto::emitPto(kernels, machine, version);
  report(session, DiagId::NoSpelling, ".pto", emitted.findings);
  return emitted;
}

pto::Emitted emitCppText(Session &session, const ChipProgram &program, const Machine &machine,
                         const std::string &fileName) {
  pto::CppOptions options;
  options.lineDirectives = session.options().has(OptionId::DebugInfo);
  options.fileName = fileName;
  pto::Emitted emitted = cppText(program, machine, options);
  report(session, DiagId::NoSpelling, "C++", emitted.findings);
  return emitted;
}

/// Reports what a tool found. False if it could not run.
static bool tell(Session &session, const std::string &tool, const pto::Verification &result) {
  if (!result.ran)
    session.sink().report(DiagId::CannotVerify, kNoSpan, {result.problem});
  report(session, DiagId::ToolRefuses, tool, result.findings);
  return result.ran;
}

bool verifyPtoText(Session &session, const pto::Emitted &text, const Machine &machine) {
  std::string path(session.options().value(OptionId::Ptoas));
  // Naming a tool asks for it as well.
  if (!session.options().has(OptionId::Verify) && path.empty())
    return true;
  if (path.empty()) {
    session.sink().report(DiagId::CannotVerify, kNoSpan, {"name the PTOAS program with `--ptoas`"});
    return false;
  }
  return tell(session, "ptoas", pto::verifyPto(text, path, machine.tools.ptoas));
}

bool verifyCppText(Session &session, const ChipProgram &program, const Machine &machine) {
  if (!session.options().has(OptionId::Verify))
    return true;
  std::string folder(session.options().value(OptionId::PtoIsa));
  if (folder.empty()) {
    session.sink().report(DiagId::CannotVerify, kNoSpan,
                          {"name the folder of the library with `--pto-isa`"});
    return false;
  }
  // Without `#line`: the map is exact.
  pto::Emitted text = cppText(program, machine);
  return tell(session, "clang++", pto::verifyCpp(text, folder));
}

} // namespace ptl
