#include "passes/lower_block/lower_print.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/file_location.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::block {

/// The buffer of a scalar as a tile of one element.
static Value bufferOfScalar(KernelContext &c, Tile tile, Location loc) {
  if (tile.element.isIndex()) {
    // Tiles have no elements of the type of lengths.
    tile.scalar = c.b.create<arith::IndexCastOp>(loc, c.b.getI32Type(), tile.scalar);
    tile.element = c.b.getI32Type();
  }
  tile.extents = {1, 1, constant(c, 1), constant(c, 1)};
  return materialise(c, tile, loc).buffer;
}

/// The buffer of a value of a print; null after an error.
static Value bufferOfPrinted(KernelContext &c, ir::PrintOp print, Value value) {
  Location loc = print.getLoc();
  std::optional<Tile> tile = operandTile(c, print, value);
  if (!tile)
    return {};
  if (tile->form == Tile::Form::Mask)
    tile = bytesOf(c, *tile, loc);
  if (!isScalar(c, value))
    return materialise(c, *tile, loc).buffer;
  if (value.getType().isIndex())
    tile->element = value.getType();
  return bufferOfScalar(c, *tile, loc);
}

namespace {
/// What one `tprint` writes: the text in front, and the value.
struct Part {
  std::string before;
  Value value; ///< null: there is only text
};
} // namespace

static std::string joined(llvm::ArrayRef<std::string> texts) { return llvm::join(texts, " "); }

/// The parts of a line. `behind` is what follows the last value.
static llvm::SmallVector<Part> partsOf(ir::PrintOp print, std::string &behind) {
  llvm::SmallVector<Part> parts;
  llvm::SmallVector<std::string> waiting;
  if (!print.getMessage().empty())
    waiting.push_back(print.getMessage().str());
  ArrayAttr texts = attrs::texts.of(print);
  for (auto [number, value] : llvm::enumerate(print.getXs())) {
    if (auto text = texts ? dyn_cast<StringAttr>(texts[number]) : StringAttr()) {
      waiting.push_back(text.str());
      continue;
    }
    parts.push_back({joined(waiting), value});
    waiting.clear();
  }
  if (parts.empty())
    parts.push_back({joined(waiting), {}});
  else
    behind = joined(waiting);
  return parts;
}

/// A tile that holds the number of a line of the source.
static Value bufferOfLine(KernelContext &c, Location loc) {
  FileLineColLoc at = fileOf(loc);
  Tile tile;
  tile.form = Tile::Form::Splat;
  tile.element = c.b.getI32Type();
  tile.scalar = c.b.create<arith::ConstantIntOp>(loc, at ? at.getLine() : 0, 32);
  return bufferOfScalar(c, tile, loc);
}

void lowerPrint(KernelContext &c, ir::PrintOp print) {
  // The vector cores print, since they have the values.
  if (c.core == CoreKind::Cube)
    return;
  Location loc = print.getLoc();
  std::string behind;
  llvm::SmallVector<Part> parts = partsOf(print, behind);
  // What both vector cores have is printed by one of them; all parts of a line by the same.
  llvm::SmallVector<ir::Extent> extents;
  for (const Part &part : parts)
    if (part.value)
      llvm::append_range(extents, ir::extentsOf(part.value.getType()));
  MemoryBox once;
  once.present = onceOnly(c, print, {}, extents);
  for (const Part &part : parts) {
    Value buffer = part.value ? bufferOfPrinted(c, print, part.value) : bufferOfLine(c, loc);
    if (!buffer)
      return;
    llvm::SmallVector<Attribute> texts = {
        c.b.getStringAttr(part.before),
        part.value ? Attribute(TypeAttr::get(part.value.getType())) : Attribute(c.b.getUnitAttr())};
    if (&part == &parts.back())
      texts.push_back(c.b.getStringAttr(behind));
    whenPresent(c, once, loc, [&] {
      Operation *op = emit(c, loc, InstructionId::TPrint, {buffer}, {});
      attrs::texts.set(op, texts);
    });
  }
}

} // namespace ptl::block
