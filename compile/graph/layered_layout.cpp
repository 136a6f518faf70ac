#include "compile/graph/layered_layout.h"

#include <algorithm>
#include <numeric>

namespace ptl {

namespace {

/// A box, or a point where a line passes a row.
struct RowNode {
  double width = 0, height = 0;
  size_t row = 0;
  double x = 0; ///< of its middle
  std::vector<size_t> above, below;
};

class Layers {
public:
  Layers(const std::vector<LaidBox> &boxes, const std::vector<std::pair<size_t, size_t>> &lines,
         Gaps gaps)
      : boxes_(boxes), gaps_(gaps) {
    for (const LaidBox &box : boxes)
      nodes_.push_back({box.width, box.height, 0, 0, {}, {}});
    findRows(lines);
    for (auto [from, to] : lines)
      chains_.push_back(chainOf(from, to));
    rows_.resize(
        std::accumulate(nodes_.begin(), nodes_.end(), size_t(0),
                        [](size_t most, const RowNode &n) { return std::max(most, n.row + 1); }));
    for (size_t i = 0; i < nodes_.size(); ++i)
      rows_[nodes_[i].row].push_back(i);
  }

  LayeredLayout run(const std::vector<std::pair<size_t, size_t>> &lines);

private:
  void findRows(const std::vector<std::pair<size_t, size_t>> &lines);
  std::vector<size_t> chainOf(size_t from, size_t to);
  void orderRows();
  void placeRow(const std::vector<size_t> &row, bool byAbove, bool byBoth);
  size_t crossings() const;

  const std::vector<LaidBox> &boxes_;
  Gaps gaps_;
  std::vector<RowNode> nodes_;              ///< the boxes, then the points
  std::vector<std::vector<size_t>> chains_; ///< of each line, from its upper end
  std::vector<std::vector<size_t>> rows_;
};

} // namespace

/// The longest way to a box is its row. Lines that lead back are left out of that.
void Layers::findRows(const std::vector<std::pair<size_t, size_t>> &lines) {
  size_t count = boxes_.size();
  std::vector<std::vector<size_t>> next(count);
  for (auto [from, to] : lines)
    next[from].push_back(to);
  enum : unsigned char { New, Open, Done };
  std::vector<unsigned char> state(count, New);
  std::vector<size_t> order; // ends first
  for (size_t root = 0; root < count; ++root) {
    // A depth-first search with a stack of its own, since chains of tasks may be long: node, and the number of its next line.
    std::vector<std::pair<size_t, size_t>> stack;
    if (state[root] == New)
      stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto &[node, at] = stack.back();
      state[node] = Open;
      if (at == next[node].size()) {
        state[node] = Done;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      size_t to = next[node][at];
      if (state[to] == Open) {
        next[node].erase(next[node].begin() + static_cast<std::ptrdiff_t>(at)); // leads back
        continue;
      }
      ++at;
      if (state[to] == New)
        stack.emplace_back(to, 0);
    }
  }
  // Backwards through this order each box comes before those that it leads to, so its own row is settled.
  for (size_t i = order.size(); i-- > 0;)
    for (size_t to : next[order[i]])
      nodes_[to].row = std::max(nodes_[to].row, nodes_[order[i]].row + 1);
  // A box without a way to it stands right above what it leads to.
  for (size_t node : order) {
    bool isSource =
        std::none_of(lines.begin(), lines.end(), [&](auto line) { return line.second == node; });
    if (!isSource || next[node].empty())
      continue;
    size_t least = nodes_[next[node].front()].row;
    for (size_t to : next[node])
      least = std::min(least, nodes_[to].row);
    nodes_[node].row = std::max(nodes_[node].row, least - 1);
  }
}

std::vector<size_t> Layers::chainOf(size_t from, size_t to) {
  if (nodes_[from].row > nodes_[to].row)
    std::swap(from, to);
  std::vector<size_t> chain = {from};
  for (size_t row = nodes_[from].row + 1; row < nodes_[to].row; ++row) {
    nodes_.push_back({2, 0, row, 0, {}, {}});
    chain.push_back(nodes_.size() - 1);
  }
  chain.push_back(to);
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    nodes_[chain[i]].below.push_back(chain[i + 1]);
    nodes_[chain[i + 1]].above.push_back(chain[i]);
  }
  return chain;
}

size_t Layers::crossings() const {
  std::vector<size_t> place(nodes_.size());
  for (const auto &row : rows_)
    for (size_t i = 0; i < row.size(); ++i)
      place[row[i]] = i;
  size_t count = 0;
  for (const auto &row : rows_)
    for (size_t i = 0; i < row.size(); ++i)
      for (size_t j = i + 1; j < row.size(); ++j)
        for (size_t a : nodes_[row[i]].below)
          for (size_t b : nodes_[row[j]].below)
            count += place[a] > place[b];
  return count;
}

/// Each box goes to the middle of its neighbours, row by row, down and up; the best order is kept.
void Layers::orderRows() {
  auto best = rows_;
  size_t least = crossings();
  constexpr int kSweeps = 12;
  for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
    bool down = sweep % 2 == 0;
    for (size_t step = 1; step < rows_.size(); ++step) {
      size_t number = down ? step : rows_.size() - 1 - step;
      const auto &fixed = rows_[down ? number - 1 : number + 1];
      std::vector<double> place(nodes_.size(), 0), wish(nodes_.size(), 0);
      for (size_t i = 0; i < fixed.size(); ++i)
        place[fixed[i]] = static_cast<double>(i);
      auto &row = rows_[number];
      for (size_t i = 0; i < row.size(); ++i) {
        const auto &around = down ? nodes_[row[i]].above : nodes_[row[i]].below;
        double sum = 0;
        for (size_t each : around)
          sum += place[each];
        // The barycentre method; a box without neighbours in that row keeps its place.
        wish[row[i]] =
            around.empty() ? static_cast<double>(i) : sum / static_cast<double>(around.size());
      }
      std::stable_sort(row.begin(), row.end(),
                       [&](size_t a, size_t b) { return wish[a] < wish[b]; });
    }
    if (size_t now = crossings(); now < least) {
      least = now;
      best = rows_;
    }
  }
  rows_ = best;
}

/// Moves the boxes of a row as near as possible to the middles of their neighbours: boxes that would
/// overlap become one block, which stands at the mean of what its boxes wish.
void Layers::placeRow(const std::vector<size_t> &row, bool byAbove, bool byBoth) {
  struct Block {
    double sum;
    size_t count;
  };
  std::vector<double> offset(row.size(), 0);
  for (size_t i = 1; i < row.size(); ++i)
    offset[i] = offset[i - 1] + (nodes_[row[i - 1]].width + nodes_[row[i]].width) / 2 + gaps_.x;
  std::vector<Block> blocks;
  for (size_t i = 0; i < row.size(); ++i) {
    const RowNode &node = nodes_[row[i]];
    double sum = 0;
    size_t count = 0;
    auto take = [&](const std::vector<size_t> &around) {
      for (size_t each : around)
        sum += nodes_[each].x;
      count += around.size();
    };
    if (byAbove || byBoth)
      take(node.above);
    if (!byAbove || byBoth)
      take(node.below);
    double wish = count ? sum / static_cast<double>(count) : node.x;
    blocks.push_back({wish - offset[i], 1});
    auto mean = [](const Block &block) { return block.sum / static_cast<double>(block.count); };
    // Pool adjacent violators: without their offsets the places have to ascend, and the mean of a block is nearest to its wishes
    // in the sense of least squares.
    while (blocks.size() > 1 && mean(blocks[blocks.size() - 2]) > mean(blocks.back())) {
      blocks[blocks.size() - 2].sum += blocks.back().sum;
      blocks[blocks.size() - 2].count += blocks.back().count;
      blocks.pop_back();
    }
  }
  size_t i = 0;
  for (const Block &block : blocks)
    for (size_t k = 0; k < block.count; ++k, ++i)
      nodes_[row[i]].x = block.sum / static_cast<double>(block.count) + offset[i];
}

LayeredLayout Layers::run(const std::vector<std::pair<size_t, size_t>> &lines) {
  orderRows();
  for (const auto &row : rows_) {
    double at = 0;
    for (size_t each : row) {
      nodes_[each].x = at + nodes_[each].width / 2;
      at += nodes_[each].width + gaps_.x;
    }
  }
  // Down and up in turn. The last two rounds look at both sides, so that neither end of a line is preferred.
  constexpr int kSweeps = 16;
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (size_t i = 0; i < rows_.size(); ++i)
      placeRow(rows_[sweep % 2 ? rows_.size() - 1 - i : i], sweep % 2 == 0, sweep + 2 >= kSweeps);

  LayeredLayout layout{boxes_, {}, 0, 0};
  double left = 0, right = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    left =
        i ? std::min(left, nodes_[i].x - nodes_[i].width / 2) : nodes_[i].x - nodes_[i].width / 2;
    right = std::max(right, nodes_[i].x + nodes_[i].width / 2);
  }
  std::vector<double> top, height;
  double y = 0;
  for (const auto &row : rows_) {
    double highest = 0;
    for (size_t each : row)
      highest = std::max(highest, nodes_[each].height);
    top.push_back(y);
    height.push_back(highest);
    y += highest + gaps_.y;
  }
  layout.width = nodes_.empty() ? 0 : right - left;
  layout.height = rows_.empty() ? 0 : y - gaps_.y;
  for (size_t i = 0; i < boxes_.size(); ++i) {
    layout.boxes[i].x = nodes_[i].x - nodes_[i].width / 2 - left;
    layout.boxes[i].y = top[nodes_[i].row] + (height[nodes_[i].row] - nodes_[i].height) / 2;
  }
  for (size_t line = 0; line < lines.size(); ++line) {
    LaidLine laid{lines[line].first, lines[line].second, {}};
    const auto &chain = chains_[line];
    for (size_t i = 0; i < chain.size(); ++i) {
      const RowNode &node = nodes_[chain[i]];
      double x = node.x - left, above = top[node.row], below = above + height[node.row];
      double middle = (above + below) / 2;
      if (i > 0)
        laid.points.push_back({x, i + 1 < chain.size() ? above : middle - node.height / 2});
      if (i + 1 < chain.size())
        laid.points.push_back({x, i > 0 ? below : middle + node.height / 2});
    }
    // A chain runs downwards, whichever way its line points.
    if (chain.front() != laid.from)
      std::reverse(laid.points.begin(), laid.points.end());
    layout.lines.push_back(std::move(laid));
  }
  return layout;
}

LayeredLayout layeredLayout(std::vector<LaidBox> boxes,
                            const std::vector<std::pair<size_t, size_t>> &lines, Gaps gaps) {
  return Layers(boxes, lines, gaps).run(lines);
}

} // namespace ptl
