// The text of an import, and its place in a file.
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

/// The offset of the first declaration of a file, including the comments that belong to it; `tree`
/// must cover at least the beginning of the file.
uint32_t firstDeclaration(const Tree &tree);

/// The byte offsets in a file at which an import, or names of it, can be inserted.
struct ImportSites {
  std::optional<uint32_t> names; ///< after the names of an import of the same module
  std::optional<uint32_t> last;  ///< after the last import
  uint32_t first = 0;            ///< see `firstDeclaration`
};

struct PlacedText {
  uint32_t at = 0;
  std::string text;
};
/// The text that imports `names` (`silu, gelu`; empty: the module itself) of `module` (`std.nn`).
PlacedText importText(const ImportSites &sites, const std::string &module,
                      const std::string &names);

/// Names to import by module; an empty name is the module itself.
using ImportNeeds = std::map<std::string, std::set<std::string>>;
/// One text per import; those that are inserted before the first declaration form one block.
std::vector<PlacedText>
importTexts(const ImportNeeds &needs,
            const std::function<ImportSites(const std::string &module)> &sitesFor);

/// The edits that add imports to a whole file.
std::vector<TextEdit> importEdits(const Tree &tree, const ImportNeeds &needs);

} // namespace ptl
