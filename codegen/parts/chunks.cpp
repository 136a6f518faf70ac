#include "codegen/parts/chunks.h"

#include "codegen/parts/elements.h"
#include "runtime/movement/predict.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using movement::Interval;
using movement::Request;
using reference::Value;

// ---- Pairs -------------------------------------------------------------------------------------

namespace {

/// The loop or the arm in which a value stands: both values of a pair run as often as each other only in the same one.
std::vector<ValueId> bodiesOf(const PlacedProgram &placed) {
  std::vector<ValueId> body(placed.values.size(), static_cast<ValueId>(-1));
  std::vector<std::pair<ValueId, ValueId>> regions;
  for (const PlacedLoop &loop : placed.loops) {
    regions.emplace_back(loop.first, loop.end);
    if (!loop.stmt)
      regions.emplace_back(loop.inside, loop.end);
  }
  for (const PlacedParts &parts : placed.parts)
    regions.emplace_back(parts.first, parts.end);
  for (const PlacedChoice &choice : placed.choices) {
    regions.push_back(choice.arm(true));
    regions.push_back(choice.arm(false));
  }
  // Inner regions are shorter than those around them.
  std::ranges::sort(regions, std::greater(),
                    [](const auto &region) { return region.second - region.first; });
  for (auto [begin, end] : regions)
    std::fill(body.begin() + begin, body.begin() + end, begin);
  return body;
}

/// How many times each value is used, by other values, loops and results.
std::vector<size_t> usesOf(const PlacedProgram &placed) {
  std::vector<size_t> uses(placed.values.size());
  for (const PlacedValue &value : placed.values)
    for (std::optional<ValueId> operand : value.operands)
      if (operand)
        ++uses[*operand];
  for (const PlacedLoop &loop : placed.loops)
    for (const PlacedCarried &carried : loop.carried)
      ++uses[carried.next];
  for (const PlacedChoice &choice : placed.choices)
    if (choice.page)
      ++uses[choice.page->kept];
  for (ValueId output : placed.outputs)
    ++uses[output];
  return uses;
}

bool isProductOfMatrices(const PlacedProgram &placed, const PlacedValue &value) {
  return value.kind == PlacedKind::Apply && cast<OpExpr>(*value.expr).op->id == OpId::Matmul &&
         std::ranges::all_of(value.operands, [&](std::optional<ValueId> operand) {
           return operand && placed.values[*operand].shape.size() >= 2;
         });
}

bool isMove(const PlacedValue &value, MovementId id) {
  return value.kind == PlacedKind::Move && value.movement->id == id;
}

/// Rows of the first operand are rows of the result, and columns of the second one its columns.
constexpr int64_t kRows = -2, kColumns = -1;

} // namespace

std::vector<ChunkedPair> chunkedPairsOf(const PlacedProgram &placed) {
  std::vector<ChunkedPair> pairs;
  std::vector<ValueId> bodies = bodiesOf(placed);
  std::vector<size_t> uses = usesOf(placed);
  for (ValueId id = 0; id < placed.values.size(); ++id) {
    const PlacedValue &value = placed.values[id];
    if (isProductOfMatrices(placed, value)) {
      for (size_t i = 0; i < value.operands.size(); ++i)
        if (ValueId from = *value.operands[i]; isMove(placed.values[from], MovementId::AllGather) &&
                                               bodies[from] == bodies[id] && !placed.pageAt(from)) {
          pairs.push_back({id, from, i, i == 0 ? kRows : kColumns});
          break;
        }
    } else if (isMove(value, MovementId::AllReduce) || isMove(value, MovementId::ReduceScatter)) {
      ValueId from = *value.operands[0];
      bool isOther = std::ranges::find(pairs, from, &ChunkedPair::product) == pairs.end();
      if (isProductOfMatrices(placed, placed.values[from]) && bodies[from] == bodies[id] &&
          uses[from] == 1 && isOther && !placed.pageAt(id))
        pairs.push_back({from, id, std::nullopt, kRows});
    }
  }
  return pairs;
}

// ---- Chunks ------------------------------------------------------------------------------------

/// The axis of which each part has a block, before or after the movement; nothing if all parts have all of it.
static std::optional<size_t> axisOfBlocks(const Request &request) {
  switch (request.kind) {
  case movement::Kind::AllGather:
    return request.fromAxis;
  case movement::Kind::ReduceScatter:
    return request.toAxis;
  default:
    return std::nullopt;
  }
}

std::vector<Chunk> chunksOf(const Request &request, size_t axis, size_t elementBytes,
                            int64_t leastBytes) {
  constexpr int64_t kMost = 8;
  int64_t length = request.shape[axis], ranks = request.ranks;
  bool isOfBlocks = axisOfBlocks(request) == axis;
  int64_t block = isOfBlocks ? movement::blockOf(length, ranks, 0).length() : length;
  int64_t bytes = movement::elementCount(movement::wholeBox(request.shape)) *
                  static_cast<int64_t>(elementBytes) / ranks;
  int64_t count = std::min({kMost, bytes / std::max<int64_t>(leastBytes, 1), block});
  if (count < 2 || ranks < 2)
    return {};
  int64_t each = (block + count - 1) / count;
  std::vector<Chunk> chunks;
  for (int64_t begin = 0; begin < block; begin += each) {
    Chunk &chunk = chunks.emplace_back();
    if (!isOfBlocks) {
      chunk = {{begin, std::min(begin + each, length)}};
      continue;
    }
    for (int64_t rank = 0; rank < ranks; ++rank) {
      Interval own = movement::blockOf(length, ranks, rank);
      chunk.push_back(
          {std::min(own.begin + begin, own.end), std::min(own.begin + begin + each, own.end)});
    }
    // The list of steps cuts what it moves into blocks of its own.
    for (size_t rank = 0; rank < chunk.size(); ++rank)
      if (movement::blockOf(lengthOf(chunk), ranks, static_cast<int64_t>(rank)).length() !=
          chunk[rank].length())
        return {};
  }
  return chunks;
}

int64_t lengthOf(const Chunk &chunk) {
  int64_t length = 0;
  for (const Interval &interval : chunk)
    length += interval.length();
  return length;
}

GroupMove chunkOf(const GroupMove &group, size_t axis, const Chunk &chunk, size_t elementBytes,
                  const movement::Cost &cost) {
  Request request = group.list.request;
  request.shape[axis] = lengthOf(chunk);
  return {group.parts, movement::chooseSteps(request, static_cast<int64_t>(elementBytes), cost)};
}

Chunk pieceOf(const Request &request, size_t axis, const Chunk &chunk, bool isCut, uint32_t rank) {
  if (!isCut || axisOfBlocks(request) != axis)
    return chunk;
  int64_t begin = movement::blockOf(request.shape[axis], request.ranks, rank).begin;
  return {{chunk[rank].begin - begin, chunk[rank].end - begin}};
}

/// Calls `visit` with the box of each piece in the array, and behind the pieces before it.
template <typename Visit>
static void forEachPiece(const std::vector<int64_t> &shape, size_t axis, const Chunk &chunk,
                         Visit visit) {
  Box there = movement::wholeBox(shape), here = there;
  int64_t at = 0;
  for (const Interval &interval : chunk) {
    there[axis] = interval;
    here[axis] = {at, at + interval.length()};
    at = here[axis].end;
    if (movement::elementCount(there) > 0)
      visit(there, here);
  }
}

Value takeChunk(const Value &array, size_t axis, const Chunk &chunk) {
  std::vector<int64_t> shape(array.shape().begin(), array.shape().end()), taken = shape;
  taken[axis] = lengthOf(chunk);
  Box whole = movement::wholeBox(shape), all = movement::wholeBox(taken);
  if (chunk.size() == 1) {
    Box box = whole;
    box[axis] = chunk[0];
    return sliceOf(array, whole, box);
  }
  Value made = Value::array(reference::zeroArray(array.elem(), taken));
  forEachPiece(shape, axis, chunk, [&](const Box &there, const Box &here) {
    putIn(made, all, here, sliceOf(array, whole, there));
  });
  return made;
}

void putChunk(Value &array, const std::vector<int64_t> &shape, size_t axis, const Chunk &chunk,
              const Value &piece) {
  Box whole = movement::wholeBox(shape);
  if (array.isNone())
    array = Value::array(reference::zeroArray(piece.elem(), shape));
  forEachPiece(shape, axis, chunk, [&](const Box &there, const Box &here) {
    putIn(array, whole, there, sliceOf(piece, movement::wholeBox(piece.shape()), here));
  });
}

} // namespace ptl::parts
