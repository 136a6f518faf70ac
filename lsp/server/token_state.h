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

/// The tokens of a chunk as the protocol has them, five numbers each. The first one's line counts
/// from the beginning of the chunk.
struct EncodedTokens {
  std::shared_ptr<const ide::ChunkTokens> source;
  std::vector<uint32_t> data;
  uint32_t lastLine = 0; ///< of the last token, in the chunk
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
