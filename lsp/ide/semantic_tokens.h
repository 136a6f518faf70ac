// Classifies the names and contextual words of a file, for highlighting.
#pragma once

#include "lsp/ide/workspace.h"

#include <string_view>
#include <vector>

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

/// The tokens of one chunk, by position.
std::vector<SemanticToken> semanticTokens(const File &file, const Chunk &chunk);
/// A hash of everything outside a chunk that the meaning of its names depends on. While it stays
/// the same, unchanged chunks keep their tokens.
uint64_t meaningOfNames(File &file);

} // namespace ptl::ide
