#include "codegen/source/block_body.h"

#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

static std::string bufferName(const std::string &tile) { return tile + "_buffer"; }

BlockBody::BlockBody(func::FuncOp function, Queues &queues, Unwritable unwritable)
    : TileBody(false, std::move(unwritable)), function_(function), queues_(queues) {
  values_.keepForTiles(function);
}

std::string BlockBody::nameFor(Value value) const {
  std::string name = values_.of(value);
  return isIdentifier(name) ? name : "t";
}

bool BlockBody::isInlined(Operation *op) {
  // An element of memory is read where it stands.
  if (isa<pto::TGetValOp, pto::LoadScalarOp, pto::TPopOp>(op))
    return false;
  return TileBody::isInlined(op);
}

void BlockBody::startAgain() {
  TileBody::startAgain();
  values_ = pto::NameTable(pto::NameTable::Style::Cpp);
  values_.keepForTiles(function_);
  problems_.clear();
}

void BlockBody::run() {
  for (BlockArgument argument : function_.getArguments())
    if (auto name = function_.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ptl.name")) {
      names_.reserve(name.str());
      know(argument, name.str());
    }
  for (auto &[flag, queue] : queues_)
    names_.reserve(queue.name);
  for (EventGroup &group : events_)
    group.name = names_.fresh(group.name);
  block(function_.getBody().front());
}

std::string BlockBody::print() {
  collectEvents();
  run();
  startAgain();
  for (EventGroup &group : events_)
    group.name = std::string(pipeName(group.from)) + "_" + std::string(pipeName(group.to));
  run();
  std::string body = takeText();
  declareEvents();
  return takeText() + body;
}

// ---- Events -------------------------------------------------------------------------------------

/// `base + (x % count)`: the numbers that a computed event takes.
struct Rotation {
  int64_t first = 0, count = 1;
  Value turn; ///< `x`; null if it is not of this form
};

static Rotation rotationOf(Value id) {
  Rotation rotation;
  if (auto sum = id.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> base = getConstantIntValue(sum.getRhs())) {
      rotation.first = *base;
      id = sum.getLhs();
    }
  auto rest = id.getDefiningOp<arith::RemUIOp>();
  std::optional<int64_t> count = rest ? getConstantIntValue(rest.getRhs()) : std::nullopt;
  if (count) {
    rotation.count = *count;
    rotation.turn = rest.getLhs();
  }
  return rotation;
}

BlockBody::EventGroup &BlockBody::groupOf(Pipe from, Pipe to, int64_t id) {
  for (EventGroup &group : events_)
    if (group.from == from && group.to == to && group.first <= id && id < group.first + group.count)
      return group;
  EventGroup group{from, to, id, 1, "", {}};
  group.name = std::string(pipeName(from)) + "_" + std::string(pipeName(to));
  events_.push_back(group);
  return events_.back();
}

/// Without places, which are of another text.
static std::string reasonText(llvm::StringRef why) {
  std::string text;
  size_t begin = why.rfind("; ");
  for (char c : begin == llvm::StringRef::npos ? why : why.drop_front(begin + 2)) {
    text += c;
    // ` (8:16)` names a line of the source that this was made from.
    size_t open = text.rfind(" (");
    if (c == ')' && open != text.npos && text.find(':', open) != text.npos)
      text.resize(open);
  }
  return text;
}

/// Computed numbers come first: single ones may lie among them.
void BlockBody::collectEvents() {
  function_->walk([&](Operation *op) {
    auto add = [&](Pipe from, Pipe to, Value id) {
      Rotation rotation = rotationOf(id);
      if (!rotation.turn)
        return unwritable_(op, "an event has a computed number");
      EventGroup &group = groupOf(from, to, rotation.first);
      group.count = std::max(group.count, rotation.count);
    };
    if (auto set = dyn_cast<pto::SetFlagDynOp>(op))
      add(pto::pipeOf(set.getSrcPipe()), pto::pipeOf(set.getDstPipe()), set.getEventId());
    if (auto wait = dyn_cast<pto::WaitFlagDynOp>(op))
      add(pto::pipeOf(wait.getSrcPipe()), pto::pipeOf(wait.getDstPipe()), wait.getEventId());
  });
  function_->walk([&](Operation *op) {
    auto note = [&](EventGroup &group) {
      if (auto why = op->getAttrOfType<StringAttr>("ptl.why"))
        group.reasons.insert(reasonText(why));
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case<pto::SetFlagOp, pto::WaitFlagOp>([&](auto flag) {
          note(groupOf(pto::pipeOf(flag.getSrcPipe()), pto::pipeOf(flag.getDstPipe()),
                       static_cast<int64_t>(flag.getEventId())));
        })
        .Case<pto::SetFlagDynOp, pto::WaitFlagDynOp>([&](auto flag) {
          note(groupOf(pto::pipeOf(flag.getSrcPipe()), pto::pipeOf(flag.getDstPipe()),
                       rotationOf(flag.getEventId()).first));
        });
  });
  llvm::stable_sort(events_, [](const EventGroup &a, const EventGroup &b) {
    return std::tuple(a.from, a.to, a.first) < std::tuple(b.from, b.to, b.first);
  });
}

void BlockBody::declareEvents() {
  for (const EventGroup &group : events_) {
    std::string count = group.count > 1 ? "[" + std::to_string(group.count) + "]" : "";
    std::string text = "event " + group.name + count + ": " + std::string(pipeName(group.from)) +
                       " -> " + std::string(pipeName(group.to)) + " id " +
                       std::to_string(group.first);
    if (!group.reasons.empty()) {
      text += "  // " + *group.reasons.begin();
      if (group.reasons.size() > 1)
        text += ", and " + std::to_string(group.reasons.size() - 1) + " more";
    }
    line(text);
  }
}

std::string BlockBody::eventText(Operation *op, Pipe from, Pipe to, Value id,
                                 std::optional<int64_t> number) {
  Rotation rotation = id ? rotationOf(id) : Rotation();
  EventGroup &group = groupOf(from, to, number.value_or(rotation.first));
  if (group.count == 1)
    return group.name;
  return group.name + "[" +
         (number ? std::to_string(*number - group.first) : value(rotation.turn).text) + "]";
}

bool BlockBody::synchronisation(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<pto::SetFlagOp, pto::WaitFlagOp>([&](auto flag) {
        bool sets = isa<pto::SetFlagOp>(op);
        line((sets ? "signal(" : "wait(") +
             eventText(op, pto::pipeOf(flag.getSrcPipe()), pto::pipeOf(flag.getDstPipe()), {},
                       static_cast<int64_t>(flag.getEventId())) +
             ")");
        return true;
      })
      .Case<pto::SetFlagDynOp, pto::WaitFlagDynOp>([&](auto flag) {
        bool sets = isa<pto::SetFlagDynOp>(op);
        line((sets ? "signal(" : "wait(") +
             eventText(op, pto::pipeOf(flag.getSrcPipe()), pto::pipeOf(flag.getDstPipe()),
                       flag.getEventId(), std::nullopt) +
             ")");
        return true;
      })
      .Case<pto::BarrierOp>([&](pto::BarrierOp barrier) {
        line("barrier(" + std::string(pipeName(pto::pipeOf(barrier.getPipe()))) + ")");
        return true;
      })
      .Default(false);
}

// ---- Buffers and tiles --------------------------------------------------------------------------

std::string BlockBody::shapeText(pto::TileBufType type) const {
  return elementText(type.getElementType()) + "[" + std::to_string(type.getRows()) + ", " +
         std::to_string(type.getCols()) + "]";
}

/// Named where it is not what the place has anyway.
std::string BlockBody::layoutText(pto::TileBufType type) const {
  std::string name = pto::layoutName(type.getLayout()).str();
  bool isUsual = (type.getPlace() == ir::Place::Vec && name == "nd") ||
                 (type.getPlace() == ir::Place::Mat && name == "nz") ||
                 (type.getPlace() == ir::Place::Right && name == "zn") ||
                 type.getPlace() == ir::Place::Left || type.getPlace() == ir::Place::Acc;
  return isUsual ? "" : name;
}

/// A slice that says how much of a tile is valid; all of it needs none.
std::string BlockBody::validText(const std::string &base, pto::TileBufType type, Value row,
                                 Value col) {
  auto extent = [&](Value given, int64_t fixed, int64_t whole) -> std::string {
    std::optional<int64_t> number = given ? getConstantIntValue(given) : fixed;
    if (number == whole)
      return ":";
    return "0:" + (number ? std::to_string(*number) : value(given).as(Precedence::Or));
  };
  std::string rows = extent(row, type.getValidRows(), type.getRows()),
              cols = extent(col, type.getValidCols(), type.getCols());
  return rows == ":" && cols == ":" ? base : base + "[" + rows + ", " + cols + "]";
}

void BlockBody::buffer(Value result, Value address, int64_t count) {
  auto multi = dyn_cast<pto::MultiTileBufType>(result.getType());
  auto type = multi ? multi.getSlot() : cast<pto::TileBufType>(result.getType());
  std::string name = nameFor(result);
  bool isWhole = multi || (!type.hasDynamicValid() && type.getValidRows() == type.getRows() &&
                           type.getValidCols() == type.getCols());
  name = names_.fresh(isWhole && !multi ? name : bufferName(name));
  std::string text = "buffer " + name;
  if (multi)
    text += "[" + std::to_string(count) + "]";
  text += ": " + shapeText(type) + " @" + ir::placeName(type.getPlace()).str();
  if (std::string layout = layoutText(type); !layout.empty())
    text += " " + layout;
  if (std::optional<int64_t> at = address ? getConstantIntValue(address) : std::nullopt) {
    char hex[24];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(*at));
    text += std::string(" at ") + (*at == 0 ? "0" : hex);
  }
  line(text);
  know(result, name);
}

/// Binds the name of a tile that is a part of something.
void BlockBody::tile(Value tile, const std::string &base, Value validRow, Value validCol) {
  auto type = cast<pto::TileBufType>(tile.getType());
  std::string text = validText(base, type, validRow, validCol);
  if (text == base && isIdentifier(base))
    return know(tile, base);
  let(tile, {text}, nameFor(tile));
}

std::pair<Value, std::string> BlockBody::pointer(Value pointer) {
  auto moved = pointer.getDefiningOp<pto::AddPtrOp>();
  return moved ? std::pair(moved.getPointer(), value(moved.getOffset()).text)
               : std::pair(pointer, std::string("0"));
}

bool BlockBody::views(Operation *op) {
  auto list = [&](ValueRange values) {
    std::vector<std::string> texts;
    for (Value each : values)
      texts.push_back(value(each).text);
    return "[" + llvm::join(texts, ", ") + "]";
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<pto::AddPtrOp>([](auto) { return true; })
      .Case<pto::MakeTensorViewOp>([&](pto::MakeTensorViewOp view) {
        auto [base, offset] = pointer(view.getPointer());
        std::string text = "make_tensor_view(" + value(base).text + ", " + offset + ", " +
                           list(view.getShape()) + ", " + list(view.getStrides());
        if (view.getLayout() && *view.getLayout() != pto::ViewLayout::nd)
          text += ", layout: ." + pto::stringifyViewLayout(*view.getLayout()).str();
        let(view.getResult(), {text + ")"}, nameFor(view.getResult()));
        return true;
      })
      .Case<pto::PartitionViewOp>([&](pto::PartitionViewOp part) {
        std::vector<std::string> items;
        for (auto [offset, size] : llvm::zip(part.getOffsets(), part.getSizes()))
          items.push_back(span(offset, size));
        let(part.getResult(), {value(part.getSource()).text + "[" + llvm::join(items, ", ") + "]"},
            nameFor(part.getResult()));
        return true;
      })
      .Case<pto::AllocTileOp>([&](pto::AllocTileOp alloc) {
        buffer(alloc.getResult(), alloc.getAddr(), 1);
        if (alloc.getType().hasDynamicValid())
          tile(alloc.getResult(), known_[alloc.getResult()].text, alloc.getValidRow(),
               alloc.getValidCol());
        return true;
      })
      .Case<pto::AllocMultiTileOp>([&](pto::AllocMultiTileOp alloc) {
        buffer(alloc.getResult(), alloc.getAddr(), alloc.getType().getCount());
        return true;
      })
      .Case<pto::MultiTileGetOp>([&](pto::MultiTileGetOp get) {
        tile(get.getResult(), value(get.getSource()).text + "[" + value(get.getSlot()).text + "]",
             get.getValidRow(), get.getValidCol());
        return true;
      })
      .Case<pto::SubsetOp>([&](pto::SubsetOp window) {
        auto type = cast<pto::TileBufType>(window.getType());
        std::string text = value(window.getSource()).text + "[" +
                           fixedSpan(window.getRow(), type.getRows()) + ", " +
                           fixedSpan(window.getCol(), type.getCols()) + "]";
        tile(window.getResult(), text, window.getValidRow(), window.getValidCol());
        return true;
      })
      .Case<pto::TReshapeOp>([&](pto::TReshapeOp shaped) {
        auto type = cast<pto::TileBufType>(shaped.getType());
        std::string layout = layoutText(type);
        tile(shaped.getResult(),
             "treshape(" + value(shaped.getSource()).text + ", " + shapeText(type) +
                 (layout.empty() ? ")" : ", layout: ." + layout + ")"),
             shaped.getValidRow(), shaped.getValidCol());
        return true;
      })
      .Case<pto::BitcastOp>([&](pto::BitcastOp same) {
        auto type = cast<pto::TileBufType>(same.getType());
        tile(same.getResult(),
             "bitcast(" + value(same.getSource()).text + ", " + elementText(type.getElementType()) +
                 ")",
             same.getValidRow(), same.getValidCol());
        return true;
      })
      .Default(false);
}

std::string BlockBody::span(Value offset, Value size) {
  std::optional<int64_t> at = getConstantIntValue(offset), count = getConstantIntValue(size);
  if (at && count)
    return std::to_string(*at) + ":" + std::to_string(*at + *count);
  if (at == 0)
    return "0:" + value(size).as(Precedence::Or);
  Expression start = value(offset);
  return start.as(Precedence::Or) + ":" + binary(start, "+", value(size)).text;
}

std::string BlockBody::fixedSpan(Value offset, int64_t size) {
  if (std::optional<int64_t> at = getConstantIntValue(offset))
    return std::to_string(*at) + ":" + std::to_string(*at + size);
  Expression start = value(offset);
  return start.as(Precedence::Or) + ":" + binary(start, "+", {std::to_string(size)}).text;
}

// ---- Instructions -------------------------------------------------------------------------------

/// `.` of a mnemonic is no part of a name.
static std::string callName(std::string_view mnemonic) {
  std::string name(mnemonic);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

namespace {
/// One row of the attributes that instructions take.
struct AttributeRow {
  std::string_view name, irName, values;
};
constexpr AttributeRow kAttributes[] = {
#define INSTRUCTION_ATTRIBUTE(NAME, PTOAS, IR, VALUES, INSTRUCTIONS) {#NAME, PTOAS, VALUES},
#include "ir/ops/instruction_attributes.def"
};
} // namespace

/// The word of a row for an attribute as it prints: `rint` for `#pto<round_mode RINT>`.
static std::string wordFor(const AttributeRow &row, Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue() ? "true" : "false";
  if (auto number = dyn_cast<IntegerAttr>(attribute); number && row.values == "int")
    return std::to_string(number.getInt());
  std::string printed;
  llvm::raw_string_ostream(printed) << attribute;
  llvm::StringRef text = printed;
  text = text.rtrim('>');
  text = text.substr(text.find_last_of(" <") + 1);
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(row.values).split(words, ' ');
  for (llvm::StringRef word : words) {
    auto [name, spelled] = word.split('=');
    if ((spelled.empty() ? name : spelled) == text)
      return "." + name.str();
  }
  return "." + text.lower();
}

std::string BlockBody::attributes(Operation *op) const {
  std::string text;
  for (const AttributeRow &row : kAttributes)
    if (Attribute attribute = op->getAttr(row.irName))
      text += ", " + std::string(row.name) + ": " + wordFor(row, attribute);
  return text;
}

void BlockBody::instruction(Operation *op) {
  pto::Instruction instruction(op);
  std::vector<std::string> operands;
  for (Value out : instruction.outs())
    operands.push_back(value(out).text);
  // What an accumulating product adds to is what it writes.
  bool repeats = instruction.info().has(InstructionInfo::InPlace) &&
                 llvm::StringRef(instruction.info().mnemonic).ends_with(".acc") &&
                 instruction.ins().front() == instruction.outs().front();
  for (Value in : llvm::drop_begin(instruction.ins(), repeats ? 1 : 0))
    operands.push_back(value(in).text);
  line(callName(instruction.info().mnemonic) + "(" + llvm::join(operands, ", ") + attributes(op) +
       ")");
}

std::optional<Expression> BlockBody::written(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Expression>>(op)
      .Case<pto::GetBlockIdxOp, pto::GetBlockNumOp, pto::GetSubBlockIdxOp, pto::GetSubBlockNumOp>(
          [&](auto) { return Expression{op->getName().stripDialect().str() + "()"}; })
      .Case<pto::TGetValOp>([&](pto::TGetValOp get) {
        return Expression{"tgetval(" + value(get.getSource()).text + ", " +
                          value(get.getOffset()).text + ")"};
      })
      .Case<pto::LoadScalarOp>([&](pto::LoadScalarOp load) {
        auto [base, offset] = pointer(load.getPointer());
        Expression at = offset == "0"
                            ? value(load.getOffset())
                            : binary({offset, Precedence::None}, "+", value(load.getOffset()));
        return Expression{"load_scalar(" + value(base).text + ", " + at.text + ")"};
      })
      .Default([](Operation *) { return std::nullopt; });
}

bool BlockBody::special(Operation *op) {
  if (pto::Instruction(op)) {
    instruction(op);
    return true;
  }
  if (isa<func::ReturnOp, pto::ReserveBufferOp, pto::ImportReservedBufferOp>(op))
    return true;
  if (isa<pto::GetBlockIdxOp, pto::GetBlockNumOp, pto::GetSubBlockIdxOp, pto::GetSubBlockNumOp>(
          op)) {
    let(op->getResult(0), *written(op), nameFor(op->getResult(0)));
    return true;
  }
  if (auto store = dyn_cast<pto::StoreScalarOp>(op)) {
    auto [base, offset] = pointer(store.getPointer());
    Expression at = offset == "0"
                        ? value(store.getOffset())
                        : binary({offset, Precedence::None}, "+", value(store.getOffset()));
    line("store_scalar(" + value(base).text + ", " + at.text + ", " + value(store.getValue()).text +
         ")");
    return true;
  }
  return synchronisation(op) || queueing(op) || views(op);
}

// ---- Queues -------------------------------------------------------------------------------------

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

void BlockBody::queue(Operation *op, int64_t flag, int64_t slots, std::optional<int64_t> held,
                      Value address) {
  Value pipe = op->getResult(0);
  auto [entry, isNew] = queues_.try_emplace(flag);
  Queue &queue = entry->second;
  if (isNew)
    queue.name = "queue" + std::to_string(queues_.size());
  know(pipe, queue.name);
  auto crossing = crossingTile(pipe);
  if (!crossing)
    return;
  auto [type, split] = *crossing;
  bool isVector = type.getPlace() == ir::Place::Vec;
  int64_t rows = type.getRows() * (isVector && split == 1 ? 2 : 1),
          cols = type.getCols() * (isVector && split == 2 ? 2 : 1);
  auto direction = op->getAttrOfType<IntegerAttr>("dir_mask");
  // The consumer says what the elements are and where its slots lie.
  bool consumes = isVector == (direction.getInt() == 1);
  std::string text = "pipe " + queue.name + ": " + elementText(type.getElementType()) + "[" +
                     std::to_string(rows) + ", " + std::to_string(cols) + "]";
  text += split == 1 ? " split rows" : split == 2 ? " split cols" : "";
  text += " depth " + std::to_string(slots);
  if (held)
    text += " hold " + std::to_string(*held);
  auto reserved = address.getDefiningOp<pto::ReserveBufferOp>();
  if (reserved && reserved.getBase())
    text += " at " + std::to_string(*reserved.getBase());
  text += " id " + std::to_string(flag);
  if (consumes || queue.declaration.empty())
    queue.declaration = text;
}

bool BlockBody::queueing(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<pto::InitializeL2G2LPipeOp, pto::InitializeL2LPipeOp>([&](auto made) {
        queue(op, made.getFlagBase().value_or(0), made.getSlotNum(),
              made.getLocalSlotNum() ? std::optional<int64_t>(*made.getLocalSlotNum())
                                     : std::nullopt,
              made.getLocalAddr());
        return true;
      })
      .Case<pto::TPushOp>([&](pto::TPushOp push) {
        line("tpush(" + value(push.getPipe()).text + ", " + value(push.getTile()).text + ")");
        return true;
      })
      .Case<pto::DeclareTileOp>([](auto) { return true; })
      .Case<pto::TPopOp>([&](pto::TPopOp pop) {
        let(pop.getTile(), {"tpop(" + value(pop.getPipe()).text + ")"}, nameFor(pop.getTile()));
        return true;
      })
      .Case<pto::TFreeOp>([&](pto::TFreeOp free) {
        line("tfree(" + value(free.getPipe()).text + ")");
        return true;
      })
      .Default(false);
}

} // namespace ptl::source
