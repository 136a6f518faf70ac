#include "frontend/sema/type_string.h"

#include "frontend/sema/checked_tree.h"

namespace ptl {

std::string toString(const Elem &elem) {
  if (!elem.param)
    return std::string(elemName(elem.kind));
  return elem.acc ? "acc(" + elem.param->name + ")" : elem.param->name;
}

std::string_view placeName(Place place) {
  constexpr std::string_view names[] = {"",      "gm",  "vec",  "mat",  "left",
                                        "right", "acc", "bias", "scale"};
  return names[static_cast<size_t>(place)];
}

Place placeByName(std::string_view name) {
  for (Place place : {Place::Gm, Place::Vec, Place::Mat, Place::Left, Place::Right, Place::Acc,
                      Place::Bias, Place::Scale})
    if (placeName(place) == name)
      return place;
  return Place::Inferred;
}

std::string_view layoutName(Layout layout) {
  constexpr std::string_view names[] = {
      "",
#define LAYOUT(NAME, SPELLING) SPELLING,
#include "frontend/base/layouts.def"
  };
  return names[static_cast<size_t>(layout)];
}

Layout layoutByName(std::string_view name) {
#define LAYOUT(NAME, SPELLING)                                                                     \
  if (name == SPELLING)                                                                            \
    return Layout::NAME;
#include "frontend/base/layouts.def"
  return Layout::Inferred;
}

std::string toString(const DimContext &dims, const Extent &extent) {
  // A range shows as itself while its length is what the extent says.
  if (extent.range && !extent.range->name.empty() && extent.range->length == extent.length &&
      !extent.length.isConstant())
    return extent.range->name;
  return dims.toString(extent.length);
}

static std::string shapeString(const DimContext &dims, const Type &type) {
  std::string text = "[";
  if (type.prefix)
    text += "..";
  for (size_t i = 0; i < type.extents.size(); ++i) {
    if (i || type.prefix)
      text += ", ";
    text += toString(dims, type.extents[i]);
  }
  return text + "]";
}

static std::string arrayString(const DimContext &dims, const Type &type) {
  std::string text = toString(type.elem) + shapeString(dims, type);
  if (type.place != Place::Inferred && type.place != Place::Gm)
    text += " @" + std::string(placeName(type.place));
  if (type.layout != Layout::Inferred && type.layout != Layout::Nd)
    text += " " + std::string(layoutName(type.layout));
  if (!type.strides.empty()) {
    text += " strides [";
    for (size_t i = 0; i < type.strides.size(); ++i)
      text += (i ? ", " : "") + dims.toString(type.strides[i]);
    text += "]";
  }
  return text;
}

static std::string structString(const DimContext &dims, const Type &type) {
  std::string text = type.structDecl->name;
  if (type.dimArgs.empty() && type.elemArgs.empty())
    return text;
  std::string separator = "[";
  for (Dim dim : type.dimArgs) {
    text += separator + dims.toString(dim);
    separator = ", ";
  }
  for (const Elem &elem : type.elemArgs) {
    text += separator + toString(elem);
    separator = ", ";
  }
  return text + "]";
}

std::string toString(const DimContext &dims, const Type &type) {
  switch (type.kind) {
  case TypeKind::Error:
    return "?";
  case TypeKind::Void:
    return "nothing";
  case TypeKind::Scalar:
    return toString(type.elem);
  case TypeKind::Array:
    return arrayString(dims, type);
  case TypeKind::Range:
    return "range";
  case TypeKind::Struct:
    return structString(dims, type);
  case TypeKind::String:
    return "text";
  case TypeKind::Buffer:
    return "buffer " + arrayString(dims, type);
  case TypeKind::Event:
    return "event";
  case TypeKind::Pipe:
    return "pipe " + arrayString(dims, type);
  case TypeKind::List:
    return "list of " +
           (type.elements.empty() ? std::string("nothing") : toString(dims, *type.elements[0]));
  case TypeKind::Tuple: {
    std::string text = "(";
    for (size_t i = 0; i < type.elements.size(); ++i)
      text += (i ? ", " : "") + toString(dims, *type.elements[i]);
    return text + ")";
  }
  }
  return "?";
}

} // namespace ptl
