#pragma once

#include <cstdint>

namespace ptl::rt {

/// The rows and columns of a tile of a matrix.
struct ProductTile {
  int64_t rows, columns;
};

/// The best tile size for `count` products with results of `rows` x `columns` on this many threads.
/// The operands of a tile are packed for it alone, at a cost proportional to its rows and columns,
/// so tiles are as large as an even distribution of the work allows. They are not larger than
/// `most` and, if the result is larger, not smaller than `least`.
ProductTile productTile(int64_t threads, int64_t rows, int64_t columns, int64_t count,
                        ProductTile least, ProductTile most);

} // namespace ptl::rt
