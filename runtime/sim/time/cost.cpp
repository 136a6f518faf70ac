#include "runtime/sim/time/cost.h"

namespace ptl::rt::sim {

static constexpr size_t kNumElemKinds = 0
#define ELEM(NAME, SPELLING, CLASS, BITS, BYTES, ACC, MANTISSA, EXPONENT) +1
#include "frontend/base/elem_types.def"
    ;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

CostModel::CostModel(const Machine &machine, MachineCosts costs)
    : costs_(std::move(costs)), clockMhz_(static_cast<double>(machine.clockMhz)),
      cyclesOfStep_(kNumElemKinds) {
  if (machine.limits.vectorBytes)
    repeatBytes_ = machine.limits.vectorBytes;
  for (const InstructionInfo &info : instructions)
    byInstruction_[static_cast<size_t>(info.id)] = costs_.instruction(info.mnemonic);
  auto nameOfPlace = [](size_t place) { return place == gm ? "gm" : placeNames[place]; };
  for (size_t from = 0; from < numWays; ++from)
    for (size_t to = 0; to < numWays; ++to)
      byPath_[from][to] = costs_.path(nameOfPlace(from), nameOfPlace(to));
  for (size_t kind = 0; kind < kNumElemKinds; ++kind)
    cyclesOfStep_[kind] = costs_.product.cyclesOf(elemName(static_cast<ElemKind>(kind)));
}

/// Bytes of what is valid; boxes are moved whole.
static int64_t validBytes(const Tile &tile) {
  int64_t rows = tile.validRows, cols = tile.validCols;
  if (tile.layout.inner != ElementOrder::None && rows && cols) {
    BoxShape box = boxShape(tile.layout, tile.elem);
    rows = ceilDiv(rows, box.rows) * box.rows;
    cols = ceilDiv(cols, box.cols) * box.cols;
  }
  return rows * cols * elemBytes(tile.elem);
}

/// The number of parts in a length; the last may not be full, and then counts as the option says.
double CostModel::parts(int64_t length, int64_t part) const {
  return padding_ ? static_cast<double>(ceilDiv(length, part))
                  : static_cast<double>(length) / static_cast<double>(part);
}

OperationCost CostModel::product(const Issued &issued) const {
  const Tile *left = nullptr, *right = nullptr;
  for (const Operand &operand : issued.values())
    if (const Tile *tile = std::get_if<Tile>(&operand)) {
      left = tile->place == Place::Left ? tile : left;
      right = tile->place == Place::Right ? tile : right;
    }
  OperationCost cost;
  const ProductCost &product = costs_.product;
  if (!left || !right || !product.rows)
    return cost;
  double steps = parts(left->validRows, product.rows) * parts(right->validCols, product.columns) *
                 parts(int64_t(left->validCols) * elemBytes(left->elem), product.depthBytes);
  cost.busy = product.head + cyclesOfStep_[static_cast<size_t>(left->elem)] * steps;
  return cost;
}

OperationCost CostModel::move(size_t from, size_t to, int64_t bytes) const {
  OperationCost cost;
  const PathCost *path = byPath_[from][to];
  if (!path || path->bytesPerCycle <= 0)
    return cost;
  cost.head = path->latency;
  cost.busy = path->head + static_cast<double>(bytes) / path->bytesPerCycle;
  cost.rate = path->bytesPerCycle;
  return cost;
}

/// An instruction that moves a tile, on a pipe other than the vector unit's.
std::optional<OperationCost> CostModel::moveOf(const Issued &issued) const {
  const Step &step = *issued.step;
  // The vector unit has costs by instruction; here the two ends of the way decide.
  if (step.pipe == Pipe::V || step.numOuts != 1 || step.operands.empty())
    return std::nullopt;
  const Operand &source = issued.operands[0], &target = issued.operands[step.operands.size() - 1];
  const Tile *from = std::get_if<Tile>(&source), *to = std::get_if<Tile>(&target);
  const View *read = std::get_if<View>(&source), *written = std::get_if<View>(&target);
  if ((!from && !read) || (!to && !written))
    return std::nullopt;
  const View *view = read ? read : written;
  int64_t onGlobal = view ? view->numElements() * elemBytes(view->elem) : 0;
  int64_t onChip =
      from && to ? std::min(validBytes(*from), validBytes(*to)) : validBytes(from ? *from : *to);
  // A store reads all of the valid part of its tile, also where the box has less of it.
  OperationCost cost = move(read ? gm : static_cast<size_t>(from->place),
                            written ? gm : static_cast<size_t>(to->place),
                            view ? std::max(onGlobal, from ? onChip : onGlobal) : onChip);
  cost.bytes = onGlobal;
  cost.view = view;
  cost.writes = written != nullptr;
  return cost;
}

/// A tile that is handed to another core: through global memory each side moves it; else who
/// pushes.
OperationCost CostModel::handOver(const Issued &issued, const Queue &queue) const {
  const Tile *tile = std::get_if<Tile>(&issued.operands[0]);
  bool push = issued.step->kind == StepKind::Push;
  if (!tile || (!push && !queue.throughGlobal))
    return {};
  auto place = static_cast<size_t>(tile->place);
  int64_t bytes = validBytes(*tile);
  if (!queue.throughGlobal)
    return move(place, static_cast<size_t>(queue.toVector ? Place::Vec : Place::Mat), bytes);
  OperationCost cost = push ? move(place, gm, bytes) : move(gm, place, bytes);
  cost.bytes = bytes;
  cost.writes = push;
  return cost;
}

OperationCost CostModel::vector(const Issued &issued) const {
  const Step &step = *issued.step;
  OperationCost cost;
  const InstructionCost *row = byInstruction_[static_cast<size_t>(step.instruction)];
  const Tile *largest = nullptr;
  int64_t most = -1;
  for (size_t i = 0; i < step.operands.size(); ++i)
    if (const Tile *tile = std::get_if<Tile>(&issued.operands[i]);
        tile && !(i < step.numIns() && step.scratch >> i & 1)) {
      int64_t bytes = int64_t(tile->validRows) * tile->validCols * elemBytes(tile->elem);
      if (bytes > most) {
        most = bytes;
        largest = tile;
      }
    }
  if (!row || !largest || most <= 0)
    return cost;
  // Repeats go along the way in which elements lie: by columns in a column-major tile.
  bool columns =
      largest->layout.box == ElementOrder::ColMajor && largest->layout.inner == ElementOrder::None;
  int64_t rows = columns ? largest->validCols : largest->validRows;
  int64_t rowBytes = most / rows;
  bool dense = columns ? largest->validRows == largest->bufferRows
                       : largest->validCols == largest->bufferCols;
  // Without gaps all rows are one run of bytes, so that the last repeat of a row is filled by the
  // next row; otherwise each row ends with a repeat of its own.
  double repeats =
      dense ? parts(most, repeatBytes_) : static_cast<double>(rows) * parts(rowBytes, repeatBytes_);
  cost.head = row->head;
  cost.busy = row->slope * repeats + row->row * static_cast<double>(rows);
  if (padding_ && (dense ? most : rowBytes) % repeatBytes_)
    // A part of a repeat needs a mask, which is set before and reset behind it.
    cost.busy += costs_.control.mask;
  cost.tail = row->tail;
  return cost;
}

OperationCost CostModel::costOf(const Issued &issued, const Queue *queue) const {
  if (queue)
    return handOver(issued, *queue);
  if (issued.step->pipe == Pipe::M)
    return product(issued);
  if (std::optional<OperationCost> cost = moveOf(issued))
    return *cost;
  OperationCost cost = vector(issued);
  for (const Operand &operand : issued.values()) // gathers
    if (const View *view = std::get_if<View>(&operand)) {
      cost.bytes = view->numElements() * elemBytes(view->elem);
      cost.rate = byPath_[gm][static_cast<size_t>(Place::Vec)]
                      ? byPath_[gm][static_cast<size_t>(Place::Vec)]->bytesPerCycle
                      : 0;
      cost.bytes = cost.rate > 0 ? cost.bytes : 0;
      break;
    }
  return cost;
}

} // namespace ptl::rt::sim
