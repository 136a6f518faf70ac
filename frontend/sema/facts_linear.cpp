#include "frontend/sema/facts_linear.h"

#include <numeric>

namespace ptl {

using Row = LinearSystem::Row;

/// Divides by the common factor of the coefficients; over the integers the constant rounds down.
static void tighten(Row &row) {
  int64_t g = 0;
  for (int64_t coefficient : row.coefficients)
    g = std::gcd(g, coefficient);
  if (g <= 1)
    return;
  for (int64_t &coefficient : row.coefficients)
    coefficient /= g;
  row.constant = row.constant / g - (row.constant % g < 0 ? 1 : 0);
}

/// positive*p + negative*q such that the column cancels; nothing on overflow.
static std::optional<Row> combine(const Row &p, const Row &q, size_t column, size_t columns) {
  int64_t x = p.coefficients[column], y = -q.coefficients[column];
  int64_t g = std::gcd(x, y);
  x /= g;
  y /= g;
  auto mixed = [&](int64_t a, int64_t b, int64_t &result) {
    int64_t left, right;
    return !__builtin_mul_overflow(a, y, &left) && !__builtin_mul_overflow(b, x, &right) &&
           !__builtin_add_overflow(left, right, &result) && result != INT64_MIN;
  };
  Row row;
  for (size_t i = 0; i < columns; ++i)
    if (!mixed(p.coefficients[i], q.coefficients[i], row.coefficients[i]))
      return std::nullopt;
  if (!mixed(p.constant, q.constant, row.constant))
    return std::nullopt;
  row.origins = p.origins | q.origins;
  return row;
}

bool LinearSystem::keep(Row row) {
  for (size_t i = columns_; i < maxColumns; ++i)
    if (row.coefficients[i] != 0)
      columns_ = i + 1;
  tighten(row);
  row.hash = 0;
  bool constant = true;
  for (size_t i = 0; i < columns_; ++i) {
    constant = constant && row.coefficients[i] == 0;
    // Columns that come later hold zeros and leave the sum as it is.
    row.hash += static_cast<uint64_t>(row.coefficients[i]) * (0x9e3779b97f4a7c15u * (2 * i + 1));
  }
  if (constant) {
    if (row.constant >= 0)
      return false;
    contradictory_ = true;
    contradiction_ = row.origins;
    return true;
  }
  for (Row &other : rows_) {
    if (other.hash != row.hash || other.coefficients != row.coefficients)
      continue;
    if (row.constant < other.constant ||
        (row.constant == other.constant && row.origins.count() < other.origins.count()))
      other = row;
    return false;
  }
  if (rows_.size() < maxRows)
    rows_.push_back(row);
  return false;
}

void LinearSystem::give(Row row) {
  if (isFull())
    return;
  row.origins.set(given_++);
  keep(row);
}

void LinearSystem::giveEquation(Row row) {
  if (isFull())
    return;
  row.origins.set(given_++);
  Row opposite = row;
  for (int64_t &coefficient : opposite.coefficients)
    coefficient = -coefficient;
  opposite.constant = -opposite.constant;
  if (!keep(row))
    keep(opposite);
}

std::optional<size_t> LinearSystem::cheapest(size_t kept) const {
  std::array<int64_t, maxColumns> positive{}, negative{};
  for (const Row &row : rows_)
    for (size_t i = 0; i < columns_; ++i) {
      positive[i] += row.coefficients[i] > 0;
      negative[i] += row.coefficients[i] < 0;
    }
  std::optional<size_t> best;
  int64_t bestGrowth = 0;
  for (size_t i = 0; i < columns_; ++i) {
    if (i == kept || positive[i] + negative[i] == 0)
      continue;
    int64_t growth = positive[i] * negative[i] - positive[i] - negative[i];
    if (!best || growth < bestGrowth) {
      best = i;
      bestGrowth = growth;
    }
  }
  return best;
}

bool LinearSystem::eliminate(size_t column) {
  std::vector<Row> positive, negative, others;
  others.reserve(rows_.size());
  for (Row &row : rows_) {
    int64_t coefficient = row.coefficients[column];
    (coefficient > 0 ? positive : coefficient < 0 ? negative : others).push_back(row);
  }
  rows_ = std::move(others);
  ++eliminated_;
  for (const Row &p : positive) {
    for (const Row &q : negative) {
      // A combination of more than k + 1 rows after k eliminations follows from others.
      if ((p.origins | q.origins).count() > eliminated_ + 1)
        continue;
      std::optional<Row> row = combine(p, q, column, columns_);
      if (row && keep(*row))
        return true;
    }
  }
  return false;
}

LinearSystem::Outcome LinearSystem::eliminateAllBut(size_t kept) {
  while (!contradictory_) {
    std::optional<size_t> column = cheapest(kept);
    if (!column)
      return Outcome::Open;
    eliminate(*column);
  }
  return Outcome::Contradiction;
}

std::optional<LinearSystem::Origins> LinearSystem::refute() {
  if (eliminateAllBut(maxColumns) == Outcome::Open)
    return std::nullopt;
  return contradiction_;
}

std::optional<int64_t> LinearSystem::greatest(size_t column) {
  eliminateAllBut(column);
  std::optional<int64_t> bound;
  for (const Row &row : rows_) {
    int64_t coefficient = row.coefficients[column];
    // `keep` has divided by the only coefficient, so it is -1 here.
    if (coefficient < 0 && (!bound || row.constant < *bound))
      bound = row.constant;
  }
  return bound;
}

} // namespace ptl
