#include "frontend/dim/facts_linear.h"

#include <cstdlib>
#include <numeric>

namespace ptl {

static size_t lowest(uint32_t columns) { return static_cast<size_t>(std::countr_zero(columns)); }

/// The common factor of coefficients, none of which is 0 or INT64_MIN.
static int64_t commonFactor(std::span<const int64_t> values) {
  int64_t g = 0;
  // A coefficient of 1 leaves no common factor.
  for (int64_t value : values) {
    if (value == 1 || value == -1)
      return 1;
    g = std::gcd(g, value);
  }
  return g;
}

/// Divides by the common factor of the coefficients; over the integers the constant rounds down.
static void tighten(std::span<int64_t> values, int64_t &constant) {
  int64_t g = commonFactor(values);
  if (g <= 1)
    return;
  for (int64_t &value : values)
    value /= g;
  // Rounding down is right, since an integer combination cannot reach the fraction.
  constant = constant / g - (constant % g < 0 ? 1 : 0);
}

void LinearSystem::clear() {
  rows_.clear();
  values_.clear();
  slots_.fill(0);
  above_.fill(0);
  below_.fill(0);
  given_ = eliminated_ = 0;
  contradiction_ = 0;
  contradictory_ = false;
}

bool LinearSystem::combine(const Row &p, const Row &q, size_t column, Row &result) {
  // p has the column with a positive and q with a negative coefficient; scaled to each other they
  // cancel.
  int64_t x = coefficient(p, column), y = -coefficient(q, column);
  if (x != 1 && y != 1) {
    int64_t g = std::gcd(x, y);
    x /= g;
    y /= g;
  }
  // An overflow drops the combination, which may lose a proof but gives no wrong one.
  auto mixed = [&](int64_t a, int64_t b, int64_t &sum) {
    int64_t left, right;
    return !__builtin_mul_overflow(a, y, &left) && !__builtin_mul_overflow(b, x, &right) &&
           !__builtin_add_overflow(left, right, &sum) && sum != INT64_MIN;
  };
  if (!mixed(p.constant, q.constant, result.constant))
    return false;
  size_t first = values_.size(), i = p.first, j = q.first;
  uint32_t all = p.columns | q.columns, kept = 0;
  values_.resize(first + maxColumns);
  int64_t *out = values_.data() + first;
  // The columns of both are visited in order, lowest bit first.
  for (uint32_t rest = all; rest != 0; rest &= rest - 1) {
    uint32_t bit = rest & -rest;
    int64_t a = (p.columns & bit) ? values_[i++] : 0;
    int64_t b = (q.columns & bit) ? values_[j++] : 0;
    if (!mixed(a, b, *out)) {
      values_.resize(first);
      return false;
    }
    // Coefficients that cancelled leave the row.
    if (*out != 0) {
      kept |= bit;
      ++out;
    }
  }
  values_.resize(static_cast<size_t>(out - values_.data()));
  result.columns = kept;
  result.first = static_cast<uint32_t>(first);
  result.origins = p.origins | q.origins;
  return true;
}

size_t LinearSystem::slotOf(const Row &row) const {
  size_t slot = (row.hash >> 32) % slotCount;
  // Equal rows share a chain of slots; a row with the same coefficients ends the search.
  for (; slots_[slot] != 0; slot = (slot + 1) % slotCount) {
    const Row &other = rows_[slots_[slot] - size_t(1)];
    if (other.hash != row.hash || other.columns != row.columns)
      continue;
    auto values = values_.begin() + row.first;
    if (std::equal(values, values + std::popcount(row.columns), values_.begin() + other.first))
      break;
  }
  return slot;
}

void LinearSystem::count(const Row &row, int step) {
  const int64_t *value = values_.data() + row.first;
  for (uint32_t rest = row.columns; rest != 0; rest &= rest - 1)
    (*value++ > 0 ? above_ : below_)[lowest(rest)] += step;
}

bool LinearSystem::keep(Row &row) {
  // A row without columns is a statement about constants: true, or the contradiction.
  if (row.columns == 0) {
    if (row.constant >= 0)
      return false;
    contradictory_ = true;
    contradiction_ = row.origins;
    return true;
  }
  std::span<int64_t> values(values_.data() + row.first, values_.size() - row.first);
  tighten(values, row.constant);
  const int64_t *value = values.data();
  // The hash is a sum, so that it does not depend on the order of columns.
  row.hash = 0;
  for (uint32_t rest = row.columns; rest != 0; rest &= rest - 1)
    row.hash += static_cast<uint64_t>(*value++) * (0x9e3779b97f4a7c15u * (2 * lowest(rest) + 1));
  size_t slot = slotOf(row);
  // Of rows with equal coefficients, only the stronger one is kept, or the one from fewer facts.
  if (slots_[slot] != 0) {
    Row &other = rows_[slots_[slot] - size_t(1)];
    if (row.constant < other.constant ||
        (row.constant == other.constant &&
         std::popcount(row.origins) < std::popcount(other.origins))) {
      other.constant = row.constant;
      other.origins = row.origins;
    }
  } else if (rows_.size() < maxRows) {
    rows_.push_back(row);
    slots_[slot] = static_cast<uint8_t>(rows_.size());
    count(row, 1);
    return false;
  }
  // The coefficients were added at the end, and are taken back with the row.
  values_.resize(row.first);
  return false;
}

void LinearSystem::giveSigned(const Given &given, int64_t sign) {
  Row row;
  row.first = static_cast<uint32_t>(values_.size());
  row.constant = sign * given.constant;
  // Each given row has one bit, so that a contradiction can name what it rests on.
  row.origins = Origins(1) << (given_ - 1);
  for (uint32_t rest = given.columns; rest != 0; rest &= rest - 1)
    if (int64_t coefficient = given.coefficients[lowest(rest)]) {
      values_.push_back(sign * coefficient);
      row.columns |= rest & -rest;
    }
  keep(row);
}

void LinearSystem::give(const Given &row) {
  if (isFull())
    return;
  ++given_;
  giveSigned(row, 1);
}

void LinearSystem::giveEquation(const Given &row) {
  // An equation is two inequalities.
  if (isFull())
    return;
  ++given_;
  giveSigned(row, 1);
  if (!contradictory_)
    giveSigned(row, -1);
}

// The column whose elimination makes the fewest new rows goes next, as usual for Fourier-Motzkin.
std::optional<size_t> LinearSystem::cheapest(size_t kept) const {
  std::optional<size_t> best;
  int64_t bestGrowth = 0;
  for (size_t i = 0; i < maxColumns; ++i) {
    int64_t positive = above_[i], negative = below_[i];
    if (i == kept || positive + negative == 0)
      continue;
    // p times n new rows take the place of p + n old ones.
    int64_t growth = positive * negative - positive - negative;
    if (!best || growth < bestGrowth) {
      best = i;
      bestGrowth = growth;
    }
  }
  return best;
}

// This is one step of Fourier-Motzkin elimination: each row with a positive coefficient is combined
// with each with a negative one.
bool LinearSystem::eliminate(size_t column) {
  positive_.clear();
  negative_.clear();
  // Row numbers change, so the table of rows is built again.
  slots_.fill(0);
  size_t others = 0;
  for (const Row &row : rows_) {
    if ((row.columns >> column & 1) == 0) {
      rows_[others++] = row;
      continue;
    }
    (coefficient(row, column) > 0 ? positive_ : negative_).push_back(row);
    count(row, -1);
  }
  rows_.resize(others);
  for (size_t i = 0; i < others; ++i) {
    size_t slot = (rows_[i].hash >> 32) % slotCount;
    while (slots_[slot] != 0)
      slot = (slot + 1) % slotCount;
    slots_[slot] = static_cast<uint8_t>(i + 1);
  }
  ++eliminated_;
  for (const Row &p : positive_) {
    for (const Row &q : negative_) {
      // This is the rule of Chernikov, which keeps the number of rows down.
      // A combination of more than k + 1 rows after k eliminations follows from others.
      if (static_cast<size_t>(std::popcount(p.origins | q.origins)) > eliminated_ + 1)
        continue;
      Row row;
      if (combine(p, q, column, row) && keep(row))
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
  // All other columns are eliminated, so what is left bounds this one alone.
  eliminateAllBut(column);
  std::optional<int64_t> bound;
  for (const Row &row : rows_) {
    // `keep` has divided by the only coefficient, so it is -1 here.
    if ((row.columns >> column & 1) != 0 && coefficient(row, column) < 0 &&
        (!bound || row.constant < *bound))
      bound = row.constant;
  }
  return bound;
}

} // namespace ptl
