// Shows beside the source what it leaves out: inferred types with sizes, capacities of tiles, names
// of parameters, and the copies that a pipeline keeps.
#pragma once

#include "lsp/ide/describe.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::ide {

enum class HintKind : uint8_t {
  Type,      ///< behind the name of a `let` or `var`
  Capacity,  ///< behind the variable of a loop over tiles
  Parameter, ///< before an argument
};

struct InlayHint {
  uint32_t offset = 0; ///< in the file, where nothing else is said
  HintKind kind = HintKind::Type;
  std::vector<LabelPart> label; ///< `definition`: where a click leads
  size_t ofType = 0;            ///< the first so many parts of the label are the type alone
};

struct HintOptions {
  bool types = true;
  bool capacities = true;
  bool parameters = true;
  bool operator==(const HintOptions &) const = default;
};

/// The hints of one chunk, by position; offsets count from its beginning. Checks the chunk.
std::vector<InlayHint> chunkHints(Workspace &workspace, File &file, size_t place,
                                  const HintOptions &options);

/// The hints in a range of bytes, by position. Checks the chunks of the range.
std::vector<InlayHint> inlayHints(Workspace &workspace, File &file, Range range,
                                  const HintOptions &options);

/// The parts of a hint that take longer to compute.
struct HintDetails {
  std::vector<LabelPart> label;
  std::string tooltip; ///< Markdown
  /// Writes the hint into the source; nothing where that would be an error.
  std::optional<std::string> insertion;
};
/// The details of the hint that is now at a byte; nothing if there is none of that kind.
std::optional<HintDetails> hintDetails(Workspace &workspace, File &file, uint32_t offset,
                                       HintKind kind);

} // namespace ptl::ide
