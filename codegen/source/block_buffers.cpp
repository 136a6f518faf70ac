#include "codegen/source/block_buffers.h"

#include "codegen/source/block_tiles.h"
#include "codegen/source/op_kinds.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/instruction_op.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

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
static std::string bufferBase(BlockCode &code, Value root) {
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
  code.function()->walk([&](Operation *op) {
    for (const pto::Access &access : pto::accessesOf(op)) {
      if (!(access.writes || access.scratch) || !isa<pto::TileBufType>(access.value.getType()) ||
          bufferOf(access.value) != root)
        continue;
      pto::Instruction instruction(op);
      if (!instruction)
        continue;
      if (access.scratch) {
        name = "scratch";
      } else if (instruction.id() == InstructionId::TLoad) {
        Value pointer = pto::rootOf(instruction.ins()[0]);
        auto argument = dyn_cast<BlockArgument>(pointer);
        auto text =
            argument ? attrs::name.of(code.function(), argument.getArgNumber()) : StringAttr();
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

void collectBuffers(BlockCode &code) {
  Names bases;
  code.function()->walk([&](Operation *op) {
    if (isa<pto::AllocTileOp, pto::AllocMultiTileOp, pto::DeclareTileOp>(op)) {
      Value root = op->getResult(0);
      code.roots()[root].base = bases.fresh(bufferBase(code, root));
      if (!isa<pto::DeclareTileOp>(op))
        code.buffers().push_back(root);
    }
    auto type = op->getNumResults() == 1 ? dyn_cast<pto::TileBufType>(op->getResult(0).getType())
                                         : pto::TileBufType();
    // A part with fewer valid elements needs the buffer to have another name than the tile.
    if (!type || op->use_empty() || isAllValid(code, op, type))
      return;
    Operation *source = op;
    // The source is the buffer itself, through tiles that differ in nothing else.
    while (isSameTile(source))
      source = source->getOperand(0).getDefiningOp();
    if (isa<pto::AllocTileOp, pto::DeclareTileOp>(source))
      code.roots()[source->getResult(0)].hasParts = true;
    else if (auto slot = dyn_cast<pto::MultiTileGetOp>(source))
      code.roots()[slot.getSource()].hasParts = true;
  });
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

bool beginsInside(BlockCode &code, Value buffer) {
  auto made = buffer.getDefiningOp<pto::AllocTileOp>();
  // Only buffers inside of loops can begin with a turn.
  if (!made || made->getParentOp() == code.function())
    return false;
  bool isPushed = false;
  code.function()->walk(
      [&](pto::TPushOp push) { isPushed = isPushed || bufferOf(push.getTile()) == buffer; });
  auto own = bytesOf(buffer);
  // Only a buffer that shares bytes with another one needs this.
  return isPushed && own && llvm::any_of(code.buffers(), [&](Value other) {
           auto bytes = other != buffer && memoryOf(other) == memoryOf(buffer) ? bytesOf(other)
                                                                               : std::nullopt;
           return bytes && bytes->first < own->second && own->first < bytes->second;
         });
}

void declareBuffer(BlockCode &code, Value buffer) {
  auto multi = dyn_cast<pto::MultiTileBufType>(buffer.getType());
  auto type = multi ? multi.getSlot() : cast<pto::TileBufType>(buffer.getType());
  std::string text = "buffer " + code.roots()[buffer].name;
  if (multi)
    text += "[" + std::to_string(multi.getCount()) + "]";
  text += ": " + shapeText(type) + " @" + ir::placeName(type.getPlace()).str();
  if (std::string layout = layoutText(type); !layout.empty())
    text += " " + layout;
  if (auto bytes = bytesOf(buffer))
    text += " at " + addressText(bytes->first);
  // The line belongs to the buffer's declaration for those who ask where lines came from.
  StatementScope scope(code, buffer.getDefiningOp());
  code.line(text);
}

void declareBuffers(BlockCode &code) {
  for (Value buffer : code.buffers()) {
    TileRoot &root = code.roots()[buffer];
    root.name = code.names().fresh(root.hasParts ? root.base + "_buffer" : root.base);
    if (!beginsInside(code, buffer))
      declareBuffer(code, buffer);
  }
}

} // namespace ptl::source
