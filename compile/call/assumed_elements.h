// Elements of arrays that nobody gave, where only times are wanted: lengths and positions among
// data decide how long a kernel takes. What the requirements of an entry say of them is a guide.
#pragma once

#include "runtime/manifest.h"
#include "runtime/npy/owned_array.h"

#include <optional>
#include <span>

namespace ptl {

/// The elements of an array, as long as nothing else is known of them.
struct AssumedElements {
  std::string name; ///< of the parameter
  std::string text; ///< `512`: all of them; `0, 1, 2 ...`
};

struct AssumedArray {
  rt::OwnedArray array;
  AssumedElements elements;
};

/// An array of which `where` requires `all(a < E)` is taken to hold positions, one after another
/// over and over; one of which `all(a <= E)`, counts, each as large as it may be. Nothing where E
/// does not come out of `dims`, of what is no integer, and of very large arrays.
std::optional<AssumedArray> assumeElements(const rt::Entry &entry, const rt::Param &param,
                                           std::span<const std::optional<int64_t>> dims,
                                           const std::vector<int64_t> &extents);

} // namespace ptl
