// Determines what kind of thing may be typed at a place from the tokens before it, so that it works
// on incomplete text.
#pragma once

#include "lsp/ide/chunk.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::ide {

enum class Site : uint8_t {
  Nothing,         ///< a new name, a number, a comment
  Declaration,     ///< the beginning of a declaration
  DeclarationWord, ///< after `pub`, `manual`, `extern`
  Statement,       ///< the beginning of one; an expression too
  Expression,
  Argument, ///< of a call, at its beginning: an expression, or the name of a parameter
  Member,   ///< after a dot; `target` is the token before it
  Tag,      ///< after a dot without a value before it
  Type,     ///< of a parameter, field, result, binding
  Place,
  Layout,
  Header,     ///< between the parts of a declaration's head
  Constraint, ///< `T: float`
  Core,
  Unit, ///< of an event: a pipe, or a core before the dot
  Machine,
  Level,
  LoopWord, ///< behind the domain of a loop
  Operator, ///< behind a value
  ImportPath,
  ImportFile, ///< inside the text of an import
  ImportName,
  ScheduleTarget,
  ScheduleWord, ///< behind the target of a schedule
  ScheduleItem,
};

struct CompletionContext {
  Site site = Site::Nothing;
  std::string prefix; ///< of the word that is being written
  uint32_t begin = 0; ///< bytes of that word in the chunk
  uint32_t end = 0;
  std::optional<TokenIndex> before; ///< the token before the word
  TokenIndex target = 0;            ///< see `Site::Member`
  TokenIndex head = 0;              ///< keyword of the declaration around, if there is one
  /// the name that the statement binds, which is not visible in its value
  TokenIndex binding = 0;
  bool isFollowedByParen = false;
};

CompletionContext completionContext(const Chunk &chunk, uint32_t offset);

} // namespace ptl::ide
