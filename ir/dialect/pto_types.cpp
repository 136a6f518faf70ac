// Spelling and layout of the types of the block level.
#include "ir/dialect/pto_dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "frontend/base/round_up.h"
#include "ir/dialect/pto_enums.cpp.inc"
#include "ir/ops/box_order.h"

#define GET_ATTRDEF_CLASSES
#include "ir/dialect/pto_attrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/dialect/pto_types.cpp.inc"

namespace ptl::pto {

void PtoDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/dialect/pto_attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/dialect/pto_types.cpp.inc"
      >();
  registerBlockOps();
  registerInstructions();
}

// ---- layouts ------------------------------------------------------------------------------------

namespace {
struct NamedLayout {
  llvm::StringLiteral name;
  Layout layout;
};
} // namespace

static constexpr NamedLayout namedLayouts[] = {
    {"nd", {Layout::RowMajor, Layout::None, 512}},
    {"dn", {Layout::ColMajor, Layout::None, 512}},
    {"nz", {Layout::ColMajor, Layout::RowMajor, 512}},
    {"zn", {Layout::RowMajor, Layout::ColMajor, 512}},
    {"zz", {Layout::RowMajor, Layout::RowMajor, 512}},
    {"nn", {Layout::ColMajor, Layout::ColMajor, 512}},
    {"acc", {Layout::ColMajor, Layout::RowMajor, 1024}},
    // Of the scales of a left and of a right operand.
    {"mx_zz", {Layout::RowMajor, Layout::RowMajor, 32}},
    {"mx_nn", {Layout::ColMajor, Layout::ColMajor, 32}},
};

std::optional<Layout> layoutByName(llvm::StringRef name) {
  for (const NamedLayout &row : namedLayouts)
    if (row.name == name)
      return row.layout;
  return std::nullopt;
}

llvm::StringRef layoutName(const Layout &layout) {
  for (const NamedLayout &row : namedLayouts)
    if (row.layout.box == layout.box && row.layout.inner == layout.inner &&
        row.layout.fractal == layout.fractal)
      return row.name;
  return {};
}

int64_t elementBits(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

static BoxOrder orderOf(const Layout &layout) {
  return {layout.inner != Layout::None, layout.box == Layout::RowMajor,
          layout.inner != Layout::ColMajor, layout.fractal};
}

int64_t elementOffset(TileBufType type, int64_t row, int64_t col) {
  return ptl::elementOffset(orderOf(type.getLayout()), elementBytes(type.getElementType()),
                            type.getRows(), type.getCols(), row, col);
}

// ---- tile buffers -------------------------------------------------------------------------------

int64_t TileBufType::getBytes() const {
  int64_t rows = getRows(), cols = getCols();
  // A boxed tile occupies whole boxes.
  if (getLayout().inner != Layout::None) {
    auto [boxRows, boxCols] = boxShape(orderOf(getLayout()), elementBytes(getElementType()));
    rows = roundUp(rows, boxRows);
    cols = roundUp(cols, boxCols);
  }
  // Elements of less than a byte share one.
  return (rows * cols * elementBits(getElementType()) + 7) / 8;
}

bool TileBufType::hasDynamicValid() const {
  return getValidRows() == kDynamic || getValidCols() == kDynamic;
}

TileBufType TileBufType::withValid(int64_t validRows, int64_t validCols) const {
  return get(getContext(), getPlace(), getRows(), getCols(), getElementType(), validRows, validCols,
             getLayout());
}

// Places as PTOAS spells them; the language says `scale`. The scales of operands have the same word; their layouts tell
// them apart.
static llvm::StringRef spelling(ir::Place place) {
  bool isScale =
      place == ir::Place::Scale || place == ir::Place::ScaleLeft || place == ir::Place::ScaleRight;
  return isScale ? "scaling" : ir::placeName(place);
}

static std::optional<ir::Place> placeOf(llvm::StringRef name) {
  for (auto place : {ir::Place::Vec, ir::Place::Mat, ir::Place::Left, ir::Place::Right,
                     ir::Place::Acc, ir::Place::Bias, ir::Place::Scale})
    if (spelling(place) == name)
      return place;
  return std::nullopt;
}

static constexpr llvm::StringLiteral boxOrders[] = {"", "row_major", "col_major"};
static constexpr llvm::StringLiteral innerOrders[] = {"none_box", "row_major", "col_major"};

static void printExtent(AsmPrinter &printer, int64_t extent) {
  if (extent == kDynamic)
    printer << '?';
  else
    printer << extent;
}

void TileBufType::print(AsmPrinter &printer) const {
  printer << '<' << spelling(getPlace()) << ", " << getRows() << 'x' << getCols() << 'x'
          << getElementType();
  if (getValidRows() != getRows() || getValidCols() != getCols()) {
    printer << ", valid=";
    printExtent(printer, getValidRows());
    printer << 'x';
    printExtent(printer, getValidCols());
  }
  Layout layout = getLayout(), standard;
  if (layout.box != standard.box)
    printer << ", blayout=" << boxOrders[layout.box];
  if (layout.inner != standard.inner)
    printer << ", slayout=" << innerOrders[layout.inner];
  if (layout.fractal != standard.fractal)
    printer << ", fractal=" << layout.fractal;
  if (layout.pad != standard.pad)
    printer << ", pad=" << layout.pad;
  printer << '>';
}

static ParseResult parseOrder(AsmParser &parser, llvm::ArrayRef<llvm::StringLiteral> names,
                              Layout::Order &order) {
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  for (size_t i = 0; i < names.size(); ++i)
    // An empty name stands for an order that has no spelling.
    if (!names[i].empty() && names[i] == keyword) {
      order = static_cast<Layout::Order>(i);
      return success();
    }
  return parser.emitError(parser.getNameLoc(), "unknown order `") << keyword << '`';
}

static ParseResult parseTileOption(AsmParser &parser, int64_t &validRows, int64_t &validCols,
                                   Layout &layout) {
  llvm::StringRef key;
  if (parser.parseKeyword(&key) || parser.parseEqual())
    return failure();
  if (key == "valid") {
    llvm::SmallVector<int64_t> valid;
    if (parser.parseDimensionList(valid, /*allowDynamic=*/true, /*withTrailingX=*/false))
      return failure();
    // A tile has rows and columns.
    if (valid.size() != 2)
      return parser.emitError(parser.getNameLoc(), "`valid` has two extents");
    validRows = valid[0];
    validCols = valid[1];
    return success();
  }
  if (key == "blayout")
    return parseOrder(parser, boxOrders, layout.box);
  if (key == "slayout")
    return parseOrder(parser, innerOrders, layout.inner);
  if (key == "fractal")
    return parser.parseInteger(layout.fractal);
  if (key == "pad")
    return parser.parseInteger(layout.pad);
  return parser.emitError(parser.getNameLoc(), "a tile has no `") << key << '`';
}

Type TileBufType::parse(AsmParser &parser) {
  llvm::StringRef placeText;
  llvm::SmallVector<int64_t> extents;
  Type element;
  if (parser.parseLess() || parser.parseKeyword(&placeText) || parser.parseComma() ||
      parser.parseDimensionList(extents, /*allowDynamic=*/false) || parser.parseType(element))
    return {};
  std::optional<ir::Place> place = placeOf(placeText);
  if (!place || extents.size() != 2 || !element.isIntOrFloat()) {
    parser.emitError(parser.getNameLoc(), "a tile has a place, two extents and an element type");
    return {};
  }
  // Without an option the whole tile is valid.
  int64_t validRows = extents[0], validCols = extents[1];
  Layout layout;
  while (succeeded(parser.parseOptionalComma()))
    if (parseTileOption(parser, validRows, validCols, layout))
      return {};
  if (parser.parseGreater())
    return {};
  if (*place == ir::Place::Scale && layout.fractal == 32)
    place = layout.box == Layout::RowMajor ? ir::Place::ScaleLeft : ir::Place::ScaleRight;
  return get(parser.getContext(), *place, extents[0], extents[1], element, validRows, validCols,
             layout);
}

// ---- views --------------------------------------------------------------------------------------

static void printView(AsmPrinter &printer, llvm::ArrayRef<int64_t> shape, Type element) {
  printer << '<';
  for (int64_t extent : shape) {
    printExtent(printer, extent);
    printer << 'x';
  }
  printer << element << '>';
}

template <typename ViewT> static Type parseView(AsmParser &parser) {
  llvm::SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return ViewT::get(parser.getContext(), shape, element);
}

void TensorViewType::print(AsmPrinter &printer) const {
  printView(printer, getShape(), getElementType());
}
Type TensorViewType::parse(AsmParser &parser) { return parseView<TensorViewType>(parser); }
void PartitionViewType::print(AsmPrinter &printer) const {
  printView(printer, getShape(), getElementType());
}
Type PartitionViewType::parse(AsmParser &parser) { return parseView<PartitionViewType>(parser); }

} // namespace ptl::pto
