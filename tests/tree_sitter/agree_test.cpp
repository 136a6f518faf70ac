// The compiler's parser and the grammar accept and reject the same texts.
#include "frontend/lex/lexer.h"
#include "frontend/parse/parse.h"
#include "tests/tree_sitter/grammar.h"
#include "tests/tree_sitter/sources.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace ptl::sitter {
namespace {

enum class Verdict { Accepted, Rejected, Excluded };

/// What the grammar need not know.
///  - E0114, nesting: how deep a text may nest is a limit of the compiler, not of the language.
constexpr DiagId kExcluded[] = {DiagId::NestingTooDeep};

Verdict compilerSays(const std::string &text) {
  SourceFile file(0, "<test>", text);
  DiagnosticSink sink;
  parse(file, sink);
  for (const Diagnostic &diagnostic : sink.all())
    for (DiagId id : kExcluded)
      if (diagnostic.id == id)
        return Verdict::Excluded;
  return sink.hasErrors() ? Verdict::Rejected : Verdict::Accepted;
}

bool disagree(const std::string &text, Grammar &grammar) {
  Verdict verdict = compilerSays(text);
  return verdict != Verdict::Excluded && grammar.accepts(text) != (verdict == Verdict::Accepted);
}

/// Takes parts out for as long as the two still disagree.
std::string minimised(std::string text, Grammar &grammar) {
  for (size_t before = text.size() + 1; text.size() < before;) {
    before = text.size();
    for (size_t run = text.size() / 2; run > 0; run /= 2)
      for (size_t at = 0; at < text.size();) {
        std::string shorter = text;
        shorter.erase(at, run);
        if (disagree(shorter, grammar))
          text = shorter;
        else
          at += run;
      }
  }
  return text;
}

std::string report(const SourceText &source, Grammar &grammar) {
  std::string text = minimised(source.text, grammar);
  bool accepted = compilerSays(text) == Verdict::Accepted;
  return source.origin + ": the compiler " + (accepted ? "accepts" : "rejects") +
         ", the grammar does not agree:\n" + text + "\n";
}

/// Runs `work(index)` for all indices on all cores.
template <typename Work> void inParallel(uint32_t count, Work work) {
  std::atomic<uint32_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      Grammar grammar;
      for (uint32_t index; (index = next++) < count;)
        work(index, grammar);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ParsersAgree, OnAllSources) {
  std::vector<SourceText> sources = collectSources(PTL_ROOT);
  ASSERT_GT(sources.size(), 200u);
  Grammar grammar;
  ASSERT_TRUE(grammar.usable());
  size_t accepted = 0;
  for (const SourceText &source : sources) {
    accepted += grammar.accepts(source.text);
    EXPECT_FALSE(disagree(source.text, grammar)) << report(source, grammar);
  }
  RecordProperty("sources", static_cast<int>(sources.size()));
  printf("%zu sources, %zu of them accepted\n", sources.size(), accepted);
}

TEST(ParsersAgree, OnDamagedSources) {
  const char *countText = std::getenv("PTL_MUTANTS");
  const uint32_t kCount = countText ? static_cast<uint32_t>(std::atoi(countText)) : 30'000;
  constexpr uint32_t kShown = 10;
  std::vector<SourceText> sources = collectSources(PTL_ROOT);
  std::vector<SourceText> pieces = splitIntoDeclarations(sources);
  std::atomic<uint32_t> accepted = 0, excluded = 0;
  std::mutex mutex;
  std::vector<SourceText> wrong;
  inParallel(kCount, [&](uint32_t index, Grammar &grammar) {
    Dice dice(index);
    const std::vector<SourceText> &from = index % 16 == 0 ? sources : pieces;
    const SourceText &source = from[dice.below(static_cast<uint32_t>(from.size()))];
    const SourceText &other = pieces[dice.below(static_cast<uint32_t>(pieces.size()))];
    std::string text = source.text;
    for (uint32_t times = 1 + dice.below(3); times > 0; --times)
      text = mutate(text, other.text, dice);
    Verdict verdict = compilerSays(text);
    accepted += verdict == Verdict::Accepted;
    excluded += verdict == Verdict::Excluded;
    if (disagree(text, grammar)) {
      std::lock_guard lock(mutex);
      wrong.push_back({source.origin + " mutant " + std::to_string(index), text});
    }
  });
  printf("%u mutants of %zu declarations and %zu sources: %u accepted, %u excluded, %zu "
         "disagreements\n",
         kCount, pieces.size(), sources.size(), accepted.load(), excluded.load(), wrong.size());
  Grammar grammar;
  std::sort(wrong.begin(), wrong.end(),
            [](const auto &a, const auto &b) { return a.text.size() < b.text.size(); });
  for (size_t i = 0; i < wrong.size() && i < kShown; ++i)
    ADD_FAILURE() << report(wrong[i], grammar);
  EXPECT_EQ(wrong.size(), 0u);
}

} // namespace
} // namespace ptl::sitter
