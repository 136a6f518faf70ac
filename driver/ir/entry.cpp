#include "compile/entry/choose_entry.h"
#include "compile/entry/manifest.h"
#include "driver/ir/commands.h"
#include "frontend/base/explain.h"

namespace ptl {

const CallableDecl *chooseEntry(Session &session, const CheckedProgram &program) {
  EntryChoice choice = chooseEntry(program, session.options().value(OptionId::Entry), "--entry");
  if (!choice.decl) {
    session.sink().report(DiagId::NoEntry, kNoSpan, {choice.problem});
    return nullptr;
  }
  if (std::string why = entryProblem(*choice.decl); !why.empty()) {
    session.sink().report(DiagId::NotAnEntry, choice.decl->nameSpan, {choice.decl->name, why});
    return nullptr;
  }
  return choice.decl;
}

CheckedEntry checkEntry(Session &session) {
  CheckedEntry entry;
  entry.program = session.check(session.options().positional().front());
  if (entry.program && !session.failed())
    entry.decl = chooseEntry(session, *entry.program);
  return entry;
}

void reportStop(Session &session, const rt::Failure &failure) {
  Span span = kNoSpan;
  SourceManager &sources = session.sources();
  for (FileId id = 0; id < sources.size(); ++id) {
    const SourceFile &file = sources.file(id);
    auto line = static_cast<uint32_t>(failure.line);
    // The compiled code knows a line only, which becomes a span of the text on it.
    if (file.path() != failure.file || line == 0 || line > file.lineCount())
      continue;
    std::string_view text = file.line(line);
    size_t indent = std::min(text.find_first_not_of(" \t"), text.size());
    uint32_t start = file.lineStart(line);
    span = {id, start + static_cast<uint32_t>(indent), start + static_cast<uint32_t>(text.size())};
  }
  session.sink().report(DiagId::ProgramStopped, span, {failure.message});
}

} // namespace ptl
