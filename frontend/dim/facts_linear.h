// Bounded linear elimination (Fourier-Motzkin) over integer rows: the engine of `FactSet`.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptl {

/// Rows `sum coefficient*column + constant >= 0` over integer columns. If a limit is reached, rows
/// are dropped, which loses proofs but never makes a wrong one.
class LinearSystem {
public:
  static constexpr size_t maxColumns = 32;
  static constexpr size_t maxGivenRows = 64;
  static constexpr size_t maxRows = 128;

  /// The set of given rows of which a derived row is a combination, one bit for each.
  using Origins = uint64_t;

  /// A row as input. Most rows have few non-zero columns, so only those are visited.
  struct Given {
    uint32_t columns = 0; ///< a bit for each that is set
    int64_t constant = 0;
    std::array<int64_t, maxColumns> coefficients; ///< by column; valid only if the bit is set

    void set(size_t column, int64_t coefficient) {
      columns |= uint32_t(1) << column;
      coefficients[column] = coefficient;
    }
  };

  /// Removes all rows and keeps the memory.
  void clear();
  /// Adds a given row; its number is the count of rows given before.
  void give(const Given &row);
  /// Adds both inequalities of an equation, as rows with one number.
  void giveEquation(const Given &row);
  size_t given() const { return given_; }
  /// No more rows are accepted: the limit has been reached, or a contradiction has been found.
  bool isFull() const { return given_ == maxGivenRows || contradictory_; }

  /// The given rows that contradict each other, if elimination of all columns finds a
  /// contradiction.
  std::optional<Origins> refute();
  /// The least upper bound of a column that elimination finds.
  std::optional<int64_t> greatest(size_t column);

private:
  /// The non-zero coefficients of a row; they lie in `values_`.
  struct Row {
    uint32_t columns = 0;
    uint32_t first = 0; ///< in `values_`
    int64_t constant = 0;
    Origins origins = 0;
    uint64_t hash = 0; ///< of the coefficients
  };
  enum class Outcome { Contradiction, Open };

  Outcome eliminateAllBut(size_t kept);
  std::optional<size_t> cheapest(size_t kept) const;
  bool eliminate(size_t column);
  int64_t coefficient(const Row &row, size_t column) const {
    uint32_t before = row.columns & ((uint32_t(1) << column) - 1);
    return values_[row.first + static_cast<size_t>(std::popcount(before))];
  }
  void giveSigned(const Given &row, int64_t sign);
  /// Appends p*y + q*x, in which the column cancels, to `values_`; false on overflow.
  bool combine(const Row &p, const Row &q, size_t column, Row &result);
  /// Stores a row whose coefficients are at the end of `values_`, tightened to integers; true if it
  /// is a contradiction.
  bool keep(Row &row);
  void count(const Row &row, int step);
  /// The place of the row with these coefficients in `slots_`, or the place for a new one.
  size_t slotOf(const Row &row) const;

  static constexpr size_t slotCount = 256; ///< a power of 2 well above `maxRows`
  std::vector<Row> rows_, positive_, negative_;
  std::vector<int64_t> values_;
  std::array<uint8_t, slotCount> slots_{};            ///< row number + 1, by hash
  std::array<int32_t, maxColumns> above_{}, below_{}; ///< rows with coefficients > 0 and < 0
  size_t given_ = 0;
  size_t eliminated_ = 0;
  Origins contradiction_ = 0;
  bool contradictory_ = false;
};

} // namespace ptl
