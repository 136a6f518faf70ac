// Reads the `name=value` arguments of `ptlc run`: arrays from files or made up, scalars,
// dimensions.
#pragma once

#include "compile/call/assumed_elements.h"
#include "frontend/sema/checked_tree.h"
#include "runtime/manifest.h"
#include "runtime/npy/array_file.h"
#include "runtime/npy/owned_array.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl {

/// What a call needs, in the order of the entry's parameters.
struct RunInputs {
  std::vector<rt::OwnedArray> arrays;                ///< array parameters
  std::vector<PtlScalar> scalars;                    ///< scalar parameters
  std::vector<bool> assumedScalars;                  ///< of `scalars`: nobody gave them
  std::vector<std::pair<std::string, int64_t>> dims; ///< dimensions given by name
  std::vector<bool> hasValues;           ///< of `arrays`: false where only the shape is known
  std::vector<AssumedElements> elements; ///< of arrays that nobody gave and that may decide
  /// Of `arrays`: where elements are read later; such an array has memory that nothing has touched.
  std::vector<std::shared_ptr<rt::ArrayFile>> files;
};

/// How complete the arguments have to be. With `Times` an array that is not given has a shape, and
/// has values only if they may decide how long the entry takes (`assumeElements`); scalars that are
/// not integers need no value. With `Parts` arrays in files are described only: `RunInputs::files`.
/// With `Drawn` arrays that are not given have random elements, and numbers that are not integers are 1.
enum class RunNeeds : uint8_t { Values, Times, Parts, Drawn };

struct RunArgumentError {
  std::string name; ///< of the parameter or the word that is wrong
  std::string reason;
};

/// Resolves the words for an entry. With `convert`, `f32` and `f64` files are rounded to the
/// parameter's float type. Returns the errors, none if all words are right. The element types are
/// those that the declaration's parameters may have.
std::vector<RunArgumentError> resolveRunArguments(const CallableDecl &decl, const rt::Entry &entry,
                                                  const std::vector<std::string> &words,
                                                  uint64_t seed, bool convert, RunInputs &inputs,
                                                  RunNeeds needs = RunNeeds::Values);

} // namespace ptl
