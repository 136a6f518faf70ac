#include "codegen/source/block_queues.h"

#include "codegen/source/block_buffers.h"
#include "codegen/source/block_tiles.h"
#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "ir/dialect/pto_dialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

/// The tile that crosses, as a whole: a vector core pushes and pops its part.
static std::optional<std::pair<pto::TileBufType, int>> crossingTile(Value pipe) {
  for (Operation *user : pipe.getUsers()) {
    if (auto push = dyn_cast<pto::TPushOp>(user))
      return std::pair(cast<pto::TileBufType>(push.getTile().getType()), int(push.getSplit()));
    if (auto pop = dyn_cast<pto::TPopOp>(user))
      return std::pair(cast<pto::TileBufType>(pop.getTile().getType()), int(pop.getSplit()));
  }
  return std::nullopt;
}

static std::string pipeName(Value pipe, bool toVector) {
  std::string name = givenName(pipe);
  if (name.empty())
    return toVector ? "to_vector" : "to_cube";
  llvm::StringRef text(name);
  return text.ends_with("_pipe") || text.starts_with("to_") ? name : name + "_pipe";
}

static void declareQueue(BlockCode &code, Operation *op, int64_t flag, int64_t slots,
                         std::optional<int64_t> held, Value address) {
  Value pipe = op->getResult(0);
  auto direction = op->getAttrOfType<IntegerAttr>("dir_mask");
  bool toVector = direction.getInt() == 1;
  Queue &queue = code.byCores().queues[flag];
  if (queue.name.empty())
    queue.name = code.byCores().fresh(pipeName(pipe, toVector));
  code.know(pipe, queue.name);
  auto crossing = crossingTile(pipe);
  if (!crossing)
    return;
  auto [type, split] = *crossing;
  bool isVector = type.getPlace() == ir::Place::Vec;
  int64_t rows = type.getRows() * (isVector && split == 1 ? 2 : 1),
          cols = type.getCols() * (isVector && split == 2 ? 2 : 1);
  // The consumer says what the elements are and where its slots lie.
  bool consumes = isVector == toVector;
  if (!consumes && !queue.declaration.empty())
    return;
  std::string text = "pipe " + queue.name + ": " + elementText(type.getElementType()) + "[" +
                     std::to_string(rows) + ", " + std::to_string(cols) + "] depth " +
                     std::to_string(slots) + "\ninitialize_pipe(" + queue.name;
  if (split != 0)
    text += split == 1 ? ", split: .rows" : ", split: .cols";
  if (held)
    text += ", hold: " + std::to_string(*held);
  auto reserved = address.getDefiningOp<pto::ReserveBufferOp>();
  if (reserved && reserved.getBase())
    text += ", base: " + addressText(*reserved.getBase());
  queue.declaration = text + ", flag: " + std::to_string(flag) + ")";
}

bool printQueueing(BlockCode &code, Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<pto::InitializeL2G2LPipeOp, pto::InitializeL2LPipeOp>([&](auto made) {
        declareQueue(code, op, made.getFlagBase().value_or(0), made.getSlotNum(),
                     made.getLocalSlotNum() ? std::optional<int64_t>(*made.getLocalSlotNum())
                                            : std::nullopt,
                     made.getLocalAddr());
        return true;
      })
      .Case<pto::TPushOp>([&](pto::TPushOp push) {
        code.line("tpush(" + valueText(code, push.getPipe()).text + ", " +
                  tileText(code, push.getTile()).text + ")");
        return true;
      })
      .Case<pto::DeclareTileOp>([](auto) { return true; })
      .Case<pto::TPopOp>([&](pto::TPopOp pop) {
        TileRoot &root = code.roots()[pop.getTile()];
        // Each pop is a `let` of its own, so its tile needs a name that no other pop of this queue
        // has.
        root.name = code.names().fresh(root.hasParts ? root.base + "_slot" : root.base);
        code.line("let " + root.name + " = tpop(" + valueText(code, pop.getPipe()).text + ")");
        return true;
      })
      .Case<pto::TFreeOp>([&](pto::TFreeOp free) {
        code.line("tfree(" + valueText(code, free.getPipe()).text + ")");
        return true;
      })
      .Default(false);
}

} // namespace ptl::source
