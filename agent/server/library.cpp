#include "agent/server/library.h"

#include "agent/server/doc_files.h"
#include "agent/server/example_files.h"
#include "agent/server/op_doc_files.h"
#include "agent/server/schema_files.h"
#include "agent/server/std_files.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/explain.h"
#include "machines/machine_files.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace ptl::agent {

/// The first heading or comment, without its marks.
static std::string firstWords(std::string_view text) {
  size_t begin = text.find_first_not_of("#/ \n\t{}\"");
  if (begin == text.npos)
    return "";
  std::string line(text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin));
  return line.substr(0, 160);
}

static void addPages(std::vector<LibraryPage> &pages, const std::string &folder, const char *ending,
                     const char *type, const EmbeddedFile *files, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    std::string name = std::string(files[i].name) + ending;
    pages.push_back(
        {"ptl://" + folder + name, name, firstWords(files[i].text), type, files[i].text});
  }
}

const std::vector<LibraryPage> &libraryPages() {
  static const std::vector<LibraryPage> pages = [] {
    std::vector<LibraryPage> all;
    addPages(all, "docs/", ".md", "text/markdown", kDocFiles, kDocFileCount);
    addPages(all, "docs/ops/", ".md", "text/markdown", kOpDocFiles, kOpDocFileCount);
    addPages(all, "examples/", ".ptl", "text/x-ptl", kExampleFiles, kExampleFileCount);
    addPages(all, "std/", ".ptl", "text/x-ptl", kStdFiles, kStdFileCount);
    addPages(all, "machines/", ".json", "application/json", kMachineFiles, kMachineFileCount);
    addPages(all, "schemas/", ".json", "application/schema+json", kSchemaFiles, kSchemaFileCount);
    for (const DiagInfo &info : allDiagInfos())
      if (std::optional<std::string_view> page = explainPage(info.code))
        all.push_back({std::string("ptl://diagnostics/") + info.code, info.code, info.message,
                       "text/markdown", *page});
    std::sort(all.begin(), all.end(),
              [](const LibraryPage &a, const LibraryPage &b) { return a.uri < b.uri; });
    return all;
  }();
  return pages;
}

const LibraryPage *libraryPage(std::string_view uri) {
  const std::vector<LibraryPage> &pages = libraryPages();
  auto found = std::ranges::lower_bound(pages, uri, {}, &LibraryPage::uri);
  return found == pages.end() || found->uri != uri ? nullptr : &*found;
}

// ---- Search -------------------------------------------------------------------------------------

namespace {
/// A section of a document, or a declaration of a program with the comment before it.
struct Section {
  const LibraryPage *page;
  std::string title;
  size_t line, byte, bytes;
  std::map<std::string, int> words;
};
} // namespace

static std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    unsigned char c = i < text.size() ? static_cast<unsigned char>(text[i]) : ' ';
    if (std::isalnum(c) || c == '_') {
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    // `tiles` and `tile` are one word.
    if (word.size() > 3 && word.back() == 's' && word[word.size() - 2] != 's')
      word.pop_back();
    if (!word.empty())
      words.push_back(std::move(word));
    word.clear();
  }
  return words;
}

static bool beginsSection(std::string_view line, bool isProgram) {
  if (!isProgram)
    return line.starts_with("#");
  for (std::string_view word :
       {"pub ", "kernel ", "program ", "fn ", "test ", "property ", "bench ", "schedule "})
    if (line.starts_with(word))
      return true;
  return false;
}

static std::vector<Section> sectionsOf(const LibraryPage &page) {
  bool isProgram = page.type == "text/x-ptl";
  std::vector<Section> sections = {{&page, page.description, 1, 0, 0, {}}};
  size_t number = 1;
  bool isCode = false;
  for (size_t begin = 0; begin < page.text.size(); ++number) {
    size_t end = std::min(page.text.find('\n', begin), page.text.size());
    std::string_view line = page.text.substr(begin, end - begin);
    isCode ^= !isProgram && line.starts_with("```");
    if (!isCode && begin > 0 && beginsSection(line, isProgram)) {
      sections.back().bytes = begin - sections.back().byte;
      std::string title(line.substr(std::min(line.find_first_not_of("# "), line.size())));
      sections.push_back({&page, std::move(title), number, begin, 0, {}});
    }
    begin = end + 1;
  }
  sections.back().bytes = page.text.size() - sections.back().byte;
  for (Section &section : sections) {
    for (const std::string &word : wordsOf(page.text.substr(section.byte, section.bytes)))
      ++section.words[word];
    for (const std::string &word : wordsOf(section.title))
      // A word of the title says more about a section than one of its text.
      section.words[word] += 4;
  }
  return sections;
}

static const std::vector<Section> &allSections() {
  static const std::vector<Section> sections = [] {
    std::vector<Section> all;
    for (const LibraryPage &page : libraryPages())
      if (!page.uri.starts_with("ptl://schemas/") && !page.uri.starts_with("ptl://machines/"))
        for (Section &section : sectionsOf(page))
          all.push_back(std::move(section));
    return all;
  }();
  return sections;
}

/// The lines with most of the words.
static std::string excerptOf(const Section &section, const std::vector<std::string> &words) {
  std::string_view text = section.page->text.substr(section.byte, section.bytes);
  size_t best = 0;
  int most = -1;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    int count = 0;
    for (const std::string &word : wordsOf(text.substr(begin, end - begin)))
      count += std::ranges::find(words, word) != words.end();
    if (count > most) {
      most = count;
      best = begin;
    }
    begin = end + 1;
  }
  std::string excerpt(text.substr(best, 320));
  while (!excerpt.empty() && (static_cast<unsigned char>(excerpt.back()) & 0xC0) == 0x80)
    excerpt.pop_back();
  if (!excerpt.empty() && (static_cast<unsigned char>(excerpt.back()) & 0x80))
    excerpt.pop_back();
  return excerpt;
}

std::vector<FoundPart> searchLibrary(std::string_view query, const std::vector<std::string> &where,
                                     size_t most) {
  std::vector<std::string> words = wordsOf(query);
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  const std::vector<Section> &sections = allSections();
  std::map<std::string, double> rarity;
  for (const std::string &word : words) {
    auto has = [&](const Section &section) { return section.words.contains(word); };
    auto count = static_cast<double>(std::ranges::count_if(sections, has));
    // A word that stands in few sections says more than one that is everywhere (inverse document frequency).
    rarity[word] = std::log(1 + static_cast<double>(sections.size()) / (1 + count));
  }
  std::vector<FoundPart> found;
  for (const Section &section : sections) {
    if (std::ranges::none_of(where, [&](const std::string &prefix) {
          return section.page->uri.starts_with(prefix);
        }))
      continue;
    double score = 0;
    for (const std::string &word : words)
      // Many occurrences count little more than some, and long sections need more of them, as in BM25.
      if (auto count = section.words.find(word); count != section.words.end())
        score += rarity[word] * count->second /
                 (count->second + 1.0 + static_cast<double>(section.bytes) / 2000);
    if (score > 0)
      found.push_back(
          {section.page, section.title, section.line, section.byte, section.bytes, "", score});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundPart &a, const FoundPart &b) { return a.score > b.score; });
  found.resize(std::min(found.size(), most));
  for (FoundPart &part : found)
    part.excerpt = excerptOf({part.page, part.title, part.line, part.byte, part.bytes, {}}, words);
  return found;
}

} // namespace ptl::agent
