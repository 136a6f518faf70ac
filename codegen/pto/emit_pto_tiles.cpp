// Buffers, views, queues, synchronisation and instructions as `.pto`.
#include "codegen/pto/pto_emitter.h"
#include "ir/dialect/attributes.h"

#include "ir/dialect/cross_core.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

Type signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless() ? IntegerType::get(type.getContext(), integer.getWidth())
                                          : type;
}

std::string PtoFunctionEmitter::typeOf(Value value) {
  Type other = tileTypes_.lookup(value);
  return types_.of(other ? other : signless(value.getType()));
}

/// The name and the type of a tile whose elements have no sign, as the scalars that go in and out:
/// for one of unsigned elements another with the same bytes.
PtoFunctionEmitter::Operand PtoFunctionEmitter::withoutSign(Operation *op, Value tile) {
  Type element = cast<TileBufType>(tile.getType()).getElementType();
  if (signless(element) == element)
    return {name(tile), typeOf(tile)};
  // The bytes of a popped tile lie where the pop says, so no second tile can be put there.
  if (addresses_.find(tile) == addresses_.end())
    missing(op, "elements of a popped tile of unsigned integers have no spelling in PTOAS");
  return asBits(op, tile, signless(element));
}

/// A tile with the same bytes whose elements are of another type of their width.
PtoFunctionEmitter::Operand PtoFunctionEmitter::asBits(Operation *op, Value tile, Type element) {
  Type other = tileTypes_.lookup(tile);
  auto type = cast<TileBufType>(other ? other : tile.getType());
  // The alias has the elements of the whole tile where the valid part is not constant.
  auto known = [](int64_t valid, int64_t all) { return valid == kDynamic ? all : valid; };
  return asTile(op, tile,
                TileBufType::get(type.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                                 element, known(type.getValidRows(), type.getRows()),
                                 known(type.getValidCols(), type.getCols()), type.getLayout()));
}

/// Another tile that begins at the same byte, if it is known where that is.
PtoFunctionEmitter::Operand PtoFunctionEmitter::asTile(Operation *op, Value tile,
                                                       TileBufType type) {
  auto at = addresses_.find(tile);
  // Without a known address the tile stands for itself.
  if (at == addresses_.end())
    return {name(tile), typeOf(tile)};
  std::string alias = "%" + names_.fresh(names_.of(tile) + "_bits");
  std::string address = addressOf(op, at->second, tile);
  line(op, alias + " = pto.alloc_tile addr = " + address + " : " + types_.of(type));
  return {alias, types_.of(type)};
}

// ---- addresses ----------------------------------------------------------------------------------

/// `value` (an index) times a number of bytes, as i64.
std::string PtoFunctionEmitter::scaled(Operation *op, const std::string &value, int64_t by,
                                       llvm::StringRef wanted) {
  std::string wide = "%" + names_.fresh((wanted + "_i64").str());
  line(op, wide + " = arith.index_cast " + value + " : index to i64");
  std::string product = "%" + names_.fresh((wanted + "_bytes").str());
  line(op, product + " = arith.muli " + wide + ", " + longConstant(by) + " : i64");
  return product;
}

std::string PtoFunctionEmitter::addressOf(Operation *op, const TileAddress &address, Value tile) {
  // An address has a constant part and a computed one; each may be absent.
  if (address.computed.empty())
    return longConstant(address.constant);
  if (address.constant == 0)
    return address.computed;
  std::string sum = "%" + names_.fresh(names_.of(tile) + "_addr");
  line(op, sum + " = arith.addi " + address.computed + ", " + longConstant(address.constant) +
               " : i64");
  return sum;
}

/// PTOAS has the positions and the results of gathers as wide as their tiles, where it knows how
/// wide they are.
static bool hidesWidth(Value tile, TileBufType type) {
  if (type.getValidCols() == kDynamic || type.getValidCols() == type.getCols())
    return false;
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    Instruction instruction(user);
    if (!instruction)
      return false;
    bool gathers = instruction.id() == InstructionId::TGather;
    return gathers || (instruction.id() == InstructionId::TGatherMask &&
                       llvm::is_contained(instruction.outs(), tile));
  });
}

void PtoFunctionEmitter::emitTileAt(Operation *op, const TileAddress &address, TileBufType type,
                                    Value rows, Value cols) {
  Value tile = op->getResult(0);
  std::string width = cols ? name(cols) : std::string();
  // A width that PTOAS does not know is not taken for that of the tile.
  if (hidesWidth(tile, type)) {
    width = indexConstant(type.getValidCols());
    type = TileBufType::get(type.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                            type.getElementType(), type.getValidRows(), kDynamic, type.getLayout());
  }
  addresses_[tile] = address;
  // The type differs from that of the dialect only in how PTOAS sees it; uses look it up here.
  if (type != tile.getType())
    tileTypes_[tile] = type;
  std::string text = " addr = " + addressOf(op, address, tile);
  if (rows)
    text += " valid_row = " + name(rows);
  if (!width.empty())
    text += " valid_col = " + width;
  line(op, result(op) + "pto.alloc_tile" + text + " : " + types_.of(type));
}

void PtoFunctionEmitter::emitSlot(MultiTileGetOp op) {
  auto slots = cast<MultiTileBufType>(op.getSource().getType());
  const MemorySpace *memory = machine_.space(ir::placeName(slots.getSlot().getPlace()).str());
  // Slots are aligned, so the stride may be larger than a slot.
  int64_t stride = slotStride(slots, memory ? memory->alignment : 32);
  TileAddress address = addresses_.lookup(op.getSource());
  // Slots are taken round robin: `slot % count`.
  if (std::optional<int64_t> number = getConstantIntValue(op.getSlot())) {
    address.constant += *number % slots.getCount() * stride;
  } else {
    const std::string base = names_.of(op.getResult()) + "_slot";
    std::string slot = "%" + names_.fresh(base);
    line(op, slot + " = arith.remui " + name(op.getSlot()) + ", " +
                 indexConstant(slots.getCount()) + " : index");
    address.computed = scaled(op, slot, stride, base);
  }
  emitTileAt(op, address, op.getType(), op.getValidRow(), op.getValidCol());
}

void PtoFunctionEmitter::emitWindow(SubsetOp op) {
  TileBufType source = op.getSource().getType(), window = op.getType();
  // A pop gives a tile whose address only PTOAS knows.
  auto known = addresses_.find(op.getSource());
  if (known == addresses_.end()) {
    missing(
        op,
        "a window into a tile whose address a pop gives has no spelling in this version of PTOAS");
    return line(op, result(op) + "pto.subset " + name(op.getSource()) + "[" + name(op.getRow()) +
                        ", " + name(op.getCol()) + "] sizes [" + std::to_string(window.getRows()) +
                        ", " + std::to_string(window.getCols()) + "] : " + typeOf(op.getSource()));
  }
  TileAddress address = known->second;
  WindowStrides strides = windowStrides(source);
  std::string base = names_.of(op.getResult());
  // Constant offsets are added up at once, and the others by code.
  auto along = [&](Value position, int64_t stride, const char *suffix) {
    if (std::optional<int64_t> at = getConstantIntValue(position)) {
      address.constant += *at * stride;
      return;
    }
    std::string bytes = scaled(op, name(position), stride, base + suffix);
    if (!address.computed.empty()) {
      std::string sum = "%" + names_.fresh(base + "_offset");
      line(op, sum + " = arith.addi " + address.computed + ", " + bytes + " : i64");
      bytes = sum;
    }
    address.computed = bytes;
  };
  // Inside a box elements are nearer than between boxes; constants may begin anywhere.
  std::optional<int64_t> row = getConstantIntValue(op.getRow()),
                         col = getConstantIntValue(op.getCol());
  if (row && col) {
    address.constant += elementOffset(source, *row, *col);
  } else {
    along(op.getRow(), strides.row, "_row");
    along(op.getCol(), strides.col, "_col");
  }
  emitTileAt(op, address, windowType(source, window), op.getValidRow(), op.getValidCol());
}

/// Emits an alias of a tile with another type: a tile at the same address, where that is known.
void PtoFunctionEmitter::emitAlias(Operation *op, Value source, Value rows, Value cols) {
  auto type = cast<TileBufType>(op->getResult(0).getType());
  // A reshape of a tile at a known address is another tile at that address, which every version of
  // PTOAS accepts.
  if (auto known = addresses_.find(source); known != addresses_.end()) {
    TileAddress address = known->second;
    return emitTileAt(op, address, type, rows, cols);
  }
  line(op, result(op) + op->getName().getStringRef().str() + " " + name(source) + " : " +
               typeOf(source) + " -> " + types_.of(type));
  // Without an address the valid shape is set afterwards.
  if (rows && cols)
    line(op, "pto.set_validshape " + name(op->getResult(0)) + ", " + name(rows) + ", " +
                 name(cols) + " : " + types_.of(type));
}

bool PtoFunctionEmitter::emitBuffer(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AllocTileOp>([&](AllocTileOp made) {
        std::optional<int64_t> address = getConstantIntValue(made.getAddr());
        if (!address && !made.getAddr())
          missing(op, "the buffer has no address yet");
        TileAddress at;
        if (address)
          at.constant = *address;
        else if (made.getAddr())
          at.computed = name(made.getAddr());
        return emitTileAt(op, at, made.getType(), made.getValidRow(), made.getValidCol()), true;
      })
      .Case<AllocMultiTileOp>([&](AllocMultiTileOp made) {
        std::optional<int64_t> address = getConstantIntValue(made.getAddr());
        if (!address)
          missing(op, "the buffer has no address yet");
        // Older versions have no such operation; then only the address is noted, and slots are
        // computed from it.
        if (has(PtoasChange::MultiTile))
          line(op, result(op) + "pto.alloc_multi_tile addr = " + longConstant(address.value_or(0)) +
                       " : " + types_.of(made.getType()));
        addresses_[made] = {"", address.value_or(0)};
        return true;
      })
      .Case<MultiTileGetOp>([&](MultiTileGetOp made) {
        if (!has(PtoasChange::MultiTile))
          return emitSlot(made), true;
        std::string valid;
        if (made.getValidRow())
          valid += " valid_row = " + name(made.getValidRow());
        if (made.getValidCol())
          valid += " valid_col = " + name(made.getValidCol());
        line(op, result(op) + "pto.multi_tile_get " + name(made.getSource()) + "[" +
                     name(made.getSlot()) + "]" + valid + " : " +
                     types_.of(made.getSource().getType()) + " -> " + types_.of(made.getType()));
        return true;
      })
      .Case<SubsetOp>([&](SubsetOp made) { return emitWindow(made), true; })
      .Case<TReshapeOp, BitcastOp>([&](auto made) {
        return emitAlias(op, made.getSource(), made.getValidRow(), made.getValidCol()), true;
      })
      .Case<DeclareTileOp>([&](DeclareTileOp made) {
        line(op, result(op) + "pto.declare_tile -> " + types_.of(made.getType()));
        // A declared tile gets its address from a pop and has its lengths set before.
        if (made.getValidRow() && made.getValidCol())
          line(op, "pto.set_validshape " + name(made) + ", " + name(made.getValidRow()) + ", " +
                       name(made.getValidCol()) + " : " + types_.of(made.getType()));
        else if (made.getValidRow() || made.getValidCol())
          missing(op,
                  "a popped tile with one length that is not constant has no spelling in PTOAS");
        return true;
      })
      .Case<SetValidShapeOp>([&](SetValidShapeOp made) {
        line(op,
             "pto.set_validshape " + names(op->getOperands()) + " : " + typeOf(made.getSource()));
        return true;
      })
      .Case<TGetValOp>([&](TGetValOp made) {
        auto [tile, type] = withoutSign(op, op->getOperand(0));
        line(op, result(op) + "pto.tgetval ins(" + tile + ", " + name(op->getOperand(1)) + " : " +
                     type + ", " + typeOf(op->getOperand(1)) +
                     ") outs : " + typeOf(made.getValue()));
        return true;
      })
      .Default([](Operation *) { return false; });
}

// ---- global memory ------------------------------------------------------------------------------

bool PtoFunctionEmitter::emitView(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MakeTensorViewOp>([&](MakeTensorViewOp view) {
        std::string layout;
        if (auto attribute = view.getLayoutAttr())
          layout =
              " {layout = #pto.layout<" + stringifyViewLayout(attribute.getValue()).str() + ">}";
        line(op, result(op) + "pto.make_tensor_view " + name(view.getPointer()) + ", shape = [" +
                     names(view.getShape()) + "], strides = [" + names(view.getStrides()) + "]" +
                     layout + " : " + types_.of(view.getType()));
        return true;
      })
      .Case<PartitionViewOp>([&](PartitionViewOp part) {
        line(op, result(op) + "pto.partition_view " + name(part.getSource()) + ", offsets = [" +
                     names(part.getOffsets()) + "], sizes = [" + names(part.getSizes()) +
                     "] : " + typeOf(part.getSource()) + " -> " + types_.of(part.getType()));
        return true;
      })
      .Case<AddPtrOp>([&](AddPtrOp add) {
        line(op, result(op) + "pto.addptr " + names(op->getOperands()) + " : " +
                     typeOf(add.getPointer()) + " -> " + typeOf(add.getResult()));
        return true;
      })
      .Case<LoadScalarOp>([&](LoadScalarOp load) {
        line(op, result(op) + spelled(op) + " " + name(load.getPointer()) + "[" +
                     name(load.getOffset()) + "] : " + typeOf(load.getPointer()) + " -> " +
                     typeOf(load.getValue()));
        return true;
      })
      .Case<StoreScalarOp>([&](StoreScalarOp store) {
        line(op, spelled(op) + " " + name(store.getValue()) + ", " + name(store.getPointer()) +
                     "[" + name(store.getOffset()) + "] : " + typeOf(store.getPointer()) + ", " +
                     typeOf(store.getValue()));
        return true;
      })
      .Case<TrapOp>([&](TrapOp trap) {
        body_.add("// " + trap.getStatus().str() + ": " + trap.getMessage().str(), placeOf(op));
        line(op, "pto.trap");
        return true;
      })
      .Case<GetBlockIdxOp, GetBlockNumOp, GetSubBlockIdxOp, GetSubBlockNumOp>([&](auto) {
        line(op, result(op) + op->getName().getStringRef().str());
        return true;
      })
      .Default([](Operation *) { return false; });
}

// ---- queues and order ---------------------------------------------------------------------------

std::string PtoFunctionEmitter::initPipe(Operation *op, Value memory, Value local) {
  auto number = [&](llvm::StringRef key) {
    auto attribute = op->getAttrOfType<IntegerAttr>(key);
    // The slot of a queue that is dealt to two cores is half of what the dialect says.
    int64_t value = !attribute ? 0 : key == "slot_size" ? slotStride(op) : attribute.getInt();
    return attribute ? key.str() + " = " + std::to_string(value) : std::string();
  };
  std::string text = "{";
  for (const char *key : {"dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base"})
    if (std::string item = number(key); !item.empty())
      text += (text.size() > 1 ? ", " : "") + item;
  if (auto nosplit = op->getAttrOfType<BoolAttr>("nosplit"))
    text += std::string(", nosplit = ") + (nosplit.getValue() ? "true" : "false");
  text += "} (";
  if (memory)
    text += name(memory) + " : " + typeOf(memory) + ", ";
  return text + name(local) + " : i32) -> !pto.pipe";
}

/// The address of a reservation, once buffers are placed.
static std::optional<int64_t> placedBase(ReserveBufferOp made) {
  return made.getBase() ? std::optional<int64_t>(*made.getBase()) : std::nullopt;
}
static std::optional<int64_t> placedBase(ImportReservedBufferOp made) {
  std::optional<int64_t> base;
  // The import refers to a reservation of the function for the other kind of core.
  auto peer = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(made, made.getPeerFuncAttr());
  if (peer)
    peer.walk([&](ReserveBufferOp reserved) {
      if (reserved.getName() == made.getName())
        base = placedBase(reserved);
    });
  return base;
}

void PtoFunctionEmitter::emitReservation(ReserveBufferOp made) {
  line(made, result(made) + "pto.reserve_buffer {name = \"" + made.getName().str() + "\", size = " +
                 std::to_string(made.getSize()) + ", location = #pto.address_space<" +
                 made.getLocation().str() + ">, auto = true} -> i32");
}
void PtoFunctionEmitter::emitReservation(ImportReservedBufferOp made) {
  line(made, result(made) + "pto.import_reserved_buffer {name = \"" + made.getName().str() +
                 "\", peer_func = @" + functionName(made.getPeerFunc()) + "} -> i32");
}

bool PtoFunctionEmitter::emitQueue(Operation *op) {
  auto split = [](auto made) { return " {split = " + std::to_string(made.getSplit()) + "}"; };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<InitializeL2G2LPipeOp>([&](auto made) {
        line(op, result(op) + "pto.initialize_l2g2l_pipe " +
                     initPipe(op, made.getGmAddr(), made.getLocalAddr()));
        return true;
      })
      .Case<InitializeL2LPipeOp>([&](auto made) {
        line(op, result(op) + "pto.initialize_l2l_pipe " + initPipe(op, {}, made.getLocalAddr()));
        return true;
      })
      // PTOAS takes one reservation and one import per function; where queues are placed, their
      // addresses say as much.
      .Case<ReserveBufferOp, ImportReservedBufferOp>([&](auto made) {
        if (std::optional<int64_t> base = placedBase(made))
          line(op, result(op) + "arith.constant " + std::to_string(*base) + " : i32");
        else
          emitReservation(made);
        return true;
      })
      .Case<TPushOp, TPopOp>([&](auto made) {
        line(op, op->getName().getStringRef().str() + "(" + names(op->getOperands()) + " : " +
                     typed(op->getOperands()) + ")" + split(made));
        return true;
      })
      .Case<TFreeOp>([&](TFreeOp made) {
        line(op, "pto.tfree(" + name(made.getPipe()) + " : !pto.pipe)" + split(made));
        return true;
      })
      .Default([](Operation *) { return false; });
}

/// PTOAS takes computed ids where each vector core has ids of its own; elsewhere each has a branch.
void PtoFunctionEmitter::emitCrossing(Operation *op, const std::string &text, Value id) {
  auto ids = attrs::ids.of(op); // first, and how many
  // A constant id needs no choice.
  if (std::optional<int64_t> number = getConstantIntValue(id))
    return line(op, text + std::to_string(*number));
  if (machine_.exchange.throughBuffer || !ids)
    return line(op, text + name(id));
  int64_t last = ids[0] + ids[1] - 1;
  // The ids are tried one by one in nested branches; the last needs no comparison.
  for (int64_t each = ids[0]; each < last; ++each) {
    std::string is = "%" + names_.fresh("is_event");
    line(op, is + " = arith.cmpi eq, " + name(id) + ", " + indexConstant(each) + " : index");
    body_.add("scf.if " + is + " {", placeOf(op));
    body_.indent(2);
    line(op, text + std::to_string(each));
    body_.dedent(2);
    body_.add("} else {", placeOf(op));
    body_.indent(2);
  }
  line(op, text + std::to_string(last));
  // One closing brace for each branch.
  for (int64_t each = ids[0]; each < last; ++each) {
    body_.dedent(2);
    line(op, "}");
  }
}

/// Where cores reach each other's buffers, each vector core has ids of its own: the cube core waits
/// for both. PTOAS signals both itself, but only from FIX.
void PtoFunctionEmitter::emitCrossing(Operation *op, PipeKind pipe, Value id) {
  bool sets = isa<SyncSetOp>(op);
  std::string text =
      op->getName().getStringRef().str() + " <" + stringifyPipeKind(pipe).str() + ">, ";
  emitCrossing(op, text, id);
  if (!machine_.exchange.throughBuffer)
    return;
  // PTOAS emits these events from and to some pipes only.
  if (sets ? pipe != PipeKind::PIPE_FIX && pipe != PipeKind::PIPE_MTE3
           : pipe == PipeKind::PIPE_S || pipe == PipeKind::PIPE_M)
    missing(op, "this version of PTOAS has no event between cores " +
                    std::string(sets ? "from" : "to") + " the pipe `" +
                    std::string(pipeName(pipeOf(pipe))) + "` of `" + machine_.name + "`");
  // For such queues the second vector core does not run, so it would never answer.
  if (hasWholeTileQueues(function_))
    missing(op, "an event between cores beside a queue of whole tiles, for which only the first "
                "vector core of `" +
                    machine_.name + "` runs");
  auto kind = function_->getAttrOfType<KernelKindAttr>("pto.kernel_kind");
  bool cube = kind && kind.getValue() == KernelKind::cube;
  // Vector cores signal for themselves, and PTOAS already signals both cores from FIX.
  if (!cube || (sets && pipe == PipeKind::PIPE_FIX))
    return;
  // The ids of the second vector core follow those of the first.
  int64_t flags = machine_.crossCore.flags;
  if (std::optional<int64_t> number = getConstantIntValue(id))
    return line(op, text + std::to_string(*number + flags));
  std::string other = "%" + names_.fresh("other_core");
  line(op, other + " = arith.addi " + name(id) + ", " + indexConstant(flags) + " : index");
  line(op, text + other);
}

template <typename FlagOp> static std::string pipes(FlagOp flag) {
  return "[<" + stringifyPipeKind(flag.getSrcPipe()).str() + ">, <" +
         stringifyPipeKind(flag.getDstPipe()).str() + ">, ";
}

bool PtoFunctionEmitter::emitOrder(Operation *op) {
  std::string mnemonic = op->getName().getStringRef().str();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<SetFlagOp, WaitFlagOp>([&](auto flag) {
        line(op, mnemonic + pipes(flag) + "<" + stringifyEventId(flag.getEventId()).str() + ">]");
        return true;
      })
      .Case<SetFlagDynOp, WaitFlagDynOp>([&](auto flag) {
        line(op, mnemonic + pipes(flag) + name(flag.getEventId()) + "]");
        return true;
      })
      .Case<SyncSetOp, SyncWaitOp>(
          [&](auto event) { return emitCrossing(op, event.getPipe(), event.getEventId()), true; })
      .Case<BarrierOp>([&](BarrierOp barrier) {
        line(op, "pto.barrier <" + stringifyPipeKind(barrier.getPipe()).str() + ">");
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
