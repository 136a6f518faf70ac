#include "lsp/server/typing.h"

#include "frontend/base/word_char.h"
#include "lsp/ide/names.h"

#include <algorithm>
#include <cctype>

namespace ptl::lsp {

// ---- Edits --------------------------------------------------------------------------------------

static std::shared_ptr<const ide::Chunk> chunkAt(const ide::File &file, uint32_t offset) {
  return file.document.places()[file.document.placeAt(offset)].chunk;
}

/// Whether a chunk holds nothing but what no declaration begins with: the rest of one whose bracket
/// was torn off, for instance.
static bool isRest(const ide::Chunk &chunk) {
  const Tree &tree = *chunk.tree;
  std::span<const NodeId> items = tree.children(tree.root());
  return !items.empty() && std::ranges::all_of(items, [&](NodeId item) {
    return item != kNoNode && tree.is(item, NodeKind::Error);
  });
}

namespace {
/// Places of a document, both ends included.
struct Places {
  size_t first = 0, last = 0;
  bool contains(size_t place) const { return first <= place && place <= last; }
};
} // namespace

/// The places of the declarations before and behind an offset, each with the rest that follows it.
static Places declarationsAt(const ide::File &file, uint32_t offset) {
  std::span<const ide::Place> places = file.document.places();
  Places found{file.document.placeAt(std::max(offset, 1u) - 1), file.document.placeAt(offset)};
  while (found.first > 0 && isRest(*places[found.first].chunk))
    --found.first;
  while (found.last + 1 < places.size() && isRest(*places[found.last + 1].chunk))
    ++found.last;
  return found;
}

/// Whether each bracket of these declarations has its other half: what is wrong with the syntax of a
/// line is a matter of that line then.
static bool areBracketsWhole(const ide::File &file, Places places) {
  std::vector<TokenKind> open;
  auto closes = [&](TokenKind opener) {
    bool isWhole = !open.empty() && open.back() == opener;
    if (isWhole)
      open.pop_back();
    return isWhole;
  };
  auto fits = [&](TokenKind kind) {
    switch (kind) {
    case TokenKind::LParen:
    case TokenKind::LBracket:
    case TokenKind::LBrace:
      open.push_back(kind);
      return true;
    case TokenKind::RParen:
      return closes(TokenKind::LParen);
    case TokenKind::RBracket:
      return closes(TokenKind::LBracket);
    case TokenKind::RBrace:
      return closes(TokenKind::LBrace);
    default:
      return true;
    }
  };
  for (size_t i = places.first; i <= places.last; ++i) {
    const Tree &tree = *file.document.places()[i].chunk->tree;
    for (TokenIndex token = 0; token < tree.tokens().size(); ++token)
      if (!fits(tree.tokenKind(token)))
        return false;
  }
  return open.empty();
}

bool Typing::isInDeclaration(const ide::File &file, uint32_t offset) const {
  Places found = declarationsAt(file, offset);
  for (size_t i = found.first; i <= found.last; ++i)
    if (auto &chunk = file.document.places()[i].chunk;
        chunk == before_.lock() || chunk == behind_.lock())
      return true;
  return false;
}

namespace {
/// The lines of the expression that a place is a part of.
struct Lines {
  uint32_t first = 0, last = 0;
  bool isOpen = false; ///< a bracket waits for its end
  bool goesOn = false; ///< an operator in front of the place waits for its operand
};

/// The brackets before a place that are open there.
class OpenBrackets {
public:
  void add(TokenKind kind, uint32_t begin) {
    if (kind == TokenKind::LParen || kind == TokenKind::LBracket)
      open_.emplace_back(false, begin);
    else if (kind == TokenKind::LBrace)
      open_.emplace_back(true, begin);
    else if (kind == TokenKind::RBrace)
      closeBrace();
    else if ((kind == TokenKind::RParen || kind == TokenKind::RBracket) && isWithin())
      open_.pop_back();
  }
  /// Whether the innermost one is no brace.
  bool isWithin() const { return !open_.empty() && !open_.back().first; }
  /// The outermost bracket of the innermost block.
  uint32_t outermost() const {
    uint32_t begin = 0;
    for (auto each = open_.rbegin(); each != open_.rend() && !each->first; ++each)
      begin = each->second;
    return begin;
  }

private:
  void closeBrace() {
    while (!open_.empty() && !open_.back().first)
      open_.pop_back();
    if (!open_.empty())
      open_.pop_back();
  }
  std::vector<std::pair<bool, uint32_t>> open_; // whether a brace, and where it stands
};
} // namespace

static Lines linesAt(const ide::File &file, uint32_t offset) {
  const ide::Place &place = file.document.places()[file.document.placeAt(std::max(offset, 1u) - 1)];
  const Tree &tree = *place.chunk->tree;
  OpenBrackets open;
  TokenIndex i = 0;
  auto beginOf = [&](TokenIndex token) { return place.begin + tree.tokenSpan(token).begin; };
  for (; i < tree.tokens().size() && beginOf(i) < offset; ++i)
    open.add(tree.tokenKind(i), beginOf(i));
  uint32_t line = file.document.position(offset).line;
  Lines lines{line, line, open.isWithin()};
  if (!lines.isOpen) {
    auto waits = [&](TokenIndex token) {
      return tree.tokenKind(token) != TokenKind::LBrace && !canEndStatement(tree.tokenKind(token));
    };
    auto lineOf = [&](TokenIndex token) { return file.document.position(beginOf(token)).line; };
    lines.goesOn = i > 0 && waits(i - 1);
    // What stands behind an operator at the end of a line goes on with that.
    TokenIndex last = i;
    while (last > 0 && lineOf(last - 1) == line)
      --last;
    if (last > 0 && waits(last - 1))
      lines.first = lineOf(last - 1);
    return lines;
  }
  lines.first = file.document.position(open.outermost()).line;
  uint32_t end = offset; // of the outermost bracket, as far as there is one
  for (; i < tree.tokens().size() && open.isWithin(); ++i) {
    end = beginOf(i);
    open.add(tree.tokenKind(i), end);
  }
  lines.last = std::max(line, file.document.position(end).line);
  return lines;
}

/// What was wrong with the lines that are left is due. What the edits made wrong elsewhere is not:
/// whoever changes a declaration goes on to its uses.
void Typing::leaveLine(const ide::File &file) {
  for (const Found &found : found_)
    if (found.isDone && region_.contains(found.finding.line())) {
      released_.insert(found.identity);
      remember(file, found.finding, found.identity);
    }
  isLeft_ = true;
}

namespace {
/// The word that a place touches, which is empty if there is none, in its line.
struct TouchedWord {
  std::string_view line;
  size_t begin = 0, place = 0, end = 0; ///< bytes in the line
  std::string_view text() const { return line.substr(begin, end - begin); }
};
} // namespace

static TouchedWord wordAt(const ide::File &file, uint32_t offset) {
  auto [line, column] = file.document.position(offset);
  std::string_view text = file.document.lineText(line);
  size_t place = std::min<size_t>(column, text.size()), begin = place, end = place;
  while (begin > 0 && isWordChar(text[begin - 1]))
    --begin;
  while (end < text.size() && isWordChar(text[end]))
    ++end;
  return {text, begin, place, end};
}

/// The word that a finding says to be the name of nothing; empty if it says something else.
static std::string_view unknownName(const Finding &finding) {
  constexpr std::string_view codes[] = {"E0201", "E0202", "E0203", "E0706"};
  if (std::ranges::find(codes, finding.code) == std::end(codes))
    return {};
  // All these messages end with the name; what helps stands on the lines behind them.
  std::string_view message =
      std::string_view(finding.message).substr(0, finding.message.find('\n'));
  size_t begin = message.rfind('`', message.size() - 2);
  return message.ends_with('`') ? message.substr(begin + 1, message.size() - begin - 2) : "";
}

/// The same for findings that are mended alike: a declaration with another name leaves calls and
/// schedules behind.
static size_t causeOf(const Finding &finding) {
  std::string_view name = unknownName(finding);
  return name.empty() ? finding.hash : std::hash<std::string_view>()(name);
}

/// `offset` is where the typing goes on. Whoever goes to a declaration with an error that was kept
/// back knows of it, and of those with the same cause.
void Typing::leaveDeclaration(const ide::File &file, uint32_t offset) {
  const std::unordered_set<size_t> &known = known_[path_];
  Places places = declarationsAt(file, offset);
  std::unordered_set<size_t> beingMended;
  // Comments, too, have the name that another one takes the place of.
  std::string_view word = wordAt(file, offset).text();
  auto isHere = [&](const PlacedFinding &finding) {
    return places.contains(file.document.placeAtLine(finding.line())) ||
           (!word.empty() && unknownName(*finding) == word);
  };
  for (const Found &found : found_)
    if (isHere(found.finding) && !known.contains(found.identity))
      beingMended.insert(causeOf(*found.finding));
  released_.clear();
  for (const Found &found : found_)
    if (!beingMended.contains(causeOf(*found.finding)))
      released_.insert(found.identity);
  told_.clear();
  isLeft_ = true;
}

void Typing::begin(const ide::File &file, ide::Range range, std::string_view text) {
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
    leaveDeclaration(file, range.begin);
  } else {
    Lines lines = linesAt(file, range.begin);
    bool isEnded = !lines.isOpen && !lines.goesOn && text.find('\n') != text.npos;
    if (lines.first != first_ || isEnded)
      leaveLine(file);
    moveTold(file, range, text);
  }
}

void Typing::end(const ide::File &file, ide::Range range, std::string_view text) {
  if (path_.empty())
    return;
  cursor_ = range.begin + static_cast<uint32_t>(text.size());
  auto [line, column] = file.document.position(cursor_);
  Lines lines = linesAt(file, cursor_);
  uint32_t first = std::min(lines.first, file.document.position(range.begin).line);
  Region region{first, lines.last, false};
  // Whole lines were deleted or pasted: the line behind them was not touched.
  if (column == 0 && (text.empty() || text.back() == '\n')) {
    region.isEmpty = first == line;
    region.last = line - 1;
  }
  if (!isLeft_ && !region_.isEmpty) {
    region.first = region.isEmpty ? region_.first : std::min(region.first, region_.first);
    region.last = region.isEmpty ? std::min(region_.last, line) : region.last;
    region.isEmpty = region.last < region.first;
  }
  region_ = region;
  isLeft_ = false;
  line_ = line;
  first_ = lines.first;
  before_ = chunkAt(file, std::max(cursor_, 1u) - 1);
  behind_ = chunkAt(file, cursor_);
}

void Typing::forget() {
  isResting_ = true;
  path_.clear();
  found_.clear();
  told_.clear();
  released_.clear();
  region_ = {};
  isLeft_ = true;
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
  constexpr std::string_view codes[] = {"E0129", "E0231", "E0245", "E0501", "E0502",
                                        "E0503", "E0529", "E0366", "W1201", "W1202"};
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

static bool isOfSyntax(std::string_view code) { return code.starts_with("E01"); }

/// The same for the same finding at the same text, wherever that has moved to.
static size_t identityOf(const Finding &finding, std::string_view line) {
  constexpr size_t factor = 0x9E3779B97F4A7C15; // the golden ratio, which spreads bits
  return (finding.hash ^ std::hash<std::string_view>()(line)) * factor ^ finding.hash;
}

std::string Typing::hopelessWord(const ide::File &file) const {
  TouchedWord touched = wordAt(file, cursor_);
  std::string_view text = touched.line;
  size_t begin = touched.begin;
  std::string word(touched.text());
  // What stands behind a dot is looked up in a module or a value, one letter begins many names, and
  // what is written in front of a word may be parted from it.
  if (word.size() < 2 || (begin > 0 && text[begin - 1] == '.') || touched.place < touched.end)
    return "";
  // The first word of an argument may be the name of a parameter, which the callee knows.
  size_t before = text.find_last_not_of(' ', begin - 1);
  if (begin == 0 || before == text.npos || text[before] == '(' || text[before] == ',')
    return "";
  // A whole name is none of a value as long as its bracket is missing.
  auto continues = [&](std::string_view name) { return name.starts_with(word); };
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
  // Locals of the declaration are looked for in its words, of which this is one.
  auto isOther = [&](std::string_view name) { return continues(name) && name != word; };
  for (const std::weak_ptr<const ide::Chunk> &weak : {before_, behind_})
    if (std::shared_ptr<const ide::Chunk> chunk = weak.lock())
      for (TokenIndex i = 0; i < chunk->tree->tokens().size(); ++i)
        if (isOther(chunk->tree->tokenText(i)))
          return "";
  return word;
}

// ---- What a check does not see ------------------------------------------------------------------

void Typing::remember(const ide::File &file, const PlacedFinding &finding, size_t identity) {
  for (const Told &told : told_)
    if (told.identity == identity)
      return;
  told_.push_back({finding, std::string(file.document.lineText(finding.line())), identity});
}

/// The change is about to be made: what is told moves with its line, or goes with it.
void Typing::moveTold(const ide::File &file, ide::Range range, std::string_view text) {
  if (told_.empty())
    return;
  ide::LineByte begin = file.document.position(range.begin),
                end = file.document.position(range.end);
  auto lines = static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n')) -
               (end.line - begin.line); // fewer wrap around, as unsigned numbers do
  bool isBehind = begin.byte >= file.document.lineText(begin.line).size();
  bool isBefore = end.byte == 0 && (text.empty() || text.back() == '\n');
  std::erase_if(told_, [&](Told &told) {
    uint32_t line = told.finding.line();
    if (line < begin.line || (line == begin.line && isBehind))
      return false;
    if (line < end.line || (line == end.line && !isBefore))
      return true;
    told.finding.origin += lines;
    return false;
  });
}

/// A check says nothing of the other statements of a declaration with an error of syntax. What they
/// lack is true all the same, as long as their lines are as they were.
void Typing::addTold(const ide::File &file, const std::unordered_set<size_t> &found,
                     std::vector<PlacedFinding> &list) const {
  for (const Told &told : told_) {
    uint32_t line = told.finding.line();
    bool isBeingWritten = first_ <= line && line <= std::max(line_, region_.last);
    if (!isBeingWritten && !found.contains(told.identity) &&
        file.document.lineText(line) == told.lineText)
      list.push_back(told.finding);
  }
}

std::vector<PlacedFinding> Typing::shown(const ide::File &file,
                                         std::vector<PlacedFinding> findings) {
  bool isHere = file.path() == path_, isAnywhere = !path_.empty();
  Places places = isHere ? declarationsAt(file, cursor_) : Places();
  auto isNear = [&](const PlacedFinding &each) {
    return places.contains(file.document.placeAtLine(each.line()));
  };
  bool isBroken = isHere && std::ranges::any_of(findings, [&](const PlacedFinding &each) {
                    return isOfSyntax(each->code) && isNear(each);
                  });
  bool areLines = isBroken && areBracketsWhole(file, places); // what is broken
  if (isHere)
    found_.clear();
  holding_.erase(file.path());
  std::string hopeless = isHere ? hopelessWord(file) : "";
  std::unordered_set<size_t> &known = known_[file.path()];
  std::unordered_set<size_t> counted, found;
  std::vector<PlacedFinding> list;
  std::vector<Told> told;
  for (PlacedFinding &each : findings) {
    constexpr int warning = 2; // what is milder says nothing against the text
    if (each->severity > warning) {
      list.push_back(std::move(each));
      continue;
    }
    uint32_t line = each.line();
    size_t identity = identityOf(*each, file.document.lineText(line));
    found.insert(identity);
    bool isDone = isHere && (!isBroken || (areLines && isOfSyntax(each->code))) &&
                  !isOfUnfinished(each->code) && isNear(each);
    if (isHere)
      found_.push_back({each, identity, isDone});
    bool isAway = isHere && (line < first_ || line_ < line);
    bool counts = !isAnywhere || known.contains(identity) ||
                  (isAway && released_.contains(identity)) ||
                  (!hopeless.empty() && line == line_ && unknownName(*each) == hopeless);
    if (counts)
      counted.insert(identity);
    else if (!isResting_)
      holding_.insert(file.path());
    if (counts && isHere && isNear(each))
      told.push_back({each, std::string(file.document.lineText(line)), identity});
    if (counts || isResting_)
      list.push_back(std::move(each));
  }
  if (isBroken) {
    addTold(file, found, list);
    for (const Told &each : told_)
      counted.insert(each.identity);
    for (const Told &each : told)
      remember(file, each.finding, each.identity);
  } else if (isHere) {
    told_ = std::move(told);
    // What was mended and comes again is new.
    std::erase_if(released_, [&](size_t identity) { return !found.contains(identity); });
  }
  known = std::move(counted);
  return list;
}

} // namespace ptl::lsp
