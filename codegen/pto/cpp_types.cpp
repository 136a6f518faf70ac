#include "codegen/pto/cpp_types.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::pto {

std::string cppElement(Type type) {
  if (type.isIndex())
    return "int64_t";
  if (type.isF32())
    return "float";
  if (type.isF16())
    return "half";
  if (type.isBF16())
    return "bfloat16_t";
  if (type.isF64())
    return "double";
  if (type.isFloat8E4M3FN())
    return "float8_e4m3_t";
  if (type.isFloat8E5M2())
    return "float8_e5m2_t";
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return "void";
  // Truth values are bytes in memory.
  if (integer.getWidth() == 1)
    return "uint8_t";
  return (integer.isUnsigned() ? "uint" : "int") + std::to_string(integer.getWidth()) + "_t";
}

static std::string extent(int64_t value) {
  return value == kDynamic ? "-1" : std::to_string(value);
}

/// `F32`, `Bf16`, `U8`: for names.
static std::string shortName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  if (llvm::StringRef(name).starts_with("ui"))
    name.erase(1, 1);
  name[0] = llvm::toUpper(name[0]);
  return name;
}

static std::string capital(llvm::StringRef name) {
  std::string text = name.str();
  text[0] = llvm::toUpper(text[0]);
  return text;
}

CppTypes::CppTypes(llvm::ArrayRef<TileBufType> tiles) {
  for (TileBufType tile : tiles)
    ++ofPlace_[ir::placeName(tile.getPlace())];
}

std::string CppTypes::define(const std::string &wanted, const std::string &spelled) {
  std::string &alias = known_[spelled];
  if (alias.empty()) {
    // Types that differ only in what their names leave out are told apart by a number.
    unsigned count = taken_[wanted]++;
    alias = count ? wanted + "_" + std::to_string(count) : wanted;
    definitions_.push_back("using " + alias + " = " + spelled + ";");
  }
  return alias;
}

/// The type of scales in the library; the IR has their codes.
static constexpr const char *kScaleElement = "float8_e8m0_t";

/// The element type of a tile.
static std::string elementOf(TileBufType type) {
  return type.getLayout().fractal == 32 ? kScaleElement : cppElement(type.getElementType());
}

/// The aliases of the library for `left`, `right` and `acc` hide what differs between chips.
static std::string spelledTile(TileBufType type) {
  Layout layout = type.getLayout();
  bool narrowed = type.getValidRows() != type.getRows() || type.getValidCols() != type.getCols();
  std::string size = elementOf(type) + ", " + std::to_string(type.getRows()) + ", " +
                     std::to_string(type.getCols());
  std::string valid = ", " + extent(type.getValidRows()) + ", " + extent(type.getValidCols());
  const char *library = nullptr;
  switch (type.getPlace()) {
  case ir::Place::Left:
    library = "TileLeft";
    break;
  case ir::Place::Right:
    library = "TileRight";
    break;
  case ir::Place::Acc:
    library = "TileAcc";
    break;
  case ir::Place::ScaleLeft:
    library = "TileLeftScale";
    break;
  case ir::Place::ScaleRight:
    library = "TileRightScale";
    break;
  default:
    break;
  }
  // Products count the boxes of their operands in the lengths that they multiply, not in those of the buffers. So where a
  // tile may hold less than its buffer, what is there stands close together.
  if (library)
    return library + ((narrowed ? "Compact<" : "<") + size + (narrowed ? valid : "") + ">");
  static constexpr const char *boxOrders[] = {"", "RowMajor", "ColMajor"};
  static constexpr const char *innerOrders[] = {"NoneBox", "RowMajor", "ColMajor"};
  static constexpr const char *pads[] = {"Null", "Zero", "Max", "Min"};
  std::string place =
      type.getPlace() == ir::Place::Scale ? "Scaling" : capital(ir::placeName(type.getPlace()));
  std::string text = "Tile<TileType::" + place + ", " + size;
  // 512 bytes is the fractal of all types but accumulators, and the default of the template. C++
  // has no named template arguments, so one that differs makes all before it necessary.
  bool hasPad = layout.pad != 0,
       boxed = layout.inner != Layout::None || layout.fractal != 512 || hasPad;
  if (boxed || narrowed || layout.box != Layout::RowMajor)
    text += std::string(", BLayout::") + boxOrders[layout.box];
  if (boxed || narrowed)
    text += valid;
  if (boxed)
    text += std::string(", SLayout::") + innerOrders[layout.inner] + ", " +
            std::to_string(layout.fractal);
  if (hasPad)
    text += std::string(", PadValue::") + pads[layout.pad & 3];
  return text + ">";
}

std::string CppTypes::tile(TileBufType type) {
  std::string name = capital(ir::placeName(type.getPlace()));
  // The only type of its place has a short name; others say their element type and shape.
  if (ofPlace_[ir::placeName(type.getPlace())] <= 1)
    return define(name + "Tile", spelledTile(type));
  name += shortName(type.getElementType()) + "_" + std::to_string(type.getRows()) + "x" +
          std::to_string(type.getCols());
  llvm::StringRef layout = layoutName(type.getLayout());
  bool usual =
      type.getPlace() == ir::Place::Vec ? layout == "nd" : type.getPlace() != ir::Place::Mat;
  if (!usual && !layout.empty())
    name += "_" + layout.str();
  if (!type.hasDynamicValid() &&
      (type.getValidRows() != type.getRows() || type.getValidCols() != type.getCols()))
    name += "_of_" + extent(type.getValidRows()) + "x" + extent(type.getValidCols());
  return define(name, spelledTile(type));
}

std::string CppTypes::view(const CppView &view) {
  auto list = [](const int64_t(&values)[5]) {
    std::string text;
    for (int64_t value : values)
      text += (text.empty() ? "" : ", ") + extent(value);
    return "<" + text + ">";
  };
  bool areScales = llvm::StringRef(view.layout).starts_with("MX_");
  std::string name = (areScales ? "E8m0" : shortName(view.element)) + "View_",
              element = areScales ? kScaleElement : cppElement(view.element);
  bool started = false;
  for (int i = 0; i < 5; ++i) {
    started |= i >= 3 || view.shape[i] != 1;
    if (started)
      name += (name.back() == '_' ? "" : "x") +
              (view.shape[i] == kDynamic ? "n" : std::to_string(view.shape[i]));
  }
  std::string layout(view.layout);
  return define(name, "GlobalTensor<" + element + ", Shape" + list(view.shape) + ", Stride" +
                          list(view.strides) + (layout == "ND" ? "" : ", Layout::" + layout) + ">");
}

std::string CppTypes::pipe(const std::string &spelled, llvm::StringRef wanted) {
  // Queues of one type share the alias, which is reset once for each group of cores.
  bool known = known_.count(spelled);
  std::string alias = define(wanted.str(), spelled);
  if (!known)
    pipes_.push_back(alias);
  return alias;
}

} // namespace ptl::pto
