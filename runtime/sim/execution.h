// Executes one instruction on operands whose memory has been checked.
#pragma once

#include "runtime/sim/chip.h"
#include "runtime/sim/element.h"
#include "runtime/sim/issued.h"

#include <memory>
#include <span>
#include <vector>

namespace ptl::rt::sim {

/// The on-chip memories of one core.
struct CoreMemory {
  /// One memory, initially filled with poison.
  class PlaceBytes {
  public:
    void allocate(int64_t size) {
      data_ = std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(size));
      size_ = size;
      poison(data_.get(), size);
    }
    uint8_t *data() const { return data_.get(); }
    size_t size() const { return static_cast<size_t>(size_); }

  private:
    std::unique_ptr<uint8_t[]> data_;
    int64_t size_ = 0;
  };
  PlaceBytes places[kNumPlaces];
};

class Execution {
public:
  /// `own` is the memory of the executing core, `cores` that of all cores of the group.
  Execution(const Issued &issued, const Chip &chip, CoreMemory &own,
            std::span<CoreMemory *const> cores, std::span<const GlobalArray> arrays)
      : issued_(issued), chip_(chip), own_(own), cores_(cores), arrays_(arrays) {}

  /// Checks that every tile and view lies inside its memory, and resolves it. Scratch tiles are
  /// filled with poison.
  bool prepare();
  /// Executes an instruction. Precondition: `prepare` has returned true.
  bool execute();

  InstructionId id() const { return issued_.step->instruction; }
  const Modifiers &modifiers() const { return issued_.step->modifiers; }
  size_t numIns() const { return issued_.step->numIns(); }
  size_t numOuts() const { return issued_.step->numOuts; }
  bool isScratch(size_t in) const { return issued_.step->scratch >> in & 1; }
  bool isScalar(size_t in) const { return std::holds_alternative<Scalar>(issued_.operands[in]); }
  const Scalar &scalar(size_t in) const { return *std::get_if<Scalar>(&issued_.operands[in]); }
  bool scalarIsFloat(size_t in) const { return issued_.step->operandTypes[in].isFloat(); }
  const Plane &in(size_t index) const { return planes_[index]; }
  const Plane &out(size_t index = 0) const { return planes_[numIns() + index]; }
  const GlobalArray &array(const View &view) const {
    return arrays_[static_cast<size_t>(view.array)];
  }

  /// Resolves the memory of a tile or a view that is not an operand; false after an error.
  bool planeOf(const Tile &tile, Plane &plane);
  bool planeOf(const View &view, Plane &plane);

  bool fail(std::string message);
  bool failed() const { return !fault_.empty(); }
  const std::string &fault() const { return fault_; }

private:
  const Issued &issued_;
  const Chip &chip_;
  CoreMemory &own_;
  std::span<CoreMemory *const> cores_;
  std::span<const GlobalArray> arrays_;
  std::array<Plane, kMaxOperands> planes_;
  std::string fault_;
};

/// Whether `execute` supports the instruction.
bool isSimulated(InstructionId id);

// One function per group of instructions; each returns false after an error.
bool executeMove(Execution &);
bool executeFillPad(Execution &);
bool executeConcat(Execution &);
bool executeTranspose(Execution &);
bool executeMatmul(Execution &);
bool executeScaledMatmul(Execution &);
bool executeBinary(Execution &);
bool executePart(Execution &);
bool executeUnary(Execution &);
bool executeExpand(Execution &);
bool executeConvert(Execution &);
bool executeCompare(Execution &);
bool executeSelect(Execution &);
bool executeReduction(Execution &);
bool executeQuantise(Execution &);
bool executeSort(Execution &);
bool executeMerge(Execution &);
bool executeGather(Execution &);
bool executeScatter(Execution &);
bool executeGlobalGather(Execution &);
bool executeFill(Execution &);
bool executeNothing(Execution &);

/// Copies to the valid part of `to` from the same extents of `from`, which begin at a row and a
/// column. If the element types differ, converts to nearest, ties to even; integers saturate.
bool copyPlane(Execution &, const Plane &from, int64_t row, int64_t col, const Plane &to);

/// The extents of a matrix in messages: `8x16`.
std::string extents(int64_t rows, int64_t cols);

} // namespace ptl::rt::sim
