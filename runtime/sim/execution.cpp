#include "runtime/sim/execution.h"

namespace ptl::rt::sim {

bool Execution::fail(std::string message) {
  if (fault_.empty())
    fault_ = std::move(message);
  return false;
}

std::string extents(int64_t rows, int64_t cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}

bool Execution::planeOf(const Tile &tile, Plane &plane) {
  auto place = static_cast<size_t>(tile.place);
  // A tile may lie in the memory of another core of the group, which a queue hands over.
  CoreMemory &memory = tile.core < 0 ? own_ : *cores_[static_cast<size_t>(tile.core)];
  const CoreMemory::PlaceBytes &bytes = memory.places[place];
  auto end = static_cast<int64_t>(bytes.size()), first = tile.address,
       last = first + tile.bufferBytes();
  std::string where(placeName(tile.place));
  if (first < 0 || last > end)
    return fail("a tile of " + extents(tile.bufferRows, tile.bufferCols) + " " +
                std::string(elemName(tile.elem)) + " at bytes " + std::to_string(first) + ".." +
                std::to_string(last) + " of " + where + ", which has " + std::to_string(end));
  if (chip_.alignment[place] && first % chip_.alignment[place])
    return fail("a tile at byte " + std::to_string(first) + " of " + where +
                ", where buffers start at multiples of " + std::to_string(chip_.alignment[place]));
  int64_t window = first + elementOffset(tile, 0, 0);
  // The scalar unit reads single elements anywhere; all other units move whole blocks of 32 bytes.
  bool dataUnit = issued_.step->pipe != Pipe::S;
  if (dataUnit && window % 32 && tile.rows && tile.cols)
    return fail("a window at byte " + std::to_string(window) + " of " + where +
                "; instructions read and write from multiples of 32");
  if (tile.validRows < 0 || tile.validRows > tile.rows || tile.validCols < 0 ||
      tile.validCols > tile.cols)
    return fail("a tile of " + extents(tile.rows, tile.cols) + " whose valid part is " +
                extents(tile.validRows, tile.validCols));
  plane = {bytes.data() + tile.address, &tile, nullptr, tile.elem, tile.validRows, tile.validCols};
  return true;
}

bool Execution::planeOf(const View &view, Plane &plane) {
  const GlobalArray &memory = array(view);
  int64_t low = 0, high = 0, size = elemBytes(view.elem);
  bool empty = false;
  for (int i = 0; i < view.rank; ++i) {
    if (view.shape[i] < 0)
      return fail("a view with the extent " + std::to_string(view.shape[i]));
    empty |= view.shape[i] == 0;
    // The extreme elements are those at the ends of all axes, on the lower side for negative
    // strides.
    (view.strides[i] < 0 ? low : high) += (view.shape[i] - 1) * view.strides[i];
  }
  plane = {memory.data + view.offset, nullptr, &view, view.elem, view.rows(), view.cols()};
  // A box without elements may begin anywhere, also at the end of an array or beyond it.
  if (empty)
    return true;
  int64_t first = view.offset + low * size, last = view.offset + (high + 1) * size;
  if (first < 0 || last > memory.bytes)
    return fail("a box at bytes " + std::to_string(first) + ".." + std::to_string(last) + " of `" +
                memory.name + "`, which has " + std::to_string(memory.bytes));
  return true;
}

bool Execution::prepare() {
  for (size_t i = 0; i < issued_.step->operands.size(); ++i) {
    const Operand &operand = issued_.operands[i];
    if (const Tile *tile = std::get_if<Tile>(&operand)) {
      if (!planeOf(*tile, planes_[i]))
        return false;
    } else if (const View *view = std::get_if<View>(&operand)) {
      if (!planeOf(*view, planes_[i]))
        return false;
    }
  }
  for (size_t i = 0; i < numIns(); ++i)
    if (isScratch(i) && !isScalar(i) && planes_[i].tile)
      poison(planes_[i].base, planes_[i].tile->bufferBytes());
  return true;
}

using Semantics = bool (*)(Execution &);

// By the number of the instruction; null where nothing executes it.
static constexpr auto semanticsTable = [] {
  std::array<Semantics, std::size(instructions)> table{};
#define SEMANTICS(id, function) table[static_cast<size_t>(InstructionId::id)] = function;
#include "ir/ops/instruction_semantics.inc"
  return table;
}();
static Semantics semanticsOf(InstructionId id) { return semanticsTable[static_cast<size_t>(id)]; }

bool isSimulated(InstructionId id) { return semanticsOf(id) != nullptr; }

bool Execution::execute() {
  Semantics semantics = semanticsOf(id());
  return semantics ? semantics(*this) : fail("is not simulated");
}

bool executeNothing(Execution &) { return true; }

} // namespace ptl::rt::sim
