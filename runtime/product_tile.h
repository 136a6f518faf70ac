#pragma once

#include <cstdint>

namespace ptl::rt {

/// Rows and columns of a part of a matrix.
struct ProductTile {
  int64_t rows, columns;
};

/// Into what tiles `count` products with results of `rows` x `columns` are best cut for that many threads. The operands of a tile are
/// packed for it alone, which costs as much as its rows and columns are long, so tiles are as large as an even share of the work
/// leaves them. They are not larger than `most` and, where the result is larger, not smaller than `least`.
ProductTile productTile(int64_t threads, int64_t rows, int64_t columns, int64_t count,
                        ProductTile least, ProductTile most);

} // namespace ptl::rt
