#include "runtime/product_tile.h"

#include <gtest/gtest.h>

using namespace ptl::rt;

namespace {

constexpr ProductTile least{96, 256}, most{4096, 4096};

int64_t tilesOf(int64_t rows, int64_t columns, ProductTile tile) {
  return ((rows + tile.rows - 1) / tile.rows) * ((columns + tile.columns - 1) / tile.columns);
}

TEST(ProductTile, StaysWithinItsLimits) {
  const int64_t lengths[] = {1, 2, 13, 95, 96, 97, 255, 257, 1000, 4097, 100000, int64_t(1) << 40};
  for (int64_t threads : {1, 2, 3, 7, 64, 300})
    for (int64_t rows : lengths)
      for (int64_t columns : lengths)
        for (int64_t count : {1, 5, 100000})
          for (ProductTile limit : {most, ProductTile{480, 512}, least}) {
            ProductTile tile = productTile(threads, rows, columns, count, least, limit);
            EXPECT_GE(tile.rows, std::min(rows, least.rows))
                << threads << ' ' << rows << ' ' << columns;
            EXPECT_GE(tile.columns, std::min(columns, least.columns))
                << threads << ' ' << rows << ' ' << columns;
            EXPECT_LE(tile.rows, std::min(rows, limit.rows))
                << threads << ' ' << rows << ' ' << columns;
            EXPECT_LE(tile.columns, std::min(columns, limit.columns))
                << threads << ' ' << rows << ' ' << columns;
          }
}

TEST(ProductTile, OneThreadHasAsFewAsThereMayBe) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{2048, 2048}, {97, 4096}, {4096, 1}}) {
    ProductTile tile = productTile(1, rows, columns, 1, least, most);
    EXPECT_EQ(tile.rows, rows);
    EXPECT_EQ(tile.columns, columns);
  }
  EXPECT_LE(tilesOf(10000, 5000, productTile(1, 10000, 5000, 1, least, most)), 6);
}

// All threads have work, and the tiles of the last round are not few: the longest thread has little more than its share.
TEST(ProductTile, ThreadsHaveEvenShares) {
  for (int64_t threads : {2, 3, 4, 6, 8, 16})
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{4096, 4096}, {8192, 1024}, {1024, 8192}, {100000, 256}}) {
      ProductTile tile = productTile(threads, rows, columns, 1, least, most);
      int64_t rounds = (tilesOf(rows, columns, tile) + threads - 1) / threads;
      double share = double(rows) * double(columns) / double(threads);
      EXPECT_LE(double(rounds * tile.rows * tile.columns), 1.25 * share)
          << threads << " threads, " << rows << " x " << columns << ": " << tile.rows << " x "
          << tile.columns;
    }
}

TEST(ProductTile, ManyProductsAreNotCut) {
  ProductTile tile = productTile(8, 300, 400, 64, least, most);
  EXPECT_EQ(tile.rows, 300);
  EXPECT_EQ(tile.columns, 400);
}

TEST(ProductTile, NothingToCutHasTheLeastTile) {
  for (auto [rows, columns, count] :
       {std::tuple<int64_t, int64_t, int64_t>{0, 5, 1}, {5, 0, 1}, {5, 5, 0}}) {
    ProductTile tile = productTile(2, rows, columns, count, least, most);
    EXPECT_EQ(tile.rows, least.rows);
    EXPECT_EQ(tile.columns, least.columns);
  }
}

} // namespace
