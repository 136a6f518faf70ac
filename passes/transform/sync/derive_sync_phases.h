// Derives the events of rotating buffers: one pipe fills such a buffer, others use its contents,
// and then it is free again. One event serves all loops that use the buffer, since it signals that
// the buffer is free, wherever the next turn is in the code. It is set before the outermost loop,
// waited for where a turn begins, set again where the turn ends, and waited for after the loop.
#pragma once

#include "passes/transform/sync/derive_sync_order.h"

namespace ptl::pto {

/// A turn in a body: from the item that first fills a buffer to the last that uses it.
struct Phase {
  int resource = -1, first = -1, last = -1;
  SlotNumber slot;
  int frame = -1;      ///< of a loop: in which iterations with this slot follow each other
  bool steady = false; ///< the slot is the same whenever the body runs
  /// By pipe that uses it: the first and the last item that does.
  struct Use {
    int first = -1, last = -1;
    const Touch *firstTouch = nullptr, *lastTouch = nullptr;
  };
  std::array<Use, kNumPipes> uses;
  const Touch *firstTouch = nullptr;
};

/// Bytes that rotate inside an outermost loop.
struct Resource {
  const Item *outer;
  llvm::SmallVector<int> parts; ///< in `PhasePlan::parts_`
  Pipe filler;
  std::array<bool, kNumPipes> users{};
  std::array<bool, kNumPipes> ends{};  ///< users that know when all others have finished
  std::array<bool, kNumPipes> tells{}; ///< users that must signal, because nothing else does
  int64_t slots = 1;
  std::vector<std::pair<const Body *, Phase>> phases;
  std::set<const Body *> bodies; ///< with turns, directly or nested
};

/// The rotating buffers of a function. Keeps pointers into the program.
class PhasePlan {
public:
  explicit PhasePlan(BlockProgram &program);

  llvm::ArrayRef<Resource> resources() const { return resources_; }
  /// The turns of all resources in a body.
  llvm::ArrayRef<Phase> phasesOf(const Body &body) const;
  /// The resource of a touch inside the body's outermost loop; -1: none.
  int resourceOf(const Body &body, const Touch &touch) const;
  /// Whether turns enforce a dependence of a body.
  bool orders(const Body &body, const Dependence &dependence) const;
  /// Merges two resources, which needs fewer events of `from` to `to` and allows less overlap.
  /// False if there are none to merge.
  bool merge(Pipe from, Pipe to);
  /// Gives up the resource that needs most events of `from` to `to`. False if there is none.
  bool drop(Pipe from, Pipe to);

private:
  /// Bytes that overlap, directly or transitively.
  struct Part {
    const Item *outer;
    unsigned space;
    int64_t begin, end;
    Ring ring;
    bool alike = true; ///< all touches belong to one ring, or to none
    bool plain = true; ///< no slots that another core fills
  };

  void findOuter(Body &body);
  void noteBodies(const Body &body, const Item &outer);
  void collect(const Item &outer);
  std::optional<Resource> scan(const Item &outer, llvm::ArrayRef<int> parts);
  void join();
  void cover();
  bool isCovered(const Resource &inner, const Resource &outer) const;
  static bool counts(const Resource &resource, Pipe from, Pipe to);
  void number();
  int partOf(const Item &outer, const Touch &touch) const;
  friend class PhaseScan;

  BlockProgram &program_;
  std::vector<const Item *> outers_;
  std::vector<Part> parts_; ///< by outermost loop, space and begin
  std::map<const Item *, std::pair<size_t, size_t>> partsOf_;
  std::vector<Resource> resources_;
  std::vector<int> resourceOfPart_;
  std::map<const Body *, const Item *> outerOf_;
  std::map<const Body *, std::vector<Phase>> phases_;
};

} // namespace ptl::pto
