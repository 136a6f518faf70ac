#include "frontend/lex/lexer.h"

#include "frontend/base/utf8.h"
#include "frontend/lex/literal.h"

#include <algorithm>
#include <array>

namespace ptl {
namespace {

constexpr size_t kMaxErrors = 100;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }
bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool isAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// Signs outside ASCII that people paste, and what they mean here.
struct Lookalike {
  char32_t codePoint;
  const char *replacement;
  FixId fix = FixId::Lookalike;
};
constexpr Lookalike kLookalikes[] = {
    {0x00D7, "*", FixId::AmbiguousSymbol},
    {0x00F7, "/"},
    {0x2264, "<="},
    {0x2265, ">="},
    {0x2260, "!="},
    {0x2192, "->"},
    {0x2212, "-"},
    {0x2013, "-"},
    {0x201C, "\""},
    {0x201D, "\""},
    {0x2025, ".."},
    {0x2026, ".."},
    {0x00A0, " "},
    {0x00B7, "*", FixId::AmbiguousSymbol},
};

/// Whether `#` and what follows is a comment elsewhere, and no directive.
bool startsComment(std::string_view text) {
  return text.size() < 2 || text[1] == ' ' || text[1] == '\t' || text[1] == '\r' ||
         text[1] == '\n' || text[1] == '#';
}

/// Everything outside ASCII that is no symbol or space counts as a letter: the error then is about
/// names.
bool isForeignLetter(char32_t c) {
  return c >= 0xAA && c != 0xD7 && c != 0xF7 && c != 0xAB && c != 0xBB &&
         !(c >= 0xAC && c <= 0xB9 && c != 0xB5) && !(c >= 0x2000 && c < 0x2C00) &&
         !(c >= 0x3000 && c < 0x3040) && c != 0xFEFF && c != 0xFFFD;
}

struct Lexer {
  FileId file;
  DiagnosticSink &sink;
  std::string_view text;
  bool isFileStart;
  uint32_t at = 0;
  bool newline = true;
  size_t errors = 0;
  bool reportedUtf8 = false;
  uint32_t firstTrivia = 0;
  TokenList out;

  Lexer(FileId file, std::string_view text, DiagnosticSink &sink, bool isFileStart)
      : file(file), sink(sink), text(text), isFileStart(isFileStart) {
    out.tokens.reserve(text.size() / 5 + 1);
    out.trivia.reserve(text.size() / 5 + 1);
  }

  char peek(uint32_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  bool done() const { return at >= text.size(); }
  Span span(uint32_t begin, uint32_t end) const { return {file, begin, end}; }

  /// Nothing once the file has shown too many errors.
  template <typename Decorate>
  void error(DiagId id, Span where, std::vector<std::string> args, Decorate decorate) {
    if (++errors > kMaxErrors)
      return;
    auto builder = sink.report(id, where, std::move(args));
    decorate(builder);
  }
  void error(DiagId id, Span where, std::vector<std::string> args = {}) {
    error(id, where, std::move(args), [](DiagnosticBuilder &) {});
  }

  void addTrivia(TriviaKind kind, uint32_t begin) { out.trivia.push_back({kind, begin, at}); }
  void addToken(TokenKind kind, uint32_t begin, bool malformed = false) {
    out.tokens.push_back({kind, newline, malformed, begin, at, firstTrivia});
    newline = false;
    firstTrivia = static_cast<uint32_t>(out.trivia.size());
  }

  /// Reports the first byte in `[begin, end)` that is not UTF-8, once per line.
  void checkUtf8(uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end && !reportedUtf8;) {
      if (isAscii(text[i])) {
        ++i;
        continue;
      }
      CodePoint c = decodeUtf8(text, i);
      if (!c.valid) {
        reportedUtf8 = true;
        error(DiagId::InvalidUtf8, span(i, i + 1), {}, [](DiagnosticBuilder &b) {
          b.help("save the file as UTF-8; other encodings are not read");
        });
      }
      i += c.length;
    }
  }

  void lexTrivia();
  void lexLineComment();
  void lexBlockComment();
  void lexToken();
  void lexWord();
  void lexForeign();
  void lexNumber();
  void lexString();
  void checkEscape(uint32_t &i, bool &malformed);
  void lexPunct();
};

void Lexer::lexTrivia() {
  while (!done()) {
    uint32_t begin = at;
    char c = peek();
    if (c == ' ' || c == '\t') {
      while (peek() == ' ' || peek() == '\t')
        ++at;
      addTrivia(TriviaKind::Whitespace, begin);
    } else if (c == '\n' || (c == '\r' && peek(1) == '\n')) {
      at += c == '\n' ? 1 : 2;
      newline = true;
      reportedUtf8 = false;
      addTrivia(TriviaKind::Newline, begin);
    } else if (c == '\r' || c == '\f' || c == '\v') {
      // A carriage return alone ends no line, so lines have the same numbers as in editors.
      ++at;
      addTrivia(TriviaKind::Whitespace, begin);
    } else if (begin == 0 && isFileStart && text.substr(0, 3) == "\xEF\xBB\xBF") {
      // A byte order mark is accepted at the start of a file only; elsewhere it is an invisible
      // character, which is reported.
      at += 3;
      addTrivia(TriviaKind::Whitespace, begin);
    } else if (c == '/' && peek(1) == '/') {
      lexLineComment();
    } else if (c == '/' && peek(1) == '*') {
      lexBlockComment();
    } else {
      return;
    }
  }
}

void Lexer::lexLineComment() {
  uint32_t begin = at;
  size_t end = text.find('\n', at);
  at = static_cast<uint32_t>(end == std::string_view::npos ? text.size() : end);
  if (at > begin + 2 && text[at - 1] == '\r')
    --at;
  checkUtf8(begin, at);
  // `////` and longer are rulers, not documentation.
  bool doc =
      at - begin >= 3 && text[begin + 2] == '/' && !(at - begin > 3 && text[begin + 3] == '/');
  addTrivia(doc ? TriviaKind::DocComment : TriviaKind::LineComment, begin);
}

void Lexer::lexBlockComment() {
  uint32_t begin = at;
  uint32_t depth = 0;
  do {
    if (done()) {
      // The span is the opening alone: the rest of the file would be marked otherwise.
      error(DiagId::UnterminatedComment, span(begin, begin + 2), {},
            [&](DiagnosticBuilder &b) { b.help("`/* */` nests: every `/*` needs its own `*/`"); });
      break;
    }
    if (peek() == '/' && peek(1) == '*') {
      ++depth;
      at += 2;
    } else if (peek() == '*' && peek(1) == '/') {
      --depth;
      at += 2;
    } else {
      // A statement ends at a comment of several lines as it does at the end of a line.
      newline |= peek() == '\n';
      ++at;
    }
  } while (depth > 0);
  checkUtf8(begin, at);
  addTrivia(TriviaKind::BlockComment, begin);
}

void Lexer::lexToken() {
  char c = peek();
  if (isNameStart(c))
    lexWord();
  else if (isDigit(c))
    lexNumber();
  else if (c == '"')
    lexString();
  else if (!isAscii(c))
    lexForeign();
  else
    lexPunct();
}

void Lexer::lexWord() {
  uint32_t begin = at;
  bool foreign = false;
  while (!done()) {
    if (isNamePart(peek())) {
      ++at;
      continue;
    }
    CodePoint c = isAscii(peek()) ? CodePoint{} : decodeUtf8(text, at);
    if (!c.valid || !isForeignLetter(c.value))
      break;
    foreign = true;
    at += c.length;
  }
  // The whole word is one token with one report, instead of one report for each letter.
  if (foreign) {
    error(DiagId::NonAsciiName, span(begin, at), {std::string(text.substr(begin, at - begin))},
          [](DiagnosticBuilder &b) {
            b.help("letters outside ASCII are legal in strings and comments only");
          });
    addToken(TokenKind::Identifier, begin, true);
    return;
  }
  addToken(wordKind(text.substr(begin, at - begin)), begin);
}

void Lexer::lexForeign() {
  uint32_t begin = at;
  CodePoint first = decodeUtf8(text, at);
  if (first.valid && isForeignLetter(first.value))
    return lexWord();
  // A run of such bytes is one mistake.
  do
    at += decodeUtf8(text, at).length;
  while (!done() && !isAscii(peek()) && !isForeignLetter(decodeUtf8(text, at).value));
  if (!first.valid) {
    checkUtf8(begin, at);
    addToken(TokenKind::Invalid, begin, true);
    return;
  }
  std::string shown(text.substr(begin, first.length));
  error(DiagId::UnexpectedCharacter, span(begin, at), {shown}, [&](DiagnosticBuilder &b) {
    for (const Lookalike &l : kLookalikes)
      if (l.codePoint == first.value)
        b.fix(l.fix, "write `" + std::string(l.replacement) + "`",
              {{span(begin, begin + first.length), l.replacement}});
  });
  addToken(TokenKind::Invalid, begin, true);
}

void Lexer::lexNumber() {
  uint32_t begin = at;
  TokenKind kind = TokenKind::IntLiteral;
  bool good = true;
  auto digits = [&](auto isOne) {
    bool last = false; // the last character was a digit, not `_`
    uint32_t start = at;
    for (; isOne(peek()) || peek() == '_'; ++at) {
      if (peek() == '_')
        good &= last;
      last = peek() != '_';
    }
    good &= last && at > start;
  };
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'b')) {
    bool hex = peek(1) == 'x';
    at += 2;
    if (hex)
      digits(isHexDigit);
    else
      digits([](char c) { return c == '0' || c == '1'; });
  } else {
    digits(isDigit);
    // `0..n` is a range and `1.T` no number, so a point belongs to it only with a digit behind.
    if (peek() == '.' && isDigit(peek(1))) {
      kind = TokenKind::FloatLiteral;
      ++at;
      digits(isDigit);
    }
    bool sign = peek(1) == '+' || peek(1) == '-';
    if ((peek() == 'e' || peek() == 'E') && isDigit(peek(sign ? 2 : 1))) {
      kind = TokenKind::FloatLiteral;
      at += sign ? 2 : 1;
      digits(isDigit);
    }
  }
  // Letters right behind a number are taken with it, or `1f` would be reported as a missing
  // operator.
  uint32_t suffix = at;
  while (isNamePart(peek()))
    ++at;
  std::string_view word = text.substr(suffix, at - suffix);
  if (!word.empty()) {
    good &= kind == TokenKind::IntLiteral && sizeUnit(word);
    kind = kind == TokenKind::IntLiteral ? TokenKind::SizeLiteral : kind;
  }
  if (!good)
    error(DiagId::MalformedNumber, span(begin, at), {std::string(text.substr(begin, at - begin))},
          [&](DiagnosticBuilder &b) {
            if (word == "f" || wordKind(word) != TokenKind::Identifier)
              b.fix(FixId::LiteralSuffix,
                    "remove the suffix: literals take the type of the other operand",
                    {{span(suffix, at), ""}});
            else if (!word.empty())
              b.help("units of sizes are `KiB`, `MiB`, `GiB` and `TiB`");
          });
  addToken(kind, begin, !good);
}

void Lexer::checkEscape(uint32_t &i, bool &malformed) {
  uint32_t begin = i++;
  char c = i < at ? text[i] : '\0';
  bool good = c && std::string_view("ntr0\\\"").find(c) != std::string_view::npos;
  if (c == 'u' && i + 1 < at && text[i + 1] == '{') {
    uint32_t digit = i + 2;
    while (digit < at && isHexDigit(text[digit]))
      ++digit;
    // Six digits hold every code point of Unicode.
    good = digit < at && text[digit] == '}' && digit > i + 2 && digit <= i + 8;
    i = good ? digit : i;
  }
  if (good)
    return;
  malformed = true;
  uint32_t end = std::min(at, i + (c && !isAscii(c) ? decodeUtf8(text, i).length : 1u));
  error(DiagId::UnknownEscape, span(begin, end), {std::string(text.substr(begin, end - begin))},
        [](DiagnosticBuilder &b) {
          b.help("the escapes are `\\n \\t \\r \\0 \\\\ \\\"` and `\\u{1F600}`");
        });
}

void Lexer::lexString() {
  uint32_t begin = at++;
  while (!done() && peek() != '"' && peek() != '\n') {
    if (peek() == '\\' && at + 1 < text.size() && peek(1) != '\n')
      ++at;
    ++at;
  }
  bool malformed = peek() != '"' || done();
  if (malformed) {
    // `test "name {`: the brace was not meant to be text, and the body is worth reading.
    if (at - begin > 3 && text.substr(at - 2, 2) == " {")
      --at;
    while (at - begin > 1 && std::string_view(" \t\r").find(text[at - 1]) != std::string_view::npos)
      --at;
    error(DiagId::UnterminatedString, span(begin, at), {}, [&](DiagnosticBuilder &b) {
      b.help("a string ends on the line where it begins; write a line end as `\\n`");
    });
  } else {
    ++at;
  }
  checkUtf8(begin, at);
  for (uint32_t i = begin + 1; i + 1 < at; ++i)
    if (text[i] == '\\')
      checkEscape(i, malformed);
  addToken(TokenKind::StringLiteral, begin, malformed);
}

/// For each first character the punctuation that starts with it, longest first.
struct PunctTable {
  std::array<std::vector<TokenKind>, 128> byFirst;
  PunctTable() {
#define PUNCT(NAME, SPELLING) byFirst[static_cast<size_t>(SPELLING[0])].push_back(TokenKind::NAME);
#include "frontend/lex/tokens.def"
    for (auto &kinds : byFirst)
      std::sort(kinds.begin(), kinds.end(),
                [](TokenKind a, TokenKind b) { return spelling(a).size() > spelling(b).size(); });
  }
};

void Lexer::lexPunct() {
  static const PunctTable table;
  uint32_t begin = at;
  for (TokenKind kind : table.byFirst[static_cast<unsigned char>(peek())]) {
    std::string_view word = spelling(kind);
    if (text.substr(at, word.size()) != word)
      continue;
    at += static_cast<uint32_t>(word.size());
    return addToken(kind, begin);
  }
  char c = text[at++];
  // `&&`, `!`, `?`, `'x'`: the lexer takes the character, the message says what to write.
  std::string shown(1, c);
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    shown = std::string("U+00") + kHex[c >> 4 & 15] + kHex[c & 15];
    while (!done() && peek() == c)
      ++at;
  }
  // `'text'` is one mistake.
  std::string_view near = text.substr(at, 100);
  size_t quote = c == '\'' ? near.substr(0, near.find('\n')).find('\'') : std::string_view::npos;
  if (quote != std::string_view::npos)
    at += static_cast<uint32_t>(quote + 1);
  error(DiagId::UnexpectedCharacter, span(begin, at), {shown}, [&](DiagnosticBuilder &b) {
    if (c == '!')
      b.fix(FixId::ForeignNot, "write `not `", {{span(begin, at), "not "}});
    else if (c == '#')
      b.fix(startsComment(text.substr(begin)) ? FixId::HashComment : FixId::HashDirective,
            "comments start with `//`", {{span(begin, at), "//"}});
    else if (c == '\'')
      b.help("strings are written between double quotes");
    else if (c == '?')
      b.help("write a choice as `if c { a } else { b }`, or elementwise as `select(c, a, b)`");
  });
  addToken(TokenKind::Invalid, begin, true);
}

} // namespace

TokenList lex(const SourceFile &file, DiagnosticSink &sink) {
  return lex(file.id(), file.text(), sink, true);
}

TokenList lex(FileId file, std::string_view text, DiagnosticSink &sink, bool isFileStart) {
  Lexer lexer(file, text, sink, isFileStart);
  while (true) {
    lexer.lexTrivia();
    if (lexer.done())
      break;
    lexer.lexToken();
  }
  lexer.addToken(TokenKind::EndOfFile, lexer.at);
  return std::move(lexer.out);
}

} // namespace ptl
