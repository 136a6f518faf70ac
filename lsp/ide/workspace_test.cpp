// After every edit, what the workspace says of a file is what a check of the whole file says.
#include "frontend/base/word_char.h"
#include "lsp/ide/example_files_test_util.h"
#include "lsp/ide/test_options.h"
#include "lsp/ide/workspace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace ptl::ide {
namespace workspace_test {

std::string line(const Diagnostic &diagnostic, uint32_t begin, uint32_t end) {
  return std::string(diagInfo(diagnostic.id).code) + " " + std::to_string(begin) + "-" +
         std::to_string(end) + " " + diagnostic.message + "\n";
}

std::string join(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string &each : lines)
    all += each;
  return all;
}

/// What a check of the whole file says, of this file alone.
std::string fresh(const std::string &path, const std::string &text) {
  SourceManager sources;
  DiagnosticSink sink;
  FileId root = sources.add(path, text);
  auto program = checkFile(sources, root, testOptions(), sink);
  std::vector<std::string> lines;
  for (const Diagnostic &diagnostic : sink.all())
    if (diagnostic.span.file == root)
      lines.push_back(line(diagnostic, diagnostic.span.begin, diagnostic.span.end));
  return join(lines);
}

std::string incremental(Workspace &workspace, File &file) {
  while (workspace.checkNext(file)) {
  }
  std::vector<std::string> lines;
  for (const FileDiagnostic &each : workspace.diagnostics(file))
    lines.push_back(line(*each.diagnostic, each.range.begin, each.range.end));
  return join(lines);
}

/// A random edit: words and signs go in, characters, words, lines and whole parts go.
struct Edit {
  Range range;
  std::string text;
};

/// The word at a byte, or the next one.
Range wordAt(const std::string &text, uint32_t at) {
  auto size = static_cast<uint32_t>(text.size());
  while (at < size && !isWordChar(text[at]))
    ++at;
  uint32_t begin = at;
  while (begin > 0 && isWordChar(text[begin - 1]))
    --begin;
  while (at < size && isWordChar(text[at]))
    ++at;
  return {begin, at};
}

Edit randomEdit(const std::string &text, std::mt19937 &random) {
  auto below = [&](size_t n) { return static_cast<uint32_t>(random() % std::max<size_t>(n, 1)); };
  uint32_t at = below(text.size() + 1);
  static const char *const pieces[] = {"x",
                                       " ",
                                       "\n",
                                       "(",
                                       ")",
                                       "{",
                                       "}",
                                       "[i]",
                                       "+ 1",
                                       ";",
                                       "/*",
                                       "*/",
                                       "// c",
                                       "\"",
                                       "fn ",
                                       "pub ",
                                       "let y = 1\n",
                                       "import std.nn\n",
                                       "const N = 4\n",
                                       "kernel k() {\n",
                                       "\n\n",
                                       "@vec",
                                       ": f32",
                                       "0.5",
                                       "é",
                                       "\xff",
                                       "fn softmax(x: f32[N]) -> f32[N] { x }\n"};
  switch (below(11)) {
  case 8: { // a word becomes another one of the text
    Range word = wordAt(text, at), other = wordAt(text, below(text.size() + 1));
    return {word, text.substr(other.begin, other.end - other.begin)};
  }
  case 9: { // a name is written on
    Range word = wordAt(text, at);
    return {{word.end, word.end}, "q"};
  }
  case 10: { // a declaration is renamed
    static const std::regex header("\\n(?:pub )?(?:kernel|fn|program|const|struct|schedule) ");
    auto first = text.begin() + at;
    std::smatch found;
    if (!std::regex_search(first, text.end(), found, header))
      return {{at, at}, ""};
    auto name = static_cast<uint32_t>(at + found.position() + found.length());
    return {{name, name}, below(2) ? "q" : "q_"};
  }
  case 0:
  case 1:
  case 2:
    return {{at, at}, pieces[below(std::size(pieces))]};
  case 3:
    return {{at, std::min<uint32_t>(at + 1 + below(3), text.size())}, ""};
  case 4: { // a line goes
    size_t end = text.find('\n', at);
    return {{at, static_cast<uint32_t>(end == text.npos ? text.size() : end + 1)}, ""};
  }
  case 5: { // text from elsewhere
    uint32_t from = below(text.size());
    return {{at, at}, text.substr(from, below(60))};
  }
  case 6:
    return {{at, std::min<uint32_t>(at + below(200), text.size())}, ""};
  default:
    return {{at, std::min<uint32_t>(at + 1, text.size())}, pieces[below(std::size(pieces))]};
  }
}

TEST(Workspace, ChunksAreTheFile) {
  for (const std::string &path : examplePaths()) {
    Workspace workspace(testOptions());
    std::string text = readFile(path).value();
    File &file = workspace.open(path, text, 1);
    EXPECT_EQ(file.document.text(), text) << path;
    EXPECT_EQ(incremental(workspace, file), fresh(path, text)) << path;
    EXPECT_GT(file.document.places().size(), 1u) << path;
  }
}

TEST(Workspace, ADuplicateSaysNoMoreThanThat) {
  const std::string path = "/none/twice.ptl";
  const std::string first = "fn f(x: f32) -> f32 { return x }\n";
  const std::string second = "fn f(x: f32) -> f32 {\n    let a = 1.0\n    return x\n}\n";
  Workspace workspace(testOptions());
  File &file = workspace.open(path, first + second, 1);
  EXPECT_EQ(incremental(workspace, file), fresh(path, first + second));
  workspace.edit(file, {0, static_cast<uint32_t>(first.size())}, "");
  EXPECT_EQ(incremental(workspace, file), fresh(path, second));
  workspace.edit(file, {0, 0}, "struct f {\n    a: f32\n}\n");
  EXPECT_EQ(incremental(workspace, file), fresh(path, "struct f {\n    a: f32\n}\n" + second));
}

/// Replaces the first `old` in the file, and compares what is said.
void expectSameAfter(Workspace &workspace, File &file, const std::string &old,
                     const std::string &replacement) {
  std::string text = file.document.text();
  auto at = static_cast<uint32_t>(text.find(old));
  ASSERT_NE(at, static_cast<uint32_t>(std::string::npos)) << old;
  text.replace(at, old.size(), replacement);
  workspace.edit(file, {at, at + static_cast<uint32_t>(old.size())}, replacement);
  EXPECT_EQ(incremental(workspace, file), fresh(file.path(), text)) << old << " → " << replacement;
}

const ChunkCheck *checkAt(const File &file, const std::string &piece) {
  size_t at = file.document.text().find(piece);
  return file.document.places()[file.document.placeAt(static_cast<uint32_t>(at))].check.get();
}

/// A schedule speaks of the labels of a body, and of nothing else of it.
TEST(Workspace, AScheduleFollowsLabels) {
  const std::string text =
      "fn half(x: f32[..]) -> f32[..] { return x * 0.5 }\n\n"
      "program p[R](x: f32[R]) -> (y: f32[R])\n{\n    let a = half(x)\n    let b = a + 1.0\n"
      "    y = exp(b)\n}\n\n"
      "schedule p on a3 { fuse a, b }\n";
  Workspace workspace(testOptions());
  File &file = workspace.open("/none/schedule.ptl", text, 1);
  EXPECT_EQ(incremental(workspace, file), fresh(file.path(), text));
  const ChunkCheck *schedule = checkAt(file, "schedule p");
  for (const auto &[old, replacement] : std::vector<std::pair<std::string, std::string>>{
           {"+ 1.0", "+ 12.0"}, {"exp(b)", "abs(b)"}}) {
    expectSameAfter(workspace, file, old, replacement);
    EXPECT_EQ(checkAt(file, "schedule p"), schedule) << "checked again after " << replacement;
  }
  // A label goes and comes, another one becomes the same.
  expectSameAfter(workspace, file, "let b = a", "let c = a");
  expectSameAfter(workspace, file, "let c = a", "let b = a");
  expectSameAfter(workspace, file, "let a = half(x)", "let a = half(x)\n    let b = a");
  expectSameAfter(workspace, file, "\n    let b = a\n", "\n");
  // The body is in error, by itself or by what it calls, and hides what is missing.
  expectSameAfter(workspace, file, "fuse a, b", "fuse a, z");
  expectSameAfter(workspace, file, "abs(b)", "abs(bb)");
  expectSameAfter(workspace, file, "abs(bb)", "abs(b)");
  expectSameAfter(workspace, file, "half(x: f32[..])", "half(x: i32[..])");
  expectSameAfter(workspace, file, "half(x: i32[..])", "half(x: f32[..])");
  // Of what a body calls now, the check of the schedule has not heard.
  expectSameAfter(workspace, file, "fuse a, z", "fuse a, b");
  expectSameAfter(workspace, file, "fn half",
                  "fn less(x: f32[..]) -> f32[..] { return x }\n\nfn half");
  expectSameAfter(workspace, file, "+ 12.0", "+ less(x)");
  expectSameAfter(workspace, file, "fuse a, b", "fuse a, z");
  expectSameAfter(workspace, file, "fuse a, z", "fuse a, b");
  expectSameAfter(workspace, file, "less(x: f32[..])", "less(x: i32[..])");
  expectSameAfter(workspace, file, "fuse a, b", "fuse a, z");
  expectSameAfter(workspace, file, "less(x: i32[..])", "less(x: f32[..])");
}

/// Recursion comes and goes with calls, names, and declarations that stand twice.
TEST(Workspace, RecursionFollowsCalls) {
  const std::string text = "fn f(x: f32) -> f32 { return g(x) }\n\n"
                           "fn g(x: f32) -> f32 { return h(x) }\n\n"
                           "fn h(x: f32) -> f32 { return x }\n\n"
                           "fn k(x: f32) -> f32 { return x + 1.0 }\n";
  Workspace workspace(testOptions());
  File &file = workspace.open("/none/recursion.ptl", text, 1);
  EXPECT_EQ(incremental(workspace, file), fresh(file.path(), text));
  auto change = [&](const std::string &old, const std::string &replacement) {
    expectSameAfter(workspace, file, old, replacement);
  };
  change("return x }", "return f(x) }"); // a cycle of three
  change("return g(x)", "return k(x)");
  change("return f(x)", "return k(x)");
  change("return x + 1.0", "return k(x)"); // of one
  change("fn k(", "fn kk(");
  change("return k(x) }\n\nfn g", "return kk(x) }\n\nfn g");
  change("return k(x) }\n\nfn kk", "return x }\n\nfn kk");
  // By a name that comes, and by one that stands for another declaration.
  change("fn kk(", "fn k(");
  change("fn g(x: f32) -> f32 { return h(x) }\n\n", "");
  change("fn h", "fn f(x: f32) -> f32 { return h(x) }\n\nfn h");
  change("fn f(x: f32) -> f32 { return kk(x) }\n\n", "");
  change("return k(x)", "return f(x)");
  change("return x }", "return k(x) }");
  change("fn f(x: f32) -> f32 { return h(x) }\n\n", "");
}

/// `undoOften`: most edits are taken back, so that the file stays close to what it was.
void expectSameAfterEdits(const std::string &path, unsigned edits, unsigned seed) {
  std::mt19937 random(seed);
  Workspace workspace(testOptions());
  std::string text = readFile(path).value();
  const std::string original = text;
  File &file = workspace.open(path, text, 1);
  for (unsigned i = 0; i < edits; ++i) {
    Edit edit = randomEdit(text, random);
    if (i % 8 == 7)
      edit = {{0, static_cast<uint32_t>(text.size())}, original};
    std::string before = text;
    text.replace(edit.range.begin, edit.range.end - edit.range.begin, edit.text);
    workspace.edit(file, edit.range, edit.text);
    ASSERT_EQ(file.document.text(), text) << path << " edit " << i;
    std::string expected = fresh(path, text);
    std::string actual = incremental(workspace, file);
    if (expected != actual && std::getenv("PTL_DUMP")) {
      std::ofstream("/tmp/before.ptl") << before;
      std::ofstream("/tmp/after.ptl") << text;
    }
    ASSERT_EQ(actual, expected) << path << " edit " << i << " at " << edit.range.begin << "-"
                                << edit.range.end << ": " << edit.text;
  }
}

TEST(Workspace, EveryEditGivesTheDiagnosticsOfTheWholeFile) {
  const char *count = std::getenv("PTL_EDITS");
  const char *seed = std::getenv("PTL_SEED");
  for (const std::string &path : examplePaths())
    expectSameAfterEdits(path, count ? std::atoi(count) : 60, seed ? std::atoi(seed) : 1);
}

/// A file of which another one imports names is edited; what is said of the other follows.
void expectImporterFollows(unsigned edits, unsigned seed) {
  std::mt19937 random(seed);
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("ptl_importer_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::string path = (folder / "lib.ptl").string();
  const std::string original =
      "pub const N = 4\npub struct Pair[K] {\n    a: f32[K]\n    b: f32[K]\n}\n"
      "pub fn twice(x: f32[..]) -> f32[..] { return x * 2.0 }\n\n"
      "fn own(x: f32) -> f32 { return x }\n\n"
      "pub kernel k[R](x: f32[R]) -> (y: f32[R])\n{\n"
      "    parallel r in tiles(R, 8) { y[r] = twice(x[r]) }\n}\n";
  const std::string importer = "import \"lib.ptl\"\nimport \"lib.ptl\": twice, N\n\n"
                               "fn f(x: f32[N]) -> f32[N] { return twice(x) + lib.twice(x) }\n\n"
                               "program p[R](x: f32[R]) -> (y: f32[R]) { y = lib.k(x) }\n\n"
                               "fn g[K](p: lib.Pair[K]) -> f32[K] { return p.a + p.b }\n\n"
                               "schedule lib.k on a3 { r { tile R by 16 } }\n";
  std::string user = (folder / "user.ptl").string(), text = original;
  Workspace workspace(testOptions());
  auto write = [&] { std::ofstream(path, std::ios::binary) << text; };
  write();
  File &lib = workspace.open(path, text, 1);
  File &file = workspace.open(user, importer, 1);
  for (unsigned i = 0; i < edits; ++i) {
    Edit edit = randomEdit(text, random);
    if (i % 8 == 7)
      edit = {{0, static_cast<uint32_t>(text.size())}, original};
    text.replace(edit.range.begin, edit.range.end - edit.range.begin, edit.text);
    write();
    workspace.edit(lib, edit.range, edit.text);
    ASSERT_EQ(incremental(workspace, file), fresh(user, importer)) << i << "\n" << text;
    ASSERT_EQ(incremental(workspace, lib), fresh(path, text)) << i << "\n" << text;
  }
  std::filesystem::remove_all(folder);
}

TEST(Workspace, AnImporterFollowsTheFileThatItImports) {
  const char *seed = std::getenv("PTL_SEED"), *count = std::getenv("PTL_EDITS");
  expectImporterFollows(count ? std::atoi(count) : 60, seed ? std::atoi(seed) : 1);
  // After 82 edits the header of a kernel with a schedule breaks off in front of its body.
  expectImporterFollows(100, 11);
}

} // namespace workspace_test
} // namespace ptl::ide
