#include "runtime/array_walk.h"
#include "runtime/bind.h"
#include "runtime/bind_internal.h"

namespace ptl::rt {
namespace {

/// The bytes that an array may touch: [low, high).
struct ByteRange {
  uintptr_t low = 0;
  uintptr_t high = 0;

  bool overlaps(const ByteRange &other) const { return low < other.high && other.low < high; }
};

ByteRange bytesOf(const PtlArray &array) {
  if (elementCount(array.rank, array.extents) == 0)
    return {};
  int64_t size = elemInfo(array.elem)->size();
  int64_t low = 0, high = 0;
  for (int64_t axis = 0; axis < array.rank; ++axis) {
    // Wraps on strides that no memory has; the check is then of no use, but defined.
    int64_t reach = static_cast<int64_t>(uint64_t(array.extents[axis] - 1) *
                                         uint64_t(array.strides[axis]) * uint64_t(size));
    (reach < 0 ? low : high) += reach;
  }
  uintptr_t base = reinterpret_cast<uintptr_t>(array.data);
  return {base + low, base + high + size};
}

Failure checkOverlap(const Entry &entry, std::span<const PtlArray *const> arrays) {
  std::vector<const Param *> params = entry.arrays();
  std::vector<ByteRange> ranges;
  for (const PtlArray *array : arrays)
    ranges.push_back(bytesOf(*array));
  for (size_t written = 0; written < params.size(); ++written) {
    if (!params[written]->isWritten())
      continue;
    for (size_t other = 0; other < params.size(); ++other) {
      if (other == written || !ranges[written].overlaps(ranges[other]))
        continue;
      return {PTL_ERROR_OVERLAP,
              "`" + entry.name + "`: `" + params[written]->name +
                  "`, which is written, overlaps the memory of `" + params[other]->name + "`",
              entry.file, entry.line};
    }
  }
  return {};
}

} // namespace

Failure bindInputs(const Entry &entry, const CallArguments &inputs, Binding &binding) {
  return Binder(entry, inputs, binding).bindInputs();
}

Failure outputShape(const Entry &entry, int index, const CallArguments &inputs,
                    const Binding &binding, OutputShape &shape) {
  const Param &param = entry.params[entry.params.size() - entry.outputCount + index];
  Binding copy = binding;
  if (Failure failure = Binder(entry, inputs, copy).wantedExtents(param, shape.extents))
    return failure;
  // A type parameter that no array fixes is the one of the only variant there is.
  shape.elem = param.elem ? *param.elem : binding.elems[param.typeParam].value_or(PTL_F32);
  if (!param.elem && !binding.elems[param.typeParam])
    if (const Variant *variant = selectVariant(entry, binding))
      shape.elem = variant->elems[param.typeParam].value_or(PTL_F32);
  return {};
}

Failure checkOutputs(const Entry &entry, const CallArguments &all, Binding &binding) {
  size_t wanted = entry.arrays().size();
  if (all.arrays.size() != wanted)
    return {PTL_ERROR_ARGUMENT,
            "`" + entry.name + "`: takes " + std::to_string(wanted) +
                " arrays, outputs included, not " + std::to_string(all.arrays.size()),
            entry.file, entry.line};
  Binder binder(entry, all, binding);
  size_t firstArray = all.arrays.size() - entry.outputCount;
  size_t firstParam = entry.params.size() - entry.outputCount;
  std::vector<int64_t> extents;
  for (int i = 0; i < entry.outputCount; ++i) {
    const Param &param = entry.params[firstParam + i];
    if (Failure failure = binder.wantedExtents(param, extents))
      return failure;
    if (Failure failure = binder.checkArray(param, all.arrays[firstArray + i]))
      return failure;
  }
  return checkOverlap(entry, all.arrays);
}

const Variant *selectVariant(const Entry &entry, const Binding &binding) {
  for (const Variant &variant : entry.variants) {
    bool fits = !variant.leading || *variant.leading == int64_t(binding.leading.size());
    for (size_t i = 0; fits && i < variant.statics.size(); ++i)
      fits = !variant.statics[i] || variant.statics[i] == binding.dims[i];
    for (size_t i = 0; fits && i < variant.elems.size(); ++i)
      fits = !variant.elems[i] || !binding.elems[i] ||
             sameStorage(*variant.elems[i], *binding.elems[i]);
    if (fits)
      return &variant;
  }
  return nullptr;
}

std::string describeWanted(const Entry &entry, const Binding &binding) {
  Variant wanted;
  wanted.statics.resize(entry.dims.size());
  for (size_t i = 0; i < entry.dims.size(); ++i)
    if (entry.dims[i].isStatic)
      wanted.statics[i] = binding.dims[i];
  for (std::optional<int32_t> elem : binding.elems)
    wanted.elems.push_back(elem ? std::optional(static_cast<PtlElem>(*elem)) : std::nullopt);
  if (entry.hasLeading())
    wanted.leading = static_cast<int64_t>(binding.leading.size());
  return wanted.describe(entry);
}

} // namespace ptl::rt
