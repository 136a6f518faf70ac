#include "driver/check.h"

#include "frontend/base/fixes.h"
#include "frontend/sema/declarations/import_edit.h"

#include <cstdio>
#include <map>
#include <set>

namespace ptl {

/// The trees of what was checked.
struct CheckedFiles {
  std::map<FileId, std::shared_ptr<const Tree>> trees;
  std::set<FileId> named; ///< on the command line: only these are changed
};

/// The certain fixes by file; those that import names from one module are one.
static std::map<FileId, std::vector<Fix>> certainFixes(const Session &session,
                                                       const CheckedFiles &files) {
  std::map<FileId, std::vector<Fix>> fixes;
  std::map<FileId, ImportNeeds> imports;
  // Where text is not understood yet, what it declares may only seem to be missing.
  std::set<FileId> broken;
  for (const Diagnostic &diagnostic : session.diagnostics())
    if (isSyntaxError(diagnostic.id))
      broken.insert(diagnostic.span.file);
  for (const Diagnostic &diagnostic : session.diagnostics()) {
    const Fix *fix = diagnostic.certainFix();
    if (!fix || fix->edits.empty())
      continue;
    FileId file = fix->edits.front().span.file;
    // Fixes in imported files are not applied, since these belong to others: the library, other
    // projects.
    if (!files.named.contains(file))
      continue;
    if (!isSyntaxError(diagnostic.id) && broken.contains(file))
      continue;
    // Several names from one module become one import.
    if (fix->import && files.trees.contains(file))
      imports[file][fix->import->module].insert(fix->import->name);
    else
      fixes[file].push_back(*fix);
  }
  for (const auto &[file, needs] : imports)
    for (TextEdit &edit : importEdits(*files.trees.at(file), needs))
      fixes[file].emplace_back(FixId::ImportName, "", std::vector{std::move(edit)});
  return fixes;
}

/// Carries out the certain fixes in the files, and adds how many to `made`; true if anything
/// changed.
static bool applyFixesToFiles(Session &session, const CheckedFiles &files, size_t &made) {
  bool changed = false;
  for (const auto &[id, list] : certainFixes(session, files)) {
    const SourceFile &file = session.sources().file(id);
    FixedText fixed = applyFixes(file.text(), id, list);
    // Texts such as standard input have names in angle brackets.
    bool isFile = file.path().substr(0, 1) != "<";
    if (!isFile || fixed.applied == 0 || fixed.text == file.text() ||
        !session.write(file.path(), fixed.text))
      continue;
    made += fixed.applied;
    changed = true;
  }
  return changed;
}

/// True if some file holds manual kernels. The process ends after checking, so the trees are left
/// to it: taking them apart costs a tenth of the time.
static bool checkAll(Session &session, const CheckMore &more, CheckedFiles *files = nullptr) {
  bool byHand = false;
  for (const std::string &path : session.options().positional()) {
    std::unique_ptr<CheckedProgram> program = session.check(path);
    if (program && more)
      more(session, *program);
    if (program && files)
      files->named.insert(program->modules.front()->file);
    if (program && files)
      for (const auto &module : program->modules)
        files->trees.emplace(module->file, module->tree);
    if (const CheckedProgram *kept = program.release())
      for (const CallableDecl *decl : kept->modules.front()->callables)
        byHand |= decl->kind == DeclKind::ManualKernel;
  }
  return byHand;
}

static void sayWhatWasFixed(const Session &session, const CheckedFiles &files, size_t made) {
  size_t left = 0, elsewhere = 0;
  for (const Diagnostic &diagnostic : session.diagnostics()) {
    const Fix *fix = diagnostic.certainFix();
    bool isElsewhere =
        fix && !fix->edits.empty() && !files.named.contains(fix->edits.front().span.file);
    elsewhere += isElsewhere;
    left += !isElsewhere && !diagnostic.fixes.empty();
  }
  auto count = [](size_t number) {
    return std::to_string(number) + (number == 1 ? " fix" : " fixes");
  };
  std::string text = count(made) + " applied";
  if (left)
    text += "; " + count(left) +
            " that may change the meaning of the program not applied (`--show-fixes` shows them)";
  if (elsewhere)
    text +=
        "; " + count(elsewhere) + " not applied to imported files: name those files to change them";
  std::fprintf(stderr, "%s\n", text.c_str());
}

ExitCode runCheck(const Options &options, const CheckMore &more,
                  const std::function<ExitCode()> &forManual) {
  if (options.positional().empty())
    return usageError("name the files: `ptlc check FILES`");
  if (options.has(OptionId::Json) && !options.has(OptionId::Cost))
    return usageError("`--json` is for `--cost`; `--diagnostics=json` prints diagnostics as JSON");
  size_t made = 0;
  if (options.has(OptionId::Fix)) {
    // A fix can make room for the next one; what keeps changing after ten rounds would never
    // settle.
    for (int round = 0; round < 10; ++round) {
      // Each round checks the files as they are on disk by then.
      Session attempt(options);
      CheckedFiles files;
      checkAll(attempt, more, &files);
      if (!applyFixesToFiles(attempt, files, made))
        break;
    }
  }
  Session session(options);
  CheckedFiles files;
  // Manual kernels are proved by the part of the compiler that has MLIR.
  if (checkAll(session, more, &files) && !session.failed() && forManual)
    return forManual();
  session.writeDependencies(options.positional().front());
  ExitCode code = session.finish();
  if (options.has(OptionId::ShowFixes))
    std::fputs(shownFixes(session.sources(), session.diagnostics()).c_str(), stdout);
  if (options.has(OptionId::Fix))
    sayWhatWasFixed(session, files, made);
  return code;
}

} // namespace ptl
