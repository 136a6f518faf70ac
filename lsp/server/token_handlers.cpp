// Semantic tokens: full, delta, range. Answers are put together from what is kept per chunk.
#include "lsp/server/handlers.h"
#include "lsp/server/token_state.h"

#include <algorithm>

namespace ptl::lsp {

static EncodedTokens encode(const Session &session,
                            std::shared_ptr<const ide::ChunkTokens> source) {
  EncodedTokens encoded;
  const SourceFile &file = source->chunk->file;
  encoded.data.reserve(source->tokens.size() * 5);
  uint32_t line = 0, column = 0, byte = 0;
  for (const ide::SemanticToken &token : source->tokens) {
    bool sameLine = token.line == line;
    uint32_t from = sameLine ? byte : file.lineStart(token.line + 1);
    uint32_t gap = session.length(file.text().substr(from, token.begin - from));
    uint32_t start = sameLine ? column + gap : gap;
    uint32_t length = session.length(file.text().substr(token.begin, token.end - token.begin));
    encoded.data.insert(encoded.data.end(),
                        {token.line - line, start - (sameLine ? column : 0), length,
                         static_cast<uint32_t>(token.type), token.modifiers});
    line = token.line, column = start, byte = token.begin;
  }
  encoded.lastLine = line;
  encoded.source = std::move(source);
  return encoded;
}

/// The tokens of the places from `first` to `last`.
static std::vector<TokenPart> partsOf(const Session &session, FileTokens &state,
                                      const ide::File &file, size_t first, size_t last) {
  auto places = file.document.places();
  if (state.encoded.size() > 2 * places.size() + 64)
    state.encoded.clear();
  std::vector<TokenPart> parts;
  uint32_t line = 0; // of the last token
  size_t i = first;
  for (auto &source : state.cache.tokens(file, first, last)) {
    const ide::Place &place = places[i++];
    if (source->tokens.empty())
      continue;
    auto &slot = state.encoded[place.chunk->id()];
    if (!slot || slot->source != source)
      slot = std::make_shared<EncodedTokens>(encode(session, source));
    parts.push_back({slot, place.line - line});
    line = place.line + slot->lastLine;
  }
  return parts;
}

static json::array_t dataOf(std::span<const TokenPart> parts) {
  json::array_t data;
  size_t size = 0;
  for (const TokenPart &part : parts)
    size += part.tokens->data.size();
  data.reserve(size);
  for (const TokenPart &part : parts) {
    size_t first = data.size();
    for (uint32_t number : part.tokens->data)
      data.emplace_back(number);
    data[first] = part.lead + part.tokens->data.front();
  }
  return data;
}

static json remember(FileTokens &state, std::vector<TokenPart> parts) {
  state.last = std::move(parts);
  return std::to_string(++state.resultId);
}

static std::vector<TokenPart> allParts(Session &session, FileTokens &state, ide::File &file) {
  return partsOf(session, state, file, 0, file.document.places().size() - 1);
}

json semanticTokensFull(Session &session, const json &params) {
  ide::File &file = session.file(params);
  FileTokens &state = session.tokens.files[file.path()];
  auto parts = allParts(session, state, file);
  json data = dataOf(parts);
  return {{"resultId", remember(state, std::move(parts))}, {"data", std::move(data)}};
}

static size_t numbersIn(std::span<const TokenPart> parts) {
  size_t count = 0;
  for (const TokenPart &part : parts)
    count += part.tokens->data.size();
  return count;
}

json semanticTokensDelta(Session &session, const json &params) {
  ide::File &file = session.file(params);
  FileTokens &state = session.tokens.files[file.path()];
  if (!state.resultId || params.at("previousResultId") != std::to_string(state.resultId))
    return semanticTokensFull(session, params);
  std::vector<TokenPart> parts = allParts(session, state, file);
  std::span<const TokenPart> before = state.last, after = parts;
  size_t head = 0, shorter = std::min(before.size(), after.size());
  while (head < shorter && before[head] == after[head])
    ++head;
  size_t tail = 0;
  while (tail < shorter - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  auto oldPart = before.subspan(head, before.size() - tail - head);
  auto newPart = after.subspan(head, after.size() - tail - head);
  json edits = json::array();
  if (!oldPart.empty() || !newPart.empty())
    edits.push_back({{"start", numbersIn(before.first(head))},
                     {"deleteCount", numbersIn(oldPart)},
                     {"data", dataOf(newPart)}});
  return {{"resultId", remember(state, std::move(parts))}, {"edits", std::move(edits)}};
}

json semanticTokensRange(Session &session, const json &params) {
  ide::File &file = session.file(params);
  FileTokens &state = session.tokens.files[file.path()];
  ide::Range range = session.range(file, params.at("range"));
  auto parts = partsOf(session, state, file, file.document.placeAt(range.begin),
                       file.document.placeAt(range.end));
  return {{"data", dataOf(parts)}};
}

} // namespace ptl::lsp
