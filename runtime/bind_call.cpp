#include "runtime/array_walk.h"
#include "runtime/bind.h"
#include "runtime/bind_internal.h"

#include <algorithm>
#include <array>

namespace ptl::rt {
namespace {

struct ArgumentBytes {
  const Param *param;
  ByteRange range;
};

/// Precondition: `arrays` are as many as the entry takes.
Failure checkOverlap(const Entry &entry, std::span<const PtlArray *const> arrays) {
  constexpr size_t kUsual = 16;
  std::array<ArgumentBytes, kUsual> usual; // not initialised: that would take longer than the rest
  std::vector<ArgumentBytes> many(arrays.size() > kUsual ? arrays.size() : 0);
  std::span<ArgumentBytes> all(many.empty() ? usual.data() : many.data(), arrays.size());
  size_t next = 0;
  for (const Param &param : entry.params)
    if (param.isArray()) {
      all[next] = {&param, bytesOf(*arrays[next])};
      ++next;
    }
  for (const ArgumentBytes &written : all) {
    if (!written.param->isWritten())
      continue;
    for (const ArgumentBytes &other : all)
      if (&other != &written && written.range.overlaps(other.range))
        return {PTL_ERROR_OVERLAP,
                "`" + entry.name + "`: `" + written.param->name +
                    "`, which is written, overlaps the memory of `" + other.param->name + "`",
                entry.file, entry.line};
  }
  return {};
}

} // namespace

Failure bindInputs(const Entry &entry, const CallArguments &inputs, Binding &binding) {
  Binder binder(entry, inputs, binding);
  return binder.bindInputs() ? Failure{} : binder.takeFailure();
}

Failure outputShape(const Entry &entry, int index, const CallArguments &inputs,
                    const Binding &binding, OutputShape &shape) {
  const Param &param = entry.params[entry.params.size() - entry.outputCount + index];
  // Nothing is bound here: the extents of outputs follow from names that have values.
  Binder binder(entry, inputs, const_cast<Binding &>(binding));
  Binder::Extents extents;
  if (!binder.wantedExtents(param, extents))
    return binder.takeFailure();
  shape.extents.assign(extents.values.begin(), extents.values.begin() + extents.rank);
  // A type parameter that no array fixes is the one of the only variant there is.
  shape.elem = param.elem ? *param.elem : binding.elems[param.typeParam].value_or(PTL_F32);
  if (!param.elem && !binding.elems[param.typeParam])
    if (const Variant *variant = selectVariant(entry, binding))
      shape.elem = variant->elems[param.typeParam].value_or(PTL_F32);
  return {};
}

Failure checkOutputs(const Entry &entry, const CallArguments &all, Binding &binding) {
  auto wanted =
      static_cast<size_t>(std::count_if(entry.params.begin(), entry.params.end(),
                                        [](const Param &param) { return param.isArray(); }));
  if (all.arrays.size() != wanted)
    return {PTL_ERROR_ARGUMENT,
            "`" + entry.name + "`: takes " + std::to_string(wanted) +
                " arrays, outputs included, not " + std::to_string(all.arrays.size()),
            entry.file, entry.line};
  Binder binder(entry, all, binding);
  // Outputs stand behind all inputs, both in the call and among the parameters.
  size_t firstArray = all.arrays.size() - entry.outputCount;
  size_t firstParam = entry.params.size() - entry.outputCount;
  Binder::Extents extents;
  for (int i = 0; i < entry.outputCount; ++i) {
    const Param &param = entry.params[firstParam + i];
    if (!binder.wantedExtents(param, extents) ||
        !binder.checkArray(param, all.arrays[firstArray + i]))
      return binder.takeFailure();
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
