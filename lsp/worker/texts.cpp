#include "lsp/worker/texts.h"

namespace ptl::worker {

/// Makes a change `{from, to, text}` in a text; false if that has no such bytes.
static bool makeChange(std::string &text, const Json &change) {
  int64_t from = numberField(change, "from", -1), to = numberField(change, "to", -1);
  if (from < 0 || to < from || static_cast<uint64_t>(to) > text.size())
    return false;
  text.replace(static_cast<size_t>(from), static_cast<size_t>(to - from),
               textField(change, "text"));
  return true;
}

std::string Texts::complete(Json &request) {
  if (auto paths = request.find("forget"); paths != request.end() && paths->is_array())
    for (const Json &path : *paths)
      if (path.is_string())
        byPath_.erase(path.get<std::string>());
  auto files = request.find("files");
  if (files == request.end() || !files->is_object())
    return "";
  for (auto &[path, value] : files->items()) {
    if (value.is_object()) {
      auto known = byPath_.find(path);
      if (known == byPath_.end() || !makeChange(known->second, value))
        return "there is no version of the text of `" + path + "` to which this change applies";
      value = known->second;
    } else if (value.is_string()) {
      byPath_[path] = value.get<std::string>();
    }
  }
  return "";
}

} // namespace ptl::worker
