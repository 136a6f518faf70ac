#include "lsp/server/project.h"

#include <filesystem>
#include <utility>

namespace ptl::lsp {

std::set<std::string> filesIn(const std::vector<std::string> &folders) {
  namespace fs = std::filesystem;
  constexpr size_t most = 5000; // of entries: a home folder as workspace is no reason to hang
  std::set<std::string> paths;
  size_t seen = 0;
  for (const std::string &folder : folders) {
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && entry != fs::recursive_directory_iterator() && ++seen < most;
         entry.increment(error)) {
      std::string name = entry->path().filename().string();
      // Folders of tools have thousands of files, and no sources of the project.
      if (name.starts_with('.') || name == "node_modules")
        entry.disable_recursion_pending();
      else if (entry->path().extension() == ".ptl" && entry->is_regular_file(error))
        paths.insert(entry->path().lexically_normal().string());
    }
  }
  return paths;
}

Project::Found Project::look(const std::vector<std::string> &folders,
                             const std::set<std::string> &known, const Background::Stop &stop) {
  Found found;
  for (const std::string &path : filesIn(folders)) {
    if (stop())
      break;
    found.paths.push_back(path);
    // The server has the text already, perhaps with changes that are not on disk.
    if (known.contains(path))
      continue;
    if (std::optional<std::string> text = ide::readFile(path))
      found.texts.emplace_back(path, std::move(*text));
  }
  return found;
}

void Project::whenKnown(Callback<> then) {
  if (session_.folders.empty())
    return then();
  next_.push_back(std::move(then));
  // One walk over the folders answers all who wait for it.
  if (!isLooking_)
    start();
}

void Project::start() {
  isLooking_ = true;
  std::set<std::string> known;
  for (const auto &[path, file] : session_.workspace.files())
    // A file that was missing may have come into being since.
    if (!file->isMissing)
      known.insert(path);
  auto work = [folders = session_.folders, known = std::move(known)](const Background::Stop &stop) {
    return look(folders, known, stop);
  };
  auto then = [this](Found found) {
    isLooking_ = false;
    paths_ = std::move(found.paths);
    for (auto &text : found.texts)
      texts_.push_back(std::move(text));
    for (auto &then : std::exchange(next_, {}))
      // They go on only after the files that were found have been taken in, step by step.
      ready_.push_back(std::move(then));
    onWork();
  };
  auto onProblem = [this](const RequestError &problem) {
    isLooking_ = false;
    for (const Callback<> &waiting : std::exchange(next_, {}))
      waiting.fail(problem);
  };
  lane_.run<Found>(work, {then, onProblem});
}

void Project::changed(std::vector<std::string> paths, Callback<> then) {
  using Texts = std::vector<std::optional<std::string>>;
  auto work = [paths](const Background::Stop &) {
    Texts texts;
    for (const std::string &path : paths)
      texts.push_back(ide::readFile(path));
    return texts;
  };
  auto take = [this, paths, then](Texts texts) {
    for (size_t i = 0; i < paths.size(); ++i)
      session_.workspace.fileChanged(paths[i], texts[i]);
    then();
  };
  lane_.run<Texts>(work, {take, [then](const RequestError &problem) { then.fail(problem); }});
}

bool Project::step() {
  if (!texts_.empty()) {
    auto [path, text] = std::move(texts_.front());
    texts_.pop_front();
    session_.workspace.adopt(path, text);
    return true;
  }
  if (ready_.empty())
    return false;
  Callback<> then = std::move(ready_.front());
  ready_.pop_front();
  // Requests within the callback see the files of this walk, later ones look again.
  session_.projectFiles = paths_;
  then();
  session_.projectFiles.reset();
  return true;
}

void Project::finish() {
  lane_.finish();
  while (step()) {
  }
}

} // namespace ptl::lsp
