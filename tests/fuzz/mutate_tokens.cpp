// Mutations of programs by token instead of by byte, for the targets behind the lexer (see
// mutations.h). Every eighth is libFuzzer's own.
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/mutations.h"

#include <algorithm>
#include <cstring>

using namespace ptl;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::vector<std::string> pieces = fuzz::piecesOf(fuzz::inputFile(data, size));
  bool isGentle = random() % 2;
  for (unsigned count = 1 + random() % 4; count > 0 && !pieces.empty(); --count)
    (isGentle ? fuzz::mutateGently : fuzz::mutateOnce)(pieces, random);
  std::string text;
  for (const std::string &piece : pieces)
    text += piece;
  size_t length = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), length);
  return length;
}
