#include "runtime/kept_call.h"

#include "runtime/array_walk.h"

#include <algorithm>

namespace ptl::rt {
namespace {

bool readsScalars(const Entry &entry) {
  bool found = false;
  auto look = [&](const Expr &expr) {
    forEachName(expr, [&](const Expr &name) { found |= name.op == Expr::Op::Scalar; });
  };
  for (const Where &where : entry.wheres)
    look(where.expr);
  for (const Param &param : entry.params) {
    std::for_each(param.shape.begin(), param.shape.end(), look);
    std::for_each(param.strideExprs.begin(), param.strideExprs.end(), look);
  }
  return found;
}

} // namespace

bool KeptCall::canKeep(const Entry &entry) {
  return std::none_of(entry.wheres.begin(), entry.wheres.end(),
                      [](const Where &where) { return readsElements(where.expr); });
}

bool KeptCall::describe(const Entry &entry, const CallArguments &all) {
  arrayCount_ = 0;
  size_t next = 0;
  for (const Param &param : entry.params) {
    if (!param.isArray())
      continue;
    const PtlArray &array = *all.arrays[arrayCount_];
    if (arrayCount_ == kMostArrays || next + 2 * size_t(array.rank) > kMostNumbers)
      return false;
    ByteRange bytes = bytesOf(array);
    auto base = reinterpret_cast<uintptr_t>(array.data);
    bool isEmpty = elementCount(array.rank, array.extents) == 0;
    // Addresses may change from call to call; whether arrays overlap is decided by offsets from
    // them, which stay.
    arrays_[arrayCount_++] = {array.rank,
                              array.elem,
                              param.isWritten(),
                              isEmpty,
                              static_cast<uintptr_t>(elemInfo(array.elem)->size() - 1),
                              static_cast<int64_t>(bytes.low - base),
                              static_cast<int64_t>(bytes.high - base)};
    for (int64_t axis = 0; axis < array.rank; ++axis) {
      numbers_[next++] = array.extents[axis];
      numbers_[next++] = array.strides[axis];
    }
  }
  return true;
}

bool KeptCall::keep(const PtlEntry &entry, const CallArguments &all, size_t variant,
                    const std::vector<int64_t> &dims) {
  // Nothing is kept until all of it is there: a serial number of 0 fits no entry.
  serial_ = 0;
  if (!describe(*entry.entry, all))
    return false;
  variant_ = variant;
  dims_ = dims;
  comparesScalars_ = readsScalars(*entry.entry);
  scalars_.clear();
  for (const PtlScalar &scalar : all.scalars)
    // Scalars are compared by their bits: a call is the same if nothing of it differs.
    scalars_.push_back(scalar.u64);
  named_.clear();
  for (const PtlDim &dim : all.dims)
    named_.emplace_back(dim.name, dim.value);
  serial_ = entry.serial;
  return true;
}

inline bool KeptCall::hasSameArray(const Kept &kept, const PtlArray *array,
                                   const int64_t *&numbers) const {
  if (!array || array->elem != kept.elem || array->rank != kept.rank)
    return false;
  const int64_t *extents = array->extents, *strides = array->strides;
  if (kept.rank > 0 && (!extents || !strides))
    return false;
  for (int64_t axis = 0; axis < kept.rank; ++axis) {
    if (extents[axis] != numbers[0] || strides[axis] != numbers[1])
      return false;
    numbers += 2;
  }
  auto address = reinterpret_cast<uintptr_t>(array->data);
  return kept.isEmpty || (address != 0 && (address & kept.misaligned) == 0);
}

inline bool KeptCall::overlaps(const CallArguments &all) const {
  auto base = [&](size_t i) { return reinterpret_cast<uintptr_t>(all.arrays[i]->data); };
  for (size_t i = 0; i < arrayCount_; ++i) {
    const Kept &written = arrays_[i];
    // Two arrays that are only read may share memory.
    if (!written.isWritten || written.isEmpty)
      continue;
    uintptr_t low = base(i) + uintptr_t(written.low), high = base(i) + uintptr_t(written.high);
    for (size_t j = 0; j < arrayCount_; ++j) {
      const Kept &other = arrays_[j];
      if (j != i && !other.isEmpty && low < base(j) + uintptr_t(other.high) &&
          base(j) + uintptr_t(other.low) < high)
        return true;
    }
  }
  return false;
}

bool KeptCall::fits(const PtlEntry &entry, const CallArguments &all) const {
  if (serial_ != entry.serial || all.arrays.size() != arrayCount_ ||
      all.scalars.size() != scalars_.size() || all.dims.size() != named_.size())
    return false;
  const int64_t *numbers = numbers_.data();
  for (size_t i = 0; i < arrayCount_; ++i)
    if (!hasSameArray(arrays_[i], all.arrays[i], numbers))
      return false;
  if (comparesScalars_)
    for (size_t i = 0; i < scalars_.size(); ++i)
      if (all.scalars[i].u64 != scalars_[i])
        return false;
  for (size_t i = 0; i < named_.size(); ++i)
    if (all.dims[i].value != named_[i].second || !all.dims[i].name ||
        named_[i].first != all.dims[i].name)
      return false;
  return !overlaps(all);
}

} // namespace ptl::rt
