#include "lsp/ide/call_hierarchy.h"
#include "lsp/ide/example_files_test_util.h"
#include "lsp/ide/navigation.h"
#include "lsp/ide/navigation_test_util.h"
#include "lsp/ide/rename.h"
#include "lsp/ide/symbol_at.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ptl::ide {
namespace navigation_test {

/// What is expected or found, as text.
std::string rangesText(std::vector<std::pair<std::string, Range>> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first < b.first : a.second.begin < b.second.begin;
  });
  std::string text;
  for (const auto &[path, range] : ranges)
    text += path + ":" + std::to_string(range.begin) + "-" + std::to_string(range.end) + " ";
  return text;
}

std::string expectedText(const Marked &marked) {
  std::vector<std::pair<std::string, Range>> all;
  for (const Marked::Text &file : marked.files)
    for (Range range : file.marks)
      all.emplace_back(file.path, range);
  return rangesText(std::move(all));
}

// The marks are everything that means what stands at the cursor.
constexpr const char *kMentions[] = {
    "fn f[«N»](x: f32[«$0N»]) -> f32[«N»] { return x * «N» }",
    "fn f[N](«x»: f32[N]) -> f32[N] {\n let y = «$0x»\n let x = y + «x»\n return x\n}",
    "fn f[N, «T»: float](x: «T»[N]) -> «$0T»[N] { return «T»(x) }",
    "fn «f»(x: f32) -> f32 { return x }\nfn g(f: f32) -> f32 { return «$0f»(f) }",
    "fn f(«x»: f32) -> f32 { return «$0x» }\nfn g(x: f32) -> f32 { return f(«x»: x) }",
    "kernel k[N](x: f32[N]) -> («y»: f32[N])\n{\n parallel i in 0..N {\n  «$0y»[i] = x[i]\n }\n}",
    "kernel k[«N»](x: f32[«N»]) -> (y: f32[«N»])\ntune B = 4\n{\n for i in tiles(«$0N», B) {\n  "
    "y[i] = x[i]\n }\n}\nschedule k on a3 when «N» == 4 { B = 8 }",
    "kernel k[N](x: f32[N]) -> (y: f32[N])\ntune «$0B» = 4\n{\n for i in tiles(N, «B») {\n  y[i] "
    "= x[i]\n }\n}\nschedule k on a3 { «B» = 8 }",
    "kernel k[N](x: f32[N]) -> (y: f32[N])\n{\n for «$0i» in tiles(N, 4) {\n  y[«i»] = x[«i»]\n "
    "}\n}\nschedule k on a3 { pipeline «i» 2 }",
    "program p[N](x: f32[N]) -> (y: f32[N]) {\n let «a» = x * 2\n let b = «a» + 1\n y = b\n}\n"
    "schedule p on a3 { «$0a» { tile N by 4 }\n fuse «a», b }",
    "program p[«N»](x: f32[«N»]) -> (y: f32[«N»]) {\n let a = x * 2\n y = a\n}\n"
    "schedule p on a3 { a { tile «$0N» by 4 } }",
    "program p[N](x: f32[N]) -> (y: f32[N]) {\n task «t» { y = x }\n}\n"
    "schedule p on a3 { split after «$0t» }",
    "struct S[N] {\n «w»: f32[N]\n}\nfn f[N](s: S[N]) -> f32[N] { return s.«$0w» }\nfn g[N](x: "
    "f32[N]) -> f32[N] { return f(S(«w»: x)) }",
    "struct «S»[N] {\n w: f32[N]\n}\nfn f[N](s: «$0S»[N]) -> f32[N] { return s.w }\nfn g[N](x: "
    "f32[N]) -> f32[N] { return f(«S»(w: x)) }",
    "const «E» = 4\nfn f(x: f32[«E»]) -> f32[«$0E»] { return x * «E» }",
    "type «Row»[N] = f32[1, N]\nfn f[N](x: «$0Row»[N]) -> f32[1, N] { return x }",
    "import \"b.ptl\": «f»\nfn g(x: f32) -> f32 { return «$0f»(x) }\n//- /b.ptl\n"
    "pub fn «f»(x: f32) -> f32 { return x }\n",
    "import \"b.ptl\"\nfn g(x: f32) -> f32 { return b.«f»(x) }\n//- /b.ptl\n"
    "pub fn «$0f»(x: f32) -> f32 { return x }\nfn h(x: f32) -> f32 { return «f»(x) }\n",
    "import \"b.ptl\": f\nfn g(x: f32) -> f32 { return f(«x»: x) }\n//- /b.ptl\n"
    "pub fn f(«$0x»: f32) -> f32 { return «x» }\n",
    "import \"b.ptl\": k\nschedule k on a3 { «B» = 8 }\n//- /b.ptl\n"
    "pub kernel k[N](x: f32[N]) -> (y: f32[N])\ntune «$0B» = 4\n{\n for i in tiles(N, «B») {\n  "
    "y[i] = x[i]\n }\n}\n",
    "import \"b.ptl\": S\nfn f[N](s: S[N]) -> f32[N] { return s.«w» }\n//- /b.ptl\n"
    "pub struct S[N] {\n «$0w»: f32[N]\n}\n",
    // Broken text.
    "fn f[N](«x»: f32[N]) -> f32[N] {\n let y = «$0x» +\n return «x» *\n",
    "fn f[N](«x»: f32[N] -> f32[N] {\n let y = «$0x» @\n",
    "fn f(x f32) {\n let «a» = 1\n let b = («$0a»\n let c = «a»\n",
    "let «$0a» = 1\nlet b = a\n",
};

TEST(Navigation, MentionsAreAllThatMeansTheSame) {
  for (const char *source : kMentions) {
    Marked marked = readMarked(source);
    Opened opened(marked);
    auto symbol = symbolAt(opened.workspace, opened.file(marked), marked.cursor);
    if (std::string_view(source).starts_with("let"))
      continue; // no declaration: it need not mean anything, but must not harm
    ASSERT_TRUE(symbol) << source;
    std::vector<std::pair<std::string, Range>> found;
    for (const Mention &mention : mentions(opened.workspace, *symbol, {}))
      found.emplace_back(mention.location.file->path(), mention.location.range);
    EXPECT_EQ(rangesText(std::move(found)), expectedText(marked)) << source;
  }
}

TEST(Navigation, RenamingChangesAllMentions) {
  for (const char *source : kMentions) {
    Marked marked = readMarked(source);
    Opened opened(marked);
    if (std::string_view(source).starts_with("let"))
      continue;
    Rename found = rename(opened.workspace, opened.file(marked), marked.cursor, "renamed", {});
    EXPECT_EQ(found.error, "") << source;
    std::vector<std::pair<std::string, Range>> edits;
    for (const Location &location : found.edits)
      edits.emplace_back(location.file->path(), location.range);
    EXPECT_EQ(rangesText(std::move(edits)), expectedText(marked)) << source;
  }
}

struct Refused {
  const char *text;
  const char *newName;
  const char *reason;
};

TEST(Navigation, RenamingRefusesWhatChangesAMeaning) {
  constexpr Refused cases[] = {
      {"fn f($0x: f32) -> f32 { return x }", "let", "keyword"},
      {"fn f($0x: f32) -> f32 { return x }", "f16", "element type"},
      {"fn f($0x: f32) -> f32 { return x }", "1x", "is not a name"},
      {"fn f($0x: f32) -> f32 { return x }", "", "is not a name"},
      {"fn f(x: f32) -> f32 { return $0exp(x) }", "g", "of the language"},
      {"fn f(x: f32) -> f32 { return x $0+ x }", "g", "of the language"},
      {"fn $0f(x: f32) -> f32 { return x }", "exp", "is a built-in"},
      {"fn $0f(x: f32) -> f32 { return x }\nfn g(x: f32) -> f32 { return x }", "g",
       "is a `fn` already"},
      {"fn f($0x: f32, y: f32) -> f32 { return x + y }", "y", "another part"},
      {"fn f[N]($0x: f32[N]) -> f32[N] { return x }", "N", "another part"},
      {"fn f(x: f32) -> f32 {\n let $0a = x\n let b = x\n return a + b\n}", "b", "line"},
      {"fn f(x: f32) -> f32 {\n let a = x\n let $0b = x\n return a + b\n}", "a", "line"},
      {"const E = 4\nfn f(x: f32[4]) -> f32[4] {\n let $0a = 2.0\n return x * a * E\n}", "E",
       "would have another meaning"},
      {"const $0E = 4\nfn f(x: f32[4]) -> f32[4] {\n let a = 2.0\n return x * a * E\n}", "a",
       "would have another meaning"},
      {"struct S {\n $0a: f32[4]\n b: f32[4]\n}", "b", "another part"},
      {"program p[N](x: f32[N]) -> (y: f32[N]) {\n let a = x * 2\n let b = a\n y = b\n}\n"
       "schedule p on a3 { $0a { tile N by 4 } }",
       "b", "another label"},
      {"import std.nn: $0silu\nfn f[N](x: f32[N]) -> f32[N] { return silu(x) }", "s",
       "standard library"},
      {"import std.$0nn\nfn f[N](x: f32[N]) -> f32[N] { return nn.silu(x) }", "s",
       "rename the file"},
  };
  for (const Refused &each : cases) {
    Marked marked = readMarked(each.text);
    Opened opened(marked);
    Rename found = rename(opened.workspace, opened.file(marked), marked.cursor, each.newName, {});
    EXPECT_TRUE(found.edits.empty()) << each.text;
    EXPECT_NE(found.error.find(each.reason), std::string::npos)
        << each.text << " to " << each.newName << ": " << found.error;
  }
}

TEST(Navigation, TypeDefinitionIsStructAliasOrTypeParameter) {
  constexpr const char *cases[] = {
      "struct «S»[N] {\n w: f32[N]\n}\nfn f[N](s: S[N]) -> f32[N] { let t = s ; return $0t.w }",
      "struct «S»[N] {\n w: f32[N]\n}\nfn f[N](s: S[N]) -> f32[N] { return $0s.w }",
      "type «Row»[N] = f32[1, N]\nfn f[N](x: Row[N]) -> f32[1, N] { return $0x }",
      "fn f[N, «T»: float](x: T[N]) -> T[N] { return $0x }",
      "struct «S»[N] {\n w: f32[N]\n}\nfn f[N](s: $0S[N]) -> f32[N] { return s.w }",
      "fn f(x: f32) -> f32 { return $0x }",
  };
  for (const char *source : cases) {
    Marked marked = readMarked(source);
    Opened opened(marked);
    auto link = typeDefinition(opened.workspace, opened.file(marked), marked.cursor);
    std::vector<std::pair<std::string, Range>> found;
    if (link)
      found.emplace_back(link->name.file->path(), link->name.range);
    EXPECT_EQ(rangesText(std::move(found)), expectedText(marked)) << source;
  }
}

TEST(Navigation, HighlightsTellReadsFromWrites) {
  Marked marked = readMarked("fn f(x: f32[4]) -> f32[4] {\n var $0a = x\n a += x\n a[0] = 1.0\n "
                             "return a\n}");
  Opened opened(marked);
  std::string kinds;
  for (const Mention &mention : highlights(opened.workspace, opened.file(marked), marked.cursor))
    kinds += mention.access == Access::Declare ? 'd' : mention.access == Access::Write ? 'w' : 'r';
  EXPECT_EQ(kinds, "dwwr");
}

TEST(Navigation, ImportsAreLinks) {
  Marked marked = readMarked("import «std.nn»: silu\nimport «\"b.ptl\"»\nimport std.none\n//- "
                             "/b.ptl\npub fn f(x: f32) -> f32 { return x }\n");
  Opened opened(marked);
  std::vector<std::pair<std::string, Range>> found;
  for (const ImportLink &link : importLinks(opened.workspace, opened.file(marked)))
    found.emplace_back("/a.ptl", link.range);
  EXPECT_EQ(rangesText(std::move(found)), expectedText(marked));
}

TEST(Navigation, LinkedRangesBelongToOneDeclaration) {
  Marked marked = readMarked("fn f[«$0N»](x: f32[«N»]) -> f32[«N»] { return x }\n");
  Opened opened(marked);
  std::vector<std::pair<std::string, Range>> found;
  for (Range range : linkedRanges(opened.workspace, opened.file(marked), marked.cursor))
    found.emplace_back("/a.ptl", range);
  EXPECT_EQ(rangesText(std::move(found)), expectedText(marked));
}

std::string callsText(const std::vector<Calls> &all) {
  std::string text;
  for (const Calls &calls : all)
    text += calls.item.name + " " + std::to_string(calls.places.size()) + "; ";
  return text;
}

TEST(CallHierarchy, ListsCallersAndCallees) {
  constexpr const char *source =
      "import \"b.ptl\": f\nfn $0g(x: f32) -> f32 { return f(x) + f(x) + exp(x) }\n"
      "fn h(x: f32) -> f32 { return g(x) }\ntest \"t\" {\n assert(g(1.0) == g(1.0), \"\")\n}\n"
      "//- /b.ptl\npub fn f(x: f32) -> f32 { return x }\n";
  Marked marked = readMarked(source);
  Opened opened(marked);
  File &file = opened.file(marked);
  auto item = callItemAt(opened.workspace, file, marked.cursor);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->name, "g");
  EXPECT_EQ(callsText(incomingCalls(opened.workspace, file, marked.cursor, {})),
            "h 1; test \"t\" 2; ");
  EXPECT_EQ(callsText(outgoingCalls(opened.workspace, file, marked.cursor)), "f 2; ");
  auto test = static_cast<uint32_t>(file.document.text().find("\"t\""));
  EXPECT_EQ(callsText(outgoingCalls(opened.workspace, file, test)), "g 2; ");
}

// ---- All of it, everywhere ----------------------------------------------------------------------

/// Everything at some bytes of a text; what is declared is among its own mentions.
void expectSound(const std::string &text, uint32_t step) {
  Workspace workspace(testOptions());
  File &file = workspace.open("/a.ptl", text, 1);
  for (uint32_t at = 0; at <= text.size(); at += step) {
    auto symbol = symbolAt(workspace, file, at);
    definition(workspace, file, at);
    typeDefinition(workspace, file, at);
    outgoingCalls(workspace, file, at);
    linkedRanges(workspace, file, at);
    prepareRename(workspace, file, at);
    if (!symbol || !symbol->file || symbol->type == SymbolType::Module)
      continue;
    bool found = false;
    for (const Mention &mention : highlights(workspace, file, at)) {
      EXPECT_LE(mention.location.range.end, text.size());
      found |= mention.location.range == symbol->range;
    }
    EXPECT_TRUE(found) << symbol->name << " at " << at;
  }
}

TEST(Navigation, IsSoundInWholeAndBrokenText) {
  for (const std::string &path : examplePaths()) {
    std::string text = readFile(path).value();
    expectSound(text, 13);
    expectSound(text.substr(0, text.size() / 3), 17);
    expectSound(text.substr(text.size() / 2), 17);
  }
}

size_t countErrors(Workspace &workspace, File &file) {
  while (workspace.checkNext(file)) {
  }
  return workspace.diagnostics(file).size();
}

TEST(Navigation, RenamingKeepsExamplesCorrect) {
  size_t count = 0;
  for (const std::string &path : examplePaths()) {
    std::string text = readFile(path).value();
    Workspace workspace(testOptions());
    File &file = workspace.open("/a.ptl", text, 1);
    size_t errors = countErrors(workspace, file);
    for (uint32_t at = 0; at < text.size(); at += 43) {
      if (!prepareRename(workspace, file, at).error.empty())
        continue;
      Rename found = rename(workspace, file, at, "zz_renamed", {});
      EXPECT_EQ(found.error, "") << text.substr(at, 20);
      std::string renamed = text;
      std::sort(found.edits.begin(), found.edits.end(),
                [](const Location &a, const Location &b) { return a.range.begin > b.range.begin; });
      for (const Location &edit : found.edits)
        renamed.replace(edit.range.begin, edit.range.end - edit.range.begin, "zz_renamed");
      workspace.open("/a.ptl", renamed, 2);
      EXPECT_EQ(countErrors(workspace, file), errors) << text.substr(at, 20);
      workspace.open("/a.ptl", text, 3);
      ++count;
    }
  }
  EXPECT_GT(count, 100u);
}

} // namespace navigation_test
} // namespace ptl::ide
