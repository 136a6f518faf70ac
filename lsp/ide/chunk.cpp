#include "lsp/ide/chunk.h"

namespace ptl::ide {

static uint64_t hashOf(std::string_view text) {
  // Zero is the hash of what is not there.
  return std::hash<std::string_view>()(text) | 1;
}

Chunk::Chunk(FileId id, std::string path, std::string text, ParsedChunk parsed,
             DiagnosticSink syntax)
    : file(id, std::move(path), std::move(text)), syntax(std::move(syntax)), reach(parsed.reach) {
  auto moved = std::make_shared<Tree>(std::move(parsed.tree));
  moved->moveTo(file.text());
  tree = moved;
  for (NodeId item : tree->children(tree->root())) {
    hasImports |= tree->is(item, NodeKind::ImportDecl);
    hasSchedules |= tree->is(item, NodeKind::ScheduleDecl);
  }
  for (const NamedDecl &decl : namedDecls(*tree)) {
    std::string_view whole = file.text().substr(0, tree->span(decl.node).end);
    std::string_view signature = whole.substr(0, signatureEnd(*tree, decl.node));
    bool hasErrors = isMisread(*tree, decl.node, this->syntax.all());
    decls.push_back({decl, {tree.get(), decl.node, hashOf(signature), hashOf(whole), hasErrors}});
  }
}

uint32_t textHash(const Chunk &chunk) {
  struct Hash {
    uint32_t value;
  };
  return chunk.memo
      .get<Hash>([&] { return Hash{static_cast<uint32_t>(hashOf(chunk.file.text()))}; })
      .value;
}

std::shared_ptr<const Chunk> makeChunk(FileId id, const std::string &path, std::string_view text,
                                       TextPart part) {
  DiagnosticSink syntax;
  ParsedChunk parsed = parseChunk(id, text, part.isFirst, syntax);
  if (parsed.reach == text.size() && !part.isLast)
    return nullptr;
  std::string own(text.substr(0, parsed.size));
  return std::make_shared<const Chunk>(id, path, std::move(own), std::move(parsed),
                                       std::move(syntax));
}

} // namespace ptl::ide
