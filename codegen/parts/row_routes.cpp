#include "codegen/parts/row_routes.h"

#include <algorithm>

namespace ptl::parts {

std::vector<std::vector<uint32_t>> groupsOver(const Grid &grid, const std::vector<size_t> &levels,
                                              const Placement &from) {
  Placement elsewhere = from;
  for (size_t level : levels)
    elsewhere[level] = {};
  std::map<uint32_t, std::vector<uint32_t>> groups; // by the first part
  for (uint32_t part = 0; part < grid.count(); ++part) {
    if (!grid.holds(elsewhere, part))
      continue;
    uint32_t first = part;
    for (size_t level : levels)
      first = grid.withCoordinate(first, level, 0);
    groups[first].push_back(part);
  }
  std::vector<std::vector<uint32_t>> all;
  for (auto &[first, parts] : groups)
    all.push_back(std::move(parts));
  return all;
}

RowRoutes::RowRoutes(std::vector<movement::Interval> experts,
                     std::vector<std::vector<int64_t>> counts)
    : experts_(std::move(experts)), counts_(std::move(counts)) {}

std::pair<int64_t, int64_t> RowRoutes::overfull(int64_t cap) const {
  for (size_t expert = 0; expert < counts_[0].size(); ++expert) {
    int64_t rows = 0;
    for (const std::vector<int64_t> &counts : counts_)
      rows += counts[expert];
    if (rows > cap)
      return {static_cast<int64_t>(expert), rows};
  }
  return {-1, 0};
}

/// The number of rows that rank `from` has for the experts of rank `to`.
int64_t RowRoutes::between(uint32_t from, uint32_t to) const {
  int64_t rows = 0;
  for (int64_t expert = experts_[to].begin; expert < experts_[to].end; ++expert)
    rows += counts_[from][static_cast<size_t>(expert)];
  return rows;
}

int64_t RowRoutes::mostBetween() const {
  int64_t most = 0;
  for (uint32_t from = 0; from < ranks(); ++from)
    for (uint32_t to = 0; to < ranks(); ++to)
      most = std::max(most, between(from, to));
  return most;
}

movement::Request RowRoutes::request(int64_t columns, bool isBack) const {
  movement::Request request;
  request.kind = movement::Kind::Rows;
  request.ranks = ranks();
  request.shape = {ranks(), ranks(), mostBetween(), columns};
  for (uint32_t from = 0; from < ranks(); ++from)
    for (uint32_t to = 0; to < ranks(); ++to)
      request.counts.push_back(isBack ? between(to, from) : between(from, to));
  return request;
}

std::vector<int64_t> RowRoutes::choicesBetween(uint32_t rank, const Choices &choices) const {
  size_t most = static_cast<size_t>(mostBetween());
  std::vector<int64_t> rows(ranks() * most, kNoRow);
  std::vector<size_t> next(counts_[rank].size()); // per expert: the slot of its next row
  for (uint32_t to = 0; to < ranks(); ++to) {
    size_t at = to * most;
    for (auto expert = static_cast<size_t>(experts_[to].begin);
         expert < static_cast<size_t>(experts_[to].end); ++expert) {
      next[expert] = at;
      at += static_cast<size_t>(counts_[rank][expert]);
    }
  }
  for (size_t i = 0; i < choices.size(); ++i)
    if (choices[i] >= 0)
      rows[next[static_cast<size_t>(choices[i])]++] = static_cast<int64_t>(i);
  return rows;
}

std::vector<int64_t> RowRoutes::placesBetween(uint32_t rank, int64_t cap) const {
  size_t most = static_cast<size_t>(mostBetween());
  std::vector<int64_t> rows(ranks() * most, kNoRow);
  const movement::Interval &own = experts_[rank];
  std::vector<int64_t> used(static_cast<size_t>(own.length()));
  // The rows of an expert take their slots in the order of the ranks that send them, and within a
  // rank in their own order, so that the result does not depend on the order of arrival.
  for (uint32_t from = 0; from < ranks(); ++from) {
    size_t at = from * most;
    for (int64_t expert = own.begin; expert < own.end; ++expert) {
      int64_t local = expert - own.begin, &slot = used[static_cast<size_t>(local)];
      for (int64_t row = 0; row < counts_[from][static_cast<size_t>(expert)]; ++row)
        rows[at++] = local * cap + slot++;
    }
  }
  return rows;
}

} // namespace ptl::parts
