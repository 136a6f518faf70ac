// Assumes elements of arrays that the caller did not give, for runs that only estimate times:
// lengths and positions in the data decide how long a kernel takes. The possible values follow from
// the entry's requirements.
#pragma once

#include "runtime/manifest.h"
#include "runtime/npy/owned_array.h"

#include <optional>
#include <span>

namespace ptl {

/// The elements that an array is assumed to have.
struct AssumedElements {
  std::string name; ///< of the parameter
  std::string text; ///< `512`: all of them; `0, 1, 2 ...`
};

struct AssumedArray {
  rt::OwnedArray array;
  AssumedElements elements;
};

/// An array for which `where` requires `all(a < E)` is assumed to hold positions: 0, 1, 2 … up to
/// the limit, repeatedly. One for which it requires `all(a <= E)` is assumed to hold counts, each
/// of the largest allowed value. Returns nothing if E cannot be computed from `dims`, if the
/// elements are not integers, or if the array is very large.
std::optional<AssumedArray> assumeElements(const rt::Entry &entry, const rt::Param &param,
                                           std::span<const std::optional<int64_t>> dims,
                                           const std::vector<int64_t> &extents);

} // namespace ptl
