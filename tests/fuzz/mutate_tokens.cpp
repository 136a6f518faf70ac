// Mutations of programs by token instead of by byte, for the targets behind the lexer: words are
// removed, doubled, swapped and replaced; line ends, comments and brackets come and go. Every other
// mutation is libFuzzer's own.
#include "frontend/lex/lexer.h"
#include "tests/fuzz/fuzz_input.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

using namespace ptl;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

const char *const kPieces[] = {
    "\n",      " ",        "// c\n",  "/* c */", "/* a\n b */", "/// d\n", ";",      ",",
    "(",       ")",        "[",       "]",       "{",           "}",       "\n\n",   "\t",
    "\r\n",    "..",       ":",       "@",       "-",           "not ",    " else ", " if ",
    " inout ", " static ", " where ", " on ",    " tune ",      " -> ",    " = ",    "\n    ",
    " at ",    " @mat ",   " step ",  " as ",    "atomic ",     "1.5",     "x",      "\"t\"",
};

/// The file cut into tokens and trivia.
std::vector<std::string> piecesOf(const SourceFile &file) {
  DiagnosticSink sink;
  TokenList list = lex(file, sink);
  std::vector<std::string> pieces;
  auto add = [&](uint32_t begin, uint32_t end) {
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
  case 1:
    pieces.insert(here, pieces[index()]);
    break;
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
    pieces.insert(here, kPieces[random() % std::size(kPieces)]);
    break;
  }
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::vector<std::string> pieces = piecesOf(fuzz::inputFile(data, size));
  for (unsigned count = 1 + random() % 4; count > 0 && !pieces.empty(); --count)
    mutateOnce(pieces, random);
  std::string text;
  for (const std::string &piece : pieces)
    text += piece;
  size_t length = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), length);
  return length;
}
