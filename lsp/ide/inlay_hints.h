// Shows beside the source what it leaves implicit: inferred types with sizes, capacities of tiles,
// names of parameters, and the copies that a pipeline holds.
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
  uint32_t offset = 0; ///< in the file, unless stated otherwise
  HintKind kind = HintKind::Type;
  std::vector<LabelPart> label; ///< `definition`: the target of a click
  size_t ofType = 0;            ///< the first pieces of the label that are the type itself
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
  /// The text that makes the hint explicit in the source; nothing if that would be an error.
  std::optional<std::string> insertion;
};
/// The details of the hint that is at a byte at present; nothing if there is none of that kind.
std::optional<HintDetails> hintDetails(Workspace &workspace, File &file, uint32_t offset,
                                       HintKind kind);

} // namespace ptl::ide
