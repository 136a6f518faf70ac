#include "lsp/server/worker_request.h"

#include "frontend/base/utf8.h"
#include "lsp/server/connection.h"
#include "lsp/server/placed_text.h"

#include <algorithm>

namespace ptl::lsp {

/// The worker keeps the texts of at most so many files, beside those of the present request.
static constexpr size_t kMostTexts = 32;

json WorkerRequest::whole() const {
  json all = members;
  all["files"] = json::object();
  for (const OpenText &file : files)
    all["files"][file.path] = file.document->text();
  return all;
}

namespace {
/// Bytes of an older text, and what is in their place.
struct Difference {
  ide::Range old;
  std::string text;
};
} // namespace

/// Chunks that both documents share are the same text.
static Difference difference(const ide::Document &before, const ide::Document &now) {
  std::span<const ide::Place> old = before.places(), fresh = now.places();
  size_t most = std::min(old.size(), fresh.size()), first = 0, last = 0;
  while (first < most && old[first].chunk == fresh[first].chunk)
    ++first;
  while (first + last < most &&
         old[old.size() - 1 - last].chunk == fresh[fresh.size() - 1 - last].chunk)
    ++last;
  auto beginOf = [](const ide::Document &document, size_t place) {
    return place < document.places().size() ? document.places()[place].begin : document.size();
  };
  return {{beginOf(before, first), beginOf(before, old.size() - last)},
          now.text({beginOf(now, first), beginOf(now, fresh.size() - last)})};
}

/// JSON has other bytes for what is not UTF-8.
static bool isKeptByJson(std::string_view text) {
  auto isLong = [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; };
  auto next = [&](size_t from) {
    return static_cast<size_t>(std::find_if(text.begin() + from, text.end(), isLong) -
                               text.begin());
  };
  for (size_t at = next(0); at < text.size();) {
    CodePoint each = decodeUtf8(text, at);
    if (!each.valid)
      return false;
    at = next(at + each.length);
  }
  return true;
}

/// What is sent of a file, which is known from now on.
std::string SentTexts::change(const OpenText &file) {
  auto known = std::ranges::find(known_, file.path, &OpenText::path);
  if (known != known_.end()) {
    auto [old, text] = difference(*known->document, *file.document);
    known_.erase(known);
    if (isKeptByJson(text)) {
      known_.push_back(file);
      return "{\"from\":" + std::to_string(old.begin) + ",\"to\":" + std::to_string(old.end) +
             ",\"text\":" + jsonText(text) + "}";
    }
  }
  std::string text = file.document->text();
  // Offsets in what the worker has would be others.
  if (isKeptByJson(text))
    known_.push_back(file);
  return jsonText(text);
}

/// The files that the worker need not keep any more.
std::vector<std::string> SentTexts::forgotten(const WorkerRequest &request) {
  std::vector<std::string> paths;
  for (auto each = known_.begin(); each != known_.end() && known_.size() > kMostTexts;) {
    bool isAsked =
        std::ranges::find(request.files, each->path, &OpenText::path) != request.files.end();
    if (!isAsked)
      paths.push_back(each->path);
    each = isAsked ? std::next(each) : known_.erase(each);
  }
  return paths;
}

std::string SentTexts::written(const WorkerRequest &request, const std::string &method,
                               int64_t id) {
  json members = request.members;
  members["id"] = id;
  members["method"] = method;
  if (std::vector<std::string> paths = forgotten(request); !paths.empty())
    members["forget"] = std::move(paths);
  std::string text = dumped(members);
  if (request.files.empty())
    return text;
  text.pop_back();
  text += ",\"files\":{";
  for (const OpenText &file : request.files)
    text += (&file == request.files.data() ? "" : ",") + jsonText(file.path) + ":" + change(file);
  return text += "}}";
}

} // namespace ptl::lsp
