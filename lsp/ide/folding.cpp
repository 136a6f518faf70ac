#include "lsp/ide/folding.h"
#include "frontend/syntax/kinds.h"

#include <algorithm>

namespace ptl::ide {
namespace {

/// The folds of one chunk, by first line, which counts from its beginning.
struct ChunkFolds {
  std::vector<Fold> folds;
};

struct Folder {
  const Chunk &chunk;
  const Tree &tree;
  std::vector<Fold> folds;

  uint32_t lineOf(uint32_t offset) const { return chunk.file.lineColumn(offset).line - 1; }
  void add(uint32_t first, uint32_t last, FoldKind kind);
  bool beginsLine(TokenIndex token) const { return tree.token(token).newlineBefore; }
  void addDeclarations();
  void addBrackets();
  void addComments();
};

} // namespace

void Folder::add(uint32_t first, uint32_t last, FoldKind kind) {
  // A fold of one line would hide nothing.
  if (first < last)
    folds.push_back({first, last, kind});
}

void Folder::addDeclarations() {
  for (NodeId item : tree.children(tree.root())) {
    const Node &node = tree.node(item);
    // Imports fold together and not one by one.
    if (!isDeclaration(node.kind) || node.kind == NodeKind::ImportDecl ||
        node.firstToken >= node.endToken)
      continue;
    TokenIndex end = node.endToken - 1;
    // A closing brace in a line of its own stays visible.
    bool keepsLast = tree.tokenKind(end) == TokenKind::RBrace && beginsLine(end);
    add(lineOf(tree.token(node.firstToken).begin), lineOf(tree.token(end).begin) - keepsLast,
        FoldKind::Code);
  }
}

void Folder::addBrackets() {
  std::vector<TokenIndex> open;
  auto isPair = [](TokenKind opening, TokenKind closing) {
    return (opening == TokenKind::LBrace && closing == TokenKind::RBrace) ||
           (opening == TokenKind::LParen && closing == TokenKind::RParen) ||
           (opening == TokenKind::LBracket && closing == TokenKind::RBracket);
  };
  for (TokenIndex i = 0; i < tree.tokens().size(); ++i) {
    TokenKind kind = tree.tokenKind(i);
    if (kind == TokenKind::LBrace || kind == TokenKind::LParen || kind == TokenKind::LBracket)
      open.push_back(i);
    if (kind != TokenKind::RBrace && kind != TokenKind::RParen && kind != TokenKind::RBracket)
      continue;
    // An opening bracket without its partner is left out, for the ones around it.
    auto partner = std::find_if(open.rbegin(), open.rend(), [&](TokenIndex each) {
      return isPair(tree.tokenKind(each), kind);
    });
    if (partner == open.rend())
      continue;
    uint32_t first = lineOf(tree.token(*partner).begin), last = lineOf(tree.token(i).begin);
    if (last > 0)
      add(first, last - beginsLine(i), FoldKind::Code);
    // Brackets that were opened later and not closed are dropped with it.
    open.erase(partner.base() - 1, open.end());
  }
}

void Folder::addComments() {
  uint32_t first = 0, last = 0, lineEnds = 2;
  bool isOpen = false;
  auto close = [&] {
    if (isOpen)
      add(first, last, FoldKind::Comment);
    isOpen = false;
  };
  const auto &trivia = tree.trivia();
  uint32_t lastToken = 0; // end of the token before, which begins the line of a comment behind it
  size_t token = 0;
  for (size_t i = 0; i < trivia.size(); ++i) {
    while (token < tree.tokens().size() && tree.token(token).end <= trivia[i].begin) {
      // A token between comments separates them.
      if (tree.token(token).end > lastToken)
        close();
      lastToken = tree.token(token++).end;
    }
    TriviaKind kind = trivia[i].kind;
    if (kind == TriviaKind::Whitespace)
      continue;
    if (kind == TriviaKind::Newline) {
      // An empty line ends a group of comments.
      if (++lineEnds > 1)
        close();
      continue;
    }
    uint32_t begins = lineOf(trivia[i].begin), ends = lineOf(trivia[i].end);
    // A comment behind code belongs to that line, unless a group is open.
    bool isOwnLine = lastToken == 0 || lineOf(lastToken) < begins;
    if (!isOpen && isOwnLine) {
      first = begins;
      isOpen = true;
    }
    last = ends;
    lineEnds = 0;
  }
  close();
}

static const std::vector<Fold> &foldsOf(const Chunk &chunk) {
  // Folds are kept with the chunk, in lines from its beginning.
  return chunk.memo
      .get<ChunkFolds>([&] {
        Folder folder{chunk, *chunk.tree, {}};
        folder.addDeclarations();
        folder.addBrackets();
        folder.addComments();
        // The longest of those that begin in a line.
        std::sort(folder.folds.begin(), folder.folds.end(), [](const Fold &a, const Fold &b) {
          return a.first != b.first ? a.first < b.first : a.last > b.last;
        });
        auto sameLine = [](const Fold &a, const Fold &b) { return a.first == b.first; };
        folder.folds.erase(std::unique(folder.folds.begin(), folder.folds.end(), sameLine),
                           folder.folds.end());
        return ChunkFolds{std::move(folder.folds)};
      })
      .folds;
}

/// Imports with nothing but empty lines between them.
static void addImports(const Document &document, std::vector<Fold> &all) {
  Fold run{0, 0, FoldKind::Imports};
  bool isOpen = false;
  auto close = [&] {
    if (isOpen && run.first < run.last)
      all.push_back(run);
    isOpen = false;
  };
  for (const Place &place : document.places()) {
    const Tree &tree = *place.chunk->tree;
    for (NodeId item : tree.children(tree.root())) {
      if (!tree.is(item, NodeKind::ImportDecl)) {
        close();
        continue;
      }
      Span span = tree.span(item);
      auto lineOf = [&](uint32_t at) {
        return place.line + place.chunk->file.lineColumn(at).line - 1;
      };
      if (!isOpen)
        run.first = lineOf(span.begin);
      run.last = lineOf(span.end);
      isOpen = true;
    }
    if (!place.chunk->hasImports && !tree.children(tree.root()).empty())
      close();
  }
  close();
}

std::vector<Fold> folds(const Document &document) {
  std::vector<Fold> all;
  for (const Place &place : document.places())
    for (Fold fold : foldsOf(*place.chunk))
      all.push_back({place.line + fold.first, place.line + fold.last, fold.kind});
  addImports(document, all);
  std::sort(all.begin(), all.end(), [](const Fold &a, const Fold &b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  return all;
}

// ---- Selection ----------------------------------------------------------------------------------

namespace {

struct Selection {
  std::vector<Range> ranges;
  void add(uint32_t begin, uint32_t end) {
    if (begin >= end)
      return;
    if (!ranges.empty()) {
      // Each range must hold the one before, as the protocol demands.
      Range last = ranges.back();
      bool isLarger = begin <= last.begin && last.end <= end && !(last == Range{begin, end});
      if (!isLarger)
        return;
    }
    ranges.push_back({begin, end});
  }
};

} // namespace

/// Adds the range between the brackets of a node that has them.
static void addInside(const Tree &tree, NodeId id, uint32_t offset, uint32_t base,
                      Selection &selection) {
  const Node &node = tree.node(id);
  TokenIndex closing = node.endToken > node.firstToken ? node.endToken - 1 : node.firstToken;
  TokenKind kind = tree.tokenKind(closing);
  if (kind != TokenKind::RBrace && kind != TokenKind::RParen && kind != TokenKind::RBracket)
    return;
  int depth = 0;
  // The opening bracket is found by counting back from the closing one.
  for (TokenIndex i = closing;; --i) {
    TokenKind each = tree.tokenKind(i);
    depth += each == TokenKind::RBrace || each == TokenKind::RParen || each == TokenKind::RBracket;
    depth -= each == TokenKind::LBrace || each == TokenKind::LParen || each == TokenKind::LBracket;
    if (depth == 0) {
      // This is the range of the block without the white space around its statements.
      uint32_t begin = tree.token(i).end, end = tree.token(closing).begin;
      if (begin <= offset && offset <= end && i + 1 < closing) {
        selection.add(base + tree.token(i + 1).begin, base + tree.token(closing - 1).end);
        selection.add(base + tree.token(i).begin, base + tree.token(closing).end);
      }
      return;
    }
    if (i == node.firstToken)
      return;
  }
}

std::vector<Range> selectionRanges(const Document &document, uint32_t offset) {
  const Place &place = document.places()[document.placeAt(std::min(offset, document.size()))];
  const Tree &tree = *place.chunk->tree;
  uint32_t own = std::min(offset - place.begin, place.chunk->size());
  Selection selection;
  const Token *token = &tree.token(tree.tokenAt(own));
  if (token->begin <= own && token->begin < token->end)
    selection.add(place.begin + token->begin, place.begin + token->end);
  for (const Trivia &trivia : tree.trivia())
    if (trivia.begin <= own && own <= trivia.end && trivia.kind >= TriviaKind::LineComment)
      selection.add(place.begin + trivia.begin, place.begin + trivia.end);
  for (NodeId node = tree.nodeAt(own); node != kNoNode; node = tree.parent(node)) {
    addInside(tree, node, own, place.begin, selection);
    Span span = tree.span(node);
    if (node == tree.root())
      break;
    selection.add(place.begin + span.begin, place.begin + span.end);
    // A declaration is selected with its documentation in a further step.
    if (tree.parent(node) == tree.root())
      for (const Trivia &trivia : tree.triviaBefore(tree.node(node).firstToken))
        if (trivia.kind == TriviaKind::DocComment) {
          selection.add(place.begin + trivia.begin, place.begin + span.end);
          break;
        }
  }
  // The last step selects everything.
  selection.add(0, document.size());
  if (selection.ranges.empty())
    selection.ranges.push_back({0, document.size()});
  return std::move(selection.ranges);
}

} // namespace ptl::ide
