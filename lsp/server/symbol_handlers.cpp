// Symbols of one document and of the workspace.
#include "lsp/ide/symbols.h"
#include "lsp/server/handlers.h"
#include "lsp/server/placed_text.h"

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

struct SymbolWriter {
  const Session &session;
  const ide::Chunk &chunk;
  bool hasLocals;
  PlacedText out = {};

  void item(const ide::OutlineItem &item);
  void all();
};

} // namespace

void SymbolWriter::item(const ide::OutlineItem &item) {
  out.text += "{\"name\":" + jsonText(item.name);
  if (!item.detail.empty())
    out.text += ",\"detail\":" + jsonText(item.detail);
  out.text += ",\"kind\":" + std::to_string(kindOf(item.kind)) + ",\"range\":";
  out.range(session, chunk, item.begin, item.end);
  out.text += ",\"selectionRange\":";
  out.range(session, chunk, item.selectionBegin, item.selectionEnd);
}

void SymbolWriter::all() {
  bool isFirst = true, hasChildren = false;
  auto close = [&] {
    if (!isFirst)
      out.text += hasChildren ? "]}" : "}";
  };
  for (const ide::OutlineItem &each : ide::outlineOf(chunk)) {
    if (each.isNested && each.kind != ide::OutlineKind::Field && !hasLocals)
      continue;
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

/// The symbols of one chunk.
template <bool hasLocals>
static const PlacedText &symbolText(const Session &session, const ide::Chunk &chunk) {
  // All clients of a process count alike: there is one.
  struct Symbols {
    PlacedText text;
  };
  return chunk.memo
      .get<Symbols>([&] {
        SymbolWriter writer{session, chunk, hasLocals};
        writer.all();
        return Symbols{std::move(writer.out)};
      })
      .text;
}

/// The tree of symbols.
static json symbolTree(const Session &session, const ide::File &file) {
  // Nobody reads thousands of locals in an outline, but everybody would wait for them.
  constexpr uint32_t mostLinesWithLocals = 5000;
  bool hasLocals = file.document.lineCount() <= mostLinesWithLocals;
  std::vector<const std::string *> parts;
  for (const ide::Place &place : file.document.places()) {
    const PlacedText &text = hasLocals ? symbolText<true>(session, *place.chunk)
                                       : symbolText<false>(session, *place.chunk);
    parts.push_back(&text.at(place.line));
  }
  return rawArray(parts);
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
  return symbolTree(session, file);
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
