#include "tests/differential/generate/term.h"

#include <cmath>

namespace ptl::differential {

Axis constantAxis(int64_t length) {
  std::string text = std::to_string(length);
  return {text, text, "0.." + text, length, length};
}

Axis dimAxis(const std::string &name, int64_t most) {
  return {name, name, "0.." + name, most, std::nullopt};
}

Axis productAxis(const Axis &a, const Axis &b) {
  Axis axis = dimAxis(a.length + "*" + b.length, a.most * b.most);
  axis.factors = {a, b};
  return axis;
}

Axis rangeAxis(const std::string &name, int64_t most) {
  return {name, name + ".len", name, most, std::nullopt};
}

std::string Type::text() const {
  std::string text(elemName(elem));
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "[") + shape[i].name;
  return shape.empty() ? text : text + "]";
}

double exactLimit(ElemKind elem) {
  if (!isFloat(elem))
    return 100;
  return std::ldexp(1.0, elemInfo(elem).mantissaBits);
}

} // namespace ptl::differential
