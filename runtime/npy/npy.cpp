#include "runtime/npy/npy.h"

#include "runtime/array_walk.h"
#include "runtime/format_value.h"
#include "runtime/npy/npy_header.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ptl::rt {
namespace {

static_assert(std::endian::native == std::endian::little);

void swapBytes(uint8_t *data, int64_t count, int64_t size) {
  for (int64_t i = 0; i < count; ++i)
    std::reverse(data + i * size, data + (i + 1) * size);
}

/// Copies `from`, whose first axis runs fastest, into the row-major `to`.
void copyFortran(const uint8_t *from, const OwnedArray &to, int64_t size) {
  const std::vector<int64_t> &extents = to.extents();
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t axis = 1; axis < extents.size(); ++axis)
    strides[axis] = strides[axis - 1] * extents[axis - 1];
  PtlArray source{const_cast<uint8_t *>(from), int64_t(extents.size()), extents.data(),
                  strides.data(), to.elem()};
  auto *out = static_cast<uint8_t *>(to.data());
  forEachElement(source, [&](const void *cell, int64_t number) {
    std::memcpy(out + number * size, cell, size);
    return true;
  });
}

} // namespace

Failure readNpy(std::span<const uint8_t> bytes, OwnedArray &array) {
  NpyHeader header;
  if (Failure failure = parseNpyHeader(bytes, header))
    return failure;
  int64_t size = elemInfo(header.elem)->size();
  int64_t count = elementCount(header.extents.size(), header.extents.data());
  uint64_t present = bytes.size() - header.dataOffset;
  // The shape comes from the file, so it is compared with what is there before memory is taken for
  // it. The product of both numbers could overflow, the quotient cannot.
  if (static_cast<uint64_t>(count) > present / size)
    return fileFailure("the header claims the shape " +
                       formatShape(header.extents.size(), header.extents.data()) + " of " +
                       std::to_string(size) + "-byte elements, but only " +
                       std::to_string(present) + " bytes of data follow");
  std::optional<OwnedArray> made = OwnedArray::make(header.elem, header.extents);
  if (!made)
    return {PTL_ERROR_MEMORY, "not enough memory for " + std::to_string(count) + " elements", "",
            0};
  const uint8_t *data = bytes.data() + header.dataOffset;
  auto *out = static_cast<uint8_t *>(made->data());
  // The strides of an empty array need not fit 64 bits.
  if (count > 0 && header.fortranOrder && header.extents.size() > 1)
    copyFortran(data, *made, size);
  else if (count > 0)
    std::memcpy(out, data, count * size);
  if (header.bigEndian && size > 1)
    swapBytes(out, count, size);
  // Any byte but 0 is true, and what computes with truth values takes 0 and 1 for granted.
  if (header.elem == PTL_BOOL)
    for (int64_t i = 0; i < count; ++i)
      out[i] = out[i] != 0;
  array = std::move(*made);
  return {};
}

Failure writeNpy(const PtlArray &array, std::vector<uint8_t> &bytes) {
  const ElemInfo *info = elemInfo(array.elem);
  if (!info || info->size() == 0)
    return fileFailure("arrays of this element type cannot be written");
  std::string header = makeNpyHeader(info->elem, array.rank, array.extents);
  int64_t size = info->size();
  int64_t count = elementCount(array.rank, array.extents);
  size_t start = bytes.size() + header.size();
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(start + count * size);
  forEachElement(array, [&](const void *cell, int64_t number) {
    std::memcpy(bytes.data() + start + number * size, cell, size);
    return true;
  });
  return {};
}

} // namespace ptl::rt
