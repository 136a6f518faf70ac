// Linear elimination (Fourier-Motzkin) over integer rows, bounded: the engine under `FactSet`.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

namespace ptl {

/// Rows `sum coefficient*column + constant >= 0` over integer columns. All limits make it forget
/// rows, which loses proofs but never gives wrong ones.
class LinearSystem {
public:
  static constexpr size_t maxColumns = 32;
  static constexpr size_t maxGivenRows = 64;
  static constexpr size_t maxRows = 128;

  /// The given rows that a derived row is a combination of.
  using Origins = std::bitset<maxGivenRows>;

  struct Row {
    std::array<int64_t, maxColumns> coefficients{};
    int64_t constant = 0;
    Origins origins;
    uint64_t hash = 0; ///< of the coefficients, set by the system
  };

  /// Adds a given row; its origin number is the number of rows given before.
  void give(Row row);
  /// Two rows of one origin, for an equation.
  void giveEquation(Row row);
  size_t given() const { return given_; }
  /// No more rows are taken: the limit is reached or a contradiction is already there.
  bool isFull() const { return given_ == maxGivenRows || contradictory_; }

  /// The given rows that contradict each other, if elimination of all columns finds some.
  std::optional<Origins> refute();
  /// The least upper bound that is found for a column.
  std::optional<int64_t> greatest(size_t column);

private:
  enum class Outcome { Contradiction, Open };
  Outcome eliminateAllBut(size_t kept);
  std::optional<size_t> cheapest(size_t kept) const;
  /// Keeps a row in its tightest form; true if it is a contradiction.
  bool keep(Row row);
  bool eliminate(size_t column);

  std::vector<Row> rows_;
  size_t columns_ = 0; ///< those in use
  size_t given_ = 0;
  size_t eliminated_ = 0;
  Origins contradiction_;
  bool contradictory_ = false;
};

} // namespace ptl
