#include "lsp/server/typing.h"

#include "lsp/ide/names.h"

#include <algorithm>
#include <cctype>

namespace ptl::lsp {

// ---- Edits --------------------------------------------------------------------------------------

/// Typing, completing and deleting change a line or two; pasting and undoing may change more.
static bool isTyped(const ide::File &file, ide::Range range, std::string_view text) {
  constexpr uint32_t mostLines = 2;
  uint32_t removed =
      file.document.position(range.end).line - file.document.position(range.begin).line;
  return removed <= mostLines && std::count(text.begin(), text.end(), '\n') <= mostLines;
}

static std::shared_ptr<const ide::Chunk> chunkAt(const ide::File &file, uint32_t offset) {
  return file.document.places()[file.document.placeAt(offset)].chunk;
}

bool Typing::isInDeclaration(const ide::File &file, uint32_t offset) const {
  for (uint32_t at : {offset, std::max(offset, 1u) - 1})
    if (auto chunk = chunkAt(file, at); chunk == before_.lock() || chunk == behind_.lock())
      return true;
  return false;
}

namespace {
/// Where the expression begins that a place is a part of, which may go over several lines.
struct Begun {
  uint32_t line = 0;
  bool isOpen = false; ///< a bracket waits for its end
};
} // namespace

static Begun begunAt(const ide::File &file, uint32_t offset) {
  const ide::Place &place = file.document.places()[file.document.placeAt(std::max(offset, 1u) - 1)];
  const Tree &tree = *place.chunk->tree;
  std::vector<std::pair<bool, uint32_t>> open; // whether a brace, and where it stands
  auto dropTo = [&](bool isBrace) {
    while (!open.empty() && open.back().first != isBrace)
      open.pop_back();
    if (!open.empty())
      open.pop_back();
  };
  for (TokenIndex i = 0; i < tree.tokens().size(); ++i) {
    uint32_t begin = place.begin + tree.tokenSpan(i).begin;
    if (begin >= offset)
      break;
    TokenKind kind = tree.tokenKind(i);
    if (kind == TokenKind::LParen || kind == TokenKind::LBracket)
      open.emplace_back(false, begin);
    else if (kind == TokenKind::LBrace)
      open.emplace_back(true, begin);
    else if (kind == TokenKind::RBrace)
      dropTo(true);
    else if ((kind == TokenKind::RParen || kind == TokenKind::RBracket) && !open.empty() &&
             !open.back().first)
      open.pop_back();
  }
  // The outermost bracket of the innermost block.
  Begun begun{file.document.position(offset).line, !open.empty() && !open.back().first};
  for (auto each = open.rbegin(); each != open.rend() && !each->first; ++each)
    begun.line = file.document.position(each->second).line;
  return begun;
}

void Typing::leaveLine() {
  for (const Found &found : found_)
    if (found.isDone)
      released_.insert(found.identity);
}

void Typing::leaveDeclaration() {
  released_.clear();
  for (const Found &found : found_)
    released_.insert(found.identity);
}

void Typing::begin(const ide::File &file, ide::Range range, std::string_view text) {
  if (!isTyped(file, range, text))
    return forget();
  isResting_ = false;
  if (file.path() != path_) {
    // What is wrong at the place that was left is said from now on.
    if (!path_.empty())
      for (const Found &found : found_)
        known_[path_].insert(found.identity);
    forget();
    isResting_ = false;
    path_ = file.path();
  } else if (!isInDeclaration(file, range.begin)) {
    leaveDeclaration();
  } else {
    Begun begun = begunAt(file, range.begin);
    if (begun.line != first_ || (!begun.isOpen && text.find('\n') != text.npos))
      leaveLine();
  }
}

void Typing::end(const ide::File &file, ide::Range range, std::string_view text) {
  if (path_.empty())
    return;
  cursor_ = range.begin + static_cast<uint32_t>(text.size());
  line_ = file.document.position(cursor_).line;
  first_ = begunAt(file, cursor_).line;
  before_ = chunkAt(file, std::max(cursor_, 1u) - 1);
  behind_ = chunkAt(file, cursor_);
}

void Typing::forget() {
  isResting_ = true;
  path_.clear();
  found_.clear();
  released_.clear();
}

void Typing::closed(const std::string &path) {
  known_.erase(path);
  holding_.erase(path);
  if (path == path_)
    forget();
}

// ---- Diagnostics --------------------------------------------------------------------------------

/// What a declaration lacks that is not yet written to its end.
static bool isOfUnfinished(std::string_view code) {
  constexpr std::string_view codes[] = {"E0231", "E0245", "E0501", "E0502",
                                        "E0503", "E0529", "W1201", "W1202"};
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

static bool isOfSyntax(std::string_view code) { return code.starts_with("E01"); }

static uint32_t lineOf(const json &diagnostic) {
  return diagnostic.at("range").at("start").at("line").get<uint32_t>();
}

/// The same for the same finding at the same text, wherever that has moved to.
static size_t identityOf(const ide::File &file, const json &diagnostic) {
  std::string text = diagnostic.value("code", "") + "\n" + diagnostic.value("message", "") + "\n";
  text += file.document.lineText(lineOf(diagnostic));
  return std::hash<std::string>()(text);
}

static bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string Typing::hopelessWord(const ide::File &file) const {
  auto [line, column] = file.document.position(cursor_);
  std::string_view text = file.document.lineText(line);
  size_t begin = std::min<size_t>(column, text.size()), end = begin;
  while (begin > 0 && isWordCharacter(text[begin - 1]))
    --begin;
  while (end < text.size() && isWordCharacter(text[end]))
    ++end;
  std::string word(text.substr(begin, end - begin));
  // What stands behind a dot is looked up in a module or a value, and one letter begins many names.
  if (word.size() < 2 || (begin > 0 && text[begin - 1] == '.'))
    return "";
  auto continues = [&](std::string_view name) { return name.starts_with(word) && name != word; };
  if (std::ranges::any_of(ide::wordsOfLanguage(), continues))
    return "";
  for (const auto &names : file.index.spaces)
    for (const auto &each : names)
      if (continues(each.first))
        return "";
  for (const auto *names : {&file.index.modules, &file.index.names})
    for (const auto &each : *names)
      if (continues(each.first))
        return "";
  // Locals of the declaration are looked for in its words.
  for (const std::weak_ptr<const ide::Chunk> &weak : {before_, behind_})
    if (std::shared_ptr<const ide::Chunk> chunk = weak.lock())
      for (TokenIndex i = 0; i < chunk->tree->tokens().size(); ++i)
        if (continues(chunk->tree->tokenText(i)))
          return "";
  return word;
}

/// Whether an error says that a word is the name of nothing.
static bool isUnknown(const json &diagnostic, const std::string &word) {
  std::string code = diagnostic.value("code", "");
  return (code == "E0201" || code == "E0202" || code == "E0203") &&
         diagnostic.value("message", "").find("`" + word + "`") != std::string::npos;
}

json Typing::shown(const ide::File &file, json diagnostics) {
  bool isHere = file.path() == path_, isAnywhere = !path_.empty();
  // The first and the last declaration that the place belongs to.
  size_t first = isHere ? file.document.placeAt(std::max(cursor_, 1u) - 1) : 0,
         last = isHere ? file.document.placeAt(cursor_) : 0;
  auto isNear = [&](const json &each) {
    size_t place = file.document.placeAtLine(lineOf(each));
    return first <= place && place <= last;
  };
  bool isBroken =
      isHere && std::any_of(diagnostics.begin(), diagnostics.end(), [&](const json &each) {
        return isOfSyntax(each.value("code", "")) && isNear(each);
      });
  if (isHere)
    found_.clear();
  holding_.erase(file.path());
  std::string hopeless = isHere ? hopelessWord(file) : "";
  std::unordered_set<size_t> &known = known_[file.path()];
  std::unordered_set<size_t> counted;
  json list = json::array();
  for (json &each : diagnostics) {
    constexpr int warning = 2; // what is milder says nothing against the text
    if (each.value("severity", 1) > warning) {
      list.push_back(std::move(each));
      continue;
    }
    size_t identity = identityOf(file, each);
    bool isDone = isHere && !isBroken && !isOfUnfinished(each.value("code", "")) && isNear(each);
    if (isHere)
      found_.push_back({identity, isDone});
    bool isAway = isHere && (lineOf(each) < first_ || line_ < lineOf(each));
    bool counts = !isAnywhere || known.contains(identity) ||
                  (isAway && released_.contains(identity)) ||
                  (!hopeless.empty() && lineOf(each) == line_ && isUnknown(each, hopeless));
    if (counts)
      counted.insert(identity);
    else if (!isResting_)
      holding_.insert(file.path());
    if (counts || isResting_)
      list.push_back(std::move(each));
  }
  known = std::move(counted);
  return list;
}

} // namespace ptl::lsp
