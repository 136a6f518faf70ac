#include "compile/entry/manifest.h"
#include "driver/ir/commands.h"
#include "frontend/base/explain.h"

namespace ptl {

bool isCallable(const CallableDecl &decl) {
  switch (decl.kind) {
  case DeclKind::Fn:
  case DeclKind::Kernel:
  case DeclKind::ManualKernel:
  case DeclKind::ExternKernel:
  case DeclKind::Program:
    return true;
  default:
    return false;
  }
}

static std::string listOf(const std::vector<const CallableDecl *> &decls) {
  std::string text;
  for (const CallableDecl *decl : decls)
    text += (text.empty() ? "`" : ", `") + decl->name + "`";
  return text;
}

const CallableDecl *chooseEntry(Session &session, const CheckedProgram &program) {
  std::string name(session.options().value(OptionId::Entry));
  std::vector<const CallableDecl *> all, exported;
  const CallableDecl *entry = nullptr;
  for (const CallableDecl *decl : program.modules.front()->callables) {
    if (!isCallable(*decl))
      continue;
    all.push_back(decl);
    // A function that is exported is there for other modules; kernels and programs are what one
    // runs.
    if (decl->isPub && decl->kind != DeclKind::Fn)
      exported.push_back(decl);
    if (decl->name == name)
      entry = decl;
  }
  std::string problem;
  if (!name.empty() && !entry)
    problem = "there is no `" + name + "`; the file has " +
              (all.empty() ? "nothing to call" : listOf(all));
  else if (name.empty() && exported.size() == 1)
    entry = exported.front();
  else if (name.empty() && all.size() == 1)
    entry = all.front();
  else if (name.empty())
    problem = all.empty()
                  ? "the file has nothing to call"
                  : "say with --entry which to run: " + listOf(exported.empty() ? all : exported);
  if (!problem.empty()) {
    session.sink().report(DiagId::NoEntry, kNoSpan, {problem});
    return nullptr;
  }
  if (std::string why = entryProblem(*entry); !why.empty()) {
    session.sink().report(DiagId::NotAnEntry, entry->nameSpan, {entry->name, why});
    return nullptr;
  }
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
