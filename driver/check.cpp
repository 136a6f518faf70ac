#include "driver/check.h"

#include "frontend/base/fixes.h"

#include <map>

namespace ptl {

/// Carries out the fixes in the files; true if anything changed.
static bool applyFixesToFiles(Session &session) {
  std::map<FileId, std::vector<Fix>> fixes;
  for (const Diagnostic &diagnostic : session.sink().all())
    if (!diagnostic.fixes.empty() && !diagnostic.fixes.front().edits.empty())
      fixes[diagnostic.fixes.front().edits.front().span.file].push_back(diagnostic.fixes.front());
  bool changed = false;
  for (const auto &[id, list] : fixes) {
    const SourceFile &file = session.sources().file(id);
    FixedText fixed = applyFixes(file.text(), id, list);
    bool isFile = file.path().substr(0, 1) != "<";
    if (isFile && fixed.applied > 0 && fixed.text != file.text())
      changed = session.write(file.path(), fixed.text) || changed;
  }
  return changed;
}

/// True if some file holds manual kernels. The process ends after checking, so the trees are left
/// to it: taking them apart costs a tenth of the time.
static bool checkAll(Session &session, const CheckMore &more) {
  bool byHand = false;
  for (const std::string &path : session.options().positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (program && more)
      more(session, *program);
    if (const CheckedProgram *kept = program.release())
      for (const CallableDecl *decl : kept->modules.front()->callables)
        byHand |= decl->kind == DeclKind::ManualKernel;
  }
  return byHand;
}

ExitCode runCheck(const Options &options, const CheckMore &more,
                  const std::function<ExitCode()> &forManual) {
  if (options.positional().empty())
    return usageError("no input files");
  if (options.has(OptionId::Fix)) {
    // A fix can make room for the next one; what keeps changing after ten rounds would never
    // settle.
    for (int round = 0; round < 10; ++round) {
      Session attempt(options);
      checkAll(attempt, more);
      if (!applyFixesToFiles(attempt))
        break;
    }
  }
  Session session(options);
  if (checkAll(session, more) && !session.failed() && forManual)
    return forManual();
  session.writeDependencies(options.positional().front());
  return session.finish();
}

} // namespace ptl
