#include "codegen/parts/move_rows.h"
#include "runtime/movement/predict.h"

#include "codegen/parts/elements.h"
#include "codegen/parts/row_routes.h"

#include <algorithm>
#include <cstring>

namespace ptl::parts {

using movement::Interval;
using reference::Value;

namespace {

constexpr size_t kCountBytes = kRowCountBytes;

/// The movement by which each rank tells all others how many of its choices name each expert.
movement::Request countsRequest(uint32_t ranks, int64_t experts) {
  movement::Request request;
  request.kind = movement::Kind::AllGather;
  request.ranks = ranks;
  request.shape = {ranks, experts};
  return request;
}

/// Adds to a request the algorithm that the call names, and how near the parts are to each other.
void addWay(movement::Request &rows, const Grid &grid, const PlacedValue &move,
            const std::vector<uint32_t> &parts) {
  rows.together = grid.together(parts);
  rows.wanted = movement::algorithmNamed(move.how);
}

/// A movement of rows, as its operands and shapes describe it.
struct RowsShape {
  RowsShape(const PlacedProgram &placed, ValueId id,
            const std::function<std::vector<int64_t>(const PlacedValue &)> &wholeShape)
      : move(placed.values[id]), isBack(move.movement->id == MovementId::Combine),
        source(*move.operands[0]), choices(*move.operands[1]),
        byExpert(isBack ? placed.values[source] : move), choicesOf(placed.values[choices]) {
    std::vector<int64_t> shape = wholeShape(byExpert);
    experts = shape[0];
    cap = shape[1];
  }

  const PlacedValue &move;
  bool isBack;
  ValueId source, choices;
  const PlacedValue &byExpert, &choicesOf; ///< the array by experts, and the choices
  int64_t experts = 0, cap = 0;
};

class RowsMover {
public:
  RowsMover(const RowsRun &run, ValueId id)
      : run_(run), shape_(run.placed, id, run.wholeShape),
        size_(static_cast<size_t>(elemInfo(shape_.move.elem).storageBytes)) {}

  void run(std::vector<Value> &to) {
    const Placement &from = run_.placed.values[shape_.source].placement;
    for (std::vector<uint32_t> &parts : groupsOver(run_.grid, shape_.move.over, from)) {
      parts_ = std::move(parts);
      if (std::ranges::any_of(parts_, run_.isHere))
        moveGroup(to);
    }
  }

private:
  std::vector<int64_t> shapeAt(const PlacedValue &value, uint32_t part) const {
    return shapeOfBox(run_.grid.boxOf(value.placement, run_.wholeShape(value), part));
  }

  /// The experts that the choices of a part name; -1 for no expert.
  Choices choicesAt(uint32_t part) const {
    Choices choices;
    int64_t row = 0;
    for (Scalar each : elementsOf(run_.at(shape_.choices, part))) {
      if (each.i >= shape_.experts)
        run_.stop("a row " + std::string(shape_.isBack ? "comes from" : "goes to") + " expert " +
                  std::to_string(each.i) + ", and there are " + std::to_string(shape_.experts) +
                  " (choice " + std::to_string(row) + " of " + run_.grid.name(part) + ")");
      choices.push_back(std::max<int64_t>(each.i, -1));
      ++row;
    }
    return choices;
  }

  /// The routes of the group as each rank knows them, after every rank told all others how many
  /// rows it has for each expert.
  std::vector<RowRoutes> routes() {
    std::vector<Bytes> counts(parts_.size());
    std::vector<Interval> experts;
    for (size_t rank = 0; rank < parts_.size(); ++rank) {
      experts.push_back(run_.grid.boxOf(shape_.byExpert.placement, run_.wholeShape(shape_.byExpert),
                                        parts_[rank])[0]);
      if (!run_.isHere(parts_[rank]))
        continue;
      std::vector<int64_t> own(static_cast<size_t>(shape_.experts));
      // A choice below 0 names no expert: the row is not sent.
      for (int64_t choice : choices_[rank])
        if (choice >= 0)
          ++own[static_cast<size_t>(choice)];
      counts[rank].resize(own.size() * kCountBytes);
      std::memcpy(counts[rank].data(), own.data(), counts[rank].size());
    }
    auto ranks = static_cast<uint32_t>(parts_.size());
    GroupMove group{parts_, movement::chooseSteps(countsRequest(ranks, shape_.experts), kCountBytes,
                                                  run_.grid.cost())};
    std::vector<Bytes> told = run_.exchange(group, kCountBytes, counts);
    std::vector<RowRoutes> routes;
    for (size_t rank = 0; rank < parts_.size(); ++rank) {
      std::vector<std::vector<int64_t>> all(
          ranks, std::vector<int64_t>(static_cast<size_t>(shape_.experts)));
      for (uint32_t from = 0; from < ranks && run_.isHere(parts_[rank]); ++from)
        std::memcpy(all[from].data(), told[rank].data() + from * all[from].size() * kCountBytes,
                    all[from].size() * kCountBytes);
      routes.emplace_back(experts, std::move(all));
    }
    return routes;
  }

  /// Row `i` of the result is row `from[i]` of `rows`, or zeros. A row has `columns` elements.
  Bytes picked(const Bytes &rows, const std::vector<int64_t> &from, int64_t columns) const {
    size_t row = static_cast<size_t>(columns) * size_;
    Bytes result(from.size() * row);
    for (size_t i = 0; i < from.size() && row > 0; ++i)
      if (from[i] != RowRoutes::kNoRow)
        std::memcpy(result.data() + i * row, rows.data() + static_cast<size_t>(from[i]) * row, row);
    return result;
  }

  /// The reverse of `picked`: row `i` becomes row `to[i]` of a result of `count` rows.
  Bytes placed(const Bytes &rows, const std::vector<int64_t> &to, size_t count,
               int64_t columns) const {
    size_t row = static_cast<size_t>(columns) * size_;
    Bytes result(count * row);
    for (size_t i = 0; i < to.size() && row > 0; ++i)
      if (to[i] != RowRoutes::kNoRow)
        std::memcpy(result.data() + static_cast<size_t>(to[i]) * row, rows.data() + i * row, row);
    return result;
  }

  void moveGroup(std::vector<Value> &to) {
    choices_.assign(parts_.size(), {});
    for (size_t rank = 0; rank < parts_.size(); ++rank)
      if (run_.isHere(parts_[rank]))
        choices_[rank] = choicesAt(parts_[rank]);
    std::vector<RowRoutes> routes = this->routes();
    auto columns = shapeAt(shape_.move, parts_[0]).back();
    std::vector<Bytes> sources(parts_.size());
    std::optional<movement::Request> request;
    for (uint32_t rank = 0; rank < parts_.size(); ++rank) {
      if (!run_.isHere(parts_[rank]))
        continue;
      // All ranks know all counts, so all of them stop with the same message instead of waiting for
      // one that has stopped.
      if (auto [expert, rows] = routes[rank].overfull(shape_.cap); expert >= 0)
        run_.stop("expert " + std::to_string(expert) + " gets " + std::to_string(rows) +
                  " rows, and has room for " + std::to_string(shape_.cap));
      request = routes[rank].request(columns, shape_.isBack);
      addWay(*request, run_.grid, shape_.move, parts_);
      sources[rank] = sent(rank, routes[rank], columns);
    }
    GroupMove group{parts_,
                    movement::chooseSteps(*request, static_cast<int64_t>(size_), run_.grid.cost())};
    std::vector<Bytes> come = run_.exchange(group, size_, sources);
    for (uint32_t rank = 0; rank < parts_.size(); ++rank)
      if (run_.isHere(parts_[rank]))
        to[parts_[rank]] = made(rank, routes[rank], come[rank], columns);
  }

  Bytes sent(uint32_t rank, const RowRoutes &routes, int64_t columns) const {
    const Value &have = run_.at(shape_.source, parts_[rank]);
    if (shape_.isBack)
      return picked(bytesOf(have), routes.placesBetween(rank, shape_.cap), columns);
    std::vector<int64_t> rows = routes.choicesBetween(rank, choices_[rank]);
    int64_t perRow = shapeAt(shape_.choicesOf, parts_[rank])[1];
    // A row goes out once per choice; the choices of row `r` are `r * perRow` and those behind it.
    for (int64_t &row : rows)
      row = row == RowRoutes::kNoRow ? row : row / perRow;
    return picked(bytesOf(have), rows, columns);
  }

  Value made(uint32_t rank, const RowRoutes &routes, const Bytes &come, int64_t columns) const {
    std::vector<int64_t> shape = shapeAt(shape_.move, parts_[rank]);
    if (shape_.isBack) {
      Bytes rows =
          placed(come, routes.choicesBetween(rank, choices_[rank]), choices_[rank].size(), columns);
      return summed(rank, rows, columns);
    }
    size_t count = static_cast<size_t>(shape[0] * shape[1]);
    Bytes rows = placed(come, routes.placesBetween(rank, shape_.cap), count, columns);
    return valueOfBytes(shape_.move.elem, shape, rows.data());
  }

  /// The weighted sum of the choices of each row, as `combine` of `std.experts` computes it.
  Value summed(uint32_t rank, const Bytes &rows, int64_t columns) const {
    uint32_t part = parts_[rank];
    ElemKind elem = shape_.move.elem;
    const Value &weights = run_.at(*shape_.move.operands[2], part);
    std::vector<int64_t> shape(weights.shape().begin(), weights.shape().end());
    reference::BuiltinCall times;
    times.op = OpId::Mul;
    times.elem = elem;
    times.operands = {valueOfBytes(elem, {shape[0], shape[1], columns}, rows.data()),
                      valueOfBytes(elem, {shape[0], shape[1], 1}, bytesOf(weights).data())};
    Value product = run_.evaluate(times, part);
    // A choice of no expert adds zeros, whatever its weight is: not even a NaN of it counts.
    Bytes weighted = bytesOf(product);
    size_t row = static_cast<size_t>(columns) * size_;
    for (size_t i = 0; i < choices_[rank].size(); ++i)
      if (choices_[rank][i] < 0)
        std::fill_n(weighted.begin() + static_cast<ptrdiff_t>(i * row), row, uint8_t(0));
    reference::BuiltinCall sum;
    sum.op = OpId::ReduceSum;
    // The sum accumulates in the type for sums of `elem` and is rounded once.
    sum.elem = accOf(elem);
    sum.axes = {1};
    sum.operands = {valueOfBytes(elem, {shape[0], shape[1], columns}, weighted.data())};
    reference::BuiltinCall convert;
    convert.op = OpId::Convert;
    convert.elem = elem;
    convert.operands = {run_.evaluate(sum, part)};
    Value result = sum.elem == elem ? convert.operands[0] : run_.evaluate(convert, part);
    return valueOfBytes(elem, shapeAt(shape_.move, part), bytesOf(result).data());
  }

  const RowsRun &run_;
  RowsShape shape_;
  size_t size_;
  std::vector<uint32_t> parts_;  ///< of the group
  std::vector<Choices> choices_; ///< per rank that is here
};

} // namespace

void moveRows(const RowsRun &run, ValueId id, std::vector<Value> &to) {
  RowsMover(run, id).run(to);
}

EvenRows evenRowsOf(const Grid &grid, const PlacedProgram &placed, ValueId id,
                    const std::function<std::vector<int64_t>(const PlacedValue &)> &wholeShape,
                    const StepsFor &countSteps, const StepsFor &rowSteps) {
  RowsShape shape(placed, id, wholeShape);
  EvenRows even;
  for (std::vector<uint32_t> &parts :
       groupsOver(grid, shape.move.over, placed.values[shape.source].placement)) {
    std::vector<Interval> experts;
    std::vector<std::vector<int64_t>> counts;
    // How the data chooses experts is not known, so the choices of all parts are taken to be spread
    // evenly; choices that no expert has room for are dropped.
    int64_t turn = 0, most = shape.experts * shape.cap / static_cast<int64_t>(parts.size());
    for (uint32_t part : parts) {
      experts.push_back(grid.boxOf(shape.byExpert.placement, wholeShape(shape.byExpert), part)[0]);
      int64_t choices = 1;
      for (int64_t extent :
           shapeOfBox(grid.boxOf(shape.choicesOf.placement, wholeShape(shape.choicesOf), part)))
        choices *= extent;
      choices = std::min(choices, most);
      std::vector<int64_t> &own = counts.emplace_back(static_cast<size_t>(shape.experts));
      for (int64_t i = 0; i < shape.experts; ++i)
        own[static_cast<size_t>((turn + i) % shape.experts)] =
            choices / shape.experts + (i < choices % shape.experts);
      turn = shape.experts ? (turn + choices) % shape.experts : 0;
    }
    auto ranks = static_cast<uint32_t>(parts.size());
    int64_t columns =
        grid.boxOf(shape.move.placement, wholeShape(shape.move), parts[0]).back().length();
    movement::Request rows =
        RowRoutes(std::move(experts), std::move(counts)).request(columns, shape.isBack);
    addWay(rows, grid, shape.move, parts);
    even.counts.push_back({parts, countSteps(countsRequest(ranks, shape.experts), parts)});
    even.rows.push_back({parts, rowSteps(rows, parts)});
  }
  return even;
}

} // namespace ptl::parts
