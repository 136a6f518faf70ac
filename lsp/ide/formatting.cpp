#include "lsp/ide/formatting.h"

#include "lsp/ide/actions/bindings.h"

#include "frontend/format/format.h"
#include "frontend/parse/parse.h"

#include <algorithm>

namespace ptl::ide {

// ---- Differences --------------------------------------------------------------------------------

static bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static size_t spaceEnd(std::string_view text, size_t at) {
  while (at < text.size() && isSpace(text[at]))
    ++at;
  return at;
}

/// An edit without what is the same at both ends.
static void addEdit(std::string_view before, Range range, std::string_view after,
                    std::vector<Edit> &edits) {
  while (range.begin < range.end && !after.empty() && before[range.begin] == after.front()) {
    ++range.begin;
    after.remove_prefix(1);
  }
  while (range.begin < range.end && !after.empty() && before[range.end - 1] == after.back()) {
    --range.end;
    after.remove_suffix(1);
  }
  if (range.begin != range.end || !after.empty())
    edits.push_back({range, std::string(after)});
}

/// The edits of one run of white space: line ends and indentation apart, so that each belongs to a
/// line.
static void addRun(std::string_view before, Range range, std::string_view after,
                   std::vector<Edit> &edits) {
  std::string_view run = before.substr(range.begin, range.end - range.begin);
  size_t lineEnd = run.rfind('\n'), otherEnd = after.rfind('\n');
  if (lineEnd != run.npos && otherEnd != after.npos) {
    auto split = range.begin + static_cast<uint32_t>(lineEnd);
    addEdit(before, {range.begin, split + 1}, after.substr(0, otherEnd + 1), edits);
    addEdit(before, {split + 1, range.end}, after.substr(otherEnd + 1), edits);
  } else {
    addEdit(before, range, after, edits);
  }
}

/// Walks both texts from one run of white space to the next; false where they differ otherwise.
static bool spaceEdits(std::string_view before, std::string_view after, std::vector<Edit> &edits) {
  size_t a = 0, b = 0;
  while (a < before.size() || b < after.size()) {
    size_t aEnd = spaceEnd(before, a), bEnd = spaceEnd(after, b);
    // Separators go at the ends of lines.
    while (aEnd < before.size() && (before[aEnd] == ';' || before[aEnd] == ',') &&
           (bEnd == after.size() || after[bEnd] != before[aEnd]))
      aEnd = spaceEnd(before, aEnd + 1);
    if (before.substr(a, aEnd - a) != after.substr(b, bEnd - b))
      addRun(before, {static_cast<uint32_t>(a), static_cast<uint32_t>(aEnd)},
             after.substr(b, bEnd - b), edits);
    a = aEnd;
    b = bEnd;
    if (a == before.size() || b == after.size())
      return a == before.size() && b == after.size();
    if (before[a] != after[b])
      return false;
    while (a < before.size() && b < after.size() && before[a] == after[b] && !isSpace(before[a])) {
      ++a;
      ++b;
    }
  }
  return true;
}

static std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

/// Lines are taken over in order, each at its next occurrence nearby.
static std::vector<Edit> lineEdits(std::string_view before, std::string_view after) {
  constexpr size_t kLookAhead = 64;
  auto a = linesOf(before), b = linesOf(after);
  std::vector<Edit> edits;
  size_t i = 0, j = 0;
  uint32_t at = 0;
  while (i < a.size() || j < b.size()) {
    size_t skipA = 0, skipB = 0;
    bool found = false;
    // The nearest two lines that are equal, by how many are passed over on both sides together.
    for (size_t sum = 0; !found && sum < kLookAhead; ++sum)
      for (skipA = 0; !found && skipA <= sum; ++skipA) {
        skipB = sum - skipA;
        found = i + skipA < a.size() && j + skipB < b.size() && a[i + skipA] == b[j + skipB];
      }
    skipA = found ? skipA - 1 : a.size() - i;
    skipB = found ? skipB : b.size() - j;
    uint32_t end = at;
    std::string text;
    for (size_t k = 0; k < skipA; ++k)
      end += static_cast<uint32_t>(a[i + k].size());
    for (size_t k = 0; k < skipB; ++k)
      text += b[j + k];
    addEdit(before, {at, end}, text, edits);
    i += skipA + found;
    j += skipB + found;
    at = end + (found ? static_cast<uint32_t>(a[i - 1].size()) : 0);
  }
  return edits;
}

std::vector<Edit> textEdits(std::string_view before, std::string_view after) {
  std::vector<Edit> edits;
  if (spaceEdits(before, after, edits) && applied(before, edits) == after)
    return edits;
  return lineEdits(before, after);
}

// ---- Documents ----------------------------------------------------------------------------------

std::vector<Edit> formatDocument(const Document &document) {
  SourceFile file(0, document.path(), document.text());
  DiagnosticSink sink;
  Tree tree = parse(file, sink);
  return textEdits(file.text(), format(tree).text);
}

/// Keeps the edits that lie within `lines`, a range of whole lines.
static void keepWithin(Range lines, std::vector<Edit> &edits) {
  std::erase_if(edits, [&](const Edit &edit) {
    return edit.range.end < lines.begin || edit.range.begin > lines.end ||
           (edit.range.begin < lines.begin && edit.range.end <= lines.begin);
  });
}

static Range wholeLines(std::string_view text, Range range) {
  size_t end = std::min(text.find('\n', range.end), text.size());
  // A selection that ends before the first character of a line does not mean that line.
  bool endsBefore = range.end > range.begin && range.end > 0 && text[range.end - 1] == '\n';
  return {lineStart(text, range.begin), endsBefore ? range.end - 1 : static_cast<uint32_t>(end)};
}

/// The chunk alone, as a file. Edits of the blank lines at its ends, where other chunks begin, are
/// left out.
static std::vector<Edit> formatChunk(const Chunk &chunk) {
  std::string_view text = chunk.file.text();
  std::vector<Edit> edits = textEdits(text, format(*chunk.tree).text);
  size_t first = spaceEnd(text, 0);
  size_t last = text.find_last_not_of(" \t\r\n");
  std::erase_if(edits, [&](const Edit &edit) {
    bool isBefore = edit.range.begin < first && text.substr(0, first).find('\n') != text.npos;
    bool isBehind = last != text.npos && edit.range.end > last + 1;
    return isBefore || isBehind || last == text.npos;
  });
  return edits;
}

std::vector<Edit> formatRange(const Document &document, Range range) {
  size_t first = document.placeAt(range.begin), last = document.placeAt(range.end);
  std::vector<Edit> all;
  for (size_t i = first; i <= last; ++i) {
    const Place &place = document.places()[i];
    std::string_view text = place.chunk->file.text();
    uint32_t size = place.chunk->size();
    Range own{std::max(range.begin, place.begin) - place.begin,
              std::min(range.end - place.begin, size)};
    std::vector<Edit> edits = formatChunk(*place.chunk);
    keepWithin(wholeLines(text, own), edits);
    for (Edit &edit : edits)
      all.push_back({{edit.range.begin + place.begin, edit.range.end + place.begin}, edit.text});
  }
  return all;
}

// ---- While typing -------------------------------------------------------------------------------

/// The opening brackets before a byte that are not closed before it, and the last token.
struct Nesting {
  std::vector<TokenIndex> open;
  TokenIndex count = 0; ///< tokens before the byte
};
static Nesting nestingAt(const Tree &tree, uint32_t offset) {
  Nesting nesting;
  for (; nesting.count < tree.tokens().size(); ++nesting.count) {
    const Token &token = tree.token(nesting.count);
    if (token.begin >= offset || token.kind == TokenKind::EndOfFile)
      break;
    if (isOpener(token.kind))
      nesting.open.push_back(nesting.count);
    else if (isCloser(token.kind) && !nesting.open.empty())
      nesting.open.pop_back();
  }
  return nesting;
}

/// The indentation that a line should have whose text begins at `offset`.
static std::string indentFor(const Tree &tree, uint32_t offset) {
  std::string_view text = tree.fileText();
  Nesting nesting = nestingAt(tree, offset);
  const Token &next = tree.token(nesting.count);
  bool closes = isCloser(next.kind) && next.begin == offset;
  std::string indent;
  if (!nesting.open.empty())
    indent = std::string(indentAt(text, tree.token(nesting.open.back()).begin));
  if (closes)
    return indent;
  if (!nesting.open.empty())
    indent.append(kFormatIndent, ' ');
  // A statement that goes on: after an operator, say.
  bool inBraces = nesting.open.empty() || tree.tokenKind(nesting.open.back()) == TokenKind::LBrace;
  if (inBraces && nesting.count > 0) {
    TokenKind last = tree.tokenKind(nesting.count - 1);
    if (!canEndStatement(last) && !isOpener(last) && last != TokenKind::Semicolon)
      indent.append(kFormatIndent, ' ');
  }
  return indent;
}

static bool inComment(const Tree &tree, uint32_t offset) {
  const Token &next = tree.token(nestingAt(tree, offset).count);
  TokenIndex index = static_cast<TokenIndex>(&next - tree.tokens().data());
  if (index > 0 && tree.token(index - 1).end > offset)
    return true; // inside a text
  for (const Trivia &trivia : tree.triviaBefore(index))
    if (trivia.kind == TriviaKind::BlockComment && trivia.begin < offset && offset < trivia.end)
      return true;
  return false;
}

std::vector<Edit> formatOnType(const Document &document, uint32_t offset, char typed) {
  const Place &place = document.places()[document.placeAt(offset > 0 ? offset - 1 : 0)];
  // The line after the last line end belongs to the next chunk, which may be empty.
  const Tree &tree = *place.chunk->tree;
  std::string_view text = tree.fileText();
  uint32_t at = std::min(offset - place.begin, place.chunk->size());
  if (at > 0 && inComment(tree, at))
    return {};
  std::vector<Edit> edits;
  if (typed == '\n') {
    uint32_t begin = lineStart(text, at);
    uint32_t end = begin;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t'))
      ++end;
    if (begin == at || end >= at)
      addEdit(text, {begin, end}, indentFor(tree, end), edits);
  } else {
    TokenIndex close = nestingAt(tree, at).count;
    if (close == 0 || !isCloser(tree.tokenKind(close - 1)))
      return {};
    uint32_t closer = tree.token(close - 1).begin;
    Nesting nesting = nestingAt(tree, closer);
    if (nesting.open.empty())
      return {};
    uint32_t open = tree.token(nesting.open.back()).begin;
    // Between empty braces something is about to be written.
    if (spaceEnd(text, open + 1) != closer) {
      edits = formatChunk(*place.chunk);
      keepWithin({lineStart(text, open), at}, edits);
    }
    if (edits.empty() && lineStart(text, closer) + indentAt(text, closer).size() == closer)
      addEdit(text, {lineStart(text, closer), closer}, indentFor(tree, closer), edits);
  }
  for (Edit &edit : edits)
    edit.range = {edit.range.begin + place.begin, edit.range.end + place.begin};
  return edits;
}

} // namespace ptl::ide
