// The words of the language, as the editor explains them (words.def).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ptl::ide {

enum class WordGroup : uint8_t {
  Declaration, ///< begins a declaration
  Statement,   ///< begins a statement
  Clause,      ///< stands inside declarations and statements
  Expression,
  Schedule, ///< begins a line of a schedule
  Place,
  Layout,
  Core,
  Pipe,       ///< of every core
  CubePipe,   ///< of `aic`
  VectorPipe, ///< of `aiv`
  Level,
  Constraint ///< kinds of element types
};

struct Word {
  WordGroup group;
  std::string_view text;
  std::string_view help; ///< one line, Markdown
};

std::span<const Word> allWords();
/// The word as a part of the language, without names of hardware; null if there is none.
const Word *findWord(std::string_view text);
/// The word of one group.
const Word *findWord(std::string_view text, WordGroup group);
/// Whether words of the group (names of hardware, constraints) are used where a name is expected.
bool isNameWord(WordGroup group);

} // namespace ptl::ide
