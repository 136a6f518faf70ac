// Random kernels, functions and programs, with what a caller has to know of them.
#pragma once

#include "tests/differential/generate/maker.h"

namespace ptl::differential {

/// What one callable takes and gives, in its own dimensions.
struct Signature {
  std::string name;
  struct Array {
    std::string name;
    Type type;
    bool isInout = false;
    std::optional<Bound> bound = std::nullopt; ///< of an output, where it is known
  };
  std::vector<Array> params, outputs;
  std::vector<Axis> dims; ///< without those that are no dimension
  std::string text;       ///< of the whole declaration
};

/// Grids of one and two ranges with loops, products, stores in place, `inout`s and atomics.
Signature randomKernel(const std::string &name, uint64_t seed);
/// A function of whole arrays.
Signature randomFunction(const std::string &name, uint64_t seed);
/// A program that calls these kernels, with tensor-level code around the calls, loops and branches
/// by data.
Signature randomOrchestration(const std::string &name, uint64_t seed,
                              const std::vector<Signature> &kernels);

/// A file whose last declaration is the entry.
std::string randomSource(uint64_t seed);

/// Extents of dimensions are no larger than this, so that sums of them stay exact.
inline constexpr int64_t kMostExtent = 70;

} // namespace ptl::differential
