// The state that is kept between requests for semantic tokens.
#pragma once

#include "lsp/ide/semantic_tokens.h"

#include <map>
#include <string>
#include <vector>

// The names of types and modifiers as JSON, in order.
#define PTL_FIRST_NAME(NAME, TEXT) "\"" TEXT "\""
#define PTL_NEXT_NAME(NAME, TEXT) ",\"" TEXT "\""
#define PTL_TOKEN_LEGEND                                                                           \
  "{\"tokenTypes\":[" PTL_TOKEN_TYPES(PTL_FIRST_NAME,                                              \
                                      PTL_NEXT_NAME) "],"                                          \
                                                     "\"tokenModifiers\":[" PTL_TOKEN_MODIFIERS(   \
                                                         PTL_FIRST_NAME, PTL_NEXT_NAME) "]}"

namespace ptl::lsp {

/// A part of an answer: the tokens of one chunk, and the number of lines from the token before it
/// to the first of them.
struct TokenPart {
  uint64_t serial = 0; ///< of these tokens, in this process
  uint32_t lead = 0;
  uint32_t count = 0; ///< of numbers
  bool operator==(const TokenPart &) const = default;
};

struct FileTokens {
  std::vector<TokenPart> last; ///< the last answer about the whole file
  uint64_t resultId = 0;       ///< of that answer
};

struct TokenState {
  std::map<std::string, FileTokens> files; ///< by path
  uint64_t lastSerial = 0;
};

} // namespace ptl::lsp
