#include "frontend/base/explain.h"

#include "frontend/base/diagnostic.h"
#include "frontend/base/explain_pages.h"

#include <algorithm>

namespace ptl {

std::optional<std::string_view> explainPage(std::string_view code) {
  for (size_t i = 0; i < kExplainPageCount; ++i)
    if (kExplainPages[i].name == code)
      return kExplainPages[i].text;
  return std::nullopt;
}

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> similarCodes(std::string_view code, size_t limit) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const DiagInfo &info : allDiagInfos()) {
    size_t byName = info.name == code ? 0 : ~size_t(0);
    ranked.emplace_back(std::min(byName, editDistance(code, info.code)), info.code);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<std::string_view> codes;
  for (const auto &[distance, name] : ranked)
    if (codes.size() < limit && distance <= 2)
      codes.push_back(name);
  return codes;
}

} // namespace ptl
