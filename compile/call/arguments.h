// Reads the `name=value` arguments of `ptlc run`: arrays from files or generated, scalars,
// dimensions.
#pragma once

#include "compile/call/assumed_elements.h"
#include "frontend/sema/checked_tree.h"
#include "runtime/manifest.h"
#include "runtime/npy/array_file.h"
#include "runtime/npy/owned_array.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

/// The arguments of a call, in the order of the entry's parameters.
struct RunInputs {
  std::vector<rt::OwnedArray> arrays; ///< array parameters
  std::vector<PtlScalar> scalars;     ///< scalar parameters
  /// of `scalars`: the value was assumed, not given
  std::vector<bool> assumedScalars;
  std::vector<std::pair<std::string, int64_t>> dims; ///< all dimensions that are known
  /// Of `dims`, those that words give, and not the shapes of arrays.
  std::vector<std::pair<std::string, int64_t>> givenDims;
  std::vector<bool> hasValues; ///< of `arrays`: false if only the shape is known
  /// of arrays that were not given and whose elements may matter
  std::vector<AssumedElements> elements;
  /// Of `arrays`: files whose elements are read later; the memory of such an array is untouched.
  std::vector<std::shared_ptr<rt::ArrayFile>> files;
};

/// How complete the arguments must be. `Times`: an array that is not given has a shape, and
/// elements only if they may decide how long the entry takes (`assumeElements`); scalars that are
/// not integers need no value. `Parts`: arrays in files are only described (`RunInputs::files`).
/// `Drawn`: arrays that are not given have random elements, and numbers that are not integers are
/// 1.
enum class RunNeeds : uint8_t { Values, Times, Parts, Drawn };

/// Fills an array with random elements, the same for the same seed: reals from 0 to 1 and integers
/// below 10, unless limits are given.
void fillRandomly(rt::OwnedArray &array, uint64_t seed, std::optional<double> low = std::nullopt,
                  std::optional<double> high = std::nullopt);

struct RunArgumentError {
  std::string name; ///< of the parameter, or the argument that is wrong
  std::string reason;
};

/// Resolves the arguments of an entry. With `convert`, `f32` and `f64` files are rounded to the
/// parameter's float type. Returns the errors, none if all arguments are right. The element types
/// are those that the declaration's parameters may have.
std::vector<RunArgumentError> resolveRunArguments(const CallableDecl &decl, const rt::Entry &entry,
                                                  const std::vector<std::string> &words,
                                                  uint64_t seed, bool convert, RunInputs &inputs,
                                                  RunNeeds needs = RunNeeds::Values);

} // namespace ptl
