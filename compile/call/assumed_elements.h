// Assumes elements of arrays that the caller did not give, for runs that only compute times:
// lengths and positions among the data decide how long a kernel takes. The requirements of the
// entry tell which values are possible.
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
/// the limit, and again. One for which it requires `all(a <= E)` is assumed to hold counts, each as
/// large as it may be. Returns nothing where E cannot be computed from `dims`, for elements that
/// are no integers, and for very large arrays.
std::optional<AssumedArray> assumeElements(const rt::Entry &entry, const rt::Param &param,
                                           std::span<const std::optional<int64_t>> dims,
                                           const std::vector<int64_t> &extents);

} // namespace ptl
