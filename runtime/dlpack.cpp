#include "runtime/dlpack.h"

#include "runtime/elem.h"

namespace ptl::rt {
namespace {

constexpr int32_t kDeviceCpu = 1;
constexpr int32_t kDeviceCudaHost = 3;

std::optional<PtlElem> elemOf(const DlTensor &tensor) {
  if (tensor.typeLanes != 1)
    return std::nullopt;
  for (int32_t code = 0; const ElemInfo *info = elemInfo(code); ++code)
    if (info->dlpackCode == tensor.typeCode && info->bits == tensor.typeBits && info->size() > 0)
      return info->elem;
  return std::nullopt;
}

} // namespace

Failure viewOfDlpack(const DlTensor &tensor, PtlView &view) {
  if (tensor.deviceType != kDeviceCpu && tensor.deviceType != kDeviceCudaHost)
    return {PTL_ERROR_ARGUMENT, "the tensor lives on a device that this library cannot read", "",
            0};
  std::optional<PtlElem> elem = elemOf(tensor);
  if (!elem)
    return {PTL_ERROR_ELEM,
            "the tensor has an element type (code " + std::to_string(tensor.typeCode) + ", " +
                std::to_string(tensor.typeBits) + " bits, " + std::to_string(tensor.typeLanes) +
                " lanes) that PTL does not have",
            "", 0};
  if (tensor.ndim < 0 || tensor.ndim > PTL_MAX_RANK)
    return {PTL_ERROR_RANK, "the tensor has " + std::to_string(tensor.ndim) + " axes", "", 0};
  void *data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  if (tensor.strides)
    ptl_view_strided(&view, *elem, data, tensor.ndim, tensor.shape, tensor.strides);
  else
    ptl_view_dense(&view, *elem, data, tensor.ndim, tensor.shape);
  return {};
}

} // namespace ptl::rt
