#include "lsp/server/session.h"

#include "frontend/base/utf8.h"
#include "lsp/server/project.h"

#include <algorithm>
#include <map>

namespace ptl::lsp {

// ---- URIs ---------------------------------------------------------------------------------------

static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static std::string percentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hexDigit(text[i + 1]) >= 0 &&
        hexDigit(text[i + 2]) >= 0) {
      decoded += static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::string percentEncoded(std::string_view text, std::string_view plain) {
  constexpr const char *digits = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   plain.find(c) != plain.npos;
    if (isPlain)
      out += c;
    else
      (out += '%') +=
          {digits[static_cast<unsigned char>(c) >> 4], digits[static_cast<unsigned char>(c) & 15]};
  }
  return out;
}

std::string Session::uri(const std::string &path) {
  // Files that are on no disk (`untitled:…`) are identified by their URI.
  if (!path.starts_with('/'))
    return path;
  return "file://" + percentEncoded(path, "/-_.~");
}

std::string Session::pathOfUri(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme))
    return std::string(uri);
  uri.remove_prefix(scheme.size());
  // An authority (`localhost`) means this machine.
  size_t slash = uri.find('/');
  return percentDecoded(slash == uri.npos ? uri : uri.substr(slash));
}

// ---- Files --------------------------------------------------------------------------------------

std::vector<std::string> Session::workspaceFiles() const {
  std::set<std::string> paths =
      projectFiles ? std::set(projectFiles->begin(), projectFiles->end()) : filesIn(folders);
  for (const auto &[path, file] : workspace.files())
    if (file->isOpen)
      paths.insert(path);
  return {paths.begin(), paths.end()};
}

// ---- From the protocol --------------------------------------------------------------------------

ide::File &Session::fileOfUri(const std::string &uri) {
  ide::File *file = workspace.load(pathOfUri(uri));
  if (!file)
    throw RequestError{kInvalidParams, "no such file: " + uri};
  return *file;
}

ide::File &Session::fileStill(const std::string &path) {
  ide::File *file = workspace.load(path);
  if (!file)
    throw RequestError{kContentModified, "`" + path + "` was closed or deleted"};
  return *file;
}

ide::File &Session::file(const json &params) {
  return fileOfUri(params.at("textDocument").at("uri").get<std::string>());
}

/// The number of bytes of the first `units` units of a line; a position behind the end of the line
/// means the end.
static uint32_t bytesOf(std::string_view line, uint32_t units, Encoding encoding) {
  if (encoding == Encoding::Utf8)
    return std::min<uint32_t>(units, static_cast<uint32_t>(line.size()));
  uint32_t byte = 0;
  while (units > 0 && byte < line.size()) {
    CodePoint c = decodeUtf8(line, byte);
    uint32_t size = encoding == Encoding::Utf16 && c.value > 0xFFFF ? 2 : 1;
    // A position between the halves of a surrogate pair means the character's beginning.
    if (units < size)
      break;
    units -= size;
    byte += c.length;
  }
  return byte;
}

static uint32_t unitsOf(std::string_view text, Encoding encoding) {
  if (encoding == Encoding::Utf8)
    return static_cast<uint32_t>(text.size());
  uint32_t units = 0;
  for (size_t byte = 0; byte < text.size();) {
    CodePoint c = decodeUtf8(text, byte);
    units += encoding == Encoding::Utf16 && c.value > 0xFFFF ? 2 : 1;
    byte += c.length;
  }
  return units;
}

uint32_t Session::length(std::string_view text) const { return unitsOf(text, client.encoding); }

static uint32_t unsignedOf(const json &object, const char *key) {
  const json &value = object.at(key);
  if (!value.is_number())
    throw RequestError{kInvalidParams, std::string(key) + " is not a number"};
  double number = value.get<double>();
  if (!(number >= 0))
    throw RequestError{kInvalidParams, std::string(key) + " is negative"};
  return static_cast<uint32_t>(std::min(number, 4294967295.0));
}

uint32_t Session::offset(const ide::File &file, const json &position) const {
  uint32_t line = unsignedOf(position, "line"), character = unsignedOf(position, "character");
  return file.document.offset(
      {line, bytesOf(file.document.lineText(line), character, client.encoding)});
}

ide::Range Session::range(const ide::File &file, const json &range) const {
  uint32_t begin = offset(file, range.at("start")), end = offset(file, range.at("end"));
  return {std::min(begin, end), std::max(begin, end)};
}

uint32_t Session::offsetIn(const ide::File &file, const json &params) const {
  return offset(file, params.at("position"));
}

// ---- To the protocol ----------------------------------------------------------------------------

json positionIn(const ide::Document &document, uint32_t offset, Encoding encoding) {
  ide::LineByte at = document.position(offset);
  std::string_view line = document.lineText(at.line);
  return {{"line", at.line}, {"character", unitsOf(line.substr(0, at.byte), encoding)}};
}

json rangeIn(const ide::Document &document, ide::Range range, Encoding encoding) {
  return {{"start", positionIn(document, range.begin, encoding)},
          {"end", positionIn(document, range.end, encoding)}};
}

json Session::position(const ide::File &file, uint32_t offset) const {
  return positionIn(file.document, offset, client.encoding);
}

json Session::range(const ide::File &file, ide::Range range) const {
  return rangeIn(file.document, range, client.encoding);
}

json Session::location(const ide::Location &location) const {
  return {{"uri", uri(location.file->path())}, {"range", range(*location.file, location.range)}};
}

json Session::workspaceEdit(const std::vector<std::pair<ide::Location, std::string>> &edits) const {
  std::map<const ide::File *, json> byFile;
  for (const auto &[location, text] : edits) {
    json &list = byFile.try_emplace(location.file, json::array()).first->second;
    list.push_back({{"range", range(*location.file, location.range)}, {"newText", text}});
  }
  json edit = json::object();
  for (auto &[file, list] : byFile) {
    if (!client.versionedEdits) {
      edit["changes"][uri(file->path())] = std::move(list);
      continue;
    }
    // Clients that check versions refuse an edit of a text that has changed meanwhile.
    json version = file->isOpen ? json(file->version) : json(nullptr);
    edit["documentChanges"].push_back(
        {{"textDocument", {{"uri", uri(file->path())}, {"version", version}}},
         {"edits", std::move(list)}});
  }
  return edit;
}

std::string asMarkdown(std::string_view text) {
  constexpr std::string_view special = "*_<>[]\\#|~";
  std::string markdown;
  bool isCode = false;
  for (char c : text) {
    isCode ^= c == '`';
    if (!isCode && special.find(c) != special.npos)
      markdown += '\\';
    markdown += c;
  }
  return markdown;
}

/// The text without fences, emphasis, escapes and code marks.
static std::string plainText(std::string_view markdown) {
  std::string plain;
  bool isFence = false;
  while (!markdown.empty()) {
    size_t end = std::min(markdown.find('\n'), markdown.size());
    std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.starts_with("```")) {
      isFence = !isFence;
      continue;
    }
    if (!isFence && line == "---")
      continue;
    bool isCode = isFence;
    for (size_t i = 0; i < line.size(); ++i) {
      bool isLast = i + 1 == line.size();
      if (line[i] == '`' && !isFence)
        isCode = !isCode;
      else if (!isCode && line[i] == '\\' && !isLast)
        plain += line[++i];
      else if (!isCode && line[i] == '*' && !isLast && line[i + 1] == '*')
        ++i;
      else
        plain += line[i];
    }
    plain += '\n';
  }
  while (plain.ends_with('\n'))
    plain.pop_back();
  return plain;
}

json Session::markup(const std::string &markdown) const {
  if (client.markdown)
    return {{"kind", "markdown"}, {"value", markdown}};
  return {{"kind", "plaintext"}, {"value", plainText(markdown)}};
}

} // namespace ptl::lsp
