#include "frontend/sema/names/library_names.h"

#include "frontend/parse/parse.h"
#include "frontend/sema/declarations/check_module.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace ptl {

namespace fs = std::filesystem;

static void addExports(const fs::path &path, std::vector<LibraryExport> &exports) {
  SourceManager sources;
  std::string why;
  std::optional<FileId> file = sources.load(path.string(), &why);
  if (!file)
    return;
  DiagnosticSink sink;
  Tree tree = parse(sources.file(*file), sink);
  for (const NamedDecl &decl : namedDecls(tree))
    if (tree.has(decl.node, NodeFlag::Pub) && !decl.name.empty())
      exports.push_back({"std." + path.stem().string(), std::string(decl.name), decl.space});
}

const std::vector<LibraryExport> &LibraryNames::in(const std::string &folder) {
  if (isRead_ && folder == folder_)
    return exports_;
  isRead_ = true;
  folder_ = folder;
  exports_.clear();
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".ptl")
      addExports(at->path(), exports_);
  std::sort(exports_.begin(), exports_.end(), [](const auto &a, const auto &b) {
    return std::tie(a.module, a.name) < std::tie(b.module, b.name);
  });
  return exports_;
}

} // namespace ptl
