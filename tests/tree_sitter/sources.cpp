#include "tests/tree_sitter/sources.h"

#include "frontend/lex/lexer.h"
#include "frontend/parse/parse.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace ptl::sitter {
namespace {

void addBlocks(const std::string &origin, const std::string &page, std::vector<SourceText> &out) {
  std::stringstream stream(page);
  std::string line, block;
  bool inside = false;
  while (std::getline(stream, line)) {
    if (inside && line.starts_with("```")) {
      out.push_back({origin, block});
      inside = false;
    } else if (inside) {
      block += line + "\n";
    } else if (line.starts_with("```ptl")) {
      inside = true;
      block.clear();
    }
  }
}

std::vector<Token> tokensOf(const std::string &text) {
  SourceFile file(0, "<test>", text);
  DiagnosticSink sink;
  std::vector<Token> tokens = lex(file, sink).tokens;
  tokens.pop_back();
  return tokens;
}

/// Tokens that change the meaning of their neighbours: words that are special by position, signs
/// that the scanner looks beyond, and mistakes of the lexer.
constexpr const char *kTricky[] = {
    "print",
    "inout",
    "_",
    "acc",
    "in",
    "as",
    "pipeline",
    "unroll",
    "by",
    "split",
    "after",
    "when",
    "at",
    "tune",
    "from",
    "max",
    "min",
    "step",
    "strides",
    "over",
    "nd",
    "depth",
    "id",
    "tile",
    "fuse",
    "order",
    "l0",
    "place",
    "cores",
    "elif",
    "else",
    "if",
    "not",
    "static",
    "on",
    "for",
    "return",
    "new",
    "\n",
    ";",
    "/*\n*/",
    "// c\n",
    "/* */",
    "--",
    "..",
    ".",
    "=",
    "==",
    "->",
    ":",
    ",",
    ",\n",
    "@",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "**",
    "1_",
    "0x",
    "1.5f",
    "3KiB",
    "1e",
    "\"\\q\"",
    "\"",
    "\xC3\xA9",
    "\xFF",
    "\r",
    "partial",
    "mesh",
    "every",
    "keep",
    "at c 0",
    ", c by",
    "partial(+) over c",
    "checkpoint \"a\" every",
};

std::string textOf(const std::string &text, const Token &token) {
  return text.substr(token.begin, token.end - token.begin);
}

} // namespace

std::string readText(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<CorpusCase> readCorpus(const std::string &folder) {
  std::vector<CorpusCase> result;
  std::vector<fs::path> files;
  if (fs::exists(folder))
    files.assign(fs::directory_iterator(folder), fs::directory_iterator());
  std::sort(files.begin(), files.end());
  const std::string ruler(80, '=');
  for (const fs::path &file : files) {
    std::string corpus = readText(file);
    for (size_t at = corpus.find(ruler); at != std::string::npos;) {
      size_t title = at + ruler.size() + 1;
      size_t text = corpus.find(ruler, title) + ruler.size() + 2;
      size_t tree = corpus.find("\n---\n", text);
      at = corpus.find(ruler, tree);
      result.push_back({corpus.substr(title, corpus.find('\n', title) - title),
                        corpus.substr(text, tree + 1 - text),
                        corpus.substr(tree + 5, at == std::string::npos ? at : at - tree - 5)});
    }
  }
  return result;
}

std::vector<SourceText> collectSources(const std::string &root) {
  std::vector<fs::path> paths;
  for (const char *folder :
       {"bench", "docs", "driver", "editors", "examples", "frontend", "lsp", "std", "tests"}) {
    if (!fs::exists(fs::path(root) / folder))
      continue;
    for (auto it = fs::recursive_directory_iterator(fs::path(root) / folder);
         it != fs::recursive_directory_iterator(); ++it) {
      if (it->is_directory() && it->path().filename() == "node_modules")
        it.disable_recursion_pending();
      std::string extension = it->path().extension();
      if (extension == ".ptl" || extension == ".md")
        paths.push_back(it->path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<SourceText> result;
  for (const fs::path &path : paths) {
    std::string origin = fs::relative(path, root).string();
    if (path.extension() == ".ptl")
      result.push_back({origin, readText(path)});
    else
      addBlocks(origin, readText(path), result);
  }
  for (const CorpusCase &each : readCorpus(root + "/editors/tree-sitter-ptl/test/corpus"))
    result.push_back({"the corpus, " + each.title, each.text});
  return result;
}

std::vector<SourceText> splitIntoDeclarations(const std::vector<SourceText> &sources) {
  std::vector<SourceText> result;
  std::set<std::string> seen;
  for (const SourceText &source : sources) {
    SourceFile file(0, source.origin, source.text);
    DiagnosticSink sink;
    Tree tree = parse(file, sink);
    for (NodeId item : tree.children(tree.root())) {
      Span span = tree.span(item);
      std::string text = source.text.substr(span.begin, span.end - span.begin) + "\n";
      if (text.size() > 1 && seen.insert(text).second)
        result.push_back({source.origin, text});
    }
  }
  return result;
}

std::string mutate(const std::string &text, const std::string &other, Dice &dice) {
  if (text.empty())
    return text;
  auto position = [&](size_t bound) { return dice.below(static_cast<uint32_t>(bound)); };
  uint32_t kind = dice.below(20);
  std::string result = text;
  if (kind == 0) {
    result[position(text.size())] ^= static_cast<char>(1u << dice.below(8));
    return result;
  }
  if (kind == 1)
    return text.substr(0, position(text.size()));
  if (kind <= 4) { // join lines
    size_t at = text.find('\n', position(text.size()));
    if (at != std::string::npos && at + 1 < text.size())
      result[at] = ' ';
    return result;
  }
  std::vector<Token> tokens = tokensOf(text);
  if (tokens.size() < 2)
    return result;
  size_t index = position(tokens.size());
  const Token &token = tokens[index];
  auto replace = [&](const std::string &with) {
    return result.replace(token.begin, token.end - token.begin, with);
  };
  if (kind <= 7) // split lines
    return result.insert(token.begin, kind == 7 ? "// c\n" : "\n");
  if (kind <= 9)
    return replace("");
  if (kind == 10)
    return replace(textOf(text, token) + " " + textOf(text, token));
  if (kind == 11 && index + 1 < tokens.size()) {
    const Token &next = tokens[index + 1];
    std::string between = text.substr(token.end, next.begin - token.end);
    return result.replace(token.begin, next.end - token.begin,
                          textOf(text, next) + between + textOf(text, token));
  }
  if (kind >= 16) {
    const char *piece = kTricky[position(std::size(kTricky))];
    return kind == 16 ? replace(piece) : result.insert(token.begin, std::string(piece) + " ");
  }
  std::vector<Token> pool = tokensOf(other);
  std::string word = pool.empty() ? "," : textOf(other, pool[position(pool.size())]);
  return kind == 12 ? replace(word) : result.insert(token.begin, word + " ");
}

} // namespace ptl::sitter
