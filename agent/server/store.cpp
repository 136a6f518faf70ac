#include "agent/server/store.h"

#include "frontend/base/output.h"
#include "frontend/base/source.h"

#include <algorithm>

namespace ptl::agent {

void Store::take(const Json &message) {
  for (const Json &each : message.value("documents", Json::array())) {
    StoredDocument document{each["uri"], each["name"], each["description"], each["mimeType"],
                            each["text"]};
    // A document that is made again moves to the end of the list, since the oldest ones go first.
    std::erase_if(documents_, [&](const StoredDocument &old) {
      bool isSame = old.uri == document.uri;
      bytes_ -= isSame ? old.text.size() : 0;
      return isSame;
    });
    bytes_ += document.text.size();
    documents_.push_back(std::move(document));
    for (; bytes_ > kMostBytes && documents_.size() > 1; documents_.pop_front())
      bytes_ -= documents_.front().text.size();
  }
  for (const Json &each : message.value("fixes", Json::array())) {
    std::string id = each["id"];
    if (fixes_.insert_or_assign(id, each).second)
      order_.push_back(id);
    for (; order_.size() > kMostFixes; order_.pop_front())
      fixes_.erase(order_.front());
  }
}

const StoredDocument *Store::document(const std::string &uri) const {
  auto found = std::ranges::find(documents_, uri, &StoredDocument::uri);
  return found == documents_.end() ? nullptr : &*found;
}

const Json *Store::fix(const std::string &id) const {
  auto found = fixes_.find(id);
  return found == fixes_.end() ? nullptr : &found->second;
}

namespace {
struct ChangedFile {
  std::string path, before, after;
  Json lines = Json::array();
};
} // namespace

/// The lines that an edit takes away and puts there, with their numbers before it.
static Json lineChange(const SourceFile &file, size_t begin, size_t end, const std::string &text) {
  uint32_t first = file.lineColumn(static_cast<uint32_t>(begin)).line,
           last = file.lineColumn(static_cast<uint32_t>(end)).line;
  std::string before, after;
  for (uint32_t line = first; line <= last; ++line)
    before += std::string(file.line(line)) + "\n";
  size_t from = file.lineStart(first),
         to = std::min(file.text().size(), file.lineStart(last) + file.line(last).size());
  after = std::string(file.text().substr(from, begin - from)) + text +
          std::string(file.text().substr(end, to - end)) + "\n";
  constexpr size_t most = 600;
  auto cut = [](std::string shown) {
    if (shown.size() > most)
      shown = shown.substr(0, most) + "...\n";
    return shown;
  };
  return {{"line", first}, {"before", cut(before)}, {"after", cut(after)}};
}

static bool makeEdits(const Json &edits, ChangedFile &file) {
  SourceFile source(0, file.path, file.before);
  std::vector<const Json *> own;
  for (const Json &edit : edits)
    if (edit["file"].get_ref<const std::string &>() == file.path)
      own.push_back(&edit);
  std::stable_sort(own.begin(), own.end(),
                   [](const Json *a, const Json *b) { return (*a)["begin"] < (*b)["begin"]; });
  size_t done = 0;
  for (const Json *edit : own) {
    size_t begin = (*edit)["begin"], end = (*edit)["end"];
    std::string text = (*edit)["text"];
    // The file may have changed since the edits were made, or two of them may overlap.
    if (begin < done || end < begin || end > file.before.size())
      return false;
    file.after += file.before.substr(done, begin - done) + text;
    file.lines.push_back(lineChange(source, begin, end, text));
    done = end;
  }
  file.after += file.before.substr(done);
  return true;
}

std::optional<Json> applyFix(const Json &fix, const Roots &roots, std::string &problem) {
  std::vector<ChangedFile> files;
  bool isText = fix.contains("text");
  for (const auto &[path, digest] : fix["files"].items()) {
    ChangedFile file;
    file.path = path;
    // A link may have taken the place of the file since.
    if (roots.resolve(path, &problem) != path)
      return std::nullopt;
    SourceManager sources;
    if (isText) {
      file.before = fix["text"];
    } else if (std::optional<FileId> id = sources.load(path, &problem)) {
      file.before = sources.file(*id).text();
    } else {
      problem = "`" + roots.shown(path) + "` cannot be read: " + problem;
      return std::nullopt;
    }
    if (contentName(file.before) != digest.get_ref<const std::string &>()) {
      problem = "`" + roots.shown(path) +
                "` has changed since the fix was made for it: call the tool again";
      return std::nullopt;
    }
    if (!makeEdits(fix["edits"], file)) {
      problem = "the edits of the fix overlap";
      return std::nullopt;
    }
    files.push_back(std::move(file));
  }
  // All files have been checked before the first one is written, and where one cannot be written, those before it get their old text back.
  Json changed = Json::array(), result = {{"title", fix["title"]}};
  for (size_t i = 0; i < files.size(); ++i) {
    if (!isText && !writeOutput(files[i].path, files[i].after, &problem)) {
      for (size_t j = 0; j < i; ++j)
        writeOutput(files[j].path, files[j].before, nullptr);
      problem = "`" + roots.shown(files[i].path) + "` cannot be written: " + problem;
      return std::nullopt;
    }
    changed.push_back({{"file", roots.shown(files[i].path)}, {"lines", files[i].lines}});
    if (isText)
      result["text"] = files[i].after;
  }
  result["changed"] = std::move(changed);
  return result;
}

} // namespace ptl::agent
