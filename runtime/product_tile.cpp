// How large the tiles of a matrix product are on so many threads.
#include "runtime/product_tile.h"

#include "runtime/context.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <limits>

namespace ptl::rt {
namespace {

// Packing one number of each operand takes as long as so many multiply-adds: measured with AVX-512.
constexpr double kPackingCost = 19;
// Threads do not end together. The wait is a part of the time of a tile, so that more tiles wait less.
constexpr double kWaiting = 0.1;
// Multiples of register blocks, so that few tiles have rows and columns left over.
constexpr int64_t kRowUnit = 14, kColumnUnit = 64;
// Rounds of tiles on all threads that are tried.
constexpr int64_t kMostRounds = 4;

int64_t parts(int64_t whole, int64_t part) { return (whole - 1) / part + 1; }

/// The length of tiles when an axis is cut into `count` parts.
int64_t lengthOf(int64_t whole, int64_t count, int64_t unit, int64_t least, int64_t most) {
  int64_t length = parts(parts(whole, count), unit) * unit;
  return std::min(whole, std::clamp(length, least, most));
}

} // namespace

ProductTile productTile(int64_t threads, int64_t rows, int64_t columns, int64_t count,
                        ProductTile least, ProductTile most) {
  if (rows <= 0 || columns <= 0 || count <= 0)
    return least;
  ProductTile best = least;
  double bestTime = std::numeric_limits<double>::infinity();
  int64_t mostColumns = parts(columns, least.columns), fewest = parts(columns, most.columns);
  auto consider = [&](int64_t columnParts, int64_t tiles) {
    int64_t rowParts = std::max(parts(rows, most.rows), parts(parts(tiles, columnParts), count));
    ProductTile tile{lengthOf(rows, rowParts, kRowUnit, least.rows, most.rows),
                     lengthOf(columns, columnParts, kColumnUnit, least.columns, most.columns)};
    double all =
        double(parts(rows, tile.rows)) * double(parts(columns, tile.columns)) * double(count);
    // All tiles cost the same, so the last round takes as long as a full one, however few threads
    // work in it.
    double rounds = double(int64_t((all + double(threads) - 1) / double(threads)));
    double time =
        double(tile.rows) * double(tile.columns) + kPackingCost * double(tile.rows + tile.columns);
    double whole = time * (rounds + (threads > 1 ? kWaiting : 0));
    if (whole < bestTime)
      best = tile, bestTime = whole;
  };
  for (int64_t columnParts = fewest; columnParts <= std::max(fewest, mostColumns);
       // The step grows with the number, so that wide products try tens of shapes and not
       // thousands.
       columnParts += std::max<int64_t>(1, columnParts / 2)) {
    consider(columnParts, 1);
    for (int64_t round = 1; round <= kMostRounds && threads > 1; ++round)
      consider(columnParts, round * threads);
  }
  return best;
}

} // namespace ptl::rt

void ptl_rt_product_tile(PtlContext *context, int64_t rows, int64_t columns, int64_t count,
                         const int64_t *limits, int64_t *tile) {
  auto chosen = ptl::rt::productTile(context->pool->threadCount(), rows, columns, count,
                                     {limits[0], limits[1]}, {limits[2], limits[3]});
  tile[0] = chosen.rows;
  tile[1] = chosen.columns;
}
