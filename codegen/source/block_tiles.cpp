// Buffers, and tiles: parts of them, or the same bytes seen differently.
#include "codegen/source/block_body.h"
#include "codegen/source/op_kinds.h"
#include "ir/dialect/attributes.h"

#include "ir/dialect/instruction_op.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

std::string givenName(Value value) {
  std::string name = block::nameOf(value.getLoc());
  return isIdentifier(name) ? name : "";
}

std::string addressText(int64_t address) {
  // Small addresses are decimal for the reader, others hexadecimal.
  return address == 0 ? "0" : "0x" + llvm::utohexstr(static_cast<uint64_t>(address), true);
}

// ---- What tiles are parts of --------------------------------------------------------------------

/// The buffer or popped tile behind a tile.
static Value rootOf(Value tile) {
  Value root = pto::rootOf(tile);
  // A slot is a part of its ring.
  auto slot = root.getDefiningOp<pto::MultiTileGetOp>();
  return slot ? slot.getSource() : root;
}

/// Whether a tile differs from its source in what is valid alone.
static bool isSameTile(Operation *op) {
  if (auto window = dyn_cast_or_null<pto::SubsetOp>(op)) {
    auto to = cast<pto::TileBufType>(window.getType()),
         from = cast<pto::TileBufType>(window.getSource().getType());
    return getConstantIntValue(window.getRow()) == 0 && getConstantIntValue(window.getCol()) == 0 &&
           // The window begins at the corner and has the same shape.
           to.getRows() == from.getRows() && to.getCols() == from.getCols();
  }
  auto shaped = dyn_cast_or_null<pto::TReshapeOp>(op);
  if (!shaped)
    return false;
  auto to = cast<pto::TileBufType>(shaped.getType()),
       from = cast<pto::TileBufType>(shaped.getSource().getType());
  // A reshape to the same type only changes what is valid.
  return to.withValid(to.getRows(), to.getCols()) == from.withValid(from.getRows(), from.getCols());
}

/// A word for the result of an instruction.
static std::string resultName(llvm::StringRef mnemonic) {
  static constexpr std::pair<const char *, const char *> words[] = {
      {"texpands", "filled"}, {"tcvt", "converted"}, {"tmov", "copy"}, {"tci", "numbers"}};
  for (auto [of, word] : words)
    if (mnemonic == of)
      return word;
  mnemonic.consume_front("t");
  return mnemonic.split('.').first.str();
}

/// A name for what has none: after what is written there first.
std::string BlockBody::bufferBase(Value root) {
  std::string own = givenName(root);
  llvm::StringRef given = own;
  // Suffixes that the compiler adds to names are taken off.
  for (const char *suffix : {"_buffer", "_slot", "_pipe"})
    if (given.size() > std::string_view(suffix).size() && given.consume_back(suffix))
      break;
  if (!given.empty() && !given.starts_with("to_"))
    return given.str();
  if (isa<pto::DeclareTileOp>(root.getDefiningOp()))
    return "popped";
  auto type = isa<pto::MultiTileBufType>(root.getType())
                  ? cast<pto::MultiTileBufType>(root.getType()).getSlot()
                  : cast<pto::TileBufType>(root.getType());
  // Operand memories have one tile each, so the place is name enough.
  if (type.getPlace() != ir::Place::Vec && type.getPlace() != ir::Place::Mat)
    return ir::placeName(type.getPlace()).str();
  std::string name;
  // The first instruction that writes the buffer says what it holds.
  function_->walk([&](Operation *op) {
    for (const pto::Access &access : pto::accessesOf(op)) {
      if (!(access.writes || access.scratch) || !isa<pto::TileBufType>(access.value.getType()) ||
          rootOf(access.value) != root)
        continue;
      pto::Instruction instruction(op);
      if (!instruction)
        continue;
      if (access.scratch) {
        name = "scratch";
      } else if (instruction.id() == InstructionId::TLoad) {
        Value pointer = pto::rootOf(instruction.ins()[0]);
        auto argument = dyn_cast<BlockArgument>(pointer);
        auto text = argument ? attrs::name.of(function_, argument.getArgNumber()) : StringAttr();
        name = (text ? text.str() : "loaded") + "_tile";
      } else {
        name = resultName(instruction.info().mnemonic);
      }
      // The first writer is enough.
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return isIdentifier(name) ? name : "tile";
}

static std::pair<Value, Value> validOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::pair<Value, Value>>(op)
      .Case<pto::AllocTileOp, pto::MultiTileGetOp, pto::SubsetOp, pto::TReshapeOp, pto::BitcastOp,
            pto::DeclareTileOp>(
          [](auto tile) { return std::pair(tile.getValidRow(), tile.getValidCol()); })
      .Default([](Operation *) { return std::pair<Value, Value>(); });
}

/// Whether all of a tile is valid.
bool BlockBody::isAllOf(Operation *op, pto::TileBufType type) {
  auto [rows, cols] = validOf(op);
  auto isAll = [&](Value given, int64_t fixed, int64_t all) {
    return given ? positions_.of(given).isConstant(all) : fixed == all;
  };
  return isAll(rows, type.getValidRows(), type.getRows()) &&
         isAll(cols, type.getValidCols(), type.getCols());
}

void BlockBody::collectBuffers() {
  Names bases;
  function_->walk([&](Operation *op) {
    if (isa<pto::AllocTileOp, pto::AllocMultiTileOp, pto::DeclareTileOp>(op)) {
      Value root = op->getResult(0);
      roots_[root].base = bases.fresh(bufferBase(root));
      if (!isa<pto::DeclareTileOp>(op))
        buffers_.push_back(root);
    }
    auto type = op->getNumResults() == 1 ? dyn_cast<pto::TileBufType>(op->getResult(0).getType())
                                         : pto::TileBufType();
    // A part with fewer valid elements needs the buffer to have another name than the tile.
    if (!type || op->use_empty() || isAllOf(op, type))
      return;
    Operation *source = op;
    // The source is the buffer itself, through tiles that differ in nothing else.
    while (isSameTile(source))
      source = source->getOperand(0).getDefiningOp();
    if (isa<pto::AllocTileOp, pto::DeclareTileOp>(source))
      roots_[source->getResult(0)].hasParts = true;
    else if (auto slot = dyn_cast<pto::MultiTileGetOp>(source))
      roots_[slot.getSource()].hasParts = true;
  });
}

static std::string shapeText(pto::TileBufType type) {
  return elementText(type.getElementType()) + "[" + std::to_string(type.getRows()) + ", " +
         std::to_string(type.getCols()) + "]";
}

/// Named where it is not what the place has anyway.
static std::string layoutText(pto::TileBufType type) {
  std::string name = pto::layoutName(type.getLayout()).str();
  // These are the layouts that `buffer` has by default.
  bool isUsual = (type.getPlace() == ir::Place::Vec && name == "nd") ||
                 (type.getPlace() == ir::Place::Mat && name == "nz") ||
                 (type.getPlace() == ir::Place::Right && name == "zn") ||
                 type.getPlace() == ir::Place::Left || type.getPlace() == ir::Place::Acc;
  return isUsual ? "" : name;
}

/// Bytes of a buffer in its memory; nothing where it has no place yet.
static std::optional<std::pair<int64_t, int64_t>> bytesOf(Value buffer) {
  auto multi = dyn_cast<pto::MultiTileBufType>(buffer.getType());
  auto type = multi ? multi.getSlot() : cast<pto::TileBufType>(buffer.getType());
  auto one = buffer.getDefiningOp<pto::AllocTileOp>();
  Value address = one ? one.getAddr() : buffer.getDefiningOp<pto::AllocMultiTileOp>().getAddr();
  std::optional<int64_t> at = address ? getConstantIntValue(address) : std::nullopt;
  // A buffer without a constant address is placed by the compiler.
  if (!at)
    return std::nullopt;
  // Types below a byte are rounded up.
  int64_t bits = type.getElementType().getIntOrFloatBitWidth() * type.getRows() * type.getCols();
  return std::pair(*at, *at + (multi ? multi.getCount() : 1) * ((bits + 7) / 8));
}

static ir::Place memoryOf(Value buffer) {
  auto multi = dyn_cast<pto::MultiTileBufType>(buffer.getType());
  return (multi ? multi.getSlot() : cast<pto::TileBufType>(buffer.getType())).getPlace();
}

/// Whether a buffer begins with each turn of the loop that it stands in. A push hands on whole
/// slots: bytes beyond what is written this time are nobody's, not those of a buffer that shares
/// them.
bool BlockBody::beginsInside(Value buffer) const {
  auto made = buffer.getDefiningOp<pto::AllocTileOp>();
  // Only buffers inside of loops can begin with a turn.
  if (!made || made->getParentOp() == function_)
    return false;
  bool isPushed = false;
  function_->walk(
      [&](pto::TPushOp push) { isPushed = isPushed || source::rootOf(push.getTile()) == buffer; });
  auto own = bytesOf(buffer);
  // Only a buffer that shares bytes with another one needs this.
  return isPushed && own && llvm::any_of(buffers_, [&](Value other) {
           auto bytes = other != buffer && memoryOf(other) == memoryOf(buffer) ? bytesOf(other)
                                                                               : std::nullopt;
           return bytes && bytes->first < own->second && own->first < bytes->second;
         });
}

void BlockBody::declareBuffer(Value buffer) {
  auto multi = dyn_cast<pto::MultiTileBufType>(buffer.getType());
  auto type = multi ? multi.getSlot() : cast<pto::TileBufType>(buffer.getType());
  std::string text = "buffer " + roots_[buffer].name;
  if (multi)
    text += "[" + std::to_string(multi.getCount()) + "]";
  text += ": " + shapeText(type) + " @" + ir::placeName(type.getPlace()).str();
  if (std::string layout = layoutText(type); !layout.empty())
    text += " " + layout;
  if (auto bytes = bytesOf(buffer))
    text += " at " + addressText(bytes->first);
  // The line belongs to the buffer's declaration for those who ask where lines came from.
  StatementScope scope(code_, buffer.getDefiningOp());
  code_.line(text);
}

void BlockBody::declareBuffers() {
  for (Value buffer : buffers_) {
    Root &root = roots_[buffer];
    root.name = code_.names().fresh(root.hasParts ? root.base + "_buffer" : root.base);
    if (!beginsInside(buffer))
      declareBuffer(buffer);
  }
}

// ---- Tiles --------------------------------------------------------------------------------------

static std::string addressKey(Value value) {
  // The address of the value is its identity within this run.
  return std::to_string(reinterpret_cast<uintptr_t>(value.getAsOpaquePointer()));
}

std::string BlockBody::wholeKey(Value tile) {
  // Equal keys stand for equal tiles, whichever operations made them.
  Operation *op = tile.getDefiningOp();
  auto position = [&](Value value) { return std::to_string(positions_.of(value).id()); };
  std::string type = shapeText(cast<pto::TileBufType>(tile.getType())) +
                     pto::layoutName(cast<pto::TileBufType>(tile.getType()).getLayout()).str();
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<pto::MultiTileGetOp>([&](pto::MultiTileGetOp get) {
        return addressKey(get.getSource()) + "[" + position(get.getSlot()) + "]";
      })
      .Case<pto::SubsetOp>([&](pto::SubsetOp window) {
        if (isSameTile(op))
          return wholeKey(window.getSource());
        return wholeKey(window.getSource()) + "[" + position(window.getRow()) + "," +
               position(window.getCol()) + "]" + type;
      })
      .Case<pto::TReshapeOp, pto::BitcastOp>([&](auto shaped) {
        return wholeKey(shaped.getSource()) + (isSameTile(op) ? "" : "~" + type);
      })
      .Default([&](Operation *) { return addressKey(tile); });
}

std::string BlockBody::tileKey(Value tile) {
  auto type = cast<pto::TileBufType>(tile.getType());
  auto [rows, cols] = validOf(tile.getDefiningOp());
  auto length = [&](Value given, int64_t fixed) {
    Dim dim = given ? positions_.of(given) : positions_.constant(fixed);
    return "#" + std::to_string(dim.id());
  };
  return wholeKey(tile) + "(" + length(rows, type.getValidRows()) + "," +
         length(cols, type.getValidCols()) + ")";
}

/// The tile as if all of it were valid.
Expression BlockBody::wholeText(Value tile) {
  Operation *op = tile.getDefiningOp();
  // A buffer or popped tile has a name.
  if (auto found = roots_.find(tile); found != roots_.end())
    return {found->second.name};
  if (isSameTile(op))
    return wholeText(op->getOperand(0));
  auto type = cast<pto::TileBufType>(tile.getType());
  return llvm::TypeSwitch<Operation *, Expression>(op)
      .Case<pto::MultiTileGetOp>([&](pto::MultiTileGetOp get) {
        return Expression{roots_[get.getSource()].name + "[" +
                          positionAs(get.getSlot(), "turn").text + "]"};
      })
      .Case<pto::SubsetOp>([&](pto::SubsetOp window) {
        auto source = cast<pto::TileBufType>(window.getSource().getType());
        auto axis = [&](Value offset, int64_t size, int64_t whole, const char *hint) {
          Dim start = positions_.of(offset);
          // A window of the whole axis is a colon.
          return start.isConstant(0) && size == whole
                     ? std::string(":")
                     : span(start, positions_.constant(size), hint, "n");
        };
        return Expression{wholeText(window.getSource()).text + "[" +
                          axis(window.getRow(), type.getRows(), source.getRows(), "row") + ", " +
                          axis(window.getCol(), type.getCols(), source.getCols(), "col") + "]"};
      })
      .Case<pto::TReshapeOp, pto::BitcastOp>([&](auto shaped) {
        auto source = cast<pto::TileBufType>(shaped.getSource().getType());
        std::string text = wholeText(shaped.getSource()).text;
        bool sameElement = source.getElementType() == type.getElementType(),
             sameLayout = source.getLayout() == type.getLayout();
        // A change of type and a change of shape are two steps in the source.
        if (!sameElement)
          text = "bitcast(" + text + ", " + shapeText(type) + ")";
        if (!sameLayout || sameElement)
          text = "treshape(" + text + ", " + shapeText(type) +
                 (sameLayout ? ")" : ", layout: ." + pto::layoutName(type.getLayout()).str() + ")");
        return Expression{text};
      })
      .Default([&](Operation *) {
        code_.unwritable(op, "`" + op->getName().getStringRef().str() + "` has no spelling");
        return Expression{"0"};
      });
}

/// With a slice that says how much is valid; all of it needs none. Fewer rows or columns than the
/// tile has, as numbers, would be a window.
Expression BlockBody::partText(Value tile) {
  auto type = cast<pto::TileBufType>(tile.getType());
  auto [validRows, validCols] = validOf(tile.getDefiningOp());
  std::string whole = wholeText(tile).text;
  auto extent = [&](Value given, int64_t fixed, int64_t all,
                    const char *hint) -> std::pair<std::string, bool> {
    Dim length = given ? positions_.of(given) : positions_.constant(fixed);
    // All is valid, so no slice is needed.
    if (length.isConstant(all))
      return {"", false};
    return {dimText(length, hint).as(Precedence::Or), length.isConstant()};
  };
  auto [rows, fewRows] = extent(validRows, type.getValidRows(), type.getRows(), "rows");
  auto [cols, fewCols] = extent(validCols, type.getValidCols(), type.getCols(), "cols");
  if (rows.empty() && cols.empty())
    return {whole};
  // A constant number of valid rows would read as a window, so it is said by `treshape`.
  if (fewRows || fewCols)
    return {"treshape(" + whole + ", " + shapeText(type) + ", valid: [" +
            (rows.empty() ? std::to_string(type.getRows()) : rows) + ", " +
            (cols.empty() ? std::to_string(type.getCols()) : cols) + "])"};
  return {whole + "[" + (rows.empty() ? ":" : "0:" + rows) + ", " +
          (cols.empty() ? ":" : "0:" + cols) + "]"};
}

Expression BlockBody::tileText(Value tile) {
  std::string hint = roots_[rootOf(tile)].base;
  Operation *made = tile.getDefiningOp();
  // The kind of view is taken from the operation that really changes something.
  while (isSameTile(made))
    made = made->getOperand(0).getDefiningOp();
  auto type = cast<pto::TileBufType>(tile.getType());
  if (isa<pto::SubsetOp>(made))
    hint += "_part";
  else if (isa<pto::TReshapeOp, pto::BitcastOp>(made))
    hint += type.getCols() == 1 ? "_column" : type.getRows() == 1 ? "_row" : "_view";
  return share("tile " + tileKey(tile), {Shared::Kind::Tile, Dim(), tile, hint});
}

} // namespace ptl::source
