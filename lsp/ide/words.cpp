#include "lsp/ide/words.h"

namespace ptl::ide {

static constexpr Word kWords[] = {
#define WORD(GROUP, SPELLING, HELP) {WordGroup::GROUP, SPELLING, HELP},
#include "lsp/ide/words.def"
};

std::span<const Word> allWords() { return kWords; }

bool isNameWord(WordGroup group) { return group >= WordGroup::Place; }

const Word *findWord(std::string_view text) {
  for (const Word &word : kWords)
    if (!isNameWord(word.group) && word.text == text)
      return &word;
  return nullptr;
}

const Word *findWord(std::string_view text, WordGroup group) {
  for (const Word &word : kWords)
    if (word.group == group && word.text == text)
      return &word;
  return nullptr;
}

} // namespace ptl::ide
