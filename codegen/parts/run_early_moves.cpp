// Movements that go on while parts compute: as a rank, by another thread, whole or by chunks beside a product; in one process, what was sent
// arrives at once or when it is needed.
#include "codegen/parts/exchange.h"
#include "codegen/parts/parts_run.h"
#include "codegen/parts/sent_and_given.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using reference::RunStatus;
using reference::Value;

/// What one group, or one chunk of what it has, moves. Until it lands only the other thread writes what it brings.
struct PartsMoves::Leg {
  GroupMove group;
  size_t rank = 0;
  Value
      sent; ///< taken when the movement begins: values that are shared are copied before they change
  Box whole;                  ///< the part's block afterwards
  std::vector<int64_t> shape; ///< of what it brings
  Chunk chunk;                ///< where that belongs in the block, if it goes by chunks
  Value brought = {};
  std::optional<uint32_t> silent = {};
  uint64_t number = 0; ///< of the other thread's work
};

/// A movement that has begun and not landed.
struct PartsMoves::Flight {
  std::vector<std::shared_ptr<Leg>> legs;
  size_t axis = 0;                    ///< of chunks
  bool isByProduct = false;           ///< whether the product whose result it moves began it
  std::function<void()> arrives = {}; ///< in one process; empty if it has arrived
};

const EarlyMoves &PartsMoves::earlyMoves(ValueId begin, ValueId end) {
  auto [found, isNew] = early_.try_emplace({begin, end});
  if (isNew && (mover_ || !options_.own))
    found->second = earlyMovesOf(placed_, begin, end);
  return found->second;
}

const ChunkedPair *PartsMoves::pairWith(ValueId id, ValueId ChunkedPair::*which) const {
  auto found = std::ranges::find(pairs_, id, which);
  return mover_ && found != pairs_.end() ? &*found : nullptr;
}

void PartsMoves::begin(ValueId id) {
  settle(id, id + 1);
  if (auto flight = flights_.find(id); flight != flights_.end() && flight->second->isByProduct)
    return;
  land(id); // What the round before has brought and nothing has used.
  const PlacedValue &value = placed_.values[id];
  checkParts(value);
  values_[id].assign(grid_.count(), Value());
  auto flight = std::make_shared<Flight>();
  if (options_.own)
    setOff(id, *flight);
  else
    setOffTogether(id, *flight);
  flights_.emplace(id, std::move(flight));
}

/// In one process: the seed draws whether what was sent arrives now or when it is needed.
void PartsMoves::setOffTogether(ValueId id, Flight &flight) {
  ValueId from = *placed_.values[id].operands[0];
  Fold fold = placed_.values[from].placement[placed_.values[id].level].fold;
  std::vector<GroupMove> groups = groupsOfMove(id);
  std::vector<std::vector<Value>> sources;
  std::vector<std::vector<Box>> blocks;
  for (const GroupMove &group : groups) {
    sources.push_back(takenFrom(group, from));
    blocks.push_back(blocksOf(group, placed_.values[id]));
  }
  auto arrives = [this, id, fold, value = placed_.values[id], groups = std::move(groups),
                  sources = std::move(sources), blocks = std::move(blocks)] {
    for (size_t i = 0; i < groups.size(); ++i)
      moveGroup(groups[i], value, fold, sources[i], blocks[i], values_[id]);
  };
  if (nextSeed() % 2 == 0)
    arrives();
  else
    flight.arrives = std::move(arrives);
}

void PartsMoves::setOff(ValueId id, Flight &flight) {
  const PlacedValue &value = placed_.values[id];
  ValueId from = *value.operands[0];
  uint32_t me = options_.own->part;
  const ChunkedPair *pair = pairWith(id, &ChunkedPair::move);
  for (GroupMove &group : groupsOfMove(id)) {
    auto rank = static_cast<size_t>(std::ranges::find(group.parts, me) - group.parts.begin());
    if (rank == group.parts.size())
      continue;
    if (pair && pair->operand) {
      std::vector<Chunk> chunks = chunksOfPair(*pair, group);
      for (const Chunk &chunk : chunks)
        sendChunk(*pair, group, chunk,
                  takeChunk(at(from, me), axisOf(*pair),
                            pieceOf(group.list.request, axisOf(*pair), chunk, true,
                                    static_cast<uint32_t>(rank))),
                  flight);
      if (!chunks.empty())
        continue;
    }
    Value sent = takenBy(group, rank, at(from, me), boxAt(placed_.values[from], me));
    Box whole = boxAt(value, me);
    std::vector<int64_t> shape = shapeOfBox(givenTo(group, rank, whole));
    send(id, {std::move(group), rank, std::move(sent), whole, std::move(shape), {}}, flight);
  }
}

/// Lets the other thread move. What depends on the program is taken here: that thread uses the leg and the port only.
void PartsMoves::send(ValueId id, Leg leg, Flight &flight) {
  const PlacedValue &value = placed_.values[id];
  movement::CombineBytes combine =
      combining(placed_.values[*value.operands[0]].placement[value.level].fold, value.elem);
  auto own = std::make_shared<Leg>(std::move(leg));
  own->number = mover_->begin([own, combine, elem = value.elem, part = *options_.own,
                               isHeld = grid_.holds(value.placement, options_.own->part)] {
    OwnResult result =
        exchangeAsRank(own->group, part, static_cast<size_t>(elemInfo(elem).storageBytes),
                       own->sent.isNone() ? Bytes() : bytesOf(own->sent), combine);
    own->silent = result.silent;
    if (!own->silent && isHeld)
      own->brought = valueOfBytes(elem, own->shape, result.bytes.data());
  });
  flight.legs.push_back(std::move(own));
}

/// Waits for what a leg brings, and puts it in its place.
void PartsMoves::land(ValueId id, const Flight &flight, Leg &leg) {
  mover_->wait(leg.number);
  const PlacedValue &value = placed_.values[id];
  uint32_t me = options_.own->part;
  if (leg.silent)
    stop(RunStatus::Silent, waitsFor(grid_, me, *leg.silent), value);
  if (leg.brought.isNone())
    return;
  if (leg.chunk.empty())
    give(leg.group, leg.rank, leg.whole, leg.brought, values_[id][me]);
  else
    putChunk(values_[id][me], shapeOfBox(leg.whole), flight.axis, leg.chunk, leg.brought);
}

/// Puts what a movement has brought in its place, and waits for it if need be.
void PartsMoves::land(ValueId id) {
  auto found = flights_.find(id);
  if (found == flights_.end())
    return;
  std::shared_ptr<Flight> flight = std::move(found->second);
  flights_.erase(found);
  if (flight->arrives)
    flight->arrives();
  for (const std::shared_ptr<Leg> &leg : flight->legs)
    land(id, *flight, *leg);
}

// ---- By chunks ---------------------------------------------------------------------------------

size_t PartsMoves::axisOf(const ChunkedPair &pair) const {
  return placed_.values[pair.move].shape.size() - static_cast<size_t>(-pair.axis);
}

std::vector<Chunk> PartsMoves::chunksOfPair(const ChunkedPair &pair, const GroupMove &group) {
  const PlacedValue &value = placed_.values[pair.move];
  auto bytes = static_cast<size_t>(elemInfo(value.elem).storageBytes);
  // Units of blocks are an axis of their own in the list.
  if (group.list.request.shape.size() != value.shape.size())
    return {};
  return chunksOf(group.list.request, axisOf(pair), bytes, options_.leastChunk, value.chunks);
}

void PartsMoves::sendChunk(const ChunkedPair &pair, const GroupMove &group, const Chunk &chunk,
                           Value sent, Flight &flight) {
  const PlacedValue &value = placed_.values[pair.move];
  uint32_t me = options_.own->part;
  size_t axis = flight.axis = axisOf(pair);
  auto rank = static_cast<uint32_t>(std::ranges::find(group.parts, me) - group.parts.begin());
  Box whole = boxAt(value, me);
  Chunk mine = pieceOf(group.list.request, axis, chunk, !pair.operand, rank);
  std::vector<int64_t> shape = shapeOfBox(whole);
  shape[axis] = lengthOf(mine);
  auto bytes = static_cast<size_t>(elemInfo(value.elem).storageBytes);
  send(pair.move,
       {chunkOf(group, axis, chunk, bytes, grid_.cost()), rank, std::move(sent), std::move(whole),
        std::move(shape), std::move(mine)},
       flight);
}

/// The product of a chunk of an operand.
Value PartsRun::multiplied(const PlacedValue &value, std::vector<Value> operands, size_t axis,
                           const Chunk &chunk) {
  uint32_t me = options_.own->part;
  std::vector<int64_t> shape = shapeOfBox(boxAt(value, me));
  shape[axis] = lengthOf(chunk);
  if (std::optional<Value> made = appliedByCode(value, me, operands, shape))
    return std::move(*made);
  return appliedTo(value, me, std::move(operands), std::move(shape));
}

/// Multiplies what has come of an operand while the rest comes. False if the operand does not come by chunks.
bool PartsRun::multiplyWhatCame(const ChunkedPair &pair) {
  auto found = flights_.find(pair.move);
  if (found == flights_.end() || found->second->legs.empty() ||
      found->second->legs.front()->chunk.empty())
    return false;
  std::shared_ptr<Flight> flight = std::move(found->second);
  flights_.erase(found);
  const PlacedValue &value = placed_.values[pair.product];
  uint32_t me = options_.own->part;
  values_[pair.product].assign(grid_.count(), Value());
  std::vector<int64_t> shape = shapeOfBox(boxAt(value, me));
  size_t axis = shape.size() - static_cast<size_t>(-pair.axis);
  for (const std::shared_ptr<Leg> &leg : flight->legs) {
    land(pair.move, *flight, *leg);
    std::vector<Value> operands = operandsAt(value, me, pair.operand);
    operands[*pair.operand] = leg->brought;
    putChunk(values_[pair.product][me], shape, axis, leg->chunk,
             multiplied(value, std::move(operands), axis, leg->chunk));
  }
  return true;
}

/// Computes some rows after the other, and moves each while the next are computed. False if it is too small for that.
bool PartsRun::sendWhatIsComputed(const ChunkedPair &pair) {
  settle(pair.move, pair.move + 1);
  land(pair.move); // of the round before
  const PlacedValue &value = placed_.values[pair.product];
  uint32_t me = options_.own->part;
  auto flight = std::make_shared<Flight>();
  flight->isByProduct = true;
  for (const GroupMove &group : groupsOfMove(pair.move)) {
    if (std::ranges::find(group.parts, me) == group.parts.end())
      continue;
    std::vector<Value> operands = operandsAt(value, me, std::nullopt);
    const Value rows = operands[0];
    size_t axis = rows.shape().size() - static_cast<size_t>(-pair.axis);
    std::vector<Chunk> chunks = chunksOfPair(pair, group);
    if (chunks.empty())
      return false;
    for (ValueId made : {pair.product, pair.move})
      values_[made].assign(grid_.count(), Value());
    for (const Chunk &chunk : chunks) {
      operands[0] = takeChunk(rows, axis, chunk);
      sendChunk(pair, group, chunk, multiplied(value, operands, axis, chunk), *flight);
    }
  }
  if (flight->legs.empty())
    return false;
  flights_.emplace(pair.move, std::move(flight));
  return true;
}

/// Whether a product was made by chunks, beside the movement that it needs or makes the elements of.
bool PartsRun::madeByChunks(ValueId id) {
  const ChunkedPair *pair = pairWith(id, &ChunkedPair::product);
  return pair && (pair->operand ? multiplyWhatCame(*pair) : sendWhatIsComputed(*pair));
}

} // namespace ptl::parts
