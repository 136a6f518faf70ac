#include "compile/call/packed_arrays.h"

#include "frontend/base/elem_convert.h"

namespace ptl {

static uint8_t codeOf(Scalar value, ElemKind kind) {
  uint64_t bits = isFloat(kind) ? encodeFloat(value.f, kind) : static_cast<uint64_t>(value.i);
  return static_cast<uint8_t>(bits & 15);
}

static Scalar elementOf(uint8_t code, ElemKind kind) {
  return isFloat(kind) ? Scalar::real(decodeFloat(code, kind))
                       : Scalar::integer(wrapInteger(code, kind));
}

std::optional<rt::OwnedArray> packedArray(ElemKind kind, const std::vector<int64_t> &extents,
                                          const std::function<Scalar(int64_t)> &at) {
  std::optional<rt::OwnedArray> bytes = rt::OwnedArray::make(PTL_U8, extents);
  auto *out = bytes ? static_cast<uint8_t *>(bytes->data()) : nullptr;
  for (int64_t i = 0; out && i < bytes->count(); ++i)
    out[i] = static_cast<uint8_t>(codeOf(at(2 * i), kind) | codeOf(at(2 * i + 1), kind) << 4);
  return bytes;
}

reference::Value unpackedValue(const rt::OwnedArray &bytes, ElemKind kind) {
  std::vector<int64_t> extents(bytes.extents().begin(), bytes.extents().end());
  extents.back() *= 2;
  reference::RefArray array = reference::zeroArray(kind, std::move(extents));
  auto *in = static_cast<const uint8_t *>(bytes.data());
  for (int64_t i = 0; i < bytes.count(); ++i) {
    array.set(2 * i, elementOf(in[i] & 15, kind));
    array.set(2 * i + 1, elementOf(in[i] >> 4, kind));
  }
  return reference::Value::array(std::move(array));
}

std::optional<rt::OwnedArray> packedValue(const reference::Value &value) {
  std::vector<int64_t> extents(value.shape().begin(), value.shape().end());
  if (!value.isArray() || extents.empty() || extents.back() % 2 != 0)
    return std::nullopt;
  extents.back() /= 2;
  const reference::RefArray &array = value.asArray();
  return packedArray(value.elem(), extents, [&](int64_t i) { return array.at(i); });
}

rt::OwnedArray unpackedArray(rt::OwnedArray array, std::optional<ElemKind> kind) {
  if (!kind || array.extents().empty())
    return array;
  std::vector<int64_t> extents(array.extents().begin(), array.extents().end());
  extents.back() *= 2;
  ElemKind wide = isFloat(*kind) ? ElemKind::F32 : ElemKind::I8;
  std::optional<rt::OwnedArray> made =
      rt::OwnedArray::make(isFloat(*kind) ? PTL_F32 : PTL_I8, extents);
  if (!made)
    return array;
  auto *in = static_cast<const uint8_t *>(array.data());
  auto *out = static_cast<char *>(made->data());
  for (int64_t i = 0; i < made->count(); ++i)
    storeElem(out + i * elemBytes(wide), wide, elementOf(in[i / 2] >> 4 * (i % 2) & 15, *kind));
  return std::move(*made);
}

std::optional<ElemKind> packedKind(const rt::Param &param) {
  return param.packed ? elemKindByName(rt::elemName(*param.packed)) : std::nullopt;
}

} // namespace ptl
