// Symbols of one document and of the workspace.
#include "lsp/ide/symbols.h"
#include "lsp/server/handlers.h"

namespace ptl::lsp {

/// The protocol's `SymbolKind` of a declaration.
static int kindOf(ide::OutlineKind kind) {
  switch (kind) {
  case ide::OutlineKind::Fn:
  case ide::OutlineKind::Kernel:
  case ide::OutlineKind::Program:
    return 12; // Function
  case ide::OutlineKind::Struct:
    return 23;
  case ide::OutlineKind::Field:
    return 8;
  case ide::OutlineKind::Alias:
    return 11; // Interface
  case ide::OutlineKind::Const:
    return 14;
  case ide::OutlineKind::Schedule:
    return 19; // Object
  case ide::OutlineKind::Test:
    return 6; // Method
  case ide::OutlineKind::Let:
  case ide::OutlineKind::Var:
    return 13; // Variable
  case ide::OutlineKind::Task:
    return 3; // Namespace
  }
  return 13;
}

namespace {

/// The symbols of one chunk as JSON, but for the numbers of its lines.
struct SymbolText {
  std::string text;
  struct Hole {
    uint32_t at;   ///< in `text`: the number goes before it
    uint32_t line; ///< in the chunk
  };
  std::vector<Hole> holes;

  // The whole text where the chunk stood last: most edits move no lines.
  mutable std::string placed;
  mutable uint32_t placedAt = ~0u;

  const std::string &at(uint32_t line) const;
};

struct SymbolWriter {
  const Session &session;
  const ide::Chunk &chunk;
  SymbolText out;

  void position(ide::LineByte position);
  void range(ide::LineByte begin, ide::LineByte end);
  void item(const ide::OutlineItem &item);
  void all();
};

} // namespace

void SymbolWriter::position(ide::LineByte position) {
  std::string_view line = chunk.file.line(position.line + 1);
  out.text += "{\"line\":";
  out.holes.push_back({static_cast<uint32_t>(out.text.size()), position.line});
  out.text += ",\"character\":";
  out.text += std::to_string(session.length(line.substr(0, position.byte)));
  out.text += '}';
}

void SymbolWriter::range(ide::LineByte begin, ide::LineByte end) {
  out.text += "{\"start\":";
  position(begin);
  out.text += ",\"end\":";
  position(end);
  out.text += '}';
}

static std::string jsonText(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

void SymbolWriter::item(const ide::OutlineItem &item) {
  out.text += "{\"name\":" + jsonText(item.name);
  if (!item.detail.empty())
    out.text += ",\"detail\":" + jsonText(item.detail);
  out.text += ",\"kind\":" + std::to_string(kindOf(item.kind)) + ",\"range\":";
  range(item.begin, item.end);
  out.text += ",\"selectionRange\":";
  range(item.selectionBegin, item.selectionEnd);
}

void SymbolWriter::all() {
  bool isFirst = true, hasChildren = false;
  auto close = [&] {
    if (!isFirst)
      out.text += hasChildren ? "]}" : "}";
  };
  for (const ide::OutlineItem &each : ide::outlineOf(chunk)) {
    if (each.isNested && !isFirst) {
      out.text += hasChildren ? "," : ",\"children\":[";
      hasChildren = true;
      item(each);
      out.text += '}';
      continue;
    }
    close();
    out.text += isFirst ? "" : ",";
    item(each);
    isFirst = hasChildren = false;
  }
  close();
}

static const SymbolText &symbolText(const Session &session, const ide::Chunk &chunk) {
  // All clients of a process count alike: there is one.
  return chunk.memo.get<SymbolText>([&] {
    SymbolWriter writer{session, chunk, {}};
    writer.all();
    return std::move(writer.out);
  });
}

const std::string &SymbolText::at(uint32_t line) const {
  if (placedAt == line)
    return placed;
  placed.clear();
  size_t from = 0;
  for (const Hole &hole : holes) {
    placed.append(text, from, hole.at - from);
    placed += std::to_string(line + hole.line);
    from = hole.at;
  }
  placed.append(text, from);
  placedAt = line;
  return placed;
}

/// The tree of symbols as JSON.
static std::vector<uint8_t> symbolTree(const Session &session, const ide::File &file) {
  std::vector<const std::string *> parts;
  size_t size = 2;
  for (const ide::Place &place : file.document.places()) {
    const SymbolText &part = symbolText(session, *place.chunk);
    if (part.text.empty())
      continue;
    parts.push_back(&part.at(place.line));
    size += parts.back()->size() + 1;
  }
  std::vector<uint8_t> all;
  all.reserve(size);
  for (const std::string *part : parts) {
    all.push_back(all.empty() ? '[' : ',');
    all.insert(all.end(), part->begin(), part->end());
  }
  if (parts.empty())
    all.push_back('[');
  all.push_back(']');
  return all;
}

/// For clients that know no trees.
static json symbolList(const Session &session, const ide::File &file) {
  json list = json::array();
  for (const ide::Place &place : file.document.places()) {
    std::string container;
    for (const ide::OutlineItem &item : ide::outlineOf(*place.chunk)) {
      ide::Range whole{place.begin + item.whole.begin, place.begin + item.whole.end};
      json symbol = {{"name", item.name},
                     {"kind", kindOf(item.kind)},
                     {"location", session.location({&file, whole})}};
      if (item.isNested)
        symbol["containerName"] = container;
      else
        container = item.name;
      list.push_back(std::move(symbol));
    }
  }
  return list;
}

json documentSymbol(Session &session, const json &params) {
  ide::File &file = session.file(params);
  if (!session.client.hierarchicalSymbols)
    return symbolList(session, file);
  return rawJson(symbolTree(session, file));
}

json workspaceSymbol(Session &session, const json &params) {
  std::vector<std::string> paths = session.workspaceFiles();
  constexpr size_t limit = 256;
  json list = json::array();
  for (const ide::FoundSymbol &found :
       ide::workspaceSymbols(session.workspace, params.value("query", std::string()), limit, paths))
    list.push_back({{"name", found.item->name},
                    {"kind", kindOf(found.item->kind)},
                    {"containerName", found.container},
                    {"location", session.location(found.location)}});
  return list;
}

} // namespace ptl::lsp
