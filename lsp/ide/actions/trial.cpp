#include "lsp/ide/actions/trial.h"

#include <algorithm>
#include <map>

namespace ptl::ide {

std::string applied(std::string_view text, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit &a, const Edit &b) { return a.range.begin < b.range.begin; });
  std::string result;
  size_t done = 0;
  for (const Edit &edit : edits) {
    result.append(text, done, edit.range.begin - done);
    result += edit.text;
    done = edit.range.end;
  }
  result.append(text, done);
  return result;
}

namespace {

/// The declarations of a tree in place of those of a chunk, as long as it lives.
class IndexPatch {
public:
  IndexPatch(ModuleIndex &index, const Chunk &chunk, const Tree &tree, bool hasErrors)
      : index_(index) {
    for (const ChunkDecl &decl : chunk.decls)
      // Of two declarations with one name, the one in another chunk stays what the name means.
      if (decl.site == index_.find(decl.decl.space, decl.decl.name))
        set(decl.decl.space, std::string(decl.decl.name), {});
    uint64_t hash = 1;
    for (const NamedDecl &decl : namedDecls(tree))
      if (!decl.name.empty())
        set(decl.space, std::string(decl.name), {&tree, decl.node, hash, hash, hasErrors});
  }
  IndexPatch(const IndexPatch &) = delete;
  ~IndexPatch() {
    // A name may have been changed twice; the oldest value has to come last.
    for (auto change = before_.rbegin(); change != before_.rend(); ++change)
      put(change->space, change->name, change->site);
  }

private:
  struct Change {
    DeclSpace space;
    std::string name;
    DeclSite site;
  };
  void put(DeclSpace space, const std::string &name, const DeclSite &site) {
    if (site)
      index_.of(space)[name] = site;
    else
      index_.of(space).erase(name);
  }
  void set(DeclSpace space, const std::string &name, const DeclSite &site) {
    before_.push_back({space, name, index_.find(space, name)});
    put(space, name, site);
  }

  ModuleIndex &index_;
  std::vector<Change> before_;
};

std::vector<std::string> errorsOf(const std::vector<Diagnostic> &diagnostics) {
  std::vector<std::string> errors;
  for (const Diagnostic &diagnostic : diagnostics)
    if (diagnostic.severity == Severity::Error)
      errors.push_back(std::string(diagInfo(diagnostic.id).code) + ": " + diagnostic.message);
  return errors;
}

} // namespace

EditedCheck checkEdited(Workspace &workspace, File &file, size_t place,
                        const std::vector<Edit> &edits) {
  std::shared_ptr<const Chunk> chunk = file.document.places()[place].chunk;
  auto text = std::make_shared<const SourceFile>(chunk->id(), file.path(),
                                                 applied(chunk->file.text(), edits));
  DiagnosticSink syntax;
  auto tree = std::make_shared<const Tree>(parse(*text, syntax));
  IndexPatch patch(file.index, *chunk, *tree, syntax.hasErrors());
  return {text, checkChunk(tree, *text, syntax, file.index, workspace.options())};
}

Trial tryEdits(Workspace &workspace, File &file, size_t place, const std::vector<Edit> &edits) {
  std::map<std::string, int> known;
  for (const std::string &error : errorsOf(workspace.check(file, place).diagnostics))
    ++known[error];
  Trial trial;
  trial.errors = errorsOf(checkEdited(workspace, file, place, edits).check->diagnostics);
  for (const std::string &error : trial.errors)
    // An error may occur several times, and only those beyond the former number are new.
    if (--known[error] < 0)
      trial.added.push_back(error);
  return trial;
}

} // namespace ptl::ide
