// What is kept between requests for semantic tokens.
#pragma once

#include "lsp/ide/semantic_tokens.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
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

/// The tokens of a chunk as the protocol has them, five numbers each, as JSON. The first number is
/// apart: it counts lines from whatever stands before the chunk.
struct EncodedTokens {
  std::shared_ptr<const ide::ChunkTokens> source;
  uint32_t firstLine = 0; ///< of the first token, in the chunk
  uint32_t lastLine = 0;  ///< of the last one
  std::string rest;       ///< `,4,3,9,0,…`
  size_t count() const { return source->tokens.size() * 5; }
};

/// Tokens in an answer: those of a chunk, the first of them so many lines behind the token before.
struct TokenPart {
  std::shared_ptr<const EncodedTokens> tokens;
  uint32_t lead = 0;
  bool operator==(const TokenPart &) const = default;
};

struct FileTokens {
  ide::TokenCache cache;
  std::unordered_map<FileId, std::shared_ptr<const EncodedTokens>> encoded;
  std::vector<TokenPart> last; ///< the last answer about the whole file
  uint64_t resultId = 0;       ///< of that answer
};

/// By path.
struct TokenState {
  std::map<std::string, FileTokens> files;
};

} // namespace ptl::lsp
