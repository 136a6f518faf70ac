// Inlay hints. An answer about thousands of lines is put together from texts that are kept with the
// chunks; what a hint leads to is said when it is resolved.
#include "lsp/ide/inlay_hints.h"
#include "lsp/server/cost.h"
#include "lsp/server/feasibility.h"
#include "lsp/server/handlers.h"
#include "lsp/server/placed_text.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace ptl::lsp {

namespace {

/// The hints of one chunk as JSON, in order.
struct ChunkHints {
  // For what they were made.
  std::weak_ptr<const ChunkCheck> check;
  ide::HintOptions options;

  PlacedText text;
  struct Item {
    uint32_t offset;    ///< of the hint, in the chunk
    uint32_t textBegin; ///< in `text`, behind the comma
  };
  std::vector<Item> items;
  bool leadsAway = false; ///< into other chunks, which move apart from this one
};

/// The hints that are cached with a chunk, for the last settings.
struct KeptHints {
  mutable ChunkHints hints;
};

template <typename T>
bool areSame(const std::weak_ptr<const T> &a, const std::shared_ptr<const T> &b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

/// Parts that lead nowhere are one with those beside them.
std::vector<ide::LabelPart> joinedParts(const std::vector<ide::LabelPart> &parts) {
  std::vector<ide::LabelPart> all;
  for (const ide::LabelPart &part : parts)
    if (!all.empty() && !part.definition.file && !all.back().definition.file)
      all.back().text += part.text;
    else
      all.push_back(part);
  return all;
}

struct HintWriter {
  const Session &session;
  const ide::Chunk &chunk;
  ChunkHints &out;
  const std::string uri; ///< of the file

  ide::LineByte positionOf(uint32_t offset) const { return ide::lineByteOf(chunk.file, offset); }
  void location(Span definition);
  void label(const ide::InlayHint &hint);
  void item(const ide::InlayHint &hint);
};

} // namespace

void HintWriter::location(Span definition) {
  std::string &text = out.text.text;
  if (definition.file == chunk.id()) {
    text += ",\"location\":{\"uri\":" + jsonText(uri) + ",\"range\":";
    out.text.range(session, chunk, positionOf(definition.begin), positionOf(definition.end));
    text += '}';
  } else if (ide::Location location = session.workspace.locate(definition)) {
    text += ",\"location\":" + session.location(location).dump();
    out.leadsAway = true;
  }
}

void HintWriter::label(const ide::InlayHint &hint) {
  std::vector<ide::LabelPart> parts = joinedParts(hint.label);
  std::string &text = out.text.text;
  if (parts.size() == 1 && !parts.front().definition.file) {
    text += jsonText(parts.front().text);
    return;
  }
  char separator = '[';
  for (const ide::LabelPart &part : parts) {
    text += separator;
    text += "{\"value\":" + jsonText(part.text);
    if (part.definition.file && !session.client.resolvesHintLocations)
      location(part.definition);
    text += '}';
    separator = ',';
  }
  text += ']';
}

void HintWriter::item(const ide::InlayHint &hint) {
  std::string &text = out.text.text;
  if (!out.items.empty())
    text += ',';
  out.items.push_back({hint.offset, static_cast<uint32_t>(text.size())});
  text += "{\"position\":";
  out.text.position(session, chunk, positionOf(hint.offset));
  text += ",\"label\":";
  label(hint);
  text += hint.kind == ide::HintKind::Parameter ? ",\"kind\":2" : ",\"kind\":1";
  text += ",\"data\":[";
  for (uint32_t number : {chunk.id(), ide::textHash(chunk), hint.offset})
    text += std::to_string(number) + ",";
  text += std::to_string(static_cast<int>(hint.kind)) + "]}";
}

static const ChunkHints &hintsOf(Session &session, ide::File &file, size_t index,
                                 const ide::HintOptions &options) {
  session.workspace.check(file, index);
  const ide::Place &place = file.document.places()[index];
  ChunkHints &kept = place.chunk->memo.get<KeptHints>([] { return KeptHints(); }).hints;
  if (!kept.leadsAway && areSame(kept.check, place.check) && kept.options == options)
    return kept;
  kept = {place.check, options, {}, {}, false};
  HintWriter writer{session, *place.chunk, kept, Session::uri(file.path())};
  for (const ide::InlayHint &hint : ide::chunkHints(session.workspace, file, index, options))
    writer.item(hint);
  return kept;
}

/// The items from `first` to before `last`.
static std::string textOf(const ChunkHints &hints, size_t first, size_t last, uint32_t line) {
  if (first == last)
    return "";
  bool isAtEnd = last == hints.items.size();
  size_t end = isAtEnd ? hints.text.text.size() : hints.items[last].textBegin - 1;
  return hints.text.part(hints.items[first].textBegin, end, line);
}

json inlayHints(Session &session, const json &params) {
  ide::File &file = session.file(params);
  const Settings &settings = session.settings;
  ide::HintOptions options{settings.typeHints, settings.capacityHints, settings.parameterHints};
  ide::Range range = session.range(file, params.at("range"));
  // `parts` points to these texts, which therefore may not move.
  std::deque<std::string> cut;
  std::vector<const std::string *> parts;
  size_t last = file.document.placeAt(range.end);
  for (size_t i = file.document.placeAt(range.begin); i <= last; ++i) {
    const ChunkHints &hints = hintsOf(session, file, i, options);
    const ide::Place &place = file.document.places()[i];
    auto isBefore = [&](const ChunkHints::Item &item) {
      return place.begin + item.offset < range.begin;
    };
    auto isWithin = [&](const ChunkHints::Item &item) {
      return place.begin + item.offset <= range.end;
    };
    auto begin = std::partition_point(hints.items.begin(), hints.items.end(), isBefore);
    auto end = std::partition_point(begin, hints.items.end(), isWithin);
    // All hints of the chunk lie in the range, and their text is kept ready.
    if (begin == hints.items.begin() && end == hints.items.end()) {
      parts.push_back(&hints.text.at(place.line));
      continue;
    }
    cut.push_back(textOf(hints, static_cast<size_t>(begin - hints.items.begin()),
                         static_cast<size_t>(end - hints.items.begin()), place.line));
    parts.push_back(&cut.back());
  }
  if (settings.costHints && !settings.targets.empty()) {
    LineHints lines;
    addCostHints(session, file, range, lines);
    addPartHints(session, file, range, lines);
    cut.push_back(lines.text(session, file));
    parts.push_back(&cut.back());
  }
  return rawArray(parts);
}

// ---- Resolving ----------------------------------------------------------------------------------

namespace {
/// The hint that the data of an item means.
struct MeantHint {
  ide::File &file;
  uint32_t offset; ///< in the file, now
  ide::HintKind kind;
};
} // namespace

/// Returns nothing when the chunk has another text now.
static std::optional<MeantHint> meantHint(Session &session, const json &data) {
  FileId id = data.at(0).get<FileId>();
  uint32_t hash = data.at(1).get<uint32_t>(), offset = data.at(2).get<uint32_t>();
  int kind = data.at(3).get<int>();
  ide::Location location = session.workspace.locate({id, offset, offset});
  ide::File *file = location ? session.workspace.find(location.file->path()) : nullptr;
  const ide::Place *place = file ? file->document.placeOf(id) : nullptr;
  if (!place || ide::textHash(*place->chunk) != hash || offset > place->chunk->size() || kind < 0 ||
      kind > static_cast<int>(ide::HintKind::Parameter))
    return std::nullopt;
  return MeantHint{*file, location.range.begin, static_cast<ide::HintKind>(kind)};
}

static json labelJson(const Session &session, const std::vector<ide::LabelPart> &label) {
  std::vector<ide::LabelPart> parts = joinedParts(label);
  if (parts.size() == 1 && !parts.front().definition.file)
    return parts.front().text;
  json list = json::array();
  for (const ide::LabelPart &part : parts) {
    json each = {{"value", part.text}};
    if (part.definition.file)
      if (ide::Location location = session.workspace.locate(part.definition))
        each["location"] = session.location(location);
    list.push_back(std::move(each));
  }
  return list;
}

json resolveInlayHint(Session &session, const json &params) {
  json hint = params;
  if (!params.contains("data")) // of costs: nothing is left to be said
    return hint;
  auto meant = meantHint(session, params.at("data"));
  auto details = meant
                     ? ide::hintDetails(session.workspace, meant->file, meant->offset, meant->kind)
                     : std::nullopt;
  if (!details)
    return hint;
  hint["label"] = labelJson(session, details->label);
  if (!details->tooltip.empty())
    hint["tooltip"] = session.markup(details->tooltip);
  if (details->insertion)
    hint["textEdits"] = json::array(
        {{{"range", session.range(meant->file, ide::Range{meant->offset, meant->offset})},
          {"newText", *details->insertion}}});
  return hint;
}

} // namespace ptl::lsp
