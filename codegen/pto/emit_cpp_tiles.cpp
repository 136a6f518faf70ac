// Buffers, views, queues, synchronisation and instructions as C++.
#include "codegen/pto/cpp_emitter.h"
#include "ir/dialect/cross_core.h"
#include "ir/ops/instruction_attributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

static CppExpression hex(int64_t value) {
  return {value < 16 ? std::to_string(value)
                     : "0x" + llvm::utohexstr(static_cast<uint64_t>(value), /*LowerCase=*/true)};
}

static CppExpression sum(const CppExpression &a, const CppExpression &b) {
  // Adding 0 would only make the text longer.
  if (a.text == "0")
    return b;
  if (b.text == "0")
    return a;
  return {a.within(Precedence::Sum) + " + " + b.within(Precedence::Sum), Precedence::Sum};
}

static CppExpression times(const CppExpression &a, int64_t by) {
  return {a.within(Precedence::Product) + " * " + hex(by).text, Precedence::Product};
}

// ---- tiles --------------------------------------------------------------------------------------

/// Packed bits of comparisons are unsigned in the library.
static TileBufType asMask(TileBufType type, Value tile) {
  bool isMask = llvm::any_of(tile.getUses(), [](OpOperand &use) {
    Instruction instruction(use.getOwner());
    if (!instruction)
      return false;
    InstructionId id = instruction.id();
    bool compares = id == InstructionId::TCmp || id == InstructionId::TCmps;
    bool selects = id == InstructionId::TSel || id == InstructionId::TSels;
    return compares ? use.get() == instruction.outs().front()
                    : selects && use.getOperandNumber() == 0;
  });
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!isMask || !integer)
    return type;
  // The library's masks are unsigned, while the compiler's element type has a sign.
  auto element = IntegerType::get(type.getContext(), integer.getWidth(), IntegerType::Unsigned);
  return TileBufType::get(type.getContext(), type.getPlace(), type.getRows(), type.getCols(),
                          element, type.getValidRows(), type.getValidCols(), type.getLayout());
}

void CppFunctionEmitter::declareTile(Operation *op, TileBufType type, Value rows, Value cols) {
  std::string alias = types_.tile(asMask(type, op->getResult(0))), arguments;
  valueTypes_[op->getResult(0)] = alias;
  // Only extents that are not part of the type are arguments.
  for (Value value : {rows, cols})
    if (value)
      arguments += (arguments.empty() ? "" : ", ") + text(value);
  line(op, alias + " " + names_.of(op->getResult(0)) +
               (arguments.empty() ? "" : "(" + arguments + ")") + ";");
}

void CppFunctionEmitter::emitTileAt(Operation *op, const CppExpression &address, TileBufType type,
                                    Value rows, Value cols) {
  declareTile(op, type, rows, cols);
  // The address is kept for windows and views of this tile.
  addresses_[op->getResult(0)] = address;
  line(op, "TASSIGN(" + names_.of(op->getResult(0)) + ", " + address.text + ");");
}

void CppFunctionEmitter::emitWindow(SubsetOp op) {
  TileBufType source = op.getSource().getType(), type = windowType(source, op.getType());
  // A tile that a queue binds has no address of its own, so the library makes the window.
  auto known = addresses_.find(op.getSource());
  if (known == addresses_.end()) {
    declareTile(op, op.getType(), op.getValidRow(), op.getValidCol());
    return line(op, "TSUBVIEW(" + names_.of(op) + ", " + text(op.getSource()) + ", " +
                        text(op.getRow()) + ", " + text(op.getCol()) + ");");
  }
  std::optional<int64_t> row = getConstantIntValue(op.getRow()),
                         col = getConstantIntValue(op.getCol());
  CppExpression address = known->second;
  // With constants the offset is a number; else it is computed from rows and columns.
  if (row && col) {
    address = sum(address, hex(elementOffset(source, *row, *col)));
  } else {
    WindowStrides strides = windowStrides(source);
    if (row != 0)
      address = sum(address, times(expression(op.getRow()), strides.row));
    if (col != 0)
      address = sum(address, times(expression(op.getCol()), strides.col));
  }
  emitTileAt(op, address, type, op.getValidRow(), op.getValidCol());
}

bool CppFunctionEmitter::emitBuffer(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AllocTileOp>([&](AllocTileOp made) {
        // Emission goes on with address 0, so that all that is missing is told at once.
        std::optional<int64_t> address = getConstantIntValue(made.getAddr());
        if (!made.getAddr())
          missing(op, "the buffer has no address yet");
        CppExpression at =
            address || !made.getAddr() ? hex(address.value_or(0)) : expression(made.getAddr());
        return emitTileAt(op, at, made.getType(), made.getValidRow(), made.getValidCol()), true;
      })
      .Case<AllocMultiTileOp>([&](AllocMultiTileOp made) {
        std::optional<int64_t> address = getConstantIntValue(made.getAddr());
        if (!address)
          // The ring itself is no variable; only its slots are.
          missing(op, "the buffer has no address yet");
        addresses_[made] = hex(address.value_or(0));
        return true;
      })
      .Case<MultiTileGetOp>([&](MultiTileGetOp made) {
        auto slots = cast<MultiTileBufType>(made.getSource().getType());
        const MemorySpace *memory = machine_.space(ir::placeName(slots.getSlot().getPlace()).str());
        // Slots lie as far apart as the memory's alignment asks for.
        int64_t stride = slotStride(slots, memory ? memory->alignment : 32);
        CppExpression address = addresses_.lookup(made.getSource());
        if (std::optional<int64_t> slot = getConstantIntValue(made.getSlot())) {
          llvm::APInt base(64, 0);
          (void)llvm::StringRef(address.text).getAsInteger(0, base);
          // The text of a constant address is read back as a number.
          address =
              hex(static_cast<int64_t>(base.getZExtValue()) + *slot % slots.getCount() * stride);
        } else {
          CppExpression turn{expression(made.getSlot()).within(Precedence::Product) + " % " +
                                 std::to_string(slots.getCount()),
                             Precedence::Product};
          address = sum(address, times(turn, stride));
        }
        return emitTileAt(op, address, made.getType(), made.getValidRow(), made.getValidCol()),
               true;
      })
      .Case<SubsetOp>([&](SubsetOp made) { return emitWindow(made), true; })
      .Case<TReshapeOp, BitcastOp>([&](auto made) {
        if (auto known = addresses_.find(made.getSource()); known != addresses_.end()) {
          CppExpression address = known->second;
          return emitTileAt(op, address, made.getType(), made.getValidRow(), made.getValidCol()),
                 true;
        }
        declareTile(op, made.getType(), made.getValidRow(), made.getValidCol());
        return line(op, "TRESHAPE(" + names_.of(made) + ", " + text(made.getSource()) + ");"), true;
      })
      .Case<DeclareTileOp>([&](DeclareTileOp made) {
        return declareTile(op, made.getType(), made.getValidRow(), made.getValidCol()), true;
      })
      .Case<SetValidShapeOp>([&](SetValidShapeOp made) {
        return line(op, text(made.getSource()) + ".SetValidShape(" + text(made.getValidRow()) +
                            ", " + text(made.getValidCol()) + ");"),
               true;
      })
      .Case<TGetValOp>([&](TGetValOp made) {
        return line(op, "const " + cppElement(made.getValue().getType()) + " " + names_.of(made) +
                            " = " + text(made.getSource()) + ".GetValue(" + text(made.getOffset()) +
                            ");"),
               true;
      })
      .Default([](Operation *) { return false; });
}

// ---- global memory ------------------------------------------------------------------------------

static std::optional<int64_t> knownExtent(Value value) { return getConstantIntValue(value); }

/// The parts of an array: a pointer to its first element, extents and distances.
void CppFunctionEmitter::emitPart(PartitionViewOp op) {
  auto view = op.getSource().getDefiningOp<MakeTensorViewOp>();
  if (!view)
    return missing(op, "a part of a part has no spelling in C++");
  CppView type;
  type.element = op.getType().getElementType();
  size_t rank = op.getSizes().size();
  if (rank > 5)
    return missing(op, "views have up to five axes in PTO-ISA");
  std::string sizes, strides;
  CppExpression at = expression(view.getPointer());
  for (size_t i = 0; i < rank; ++i) {
    // Views of the library have five axes, of which the last ones are used.
    size_t axis = 5 - rank + i;
    auto number = static_cast<unsigned>(i);
    int64_t fixed = op.getType().getShape()[i];
    // A size that is constant becomes part of the type.
    std::optional<int64_t> size = fixed != kDynamic ? fixed : knownExtent(op.getSizes()[number]);
    std::optional<int64_t> stride = knownExtent(view.getStrides()[number]);
    type.shape[axis] = size.value_or(kDynamic);
    type.strides[axis] = stride.value_or(kDynamic);
    if (!size)
      sizes += (sizes.empty() ? "" : ", ") + text(op.getSizes()[number]);
    if (!stride)
      strides += (strides.empty() ? "" : ", ") + text(view.getStrides()[number]);
    // Positions of 0 move nothing.
    if (getConstantIntValue(op.getOffsets()[number]) == 0)
      continue;
    CppExpression offset = expression(op.getOffsets()[number]),
                  distance = expression(view.getStrides()[number]);
    // Neighbouring elements have a distance of 1, which needs no product.
    if (stride != 1)
      offset = {offset.within(Precedence::Product) + " * " + distance.within(Precedence::Unary),
                Precedence::Product};
    at = sum(at, offset);
  }
  if (auto layout = view.getLayoutAttr())
    type.layout = layout.getValue() == ViewLayout::dn   ? "DN"
                  : layout.getValue() == ViewLayout::nz ? "NZ"
                                                        : "ND";
  // Columns side by side with rows one apart are a transposed matrix.
  else if (type.strides[4] != 1 && type.strides[3] == 1)
    type.layout = "DN";
  std::string alias = types_.view(type), arguments = at.text;
  valueTypes_[op] = alias;
  // Extents that are not constant are given to the constructor, in order.
  if (!sizes.empty() || !strides.empty())
    arguments += ", " + alias + "::Shape(" + sizes + ")";
  if (!strides.empty())
    arguments += ", " + alias + "::Stride(" + strides + ")";
  line(op, alias + " " + names_.of(op) + "(" + arguments + ");");
}

bool CppFunctionEmitter::emitView(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MakeTensorViewOp>([&](auto) { return true; }) // its parts say all
      .Case<PartitionViewOp>([&](PartitionViewOp part) { return emitPart(part), true; })
      .Case<LoadScalarOp>([&](LoadScalarOp load) {
        return line(op, "const " + cppElement(load.getValue().getType()) + " " + names_.of(load) +
                            " = " + expression(load.getPointer()).within(Precedence::Primary) +
                            "[" + text(load.getOffset()) + "];"),
               true;
      })
      .Case<StoreScalarOp>([&](StoreScalarOp store) {
        return line(op, expression(store.getPointer()).within(Precedence::Primary) + "[" +
                            text(store.getOffset()) + "] = " + text(store.getValue()) + ";"),
               true;
      })
      .Case<TrapOp>([&](TrapOp trap) {
        // The message is kept as a comment, since the device prints nothing.
        line(op, "trap(); // " + trap.getStatus().str() + ": " + trap.getMessage().str());
        return true;
      })
      .Case<GetBlockIdxOp, GetBlockNumOp, GetSubBlockIdxOp, GetSubBlockNumOp>([&](auto) {
        const char *call = isa<GetBlockIdxOp>(op)      ? "get_block_idx()"
                           : isa<GetBlockNumOp>(op)    ? "get_block_num()"
                           : isa<GetSubBlockIdxOp>(op) ? "get_subblockid()"
                                                       : "get_subblockdim()";
        return line(op, "const int64_t " + names_.of(op->getResult(0)) + " = " + call + ";"), true;
      })
      .Default([](Operation *) { return false; });
}

// ---- queues and order ---------------------------------------------------------------------------

void CppFunctionEmitter::emitPipe(Operation *op, Value memory, Value local) {
  auto number = [&](const char *key, int64_t otherwise) {
    auto attribute = op->getAttrOfType<IntegerAttr>(key);
    return attribute ? attribute.getInt() : otherwise;
  };
  int64_t direction = number("dir_mask", 1);
  bool nosplit = false;
  if (auto attribute = op->getAttrOfType<BoolAttr>("nosplit"))
    nosplit = attribute.getValue();
  std::string spelled = "TPipe<" + std::to_string(number("flag_base", 0)) + ", Direction::" +
                        (direction == 1   ? "DIR_C2V"
                         : direction == 2 ? "DIR_V2C"
                                          : "DIR_BOTH") +
                        ", " + std::to_string(slotStride(op)) + ", " +
                        std::to_string(number("slot_num", 8)) + ", " +
                        std::to_string(number("local_slot_num", 2)) + (nosplit ? ", true>" : ">");
  const std::string name = names_.of(op->getResult(0));
  // The alias of the type is the name in camel case.
  std::string wanted;
  for (size_t i = 0; i < name.size(); ++i)
    if (name[i] != '_')
      wanted += i == 0 || name[i - 1] == '_' ? llvm::toUpper(name[i]) : name[i];
  std::string alias = types_.pipe(spelled, wanted), address = text(local);
  valueTypes_[op->getResult(0)] = alias;
  std::string buffer = memory ? text(memory) : "(__gm__ void *)nullptr";
  line(op, alias + " " + name + "(" + buffer + ", " +
               // The address stands for the consumer's side, and the other one is 0.
               (direction == 2 ? "0, " + address : address + ", 0") + ");");
}

static std::string splitName(int64_t split) {
  return split == 1   ? "TileSplitAxis::TILE_UP_DOWN"
         : split == 2 ? "TileSplitAxis::TILE_LEFT_RIGHT"
                      : "TileSplitAxis::TILE_NO_SPLIT";
}

bool CppFunctionEmitter::emitQueue(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<InitializeL2G2LPipeOp>(
          [&](auto made) { return emitPipe(op, made.getGmAddr(), made.getLocalAddr()), true; })
      .Case<InitializeL2LPipeOp>(
          [&](auto made) { return emitPipe(op, {}, made.getLocalAddr()), true; })
      .Case<TPushOp, TPopOp>([&](auto made) {
        const char *call = isa<TPushOp>(op) ? "TPUSH<" : "TPOP<";
        return line(op, call + operandType(made.getPipe()) + ", " + operandType(made.getTile()) +
                            ", " + splitName(made.getSplit()) + ">(" + text(made.getPipe()) + ", " +
                            text(made.getTile()) + ");"),
               true;
      })
      .Case<TFreeOp>([&](TFreeOp made) {
        return line(op, "TFREE<" + operandType(made.getPipe()) + ", " + splitName(made.getSplit()) +
                            ">(" + text(made.getPipe()) + ");"),
               true;
      })
      .Default([](Operation *) { return false; });
}

bool CppFunctionEmitter::emitOrder(Operation *op) {
  auto pipes = [](auto flag) {
    return stringifyPipeKind(flag.getSrcPipe()).str() + ", " +
           stringifyPipeKind(flag.getDstPipe()).str() + ", ";
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<SetFlagOp, WaitFlagOp>([&](auto flag) {
        const char *call = isa<SetFlagOp>(op) ? "set_flag(" : "wait_flag(";
        return line(op, call + pipes(flag) + stringifyEventId(flag.getEventId()).str() + ");"),
               true;
      })
      .Case<SetFlagDynOp, WaitFlagDynOp>([&](auto flag) {
        const char *call = isa<SetFlagDynOp>(op) ? "set_flag(" : "wait_flag(";
        return line(op, call + pipes(flag) + "event_t(" + text(flag.getEventId()) + "));"), true;
      })
      .Case<SyncSetOp, SyncWaitOp>([&](auto event) {
        helpers_.used.insert("coreEvents");
        auto kind = function_->getAttrOfType<KernelKindAttr>("pto.kernel_kind");
        const char *other =
            kind && kind.getValue() == KernelKind::cube ? "VectorCores" : "CubeCore";
        // Such a queue runs on one vector core only, so the other would wait for ever.
        if (machine_.exchange.throughBuffer && hasWholeTileQueues(function_))
          missing(op, "an event between cores beside a queue of whole tiles, for which only the "
                      "first vector core of `" +
                          machine_.name + "` runs");
        return line(op, (isa<SyncSetOp>(op) ? "signal" : "waitFor") + std::string(other) + "<" +
                            stringifyPipeKind(event.getPipe()).str() + ">(" +
                            text(event.getEventId()) + ");"),
               true;
      })
      .Case<BarrierOp>([&](BarrierOp barrier) {
        return line(op, "pipe_barrier(" + stringifyPipeKind(barrier.getPipe()).str() + ");"), true;
      })
      .Default([](Operation *) { return false; });
}

// ---- instructions -------------------------------------------------------------------------------

std::string CppFunctionEmitter::operandType(Value value) {
  auto known = valueTypes_.find(value);
  return known == valueTypes_.end() ? cppElement(value.getType()) : known->second;
}

namespace {
/// A call that is not `LIBRARY(outs..., ins...)`, as `Cpp` in
/// ir/ops/instructions/instruction_base.td says.
struct CppForm {
  InstructionId id;
  llvm::StringLiteral when, text;
};
} // namespace

static constexpr CppForm cppForms[] = {
#include "ir/ops/instruction_calls.inc"
};

/// The enumerator at the end of `#pto<cmp lt>` or `#pto.mask_pattern<P0101>`, the digits of a
/// number.
static std::string enumerator(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return isa<BoolAttr>(attribute) ? (integer.getValue().isZero() ? "false" : "true")
                                    : std::to_string(integer.getInt());
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  llvm::StringRef name = llvm::StringRef(text).rtrim('>');
  return name.substr(name.find_last_of(" <") + 1).str();
}

static std::string spelled(const InstructionAttribute &row, Operation *op) {
  Attribute attribute = op->getAttr(row.ptoas);
  if (!attribute)
    // An attribute that is not there has the default of the library.
    return std::string(row.cppDefault);
  std::string name = enumerator(attribute);
  switch (row.cppSpelling) {
  case CppSpelling::Upper:
    name = llvm::StringRef(name).upper();
    break;
  case CppSpelling::Camel:
    name = llvm::convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
    break;
  case CppSpelling::Cast:
    if (!llvm::StringRef(name).starts_with("CAST_"))
      name = "CAST_" + name;
    break;
  case CppSpelling::Same:
  case CppSpelling::Plain:
    break;
  }
  return std::string(row.cppPrefix) + name;
}

/// Replaces the `$` words of a form.
std::string CppFunctionEmitter::fill(Instruction instruction, llvm::StringRef form) {
  Operation *op = instruction.operation();
  OperandRange ins = instruction.ins(), outs = instruction.outs();
  std::string result;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '$') {
      result += form[i];
      continue;
    }
    llvm::StringRef word =
        form.drop_front(i + 1).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    i += word.size();
    // Words with a digit name one operand.
    bool numbered = word.size() == 2 && llvm::isDigit(word[1]);
    unsigned number = numbered ? static_cast<unsigned>(word[1] - '0') : 0;
    // `$i` is all inputs, `$i0` one of them, `$I0` its type, and `o` the same of outputs.
    if (word == "i") {
      for (auto [index, value] : llvm::enumerate(ins))
        result += (index ? ", " : "") + text(value);
    } else if (numbered && (word[0] == 'i' || word[0] == 'I')) {
      result += word[0] == 'i' ? text(ins[number]) : operandType(ins[number]);
    } else if (numbered && (word[0] == 'o' || word[0] == 'O')) {
      result += word[0] == 'o' ? text(outs[number]) : operandType(outs[number]);
    } else if (numbered && word[0] == 'E') {
      result += cppElement(cast<TileBufType>(outs[number].getType()).getElementType());
    } else {
      // Any other word is an attribute.
      for (const InstructionAttribute &row : instructionAttributes())
        if (row.ptoas == std::string_view(word))
          result += spelled(row, op);
    }
  }
  return result;
}

static bool fits(const CppForm &form, Instruction instruction) {
  if (form.id != instruction.id())
    return false;
  if (form.when.empty())
    return true;
  if (form.when.front() == '#')
    // `#2` selects the form for two inputs.
    return instruction.ins().size() == static_cast<size_t>(form.when[1] - '0');
  return instruction.operation()->hasAttr(form.when);
}

/// Columns of results have rows in multiples of what fits 32 bytes, what is reduced has as many as
/// it has. The library's simulator takes no two tiles of different rows: the source goes in as a
/// tile of more, of which no more are valid.
bool CppFunctionEmitter::emitReduction(Instruction reduction) {
  Value source = reduction.ins()[0];
  auto from = cast<TileBufType>(source.getType()),
       to = cast<TileBufType>(reduction.outs()[0].getType());
  auto address = addresses_.find(source);
  // Without a known address the source cannot be seen as a larger tile.
  if (from.getRows() >= to.getRows() || address == addresses_.end())
    return false;
  std::string name = names_.of(source), rows = names_.fresh(name + "_rows"), valid, inputs;
  // Valid extents that the type does not have are taken from the source at run time.
  if (from.getValidRows() == kDynamic)
    valid = name + ".GetValidRow()";
  if (from.getValidCols() == kDynamic)
    valid += (valid.empty() ? "" : ", ") + name + ".GetValidCol()";
  auto type = TileBufType::get(from.getContext(), from.getPlace(), to.getRows(), from.getCols(),
                               from.getElementType(), from.getValidRows(), from.getValidCols(),
                               from.getLayout());
  for (Value more : reduction.ins().drop_front())
    inputs += ", " + text(more);
  // The braces keep the tile's name to this statement.
  line(reduction.operation(), "{ " + types_.tile(type) + " " + rows +
                                  (valid.empty() ? "" : "(" + valid + ")") + "; TASSIGN(" + rows +
                                  ", " + address->second.text + "); " +
                                  std::string(reduction.info().cppName) + "(" +
                                  text(reduction.outs()[0]) + ", " + rows + inputs + "); }");
  return true;
}

void CppFunctionEmitter::emitInstructionOp(Instruction instruction) {
  Operation *op = instruction.operation();
  switch (instruction.id()) {
  case InstructionId::TRowSum:
  case InstructionId::TRowMax:
  case InstructionId::TRowMin:
  case InstructionId::TRowProd:
    if (emitReduction(instruction))
      return;
    break;
  default:
    break;
  }
  // Forms are tried in their order, since special ones come before general ones.
  for (const CppForm &form : cppForms)
    if (fits(form, instruction)) {
      std::string statement = fill(instruction, form.text);
      // A block needs no semicolon.
      return line(op, statement + (statement.back() == '}' ? "" : ";"));
    }
  std::string arguments;
  for (Value value : instruction.outs())
    arguments += (arguments.empty() ? "" : ", ") + text(value);
  for (Value value : instruction.ins())
    arguments += (arguments.empty() ? "" : ", ") + text(value);
  line(op, std::string(instruction.info().cppName) + "(" + arguments + ");");
}

} // namespace ptl::pto
