// Names and contextual words of a file with what they are, for highlighting. Found per chunk and
// kept: an edit costs the chunks that it touches.
#pragma once

#include "lsp/ide/workspace.h"

#include <unordered_map>

namespace ptl::ide {

/// `FIRST` takes the first row, `X` the others.
#define PTL_TOKEN_TYPES(FIRST, X)                                                                  \
  FIRST(Namespace, "namespace")                                                                    \
  X(Type, "type")                                                                                  \
  X(Struct, "struct")                                                                              \
  X(TypeParameter, "typeParameter")                                                                \
  X(Parameter, "parameter")                                                                        \
  X(Variable, "variable")                                                                          \
  X(Property, "property")                                                                          \
  X(EnumMember, "enumMember")                                                                      \
  X(Event, "event")                                                                                \
  X(Function, "function")                                                                          \
  X(Keyword, "keyword")                                                                            \
  X(Label, "label")                                                                                \
  X(Dimension, "dimension")                                                                        \
  X(Tunable, "tunable")                                                                            \
  X(Place, "place")

#define PTL_TOKEN_MODIFIERS(FIRST, X)                                                              \
  FIRST(Declaration, "declaration")                                                                \
  X(Readonly, "readonly")                                                                          \
  X(Static, "static")                                                                              \
  X(Modification, "modification")                                                                  \
  X(DefaultLibrary, "defaultLibrary")                                                              \
  X(Mutable, "mutable")

enum class TokenType : uint8_t {
#define X(NAME, TEXT) NAME,
  PTL_TOKEN_TYPES(X, X)
#undef X
};
/// Bit numbers.
enum class TokenModifier : uint8_t {
#define X(NAME, TEXT) NAME,
  PTL_TOKEN_MODIFIERS(X, X)
#undef X
};
std::string_view name(TokenType type);
std::string_view name(TokenModifier modifier);

struct SemanticToken {
  uint32_t line = 0;  ///< in the chunk, from 0
  uint32_t begin = 0; ///< byte in the chunk
  uint32_t end = 0;
  TokenType type = TokenType::Variable;
  uint32_t modifiers = 0; ///< bits of `TokenModifier`
};

/// Those of one chunk, by position. Immutable.
struct ChunkTokens {
  std::shared_ptr<const Chunk> chunk;
  std::vector<SemanticToken> tokens;
};

/// The tokens of one file by chunk.
class TokenCache {
public:
  /// One entry per place from `first` to `last`.
  std::vector<std::shared_ptr<const ChunkTokens>> tokens(const File &file, size_t first,
                                                         size_t last);

private:
  uint64_t names_ = 0; ///< hash of what names could mean
  std::unordered_map<FileId, std::shared_ptr<const ChunkTokens>> chunks_;
};

} // namespace ptl::ide
