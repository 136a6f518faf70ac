#include "runtime/movement/prove.h"

#include "runtime/movement/execute.h"

#include <algorithm>
#include <map>

namespace ptl::movement {

namespace {

/// Names of values: 0 is an element that was never written, other names are summands or sums of two
/// names.
class Names {
public:
  using Name = uint64_t;
  Name leaf(uint32_t rank, int64_t cell) {
    return of({0, (static_cast<Name>(rank) << 40) + static_cast<Name>(cell)});
  }
  /// A sum with an element that was never written is wrong, whatever the other operand is.
  Name sum(Name left, Name right) { return left && right ? of({left, right}) : 0; }

private:
  Name of(std::pair<Name, Name> key) {
    return names_.try_emplace(key, names_.size() + 1).first->second;
  }
  std::map<std::pair<Name, Name>, Name> names_;
};

/// Maps the list to cells: positions of an axis between which no box begins or ends are one cell.
class Cells {
public:
  explicit Cells(const StepList &list) : borders_(list.request.shape.size()) {
    // Between two neighbouring borders of any box, elements are treated alike, so that one of them
    // stands for all: the proof takes as long for large arrays as for small ones.
    note(wholeBox(list.request.shape));
    for (uint32_t rank = 0; rank < list.request.ranks; ++rank) {
      note(sourceBoxOf(list.request, rank));
      note(resultBoxOf(list.request, rank));
      for (const Box &box : writtenBoxesOf(list.request, rank))
        note(box);
    }
    for (const RankSteps &rank : list.ranks) {
      for (const Box &box : rank.buffers)
        note(box);
      for (const Step &step : rank.steps)
        note(step.box);
    }
    for (std::vector<int64_t> &borders : borders_) {
      std::sort(borders.begin(), borders.end());
      borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    }
  }

  Box box(const Box &box) const {
    Box cells;
    for (size_t axis = 0; axis < box.size(); ++axis)
      cells.push_back({cell(axis, box[axis].begin), cell(axis, box[axis].end)});
    return cells;
  }

  /// Replaces the boxes of a list by boxes of cells, in place.
  void shrink(StepList &list) const {
    for (RankSteps &rank : list.ranks) {
      for (Box &each : rank.buffers)
        each = box(each);
      for (Step &step : rank.steps)
        step.box = box(step.box);
    }
  }

private:
  void note(const Box &box) {
    for (size_t axis = 0; axis < borders_.size() && axis < box.size(); ++axis) {
      borders_[axis].push_back(box[axis].begin);
      borders_[axis].push_back(box[axis].end);
    }
  }
  int64_t cell(size_t axis, int64_t position) const {
    const std::vector<int64_t> &borders = borders_[axis];
    return std::lower_bound(borders.begin(), borders.end(), position) - borders.begin();
  }

  std::vector<std::vector<int64_t>> borders_;
};

/// The name of the sum of a cell over all ranks, in the tree that all algorithms share.
Names::Name sumOf(Names &names, uint32_t ranks, int64_t cell) {
  std::vector<Names::Name> sums;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    sums.push_back(names.leaf(rank, cell));
  for (uint32_t distance = 1; distance < ranks; distance *= 2)
    for (uint32_t left = 0; left + distance < ranks; left += 2 * distance)
      sums[left] = names.sum(sums[left], sums[left + distance]);
  return sums[0];
}

std::vector<int64_t> cellsOf(const Box &whole, const Box &box) {
  std::vector<int64_t> cells;
  forEachRow(whole, box, [&](int64_t offset, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      cells.push_back(offset + i);
  });
  return cells;
}

/// Whether the next step belongs to the same message as a step that is joined to it.
bool isFollowed(const std::vector<Step> &steps, const Step &step) {
  size_t next = static_cast<size_t>(&step - steps.data()) + 1;
  bool moves = step.kind == StepKind::Send || step.kind == StepKind::Receive;
  return moves && next < steps.size() && steps[next].kind == step.kind &&
         steps[next].peer == step.peer;
}

std::string wrongShape(const StepList &list) {
  if (list.ranks.size() != list.request.ranks)
    return "there are steps for " + std::to_string(list.ranks.size()) + " ranks";
  for (uint32_t rank = 0; rank < list.request.ranks; ++rank) {
    const std::vector<Box> &buffers = list.ranks[rank].buffers;
    if (buffers.size() < 2 || buffers[kSourceBuffer] != sourceBoxOf(list.request, rank) ||
        buffers[kResultBuffer] != resultBoxOf(list.request, rank))
      return "rank " + std::to_string(rank) + " has other buffers than the movement";
    const std::vector<Step> &steps = list.ranks[rank].steps;
    for (const Step &step : steps) {
      if (step.isJoined && !isFollowed(steps, step))
        return "rank " + std::to_string(rank) + " has a message whose last piece is missing";
      if (step.box.size() != list.request.shape.size())
        return "rank " + std::to_string(rank) + " speaks of a box with other axes";
      if (step.kind != StepKind::Send && step.to == kSourceBuffer)
        return "rank " + std::to_string(rank) + " writes what it is given";
    }
  }
  return {};
}

} // namespace

std::string findMistake(const StepList &list) {
  if (std::string why = wrongShape(list); !why.empty())
    return why;
  const Request &request = list.request;
  Cells cells(list);
  StepList shrunk = list;
  cells.shrink(shrunk);
  Box whole = cells.box(wholeBox(request.shape));
  bool sums = request.kind == Kind::AllReduce || request.kind == Kind::ReduceScatter;
  // Elements are named by where they come from, and sums by the pair of names they add, so that
  // a sum in another order has another name. Where nothing is added, copies of an element on
  // several ranks are equal, and any of them may be sent: their names leave the rank out.
  Names names;
  std::vector<std::vector<Names::Name>> sources;
  for (uint32_t rank = 0; rank < request.ranks; ++rank) {
    std::vector<Names::Name> &source = sources.emplace_back();
    for (int64_t cell : cellsOf(whole, cells.box(sourceBoxOf(request, rank))))
      source.push_back(names.leaf(sums ? rank : 0, cell));
  }
  Execution<Names::Name> execution(
      shrunk, std::move(sources),
      combineEach([&](Names::Name left, Names::Name right) { return names.sum(left, right); }));
  if (std::string why = execution.run(0); !why.empty())
    return why;
  for (uint32_t rank = 0; rank < request.ranks; ++rank) {
    Box box = cells.box(resultBoxOf(request, rank));
    for (const Box &written : writtenBoxesOf(request, rank)) {
      std::vector<int64_t> all = cellsOf(whole, cells.box(written)),
                           own = cellsOf(box, cells.box(written));
      for (size_t i = 0; i < all.size(); ++i) {
        Names::Name expected = sums ? sumOf(names, request.ranks, all[i]) : names.leaf(0, all[i]);
        Names::Name have = execution.result(rank)[static_cast<size_t>(own[i])];
        if (have != expected)
          return "rank " + std::to_string(rank) +
                 (have ? " gets a wrong value" : " gets no value") + " in cell " +
                 std::to_string(all[i]) + " of its result";
      }
    }
  }
  return {};
}

} // namespace ptl::movement
