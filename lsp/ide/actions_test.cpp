// Refactorings: a source with the selection marked `$[`…`$]` or the cursor `$0`, and what it
// becomes. The result of every one has no errors that the source did not have.
#include "lsp/ide/code_actions.h"
#include "lsp/ide/example_files_test_util.h"
#include "lsp/ide/test_options.h"

#include "frontend/syntax/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

namespace ptl::ide {
namespace actions_test {

/// A source without its marks, and where they were.
struct Marked {
  std::string text;
  Range range;
};
Marked marked(std::string source) {
  Marked result;
  auto take = [&](const char *mark) {
    size_t at = source.find(mark);
    if (at == source.npos)
      return false;
    source.erase(at, 2);
    result.range.end = static_cast<uint32_t>(at);
    return true;
  };
  if (take("$["))
    result.range.begin = result.range.end;
  if (!take("$]") && take("$0"))
    result.range.begin = result.range.end;
  result.text = source;
  return result;
}

std::string errorsOf(const std::string &text) {
  Workspace workspace(testOptions());
  File &file = workspace.open("/test.ptl", text, 1);
  while (workspace.checkNext(file)) {
  }
  std::string errors;
  for (const FileDiagnostic &each : workspace.diagnostics(file))
    if (each.diagnostic->severity == Severity::Error)
      errors +=
          std::string(diagInfo(each.diagnostic->id).code) + ": " + each.diagnostic->message + "\n";
  return errors;
}

std::string applied(const File &file, const std::vector<FileEdit> &edits) {
  std::vector<Edit> plain;
  for (const FileEdit &edit : edits)
    plain.push_back({edit.range, edit.text});
  return ide::applied(file.document.text(), plain);
}

/// The text after the action whose title begins so, or why there is none.
std::string after(const std::string &source, const std::string &title) {
  Marked input = marked(source);
  Workspace workspace(testOptions());
  File &file = workspace.open("/test.ptl", input.text, 1);
  while (workspace.checkNext(file)) {
  }
  workspace.diagnostics(file);
  std::vector<std::string> only;
  if (title == "Fix all in this file")
    only = {"source"};
  std::string titles;
  for (CodeAction &action : codeActions(workspace, file, input.range, only)) {
    titles += action.title + "\n";
    if (!action.title.starts_with(title))
      continue;
    if (!action.disabled.empty())
      return "refused: " + action.disabled + "\n";
    if (!action.isResolved) {
      ResolvedAction resolved = resolveAction(workspace, file, action.key);
      if (!resolved.refused.empty())
        return "refused: " + resolved.refused + "\n";
      action.edits = resolved.edits;
    }
    return applied(file, action.edits);
  }
  return "not offered; there is:\n" + titles;
}

/// `=== NAME: TITLE`, the source, `---`, the result. `broken` in the name: the result may have
/// errors, as the source has.
struct Case {
  std::string name, title, source, expected;
};

std::vector<Case> readCases(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<Case> cases;
  std::string *part = nullptr;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("=== ")) {
      size_t colon = line.find(": ");
      cases.push_back({line.substr(4, colon - 4), line.substr(colon + 2), "", ""});
      part = &cases.back().source;
    } else if (line == "---" && part) {
      part = &cases.back().expected;
    } else if (part) {
      *part += line + "\n";
    }
  }
  // Cases are separated by an empty line.
  for (Case &each : cases)
    if (each.expected.ends_with("\n\n"))
      each.expected.pop_back();
  return cases;
}

/// With PTL_UPDATE set the file of cases takes over what comes out.
TEST(CodeActions, Cases) {
  const std::string path = PTL_SOURCE_DIR "/lsp/ide/actions_test.txt";
  std::vector<Case> cases = readCases(path);
  ASSERT_GT(cases.size(), 10u);
  std::string updated;
  for (const Case &each : cases) {
    std::string result = after(each.source, each.title);
    bool isText = !result.starts_with("refused:") && !result.starts_with("not offered");
    EXPECT_EQ(result, each.expected) << each.name;
    if (isText && each.name.find("broken") == std::string::npos)
      EXPECT_EQ(errorsOf(result), "") << each.name << "\n" << result;
    updated +=
        "=== " + each.name + ": " + each.title + "\n" + each.source + "---\n" + result + "\n";
  }
  if (std::getenv("PTL_UPDATE"))
    std::ofstream(path, std::ios::binary) << updated;
}

/// Every action that is offered for a selection anywhere gives a file without errors.
TEST(CodeActions, EveryResultOfTheExamplesIsRight) {
  std::map<std::string, int> counts;
  const char *env = std::getenv("PTL_SELECTIONS");
  int perFile = env ? std::atoi(env) : 25;
  for (const std::string &path : examplePaths()) {
    Workspace workspace(testOptions());
    std::string text = readFile(path).value();
    File &file = workspace.open(path, text, 1);
    std::mt19937 random(1);
    for (int i = 0; i < perFile; ++i) {
      const Place &place = file.document.places()[random() % file.document.places().size()];
      const Tree &tree = *place.chunk->tree;
      NodeId node = static_cast<NodeId>(random() % tree.nodeCount());
      Span span = tree.span(node);
      // Half of the time whole statements, from one to the end of a later one.
      while (i % 2 && node != tree.root() && !tree.is(tree.parent(node), NodeKind::Block))
        node = tree.parent(node);
      if (i % 2 && node != tree.root()) {
        auto statements = tree.children(tree.parent(node));
        span = tree.span(node);
        auto last =
            std::find(statements.begin(), statements.end(), node) + static_cast<int>(random() % 3);
        if (last < statements.end())
          span.end = tree.span(*last).end;
      }
      Range range{place.begin + span.begin, place.begin + span.end};
      for (CodeAction &action : codeActions(workspace, file, range)) {
        std::string id = action.key.id + (action.disabled.empty() ? "" : " refused");
        if (!action.disabled.empty() && std::getenv("PTL_VERBOSE"))
          std::cout << action.key.id << " `" << file.document.text(range)
                    << "`: " << action.disabled << "\n";
        if (!action.isResolved && action.disabled.empty()) {
          ResolvedAction resolved = resolveAction(workspace, file, action.key);
          action.edits = resolved.edits;
          id += resolved.refused.empty() ? "" : " refused late";
          if (!resolved.refused.empty() && std::getenv("PTL_VERBOSE"))
            std::cout << action.key.id << " `" << file.document.text(range)
                      << "`: " << resolved.refused << "\n";
        }
        ++counts[id];
        if (action.edits.empty())
          continue;
        std::string result = applied(file, action.edits);
        Workspace fresh(testOptions());
        File &edited = fresh.open(path, result, 1);
        while (fresh.checkNext(edited)) {
        }
        for (const FileDiagnostic &each : fresh.diagnostics(edited))
          EXPECT_NE(each.diagnostic->severity, Severity::Error)
              << path << " " << action.title << " of `" << file.document.text(range)
              << "`: " << each.diagnostic->message << "\n"
              << result;
      }
    }
  }
  if (std::getenv("PTL_VERBOSE"))
    for (const auto &[id, count] : counts)
      std::cout << id << " " << count << "\n";
  EXPECT_GT(counts["extractFn"], 5);
  EXPECT_GT(counts["writeType"], 5);
}

/// Nothing crashes on what is broken, and listing looks at no more than it must.
TEST(CodeActions, BrokenFiles) {
  for (const std::string &path : examplePaths()) {
    std::string text = readFile(path).value();
    std::mt19937 random(7);
    for (int i = 0; i < 12; ++i) {
      std::string broken = text;
      broken.erase(random() % broken.size(), 1 + random() % 40);
      Workspace workspace(testOptions());
      File &file = workspace.open(path, broken, 1);
      uint32_t a = static_cast<uint32_t>(random() % broken.size());
      uint32_t b = std::min<uint32_t>(a + random() % 200, static_cast<uint32_t>(broken.size()));
      for (const CodeAction &action : codeActions(workspace, file, {a, b}))
        if (!action.isResolved && action.disabled.empty())
          resolveAction(workspace, file, action.key);
    }
  }
}

TEST(CodeActions, ListingIsQuickInLongFiles) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "fn f" + std::to_string(i) + "(x: f32[4]) -> f32[4] {\n    let a = exp(x)\n" +
            "    let b = a * a\n    let c = a + b\n    let d = c * 2\n    let e = d - a\n" +
            "    let g = e + b\n    return g + c\n}\n\n";
  Workspace workspace(testOptions());
  File &file = workspace.open("/long.ptl", text, 1);
  while (workspace.checkNext(file)) {
  }
  uint32_t at = static_cast<uint32_t>(text.size()) - 30;
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) {
    workspace.edit(file, {at, at}, i % 2 ? " " : "1");
    auto start = std::chrono::steady_clock::now();
    codeActions(workspace, file, {at, at + 4});
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  std::sort(times.begin(), times.end());
  if (std::getenv("PTL_VERBOSE"))
    std::cout << "list after a key: " << times[times.size() / 2] << " ms, worst " << times.back()
              << " ms\n";
  EXPECT_LT(times[times.size() / 2], 20.0); // the goal is 2 ms; other work may be going on here
}

} // namespace actions_test
} // namespace ptl::ide
