// Semantic tokens: full, delta, range. Answers are put together from what is kept per chunk.
#include "lsp/server/handlers.h"
#include "lsp/server/token_state.h"

#include <algorithm>
#include <charconv>

namespace ptl::lsp {

static void addNumber(std::string &text, uint32_t number) {
  char digits[12];
  char *end = std::to_chars(digits + 1, digits + sizeof digits, number).ptr;
  digits[0] = ',';
  text.append(digits, end);
}

static EncodedTokens encode(const Session &session,
                            std::shared_ptr<const ide::ChunkTokens> source) {
  EncodedTokens encoded;
  const SourceFile &file = source->chunk->file;
  uint32_t line = 0, column = 0, byte = 0;
  for (const ide::SemanticToken &token : source->tokens) {
    bool sameLine = token.line == line;
    uint32_t from = sameLine ? byte : file.lineStart(token.line + 1);
    uint32_t gap = session.length(file.text().substr(from, token.begin - from));
    uint32_t start = sameLine ? column + gap : gap;
    uint32_t length = session.length(file.text().substr(token.begin, token.end - token.begin));
    if (&token == &source->tokens.front())
      encoded.firstLine = token.line;
    else
      addNumber(encoded.rest, token.line - line);
    for (uint32_t number : {start - (sameLine ? column : 0), length,
                            static_cast<uint32_t>(token.type), token.modifiers})
      addNumber(encoded.rest, number);
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

using Text = std::vector<uint8_t>;

static void add(Text &text, std::string_view more) {
  text.insert(text.end(), more.begin(), more.end());
}

/// The numbers as a list.
static void addData(Text &text, std::span<const TokenPart> parts) {
  size_t size = 0;
  for (const TokenPart &part : parts)
    size += part.tokens->rest.size() + 8;
  text.reserve(text.size() + size + 64);
  add(text, "[");
  for (const TokenPart &part : parts) {
    if (&part != &parts.front())
      add(text, ",");
    add(text, std::to_string(part.lead + part.tokens->firstLine));
    add(text, part.tokens->rest);
  }
  add(text, "]");
}

static Text beginAnswer(FileTokens &state) {
  Text text;
  add(text, "{\"resultId\":\"" + std::to_string(++state.resultId) + "\",");
  return text;
}

static std::vector<TokenPart> allParts(Session &session, FileTokens &state, ide::File &file) {
  return partsOf(session, state, file, 0, file.document.places().size() - 1);
}

json semanticTokensFull(Session &session, const json &params) {
  ide::File &file = session.file(params);
  FileTokens &state = session.tokens.files[file.path()];
  state.last = allParts(session, state, file);
  Text text = beginAnswer(state);
  add(text, "\"data\":");
  addData(text, state.last);
  add(text, "}");
  return rawJson(std::move(text));
}

static size_t numbersIn(std::span<const TokenPart> parts) {
  size_t count = 0;
  for (const TokenPart &part : parts)
    count += part.tokens->count();
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
  Text text = beginAnswer(state);
  add(text, "\"edits\":[");
  if (!oldPart.empty() || !newPart.empty()) {
    add(text, "{\"start\":" + std::to_string(numbersIn(before.first(head))) +
                  ",\"deleteCount\":" + std::to_string(numbersIn(oldPart)) + ",\"data\":");
    addData(text, newPart);
    add(text, "}");
  }
  add(text, "]}");
  state.last = std::move(parts);
  return rawJson(std::move(text));
}

json semanticTokensRange(Session &session, const json &params) {
  ide::File &file = session.file(params);
  FileTokens &state = session.tokens.files[file.path()];
  ide::Range range = session.range(file, params.at("range"));
  auto parts = partsOf(session, state, file, file.document.placeAt(range.begin),
                       file.document.placeAt(range.end));
  Text text;
  add(text, "{\"data\":");
  addData(text, parts);
  add(text, "}");
  return rawJson(std::move(text));
}

} // namespace ptl::lsp
