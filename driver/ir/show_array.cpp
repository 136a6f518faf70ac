#include "driver/ir/show_array.h"

#include "compile/call/packed_arrays.h"
#include "frontend/base/elem_convert.h"
#include "runtime/elem.h"
#include "runtime/format_value.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ptl {

static ElemKind kindOf(const rt::OwnedArray &array) {
  return elemKindByName(rt::elemName(array.elem())).value_or(ElemKind::F32);
}

static std::string summary(const rt::OwnedArray &array) {
  ElemKind kind = kindOf(array);
  auto *data = static_cast<const char *>(array.data());
  double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
  int64_t notNumbers = 0;
  for (int64_t i = 0; i < array.count(); ++i) {
    Scalar scalar = loadElem(data + i * elemBytes(kind), kind);
    double value = isFloat(kind) ? scalar.f : static_cast<double>(scalar.i);
    if (std::isnan(value)) {
      ++notNumbers;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  // Nothing here counts what is not a number.
  int64_t numbers = array.count() - notNumbers;
  if (numbers == 0 && notNumbers > 0)
    return "  all " + std::to_string(notNumbers) + " elements are nan";
  char text[160];
  std::snprintf(text, sizeof text, "  min %.6g, max %.6g, mean %.6g", low, high,
                numbers ? sum / static_cast<double>(numbers) : 0.0);
  return text + (notNumbers ? ", " + std::to_string(notNumbers) + " nan" : "");
}

std::string showArray(const std::string &name, const rt::OwnedArray &array) {
  std::string text = name + ": " + describe(array);
  PtlArray view = array.view();
  return text + (array.count() <= 64 ? "\n" + rt::formatArray(view) : summary(array)) + "\n";
}

std::string showPacked(const std::string &name, rt::OwnedArray bytes, ElemKind kind) {
  rt::OwnedArray elements = unpackedArray(std::move(bytes), kind);
  std::string text = showArray(name, elements);
  // The numbers are shown in a type of whole bytes, and the type as it is declared.
  size_t type = name.size() + 2, end = text.find('[', type);
  return text.replace(type, end - type, elemName(kind));
}

rt::OwnedArray widened(rt::OwnedArray array) {
  ElemKind kind = kindOf(array);
  bool isShort = kind == ElemKind::BF16 || kind == ElemKind::F8E4M3 || kind == ElemKind::F8E5M2 ||
                 kind == ElemKind::F8E8M0;
  if (!isShort)
    return array;
  std::optional<rt::OwnedArray> wide = rt::OwnedArray::make(PTL_F32, array.extents());
  if (!wide)
    return array;
  auto *in = static_cast<const char *>(array.data());
  auto *out = static_cast<float *>(wide->data());
  for (int64_t i = 0; i < array.count(); ++i)
    out[i] = static_cast<float>(loadElem(in + i * elemBytes(kind), kind).f);
  return std::move(*wide);
}

} // namespace ptl
