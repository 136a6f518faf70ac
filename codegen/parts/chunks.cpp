#include "codegen/parts/chunks.h"

#include "codegen/parts/elements.h"
#include "runtime/movement/predict.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using movement::Interval;
using movement::Request;
using reference::Value;

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
                            int64_t leastBytes, int64_t wanted) {
  constexpr int64_t kMost = 8;
  int64_t length = request.shape[axis], ranks = request.ranks;
  bool isOfBlocks = axisOfBlocks(request) == axis;
  int64_t block = isOfBlocks ? movement::blockOf(length, ranks, 0).length() : length;
  int64_t bytes = movement::elementCount(movement::wholeBox(request.shape)) *
                  static_cast<int64_t>(elementBytes) / ranks;
  int64_t best = std::min(kMost, bytes / std::max<int64_t>(leastBytes, 1));
  int64_t count = std::min(wanted > 0 ? wanted : best, block);
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
