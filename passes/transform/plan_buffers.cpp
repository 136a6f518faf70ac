#include "passes/transform/plan_buffers.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/buffer_liveness.h"
#include "passes/analysis/memory_map.h"
#include "passes/analysis/pack_buffers.h"
#include "passes/analysis/source_place.h"
#include "passes/passes.h"

#include "ir/dialect/instruction_op.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace ptl::pto;

namespace ptl::block {
namespace {

/// The buffers of one memory of one function.
class SpacePlanner {
public:
  SpacePlanner(const BufferLiveness &liveness, const MemorySpace &memory,
               std::vector<uint32_t> buffers);

  /// Addresses by number of buffer, as long as all fits.
  void plan(bool tight, std::vector<int64_t> &addresses);
  const LedgerSpace &space() const { return space_; }

private:
  LiveRange rangeAt(uint32_t buffer, Sharing sharing) const;
  LiveRange loopAround(LiveRange range) const;
  void findTurns();
  void makeItems(Sharing sharing);
  void joinInPlace();
  bool tryPlan(Sharing sharing, std::vector<int64_t> &addresses);
  Pipe busiestPipe() const;
  int64_t totalOf(const LiveBuffer &buffer) const {
    return llvm::alignTo(static_cast<uint64_t>(buffer.bytes),
                         static_cast<uint64_t>(space_.alignment)) *
           buffer.count;
  }

  const BufferLiveness &liveness_;
  std::vector<uint32_t> buffers_;
  LedgerSpace space_;
  uint8_t sharedPipe_ = 0;
  llvm::DenseMap<uint32_t, uint32_t> turnEnds_; ///< where the one that follows a buffer ends
  std::vector<PackItem> items_;
  llvm::DenseMap<uint32_t, uint32_t> itemOf_;
};

SpacePlanner::SpacePlanner(const BufferLiveness &liveness, const MemorySpace &memory,
                           std::vector<uint32_t> buffers)
    : liveness_(liveness), buffers_(std::move(buffers)) {
  space_.place = memory.place;
  space_.bytes = memory.bytes;
  space_.reserved = memory.reserved;
  space_.usable = memory.usableBytes();
  space_.alignment = std::max<int64_t>(1, memory.alignment);
  sharedPipe_ = static_cast<uint8_t>(1u << static_cast<unsigned>(busiestPipe()));
}

/// The pipe with most bytes in buffers that no other pipe touches.
Pipe SpacePlanner::busiestPipe() const {
  int64_t bytes[kNumPipes] = {};
  for (uint32_t buffer : buffers_)
    for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
      // One bit in the mask says that only this pipe touches the buffer.
      if (liveness_.buffers[buffer].pipes == 1u << pipe)
        bytes[pipe] += totalOf(liveness_.buffers[buffer]);
  return static_cast<Pipe>(std::max_element(bytes, bytes + kNumPipes) - bytes);
}

/// The innermost loop that holds the range; the whole function if none does.
LiveRange SpacePlanner::loopAround(LiveRange range) const {
  LiveRange found = {0, static_cast<uint32_t>(liveness_.positions.size())};
  // Loops are sorted by their begins, so those that begin before the range are searched backwards,
  // inner ones first.
  auto after = llvm::upper_bound(liveness_.loops, range.begin,
                                 [](uint32_t at, const LiveLoop &l) { return at < l.range.begin; });
  for (auto loop = after; loop != liveness_.loops.begin();) {
    --loop;
    if (loop->range.contains(range))
      return loop->range;
    // Behind an outermost loop that ends before the range, no earlier loop can hold it.
    if (loop->depth == 0)
      break;
  }
  return found;
}

/// While one buffer is emptied the one that follows it is filled, so the two are best apart. Not
/// where an output takes over the bytes of an input.
void SpacePlanner::findTurns() {
  llvm::DenseSet<uint32_t> goesOn;
  for (const InPlacePair &pair : liveness_.inPlace)
    if (liveness_.buffers[pair.input].live.end == pair.position)
      goesOn.insert(pair.input);
  llvm::SmallVector<uint32_t> order;
  // A pipe runs its own instructions in order, so its buffers gain nothing from standing apart.
  for (uint32_t number : buffers_)
    if (!liveness_.buffers[number].onePipe())
      order.push_back(number);
  llvm::stable_sort(order, [&](uint32_t a, uint32_t b) {
    return liveness_.buffers[a].live.begin < liveness_.buffers[b].live.begin;
  });
  for (uint32_t number : order) {
    LiveRange live = liveness_.buffers[number].live;
    // The next buffer to be filled is the first one that begins behind the end of this one.
    auto next = llvm::partition_point(
        order, [&](uint32_t other) { return liveness_.buffers[other].live.begin <= live.end; });
    if (next != order.end() && !goesOn.contains(number))
      turnEnds_[number] = liveness_.buffers[*next].live.end;
  }
}

LiveRange SpacePlanner::rangeAt(uint32_t number, Sharing sharing) const {
  const LiveBuffer &buffer = liveness_.buffers[number];
  LiveRange whole = {0, static_cast<uint32_t>(liveness_.positions.size())};
  bool isAlone = buffer.pipes == sharedPipe_;
  // A buffer that shares with nothing is live throughout the function.
  if (sharing == Sharing::None || (sharing == Sharing::Pipe && !isAlone))
    return whole;
  // Buffers of one pipe need no events when they share bytes, since the pipe is in order.
  if (sharing == Sharing::Loops && !isAlone)
    return loopAround(buffer.live);
  // Up to the end of the buffer that follows, so that the two lie apart.
  if (auto turn = turnEnds_.find(number); sharing == Sharing::Turns && turn != turnEnds_.end())
    return {buffer.live.begin, turn->second};
  return buffer.live;
}

void SpacePlanner::makeItems(Sharing sharing) {
  items_.clear();
  itemOf_.clear();
  for (uint32_t number : buffers_) {
    const LiveBuffer &buffer = liveness_.buffers[number];
    LiveRange range = rangeAt(number, sharing);
    itemOf_[number] = static_cast<uint32_t>(items_.size());
    items_.push_back({range.begin, range.end, totalOf(buffer), buffer.fixed});
  }
  if (sharing != Sharing::None)
    joinInPlace();
}

/// An output that takes over the bytes of an input that ends there becomes one item with it.
void SpacePlanner::joinInPlace() {
  for (const InPlacePair &pair : liveness_.inPlace) {
    auto input = itemOf_.find(pair.input), output = itemOf_.find(pair.output);
    if (input == itemOf_.end() || output == itemOf_.end())
      continue;
    PackItem &before = items_[input->second], &after = items_[output->second];
    // The widened ranges have to meet exactly at the instruction, or the input is needed beyond it.
    bool follows = before.end == pair.position && after.begin == pair.position &&
                   liveness_.buffers[pair.input].live.end == pair.position;
    if (!follows || input->second == output->second || before.fixed || after.fixed)
      continue;
    // The output keeps an item of no bytes, so that the numbers of items stay those of buffers.
    before.end = after.end;
    after.begin = after.end = before.begin;
    after.bytes = 0;
    output->second = input->second;
  }
}

bool SpacePlanner::tryPlan(Sharing sharing, std::vector<int64_t> &addresses) {
  makeItems(sharing);
  // A memory of unknown size is unlimited.
  int64_t usable = space_.bytes ? space_.usable : INT64_MAX;
  // The lower bound is cheap to compute, and makes most attempts at packing needless.
  Packing bound = measureLive(items_, space_.alignment);
  // The bound with all sharing is what the ledger reports, whichever sharing is taken.
  if (sharing == Sharing::All) {
    space_.lowerBound = bound.lowerBound;
    space_.fullest = bound.fullest;
  }
  bool isPossible = bound.lowerBound <= usable;
  if (!isPossible && sharing != Sharing::All)
    return false;
  space_.peak = bound.lowerBound;
  space_.sharing = sharing;
  space_.waste = 0;
  if (!isPossible)
    return false;
  Packing packing = packBuffers(items_, space_.alignment);
  space_.peak = packing.peak;
  space_.waste = packing.peak - packing.lowerBound;
  // Where the author put a buffer is for the prover to judge, which names the buffer.
  for (size_t i = 0; i < items_.size(); ++i)
    if (!items_[i].fixed && packing.addresses[i] + items_[i].bytes > usable)
      return false;
  for (uint32_t buffer : buffers_)
    addresses[buffer] = packing.addresses[itemOf_[buffer]];
  return true;
}

void SpacePlanner::plan(bool tight, std::vector<int64_t> &addresses) {
  makeItems(Sharing::All);
  Packing least = measureLive(items_, space_.alignment);
  space_.lowerBound = least.lowerBound;
  space_.fullest = least.fullest;
  space_.fits = false;
  findTurns();
  // More sharing means more waiting between pipes, so the least sharing that fits is taken.
  for (Sharing sharing :
       {Sharing::None, Sharing::Pipe, Sharing::Loops, Sharing::Turns, Sharing::All})
    if (!space_.fits && (sharing == Sharing::All || !tight))
      space_.fits = tryPlan(sharing, addresses);
}

// ---- the ledger ---------------------------------------------------------------------------------

/// Plans one function and describes it.
class FunctionPlanner {
public:
  FunctionPlanner(func::FuncOp function, const Machine &machine);

  LedgerFunction run(bool tight);
  std::optional<Overflow> overflow() const;
  void apply();

private:
  void findScales();
  void placeScales(llvm::ArrayRef<uint32_t> buffers);
  /// Whether it has no address in the code yet.
  bool isToBePlaced(size_t number) const {
    return !liveness_.buffers[number].fixed || beside_.contains(static_cast<uint32_t>(number));
  }
  LedgerBuffer describe(uint32_t number, int64_t alignment) const;
  void describeProgram(LedgerFunction &ledger) const;
  Overflow overflowOf(const LedgerSpace &space) const;
  void tryFewerSlots(Overflow &overflow) const;

  mutable func::FuncOp function_; ///< a handle, whose members are not const
  const Machine &machine_;
  BufferLiveness liveness_;
  std::vector<std::string> names_;
  std::vector<int64_t> addresses_;
  std::vector<LedgerSpace> spaces_;
  llvm::DenseMap<uint32_t, uint32_t> elementsOf_; ///< of scales: the buffer of what they are for
  llvm::DenseSet<uint32_t> beside_;               ///< scales that have an address by that
};

} // namespace

static std::string elementText(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() == 1
               ? "bool"
               : (integer.isUnsigned() ? "u" : "i") + std::to_string(integer.getWidth());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::string typeText(TileBufType type) {
  return elementText(type.getElementType()) + "[" + std::to_string(type.getRows()) + ", " +
         std::to_string(type.getCols()) + "] " + layoutName(type.getLayout()).str();
}

/// A tile without a name is called by what it was loaded from, or by the instruction.
static std::string nameByWriter(Operation *op) {
  Instruction instruction(op);
  if (instruction && instruction.id() == InstructionId::TLoad)
    if (auto argument = dyn_cast<BlockArgument>(rootOf(instruction.ins().front())))
      if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        if (auto name = attrs::name.of(function, argument.getArgNumber()))
          return name.str();
  return "(" + op->getName().stripDialect().str() + ")";
}

FunctionPlanner::FunctionPlanner(func::FuncOp function, const Machine &machine)
    : function_(function), machine_(machine), liveness_(analyseBuffers(function)),
      names_(liveness_.buffers.size()), addresses_(liveness_.buffers.size(), -1) {
  llvm::DenseMap<Value, std::string> writers; // what makes a tile that has no name
  for (Operation *op : liveness_.positions)
    for (const Access &access : accessesOf(op)) {
      if (!access.writes && !access.scratch)
        continue;
      Value root = rootOf(access.value);
      // A ring is one buffer, whichever slot is written.
      if (auto get = root.getDefiningOp<MultiTileGetOp>())
        root = get.getSource();
      writers.try_emplace(root, access.scratch ? "(scratch)" : nameByWriter(op));
    }
  findScales();
  for (auto [number, buffer] : llvm::enumerate(liveness_.buffers)) {
    // Names in the source come first; then that of the instruction that writes the tile.
    std::string name = nameOf(buffer.op->getLoc());
    if (auto reserve = dyn_cast<ReserveBufferOp>(buffer.op))
      name = reserve.getName().str();
    else if (name.empty())
      name = writers.lookup(buffer.op->getResult(0));
    names_[number] = name.empty() ? "(tile)" : name;
  }
}

/// Which buffers hold scales of which others: what products of blocks say.
void FunctionPlanner::findScales() {
  llvm::DenseMap<Operation *, uint32_t> numbers;
  for (auto [number, buffer] : llvm::enumerate(liveness_.buffers))
    numbers[buffer.op] = static_cast<uint32_t>(number);
  auto bufferOf = [&](Value tile) {
    Value root = rootOf(tile);
    if (auto get = root.getDefiningOp<MultiTileGetOp>())
      root = get.getSource();
    auto found = numbers.find(root.getDefiningOp());
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  };
  for (Operation *op : liveness_.positions) {
    Instruction instruction(op);
    if (!instruction || (instruction.id() != InstructionId::TMatmulMx &&
                         instruction.id() != InstructionId::TMatmulMxAcc))
      continue;
    // The operands are the sum so far, if there is one, and then each factor with its scales behind it.
    size_t first = instruction.id() == InstructionId::TMatmulMxAcc ? 1 : 0;
    for (size_t factor : {first, first + 2}) {
      std::optional<uint32_t> elements = bufferOf(instruction.ins()[factor]),
                              scales = bufferOf(instruction.ins()[factor + 1]);
      if (elements && scales)
        elementsOf_[*scales] = *elements;
    }
  }
}

/// Scales lie where products look for them, which the addresses of elements say. These are known: `left` and `right` are
/// planned first.
void FunctionPlanner::placeScales(llvm::ArrayRef<uint32_t> buffers) {
  for (uint32_t number : buffers) {
    auto elements = elementsOf_.find(number);
    if (elements == elementsOf_.end() || liveness_.buffers[number].fixed ||
        addresses_[elements->second] < 0)
      continue;
    liveness_.buffers[number].fixed = addresses_[elements->second] >> kScaleAddressShift;
    beside_.insert(number);
  }
}

LedgerBuffer FunctionPlanner::describe(uint32_t number, int64_t alignment) const {
  const LiveBuffer &buffer = liveness_.buffers[number];
  LedgerBuffer out;
  out.name = names_[number];
  if (auto tile = dyn_cast<AllocTileOp>(buffer.op)) {
    out.type = typeText(tile.getType());
  } else if (auto slots = dyn_cast<AllocMultiTileOp>(buffer.op)) {
    out.type = typeText(slots.getType().getSlot());
    out.kind = LedgerBuffer::Kind::Slots;
  } else {
    out.kind = LedgerBuffer::Kind::Queue;
  }
  out.place = placeOf(buffer.op->getLoc());
  out.bytes = buffer.bytes;
  out.count = buffer.count;
  out.total = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(buffer.bytes),
                                                 static_cast<uint64_t>(alignment))) *
              buffer.count;
  out.address = addresses_[number];
  out.begin = buffer.live.begin;
  out.end = buffer.live.end;
  for (size_t pipe = 0; pipe < kNumPipes; ++pipe)
    if (buffer.pipes >> pipe & 1)
      out.pipes.emplace_back(pipeNames[pipe]);
  return out;
}

void FunctionPlanner::describeProgram(LedgerFunction &ledger) const {
  ledger.name = function_.getName().str();
  if (std::optional<KernelKind> kind = kernelKindOf(function_))
    ledger.core = stringifyKernelKind(*kind).str();
  std::map<std::string, size_t> files;
  llvm::DenseSet<Operation *> open;
  for (Operation *op : liveness_.positions) {
    LedgerPlace place = placeOf(op->getLoc());
    // The end of a loop or a branch stands at the line of what it ends with.
    bool isEnd = op->getNumRegions() && !open.insert(op).second;
    ledger.lines.push_back(isEnd ? ledger.lines.back() : place.line);
    if (place.line && ++files[place.file] > files[ledger.file])
      ledger.file = place.file;
  }
  for (const LiveLoop &loop : liveness_.loops)
    ledger.loops.push_back(
        {loop.range.begin, loop.range.end, loop.depth, placeOf(loop.op->getLoc())});
}

LedgerFunction FunctionPlanner::run(bool tight) {
  LedgerFunction ledger;
  describeProgram(ledger);
  std::map<ir::Place, std::vector<uint32_t>> byPlace;
  for (auto [number, buffer] : llvm::enumerate(liveness_.buffers))
    byPlace[buffer.place].push_back(static_cast<uint32_t>(number));
  for (auto &[place, buffers] : byPlace) {
    MemorySpace none;
    none.place = ir::placeName(place).str();
    // A machine without the memory leaves it at 0 bytes, so that the ledger still describes the
    // buffers.
    none.bytes = 0;
    const MemorySpace *memory = machine_.space(none.place);
    placeScales(buffers);
    SpacePlanner planner(liveness_, memory ? *memory : none, buffers);
    planner.plan(tight, addresses_);
    spaces_.push_back(planner.space());
    spaces_.back().fits &= memory != nullptr;
    for (uint32_t number : buffers)
      spaces_.back().buffers.push_back(describe(number, spaces_.back().alignment));
  }
  ledger.spaces = spaces_;
  return ledger;
}

Overflow FunctionPlanner::overflowOf(const LedgerSpace &space) const {
  Overflow overflow;
  overflow.function = function_.getName().str();
  overflow.machine = machine_.name;
  overflow.space = space;
  overflow.needed = space.peak;
  if (space.fullest < liveness_.positions.size())
    overflow.at = placeOf(liveness_.positions[space.fullest]->getLoc());
  for (const LedgerBuffer &buffer : space.buffers)
    // Only what is live at the fullest position explains the overflow.
    if (buffer.begin <= space.fullest && space.fullest <= buffer.end)
      overflow.live.push_back(buffer);
  std::stable_sort(overflow.live.begin(), overflow.live.end(),
                   [](const LedgerBuffer &a, const LedgerBuffer &b) { return a.total > b.total; });
  return overflow;
}

/// Plans the memory again with fewer copies of what rotates.
void FunctionPlanner::tryFewerSlots(Overflow &overflow) const {
  const MemorySpace *memory = machine_.space(overflow.space.place);
  if (!memory || !isPipelined(overflow.space.place))
    return;
  // The liveness is copied, since the counts of slots are changed for the attempt.
  BufferLiveness fewer = liveness_;
  std::vector<uint32_t> buffers;
  int64_t most = 1;
  for (auto [number, buffer] : llvm::enumerate(fewer.buffers)) {
    if (ir::placeName(buffer.place) != overflow.space.place)
      continue;
    buffers.push_back(static_cast<uint32_t>(number));
    if (isa<AllocMultiTileOp>(buffer.op))
      most = std::max(most, buffer.count);
  }
  // Fewer copies are tried one by one, so the largest number that fits is found first.
  for (int64_t count = most - 1; count > 0 && !overflow.pipeline; --count) {
    for (uint32_t number : buffers)
      if (LiveBuffer &buffer = fewer.buffers[number]; isa<AllocMultiTileOp>(buffer.op))
        buffer.count = std::min(buffer.count, count);
    SpacePlanner planner(fewer, *memory, buffers);
    std::vector<int64_t> addresses(fewer.buffers.size(), -1);
    planner.plan(/*tight=*/true, addresses);
    if (!planner.space().fits)
      continue;
    overflow.pipeline = count;
    overflow.freed = overflow.needed - planner.space().lowerBound;
  }
}

std::optional<Overflow> FunctionPlanner::overflow() const {
  for (const LedgerSpace &space : spaces_)
    if (!space.fits) {
      Overflow overflow = overflowOf(space);
      tryFewerSlots(overflow);
      return overflow;
    }
  return std::nullopt;
}

void FunctionPlanner::apply() {
  OpBuilder builder(function_.getBody());
  std::map<int64_t, Value> constants;
  for (auto [number, buffer] : llvm::enumerate(liveness_.buffers))
    // The queue's base is an attribute and a fixed address stands in the code, so neither needs a
    // constant.
    if (!isa<ReserveBufferOp>(buffer.op) && isToBePlaced(number))
      constants[addresses_[number]] = {};
  // Addresses are made in increasing order, so that the text does not depend on the order of
  // buffers.
  for (auto &[address, value] : constants)
    value = builder.create<arith::ConstantIntOp>(function_.getLoc(), address, 64);
  for (auto [number, buffer] : llvm::enumerate(liveness_.buffers)) {
    if (!isToBePlaced(number))
      continue;
    if (auto reserve = dyn_cast<ReserveBufferOp>(buffer.op)) {
      reserve.setAutoAlloc(false);
      reserve.setBase(static_cast<uint32_t>(addresses_[number]));
    } else if (auto tile = dyn_cast<AllocTileOp>(buffer.op)) {
      tile.getAddrMutable().assign(constants[addresses_[number]]);
    } else {
      cast<AllocMultiTileOp>(buffer.op).getAddrMutable().assign(constants[addresses_[number]]);
    }
  }
}

std::optional<Overflow> planBuffers(ModuleOp module, const Machine &machine, BufferLedger &ledger,
                                    const PlanOptions &options) {
  ledger.machine = machine.name;
  ledger.functions.clear();
  std::vector<FunctionPlanner> planners;
  std::optional<Overflow> overflow;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    planners.emplace_back(function, machine);
    ledger.functions.push_back(planners.back().run(options.tight));
    if (ledger.functions.back().spaces.empty())
      ledger.functions.pop_back();
    if (!overflow)
      overflow = planners.back().overflow();
  }
  if (options.apply && !overflow)
    for (FunctionPlanner &planner : planners)
      planner.apply();
  return overflow;
}

} // namespace ptl::block

// ---- the pass -----------------------------------------------------------------------------------

namespace ptl::ir {

#define GEN_PASS_DEF_PLANBUFFERS
#include "passes/passes.h.inc"

namespace {
struct PlanBuffersPass : impl::PlanBuffersBase<PlanBuffersPass> {
  using PlanBuffersBase::PlanBuffersBase;

  std::optional<Machine> findTarget() {
    std::string name = machine;
    if (auto attribute = attrs::machine.of(getOperation()); name.empty() && attribute)
      name = attribute.str();
    std::optional<Machine> found = findMachine(name);
    if (!found)
      getOperation()->emitError() << "there is no machine `" << name << "` to place buffers for";
    return found;
  }

  void runOnOperation() override {
    std::optional<Machine> target = findTarget();
    if (!target)
      return signalPassFailure();
    BufferLedger ledger;
    auto overflow = block::planBuffers(getOperation(), *target, ledger, {.tight = tight});
    if (overflow) {
      Location loc = overflow->at.line ? FileLineColLoc::get(&getContext(), overflow->at.file,
                                                             overflow->at.line, overflow->at.column)
                                       : getOperation()->getLoc();
      InFlightDiagnostic error = emitError(loc) << overflowText(*overflow);
      for (const std::string &detail : detailsOf(*overflow))
        error.attachNote() << detail;
      signalPassFailure();
    }
    if (!emit.empty())
      llvm::outs() << emitted(ledger);
  }

  std::string emitted(const BufferLedger &ledger) {
    using Writer = std::string (*)(const BufferLedger &);
    static constexpr std::pair<llvm::StringLiteral, Writer> writers[] = {{"ledger", ledgerText},
                                                                         {"json", ledgerJson},
                                                                         {"map", memoryMapText},
                                                                         {"svg", memoryMapSvg}};
    for (auto [name, writer] : writers)
      if (emit == name)
        return writer(ledger);
    return "there is nothing named `" + emit + "`\n";
  }
};
} // namespace
} // namespace ptl::ir
