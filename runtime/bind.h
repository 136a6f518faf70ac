#pragma once

#include "runtime/context.h"
#include "runtime/manifest.h"

#include <span>
#include <vector>

namespace ptl::rt {

/// The arguments of a caller, in the orders that `ptl_call` documents.
struct CallArguments {
  std::span<const PtlArray *const> arrays;
  std::span<const PtlScalar> scalars;
  std::span<const PtlDim> dims;
  /// The arrays have a type and a shape, but no readable elements.
  bool isShapesOnly = false;
};

/// The values that one call binds to the names of a signature, and for each name the argument that
/// determined it.
struct Binding {
  struct Origin {
    const Param *param = nullptr; // nullptr: given by name
    size_t axis = 0;
    bool stride = false;
  };

  std::vector<int64_t> leading;              // the extents of `..`
  std::vector<std::optional<int64_t>> dims;  // complete once bound
  std::vector<std::optional<int32_t>> elems; // of the type parameters
  std::vector<int32_t> scalarElems;          // of the scalar parameters
  std::vector<Origin> origins;               // of dims
  std::vector<const Param *> elemOrigins;    // of elems
  const Param *leadingOrigin = nullptr;
};

/// Unifies the inputs with the signature and checks them: count, element type, rank, extents,
/// strides, alignment, that every dimension is bound, and every `where`.
Failure bindInputs(const Entry &entry, const CallArguments &inputs, Binding &binding);

/// The shape and element type of output `index`; `extents` has as many entries as the rank.
struct OutputShape {
  int32_t elem = 0;
  std::vector<int64_t> extents;
};
Failure outputShape(const Entry &entry, int index, const CallArguments &inputs,
                    const Binding &binding, OutputShape &shape);

/// Checks the outputs (the last `entry.outputCount` of `all.arrays`). They may determine element
/// types that no input did, and nothing written may overlap another argument.
Failure checkOutputs(const Entry &entry, const CallArguments &all, Binding &binding);

/// The first variant that was compiled for these values; nullptr if there is none.
const Variant *selectVariant(const Entry &entry, const Binding &binding);

/// The variant that a binding needs, in the form of `Variant::describe`.
std::string describeWanted(const Entry &entry, const Binding &binding);

} // namespace ptl::rt
