// Dependence analysis at the block level: a function as a tree of bodies and items, the bytes that
// each item touches, and the dependences between the items of one body, which must keep their
// order.
#pragma once

#include "ir/dialect/instruction_op.h"
#include "machines/inside.h"
#include "machines/machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace ptl::pto {

/// The properties of a machine on which the order of instructions depends.
struct BlockMachine {
  bool vectorBarrier = true; ///< dependent instructions of the vector pipe need a barrier
  int64_t eventIds = 8;      ///< of an ordered pair of pipes
  std::array<int64_t, 11> alignment{32, 32, 32, 32, 512, 512, 512, 64, 128, 32, 32}; ///< by place
  std::string isaMacro; ///< the library, whose instructions have the side effects in `inside.def`

  BlockMachine() = default;
  explicit BlockMachine(const Machine &machine);
};

/// Value numbering of scalar expressions: two expressions of the same form have the same number.
class ExpressionTable {
public:
  unsigned idOf(mlir::Value value);

private:
  struct Key {
    const void *name, *attributes;
    std::vector<unsigned> operands;
    bool operator<(const Key &other) const {
      return std::tie(name, attributes, operands) <
             std::tie(other.name, other.attributes, other.operands);
    }
  };
  llvm::DenseMap<mlir::Value, unsigned> known_;
  std::map<Key, unsigned> byForm_;
  unsigned next_ = 0;
};

/// Slots of equal size that are used in rotation, selected either by a computed number or by the
/// pops of a queue.
struct Rotation {
  int64_t begin, end; ///< bytes of all slots
  int64_t count;
  unsigned slotKey; ///< equal for equal slot numbers
  mlir::Value slot; ///< the slot number; null for a queue
  mlir::Value queue;
  bool operator==(const Rotation &other) const {
    return begin == other.begin && end == other.end && count == other.count &&
           slotKey == other.slotKey && queue == other.queue;
  }
};

/// Consecutive slots of equal size; there are none if `count` is 0.
struct Ring {
  int64_t begin = 0, end = 0, count = 0;
  bool operator==(const Ring &other) const {
    return begin == other.begin && end == other.end && count == other.count;
  }
};

inline constexpr unsigned kFirstGlobalSpace = 16; ///< below: the places of on-chip memory
inline constexpr unsigned kEventSpace = 15;       ///< the events that instructions use internally

/// Bytes that an item accesses from one pipe. In global memory `space` is the array, and `box` the
/// accessed part of it, if known.
struct Touch {
  mlir::Operation *first, *last; ///< first and last instruction of the item with this access
  mlir::Value value;             ///< the tile, view or pointer
  Pipe pipe;
  bool reads = false, writes = false;
  bool receives = false; ///< written by the other core, which waits for the previous readers
  bool releases = false; ///< tells the other core that its readers have finished
  bool aside = false;    ///< before the instruction starts, which itself waits for it
  unsigned space;
  int64_t begin, end;
  int rotation = -1;                 ///< in `BlockProgram::rotations`
  Ring ring;                         ///< the ring of which it is a slot
  int64_t slot = -1;                 ///< the slot number if it is constant
  mlir::Operation *popped = nullptr; ///< the tile popped from a queue
  PartitionViewOp box;

  bool isGlobal() const { return space >= kFirstGlobalSpace; }
};

struct Body;

/// An instruction, or an operation with bodies.
struct Item {
  mlir::Operation *op;
  std::optional<Pipe> pipe; ///< of an instruction
  std::vector<Touch> touches;
  std::vector<std::unique_ptr<Body>> bodies;
  std::array<unsigned, kNumPipes> instructions{}; ///< number of instructions in it, by pipe

  bool has(Pipe which) const { return instructions[static_cast<size_t>(which)] != 0; }
};

/// The number that determines the slots of a loop's iteration: iterations with equal numbers may
/// access the same bytes.
struct Frame {
  unsigned slotKey;
  int64_t count;
  mlir::Value slot; ///< null: the iteration's own number
};

struct Body {
  mlir::Block *block;
  mlir::Operation *owner;
  Item *parent = nullptr; ///< the item that contains this body; null: the function
  std::vector<Item> items;
  bool loop = false;         ///< of an `scf.for`
  std::vector<Frame> frames; ///< of a loop
  std::vector<int> frameOf;  ///< by rotation: the frame of this loop in which it rotates, or -1
  bool popsRotate = false;   ///< a frame follows from the pops of a queue in this loop
};

enum class Hazard : uint8_t { RAW, WAR, WAW };

/// A dependence: `dst` must execute after `src`. If it is loop-carried, `src` belongs to an earlier
/// iteration and `dst` to a later one; with a frame, to iterations with equal slots.
struct Dependence {
  const Touch *src, *dst;
  int srcItem, dstItem;
  Hazard hazard;
  bool carried = false;
  int frame = -1;
};

/// A function as a tree. It keeps pointers into the IR, which must not change during its lifetime.
class BlockProgram {
public:
  BlockProgram(mlir::func::FuncOp function, const BlockMachine &machine);
  BlockProgram(const BlockProgram &) = delete;

  Body &root() { return *root_; }
  const std::vector<Rotation> &rotations() const { return rotations_; }
  unsigned numberOf(mlir::Value expression) { return expressions_.idOf(expression); }

  /// The dependences between the items of a body and, for a loop, the loop-carried ones. Only the
  /// latest producers are listed, since the order of earlier ones follows by transitivity.
  /// Dependences within one pipe are listed only for the vector pipe, because the other pipes
  /// execute in order.
  std::vector<Dependence> dependencesOf(const Body &body);
  /// The dependences of an `scf.while`, whose two bodies are treated as one sequence with
  /// consecutive numbers.
  std::vector<Dependence> dependencesOfWhile(const Item &loop);

  /// The instructions of the program that have side effects on events.
  const std::set<const InsideInstruction *> &inside() const { return inside_; }

  /// The value without operations that do not change its remainder modulo `count`.
  mlir::Value stripModulo(mlir::Value slot, int64_t count) const;

private:
  friend class DependenceScan;

  std::unique_ptr<Body> build(mlir::Block &block, mlir::Operation *owner);
  void addInstruction(Item &item);
  void addInside(const InsideInstruction &inside, Item &item);
  void addComposite(Item &item);
  void resolve(mlir::Value value, Touch &touch);
  void resolveTile(mlir::Value value, Touch &touch);
  void resolvePopped(DeclareTileOp tile, Touch &touch);
  void resolveSlot(MultiTileGetOp get, Touch &touch);
  int rotationIndex(const Rotation &rotation);
  unsigned globalSpace(mlir::Value pointer);
  void findFrames(Body &body);
  bool isSlotOf(const Rotation &rotation, Body &body);
  bool popsOncePerIteration(const Rotation &rotation, Body &body);
  bool disjoint(const Touch &earlier, const Touch &later, const Body &body, bool carried);

  mlir::func::FuncOp function_;
  BlockMachine machine_;
  ExpressionTable expressions_;
  std::unique_ptr<Body> root_;
  std::vector<Rotation> rotations_;
  std::set<const InsideInstruction *> inside_;
  llvm::MapVector<mlir::Value, mlir::Value> poppedFrom_; ///< queue of a declared tile, in order
  std::map<std::string, unsigned> spaceByName_;
  llvm::DenseMap<mlir::Value, unsigned> spaceByPointer_;
  unsigned nextSpace_ = kFirstGlobalSpace;
};

} // namespace ptl::pto
