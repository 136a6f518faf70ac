#include "ir/dialect/ptl_dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/dialect/ptl_dialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/dialect/ptl_types.cpp.inc"

namespace ptl::ir {

static constexpr llvm::StringRef placeNames[] = {"inferred", "gm",        "vec",       "mat",
                                                 "left",     "right",     "acc",       "bias",
                                                 "scale",    "scaleleft", "scaleright"};

llvm::StringRef placeName(Place place) { return placeNames[static_cast<size_t>(place)]; }

void PtlDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/dialect/ptl_types.cpp.inc"
      >();
  registerStructureOps();
  registerBuiltinOps();
  registerAttributes();
}

llvm::ArrayRef<Extent> extentsOf(Type type) {
  if (auto array = dyn_cast<ArrayType>(type))
    return array.getExtents();
  if (auto ref = dyn_cast<RefType>(type))
    return ref.getExtents();
  return {};
}

Type elementTypeOf(Type type) {
  if (auto array = dyn_cast<ArrayType>(type))
    return array.getElementType();
  if (auto ref = dyn_cast<RefType>(type))
    return ref.getElementType();
  return type;
}

// ---- Spelling of shaped types: `<f32[i:128, 64, "T - S"], vec>` ---------------------------------

static bool isBareName(llvm::StringRef name) {
  auto isHead = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  return !name.empty() && isHead(name.front()) &&
         llvm::all_of(name, [&](char c) { return isHead(c) || llvm::isDigit(c) || c == '.'; });
}

static void printExtent(AsmPrinter &printer, const Extent &extent) {
  if (extent.isConstant()) {
    printer << extent.length;
    return;
  }
  if (isBareName(extent.symbol))
    printer << extent.symbol.getValue();
  else
    printer << extent.symbol;
  if (extent.capacity != Extent::kUnknown)
    printer << ':' << extent.capacity;
}

static void printShaped(AsmPrinter &printer, Type element, llvm::ArrayRef<Extent> extents,
                        Place place) {
  printer << '<' << element << '[';
  llvm::interleaveComma(extents, printer, [&](const Extent &e) { printExtent(printer, e); });
  printer << ']';
  if (place != Place::Inferred)
    printer << ", " << placeName(place);
  printer << '>';
}

static ParseResult parseExtent(AsmParser &parser, llvm::SmallVectorImpl<Extent> &extents) {
  int64_t number = 0;
  OptionalParseResult asNumber = parser.parseOptionalInteger(number);
  if (asNumber.has_value()) {
    if (failed(*asNumber))
      return failure();
    extents.push_back(Extent::constant(number));
    return success();
  }
  std::string name;
  llvm::StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    name = keyword.str();
  else if (parser.parseString(&name))
    return failure();
  int64_t capacity = Extent::kUnknown;
  if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(capacity))
    return failure();
  extents.push_back(Extent::named(StringAttr::get(parser.getContext(), name), capacity));
  return success();
}

static std::optional<Place> parsePlace(AsmParser &parser) {
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return std::nullopt;
  for (size_t i = 0; i < std::size(placeNames); ++i)
    if (placeNames[i] == keyword)
      return static_cast<Place>(i);
  parser.emitError(parser.getNameLoc(), "unknown place `") << keyword << '`';
  return std::nullopt;
}

template <typename ShapedT> static Type parseShaped(AsmParser &parser) {
  Type element;
  llvm::SmallVector<Extent> extents;
  if (parser.parseLess() || parser.parseType(element) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseExtent(parser, extents); }))
    return {};
  Place place = Place::Inferred;
  if (succeeded(parser.parseOptionalComma())) {
    std::optional<Place> parsed = parsePlace(parser);
    if (!parsed)
      return {};
    place = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return ShapedT::get(parser.getContext(), element, extents, place);
}

void ArrayType::print(AsmPrinter &printer) const {
  printShaped(printer, getElementType(), getExtents(), getPlace());
}
Type ArrayType::parse(AsmParser &parser) { return parseShaped<ArrayType>(parser); }
void RefType::print(AsmPrinter &printer) const {
  printShaped(printer, getElementType(), getExtents(), getPlace());
}
Type RefType::parse(AsmParser &parser) { return parseShaped<RefType>(parser); }

} // namespace ptl::ir
