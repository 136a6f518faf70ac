// The text of an import, and where in a file it goes.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/syntax/tree.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptl {

/// The offset before the first declaration of a file and the comments that belong to it; `tree`
/// covers at least the first part of the file.
uint32_t firstDeclaration(const Tree &tree);

/// The byte offsets in a file at which an import, or names of it, can be inserted.
struct ImportSites {
  std::optional<uint32_t> names; ///< behind the names of an import of the same module
  std::optional<uint32_t> last;  ///< behind the last import
  uint32_t first = 0;            ///< see `firstDeclaration`
};

struct PlacedText {
  uint32_t at = 0;
  std::string text;
};
/// The import of `names` (`silu, gelu`; empty: of the module itself) of `module` (`std.nn`).
PlacedText importText(const ImportSites &sites, const std::string &module,
                      const std::string &names);

/// Names to import by module; an empty name is the module itself.
using ImportNeeds = std::map<std::string, std::set<std::string>>;
/// One text per import; those that come to stand before the first declaration stand together.
std::vector<PlacedText>
importTexts(const ImportNeeds &needs,
            const std::function<ImportSites(const std::string &module)> &sitesFor);

/// The same for a whole file.
std::vector<TextEdit> importEdits(const Tree &tree, const ImportNeeds &needs);

} // namespace ptl
