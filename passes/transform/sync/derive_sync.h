// Derives the events and barriers of a function at the block level without synchronisation. They
// order every two instructions that must not be reordered, with as few events as possible.
#pragma once

#include "passes/transform/sync/derive_sync_phases.h"

namespace ptl::pto {

/// An event or a barrier that was inserted.
struct SyncEdge {
  Pipe from, to;        ///< of a barrier: equal; `All`: all pipes
  int firstId = -1;     ///< -1: a barrier
  int64_t ids = 1;      ///< used in rotation
  bool carried = false; ///< from one iteration to a later one
  bool reuse = false;   ///< needed before an event can be reused
  std::string why;      ///< RAW on `x`: tload (12:5) -> tadd (13:9)
  std::string buffer;   ///< its name; empty if there is none
  mlir::Operation *producer = nullptr, *consumer = nullptr;
};

struct SyncStatistics {
  unsigned dependences = 0; ///< between different pipes, or such that need a barrier
  unsigned implied = 0;     ///< of these, implied by others
  unsigned events = 0, barriers = 0, fullBarriers = 0;
  std::array<unsigned, kNumPairs> ids{}; ///< number of ids in use, by pair of pipes
};

struct SyncResult {
  SyncStatistics statistics;
  std::vector<SyncEdge> edges;
};

/// Works in place. Returns false, with nothing changed, for a function that already has
/// synchronisation and, with a diagnostic, if a buffer has no address.
bool deriveSync(mlir::func::FuncOp function, const BlockMachine &machine, SyncResult &result);

/// Writes `{"function": …, "statistics": …, "edges": […]}`, for tools.
void writeSyncJson(llvm::StringRef function, const SyncResult &result, llvm::raw_ostream &os);

// ---- the parts of the solver --------------------------------------------------------------------

/// The synchronisation of all bodies of a function.
class FunctionOrder {
public:
  FunctionOrder(BlockProgram &program, const BlockMachine &machine)
      : program_(program), machine_(machine), plan_(program) {
    policy_.vectorBarrier = machine.vectorBarrier;
    policy_.eventIds = machine.eventIds;
  }
  /// Chooses events, barriers and ids for all bodies.
  void solve();

  BodyOrder &of(const Body &body) { return *orders_.at(&body); }
  /// The item around which the first sets and last waits of a loop's carried events are placed: the
  /// loop itself or an enclosing loop.
  const Item *drainItem(const Body &loop) const;
  /// The same for an event of one of its bodies.
  const Item *drainItem(const Body &body, const Event &event) const;
  /// The places where an `scf.while` needs a barrier of all pipes: at the start and at the end of
  /// its second body.
  struct WhileBarriers {
    bool between = false, atEnd = false;
    Reason why;
  };
  WhileBarriers whileBarriers(const Item &item);
  unsigned numDependences() const { return numDependences_; }

private:
  enum class Outcome { Done, Again, MoreEffort };
  using Masks = std::array<uint32_t, kNumPairs>;

  void build();
  bool build(Body &body);
  ItemEffect effectOf(Item &item);
  bool hoists(const Body &loop) const;
  void collectDrains(const Item &item, const Item &around, std::vector<ItemEffect::Drain> &drains);
  void forEvents(const Item &item, llvm::function_ref<void(Event &, const Body &)> visit);
  Outcome allocate(Body &body, const Masks &allowed, Masks &used);
  Outcome allocateLoop(Item &item, const Masks &free, Masks &used);
  void escalate(Pipe from, Pipe to);
  void makeDo(Pipe from, Pipe to);

  friend class StraightAllocator;
  BlockProgram &program_;
  const BlockMachine &machine_;
  PhasePlan plan_;
  SyncPolicy policy_;
  std::map<const Body *, std::unique_ptr<BodyOrder>> orders_;
  std::vector<size_t> hopeless_;           ///< pairs for which only barriers are left
  std::map<const Body *, Body *> parents_; ///< the body that contains the item of a body
  unsigned numDependences_ = 0;
};

} // namespace ptl::pto
