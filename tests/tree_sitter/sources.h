// Texts in PTL to try the grammar on, and ways to damage them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ptl::sitter {

struct SourceText {
  std::string origin; ///< a file, for messages
  std::string text;
};

/// The text of a file, empty if there is none.
std::string readText(const std::string &path);

/// A case of a corpus: between a ruler of `=` and one of `-` the text, then its tree.
struct CorpusCase {
  std::string title;
  std::string text;
  std::string tree;
};
/// The cases in all files of a folder.
std::vector<CorpusCase> readCorpus(const std::string &folder);

/// All `.ptl` files below `root`, blocks of PTL in its Markdown pages and the texts of the
/// grammar's own corpus, in a fixed order.
std::vector<SourceText> collectSources(const std::string &root);
/// The declarations of the sources one by one, each text once.
std::vector<SourceText> splitIntoDeclarations(const std::vector<SourceText> &sources);

/// Random numbers that are the same everywhere.
class Dice {
public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint32_t below(uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>((state_ >> 33) % bound);
  }

private:
  uint64_t state_;
};

/// Damages a text once: takes out, doubles, swaps or replaces tokens, flips bytes, cuts off the
/// rest, joins or splits lines. New tokens are taken from `other`.
std::string mutate(const std::string &text, const std::string &other, Dice &dice);

} // namespace ptl::sitter
