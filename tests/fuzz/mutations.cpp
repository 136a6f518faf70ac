#include "tests/fuzz/mutations.h"

#include "frontend/lex/lexer.h"

#include <algorithm>

namespace ptl::fuzz {

namespace {

const char *const kPieces[] = {
    "\n",      " ",        "// c\n",  "/* c */", "/* a\n b */", "/// d\n", ";",      ",",
    "(",       ")",        "[",       "]",       "{",           "}",       "\n\n",   "\t",
    "\r\n",    "..",       ":",       "@",       "-",           "not ",    " else ", " if ",
    " inout ", " static ", " where ", " on ",    " tune ",      " -> ",    " = ",    "\n    ",
    " at ",    " @mat ",   " step ",  " as ",    "atomic ",     "1.5",     "x",      "\"t\"",
};

const char *const kNumbers[] = {"0",    "1",    "2",     "3",          "5",
                                "16",   "17",   "64",    "100",        "1000",
                                "4096", "8191", "65536", "2147483648", "9223372036854775807"};

const char *const kWords[] = {"max", "min",  "sum", "exp", "prod", "cumsum", "sort",
                              "abs", "mean", "f16", "f32", "i32",  "int",    "bool"};

bool isNumber(const std::string &piece) { return piece[0] >= '0' && piece[0] <= '9'; }
bool isName(const std::string &piece) {
  return piece[0] == '_' || (piece[0] >= 'a' && piece[0] <= 'z') ||
         (piece[0] >= 'A' && piece[0] <= 'Z');
}

template <size_t N> const char *anyOf(const char *const (&list)[N], std::minstd_rand &random) {
  return list[random() % N];
}

/// The pieces of the line around one: its first, and one past its end.
std::pair<size_t, size_t> lineAround(const std::vector<std::string> &pieces, size_t at) {
  auto endsLine = [&](size_t i) { return pieces[i].find('\n') != std::string::npos; };
  size_t begin = at, end = at;
  while (begin > 0 && !endsLine(begin - 1))
    --begin;
  while (end < pieces.size() && !endsLine(end))
    ++end;
  return {begin, std::min(end + 1, pieces.size())};
}

void mutateLine(std::vector<std::string> &pieces, std::minstd_rand &random) {
  auto [begin, end] = lineAround(pieces, random() % pieces.size());
  std::vector<std::string> line(pieces.begin() + static_cast<std::ptrdiff_t>(begin),
                                pieces.begin() + static_cast<std::ptrdiff_t>(end));
  if (random() % 2)
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(begin),
                 pieces.begin() + static_cast<std::ptrdiff_t>(end));
  if (pieces.empty() || random() % 3 == 0)
    return;
  size_t to = lineAround(pieces, random() % pieces.size()).first;
  pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(to), line.begin(), line.end());
}

} // namespace

std::vector<std::string> piecesOf(const SourceFile &file) {
  DiagnosticSink sink;
  TokenList list = lex(file, sink);
  std::vector<std::string> pieces;
  auto add = [&](uint32_t begin, uint32_t end) {
    if (end > begin)
      pieces.emplace_back(file.text().substr(begin, end - begin));
  };
  size_t trivia = 0;
  for (size_t i = 0; i < list.tokens.size(); ++i) {
    size_t end = i + 1 < list.tokens.size() ? list.tokens[i + 1].firstTrivia : list.trivia.size();
    for (; trivia < end; ++trivia)
      add(list.trivia[trivia].begin, list.trivia[trivia].end);
    add(list.tokens[i].begin, list.tokens[i].end);
  }
  return pieces;
}

void mutateOnce(std::vector<std::string> &pieces, std::minstd_rand &random) {
  auto index = [&] { return random() % pieces.size(); };
  size_t at = index();
  auto here = pieces.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 6) {
  case 0:
    pieces.erase(here);
    break;
  case 1: {
    std::string copy = pieces[index()];
    pieces.insert(here, std::move(copy));
    break;
  }
  case 2:
    std::swap(pieces[at], pieces[index()]);
    break;
  case 3: {
    // A stretch of the program moves or is doubled.
    size_t length = std::min<size_t>(random() % 40, pieces.size() - at);
    std::vector<std::string> stretch(here, here + static_cast<std::ptrdiff_t>(length));
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(index()), stretch.begin(),
                  stretch.end());
    break;
  }
  default:
    pieces.insert(here, anyOf(kPieces, random));
    break;
  }
}

void mutateGently(std::vector<std::string> &pieces, std::minstd_rand &random) {
  auto pick = [&](bool (*isWanted)(const std::string &)) -> std::string * {
    std::vector<std::string *> found;
    for (std::string &piece : pieces)
      if (isWanted(piece))
        found.push_back(&piece);
    return found.empty() ? nullptr : found[random() % found.size()];
  };
  switch (random() % 8) {
  case 0:
  case 1:
    if (std::string *number = pick(isNumber))
      *number = anyOf(kNumbers, random);
    break;
  case 2:
  case 3:
    if (std::string *name = pick(isName))
      *name = *pick(isName);
    break;
  case 4:
    if (std::string *name = pick(isName))
      *name = anyOf(kWords, random);
    break;
  case 5:
  case 6:
    mutateLine(pieces, random);
    break;
  default:
    mutateOnce(pieces, random);
    break;
  }
}

} // namespace ptl::fuzz
