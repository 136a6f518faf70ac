#include "driver/ir/verify_emitted.h"

#include "codegen/pto/emit_pto.h"
#include "codegen/pto/verify.h"
#include "compile/chip/chip_text.h"

namespace ptl {

/// The rest of the line from a place on.
static Span spanAt(const SourceManager &sources, const std::optional<pto::SourcePlace> &place) {
  if (!place)
    return kNoSpan;
  for (size_t id = 0; id < sources.size(); ++id) {
    const SourceFile &file = sources.file(static_cast<FileId>(id));
    if (file.path() != place->file)
      continue;
    std::string_view text = file.text();
    size_t begin = 0;
    for (unsigned line = 1; line < place->line && begin < text.size(); ++line)
      begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
    begin = std::min(begin + (place->column ? place->column - 1 : 0), text.size());
    size_t end = std::min(text.find_first_of(" \t\n(){}[],", begin), text.size());
    if (end == begin)
      end = std::min(begin + 1, text.size());
    return {static_cast<FileId>(id), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  return kNoSpan;
}

static void report(Session &session, DiagId id, const std::string &by,
                   const std::vector<pto::Finding> &findings) {
  for (const pto::Finding &finding : findings)
    session.sink().report(id, spanAt(session.sources(), finding.place), {by, finding.message});
}

std::optional<pto::Emitted> emitPtoText(Session &session, llvm::ArrayRef<mlir::ModuleOp> kernels,
                                        const Machine &machine) {
  pto::PtoasVersion version;
  if (session.options().has(OptionId::PtoasVersion)) {
    std::string_view text = session.options().value(OptionId::PtoasVersion);
    std::optional<pto::PtoasVersion> asked = pto::PtoasVersion::parse(text);
    if (!asked) {
      session.sink().report(DiagId::CannotVerify, kNoSpan,
                            {"`" + std::string(text) +
                             "` is no version of PTOAS that `.pto` is written for, as `0.27` is"});
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
  if (!session.options().has(OptionId::Verify) && path.empty())
    return true;
  if (path.empty()) {
    session.sink().report(DiagId::CannotVerify, kNoSpan, {"say with `--ptoas` which PTOAS to ask"});
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
                          {"say with `--pto-isa` where the library is"});
    return false;
  }
  // Without `#line`: the map is exact.
  pto::Emitted text = cppText(program, machine);
  return tell(session, "clang++", pto::verifyCpp(text, folder));
}

} // namespace ptl
