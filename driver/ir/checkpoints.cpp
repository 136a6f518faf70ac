#include "driver/ir/checkpoints.h"

#include "driver/ir/run_parts.h"
#include "frontend/sema/walk.h"

#include <filesystem>

namespace ptl {

/// The loop of a program that has checkpoints, which stands directly in its body; null if none has.
static const ForStmt *savedLoopOf(const CallableDecl &decl) {
  for (const Stmt *stmt : decl.body ? decl.body->stmts : std::vector<Stmt *>())
    if (const auto *loop = dyn_cast<ForStmt>(stmt); loop && loop->checkpoint)
      return loop;
  return nullptr;
}

bool checkpointsAreMet(Session &session, const CallableDecl &decl, bool onParts) {
  const ForStmt *loop = savedLoopOf(decl);
  bool resumes = session.options().has(OptionId::Resume);
  if (resumes && (!loop || !onParts)) {
    session.sink().report(DiagId::BadRunArgument, kNoSpan,
                          {"--resume", loop ? "only runs on parts save checkpoints: add `--shape`"
                                            : "no loop of `" + decl.name + "` has checkpoints"});
    return false;
  }
  if (loop && !onParts)
    session.sink().report(
        DiagId::CheckpointNote, loop->checkpoint->span,
        {"this run saves no checkpoints: `--shape chip=1 --in-process` does, in one process"});
  return true;
}

/// The folders of the checkpoints that a folder is or has, the latest first.
static std::vector<std::string> checkpointFolders(const std::string &folder) {
  if (std::filesystem::exists(folder + "/" + checkpoint::kManifestName))
    return {folder};
  std::vector<std::string> found;
  for (int64_t next : checkpoint::checkpointsIn(folder))
    found.push_back(folder + "/" + checkpoint::nameOf(next));
  return found;
}

/// The latest one that has a manifest; nothing if none has. The last reason why not is in `why`.
static std::optional<checkpoint::Manifest> latestIn(const std::string &folder, std::string &found,
                                                    std::string &why) {
  why = "there is no checkpoint";
  // A checkpoint whose manifest cannot be read is passed over for the one before it.
  for (const std::string &each : checkpointFolders(folder)) {
    found = each;
    if (auto manifest = checkpoint::readManifest(each, why))
      return manifest;
  }
  return std::nullopt;
}

bool canResume(Session &session, const PlacedProgram &placed) {
  const PlacedLoop *loop = placed.savedLoop();
  std::string found, why;
  auto manifest = latestIn(loop ? loop->stmt->checkpoint->folder : std::string(), found, why);
  // Without one the run begins at its beginning, or finds that all are damaged.
  why = loop && manifest ? parts::whyNotFrom(placed, *manifest) : std::string();
  if (!why.empty())
    session.sink().report(DiagId::CannotResume, loop->stmt->checkpoint->span, {found, why});
  return why.empty();
}

void checkCheckpoint(Session &session, const CheckedProgram &program, const std::string &folder) {
  std::string found = folder, why;
  auto manifest = latestIn(folder, found, why);
  Span span = kNoSpan;
  if (manifest) {
    why = checkpoint::verify(found, *manifest, 0, 1);
    const auto &callables = program.modules.front()->callables;
    auto decl = std::ranges::find(callables, manifest->program, &CallableDecl::name);
    if (why.empty() && decl == callables.end())
      why =
          "it belongs to the program `" + manifest->program + "`, which this file does not contain";
    if (why.empty()) {
      std::optional<PlacedProgram> placed = placedProgram(program, **decl, why);
      span = (*decl)->nameSpan;
      if (placed)
        why = parts::whyNotFrom(*placed, *manifest);
    }
  }
  if (!why.empty())
    session.sink().report(DiagId::CannotResume, span, {found, why});
}

parts::CheckpointOptions checkpointOptions(Session &session) {
  return {true, session.options().has(OptionId::Resume), [&session](const std::string &text) {
            session.sink().report(DiagId::CheckpointNote, kNoSpan, {text});
          }};
}

} // namespace ptl
