// Semantic tokens: full, delta, range. Answers are put together from what is kept per chunk.
#include "frontend/base/changed_part.h"
#include "lsp/server/handlers.h"
#include "lsp/server/token_state.h"

#include <algorithm>
#include <charconv>

namespace ptl::lsp {

namespace {

/// The tokens of a chunk as the protocol has them, five numbers each, as JSON. The first number is
/// apart: it counts lines from whatever stands before the chunk.
struct EncodedTokens {
  uint64_t meaning = 0;   ///< of the names outside, for which it is true
  uint64_t serial = 0;    ///< 0: of nothing yet
  uint32_t count = 0;     ///< of numbers
  uint32_t firstLine = 0; ///< of the first token, in the chunk
  uint32_t lastLine = 0;  ///< of the last one
  std::string rest;       ///< `,4,3,9,0,…`
};

struct KeptTokens {
  mutable EncodedTokens tokens;
};

/// Tokens of several chunks, to be written.
struct Parts {
  std::vector<TokenPart> parts;
  std::vector<const EncodedTokens *> tokens; ///< of each part; until the next edit
};

} // namespace

static void addNumber(std::string &text, uint32_t number) {
  char digits[12];
  char *end = std::to_chars(digits + 1, digits + sizeof digits, number).ptr;
  digits[0] = ',';
  text.append(digits, end);
}

static EncodedTokens encode(const Session &session, const ide::File &of, const ide::Chunk &chunk) {
  EncodedTokens encoded;
  const SourceFile &file = chunk.file;
  uint32_t line = 0, column = 0, byte = 0;
  for (const ide::SemanticToken &token : ide::semanticTokens(of, chunk)) {
    bool sameLine = token.line == line;
    uint32_t from = sameLine ? byte : file.lineStart(token.line + 1);
    uint32_t gap = session.length(file.text().substr(from, token.begin - from));
    uint32_t start = sameLine ? column + gap : gap;
    uint32_t length = session.length(file.text().substr(token.begin, token.end - token.begin));
    if (encoded.count == 0)
      encoded.firstLine = token.line;
    else
      addNumber(encoded.rest, token.line - line);
    for (uint32_t number : {start - (sameLine ? column : 0), length,
                            static_cast<uint32_t>(token.type), token.modifiers})
      addNumber(encoded.rest, number);
    encoded.count += 5;
    line = token.line, column = start, byte = token.begin;
  }
  encoded.lastLine = line;
  return encoded;
}

static const EncodedTokens &tokensOf(Session &session, const ide::File &file,
                                     const ide::Chunk &chunk, uint64_t meaning) {
  EncodedTokens &kept = chunk.memo.get<KeptTokens>([] { return KeptTokens(); }).tokens;
  if (kept.serial && kept.meaning == meaning)
    return kept;
  EncodedTokens now = encode(session, file, chunk);
  // Most names mean what they did: what the client has stays good.
  bool isSame = kept.serial && kept.rest == now.rest && kept.firstLine == now.firstLine;
  now.serial = isSame ? kept.serial : ++session.tokens.lastSerial;
  now.meaning = meaning;
  return kept = std::move(now);
}

/// The tokens of the places from `first` to `last`.
static Parts partsOf(Session &session, ide::File &file, size_t first, size_t last) {
  auto places = file.document.places();
  uint64_t meaning = ide::meaningOfNames(file);
  Parts all;
  all.parts.reserve(last - first + 1);
  all.tokens.reserve(last - first + 1);
  uint32_t line = 0; // of the last token
  for (size_t i = first; i <= last; ++i) {
    const ide::Place &place = places[i];
    const EncodedTokens &tokens = tokensOf(session, file, *place.chunk, meaning);
    if (tokens.count == 0)
      continue;
    all.parts.push_back({tokens.serial, place.line - line, tokens.count});
    all.tokens.push_back(&tokens);
    line = place.line + tokens.lastLine;
  }
  return all;
}

/// The numbers of the parts from `first` to before `last` as a list.
static void addData(RawText &text, const Parts &all, size_t first, size_t last) {
  size_t size = 64;
  for (size_t i = first; i < last; ++i)
    size += all.tokens[i]->rest.size() + 8;
  text.reserve(text.size() + size);
  std::string lead;
  for (size_t i = first; i < last; ++i) {
    lead.clear();
    addNumber(lead, all.parts[i].lead + all.tokens[i]->firstLine);
    lead[0] = i == first ? '[' : ',';
    add(text, lead);
    add(text, all.tokens[i]->rest);
  }
  add(text, first == last ? "[]" : "]");
}

static RawText beginAnswer(FileTokens &state) {
  RawText text;
  add(text, "{\"resultId\":\"" + std::to_string(++state.resultId) + "\",");
  return text;
}

static Parts allParts(Session &session, ide::File &file) {
  return partsOf(session, file, 0, file.document.places().size() - 1);
}

json semanticTokensFull(Session &session, const json &params) {
  ide::File &file = session.file(params);
  FileTokens &state = session.tokens.files[file.path()];
  Parts all = allParts(session, file);
  RawText text = beginAnswer(state);
  add(text, "\"data\":");
  addData(text, all, 0, all.parts.size());
  add(text, "}");
  state.last = std::move(all.parts);
  return rawJson(std::move(text));
}

static size_t numbersIn(std::span<const TokenPart> parts) {
  size_t count = 0;
  for (const TokenPart &part : parts)
    count += part.count;
  return count;
}

json semanticTokensDelta(Session &session, const json &params) {
  ide::File &file = session.file(params);
  FileTokens &state = session.tokens.files[file.path()];
  if (!state.resultId || params.at("previousResultId") != std::to_string(state.resultId))
    return semanticTokensFull(session, params);
  Parts all = allParts(session, file);
  std::span<const TokenPart> before = state.last, after = all.parts;
  ChangedPart changed = changedPart(before, after);
  RawText text = beginAnswer(state);
  add(text, "\"edits\":[");
  if (!changed.isEmpty()) {
    auto replaced = before.subspan(changed.begin, changed.oldEnd - changed.begin);
    add(text, "{\"start\":" + std::to_string(numbersIn(before.first(changed.begin))) +
                  ",\"deleteCount\":" + std::to_string(numbersIn(replaced)) + ",\"data\":");
    addData(text, all, changed.begin, changed.newEnd);
    add(text, "}");
  }
  add(text, "]}");
  state.last = std::move(all.parts);
  return rawJson(std::move(text));
}

json semanticTokensRange(Session &session, const json &params) {
  ide::File &file = session.file(params);
  ide::Range range = session.range(file, params.at("range"));
  Parts all =
      partsOf(session, file, file.document.placeAt(range.begin), file.document.placeAt(range.end));
  RawText text;
  add(text, "{\"data\":");
  addData(text, all, 0, all.parts.size());
  add(text, "}");
  return rawJson(std::move(text));
}

} // namespace ptl::lsp
