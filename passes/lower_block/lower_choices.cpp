#include "passes/lower_block/lower_choices.h"

namespace ptl::block {

static constexpr int64_t kMaxSlices = 8, kMaxParts = 16, kMaxStreamed = 4;
// Statements are tried with parts of 32, 8 and 2 KiB.
static constexpr int64_t kMostStatement = 32 << 10, kLeastStatement = 2 << 10;
static const LowerOptions kAll; ///< nothing is given up

/// Whether queues with slots of half the size would do.
static bool halfQueuesFit(const Overflow &overflow) {
  int64_t queues = 0;
  for (const LedgerBuffer &buffer : overflow.live)
    if (buffer.kind == LedgerBuffer::Kind::Queue)
      queues += buffer.total;
  // If so, cutting once within loops is better than what would come first.
  return overflow.needed - queues / 2 <= overflow.space.usable;
}

/// Whether anything in the memory that was too small is used in turn.
static bool hasSlots(const KernelFit &fit) {
  return llvm::any_of(fit.tooSmall.live, [](const LedgerBuffer &buffer) {
    return buffer.kind == LedgerBuffer::Kind::Slots;
  });
}

static bool canCutInside(const KernelFit &fit) {
  return fit.mayCut && fit.insideLeft && fit.options.pointParts == 1 &&
         fit.options.parts < kMaxParts;
}

/// Smaller tiles may leave room for what was given up before.
static void restoreOverlap(LowerOptions &options) {
  options.gridBuffers = kAll.gridBuffers;
  options.partBuffers = kAll.partBuffers;
  options.ahead = kAll.ahead;
  // Whether operands have to be streamed depends on the size of the tiles.
  options.streamed = 0;
}

/// Products are cut as well, or nothing is.
static void noSlices(KernelFit &fit) {
  fit.slicesLeft = false;
  fit.options.slices = 1;
}

// ---- what can be given up -----------------------------------------------------------------------

using FitChange = Change<KernelFit>;

static constexpr FitChange kUnrolling = {
    [](const KernelFit &fit) { return fit.options.unrolls && fit.traits.unrolls; },
    [](KernelFit &fit) { fit.options.unrolls = false; },
    [](const KernelFit &fit) -> std::string {
      return fit.traits.unrolls && !fit.options.unrolls ? "loops with `unroll` are not unrolled"
                                                        : "";
    }};

static constexpr FitChange kNextPoint = {
    [](const KernelFit &fit) { return fit.options.gridBuffers > 1 && hasSlots(fit); },
    [](KernelFit &fit) { fit.options.gridBuffers = 1; },
    [](const KernelFit &fit) -> std::string {
      return fit.options.gridBuffers < kAll.gridBuffers
                 ? "loads for the next point of the grid reuse the present buffers"
                 : "";
    }};

static constexpr FitChange kStreaming = {
    // Loading in pieces that left as much to be found has helped nothing.
    [](const KernelFit &fit) {
      return fit.tooSmall.space.place == "mat" && fit.streamsHelp &&
             fit.options.streamed < kMaxStreamed &&
             !(canCutInside(fit) && halfQueuesFit(fit.tooSmall));
    },
    [](KernelFit &fit) { ++fit.options.streamed; },
    [](const KernelFit &fit) -> std::string {
      return fit.options.streamed == 0
                 ? ""
                 : std::to_string(fit.options.streamed) + " of the operands of products " +
                       (fit.options.streamed == 1 ? "is" : "are") + " loaded piece by piece";
    }};

// Lets the vector cores take slices of what stands in a queue. Products stay as they are, so this
// comes before anything that makes the cube core's tiles smaller or leaves it waiting.
static constexpr FitChange kSlices = {
    [](const KernelFit &fit) {
      bool helps = fit.tooSmall.space.place == "vec" || fit.tooSmall.space.place == "acc" ||
                   (fit.options.slices == 1 && fit.tooSmall.space.place == "mat");
      return fit.traits.isMixed && (fit.mayCut || fit.mayHalve) && helps && fit.slicesLeft &&
             fit.options.parts == 1 && fit.options.pointParts == 1 &&
             fit.options.statementBytes == 0 && fit.options.slices < kMaxSlices;
    },
    [](KernelFit &fit) {
      restoreOverlap(fit.options);
      fit.options.slices *= 2;
    },
    [](const KernelFit &fit) -> std::string {
      return fit.options.slices > 1 ? "vector cores take tiles from queues in " +
                                          std::to_string(fit.options.slices) + " slices of rows"
                                    : "";
    }};

static constexpr FitChange kAhead = {
    [](const KernelFit &fit) { return fit.options.ahead > 0 && fit.traits.isMixed; },
    [](KernelFit &fit) { --fit.options.ahead; },
    [](const KernelFit &fit) -> std::string {
      if (!fit.traits.isMixed || fit.options.ahead >= kAll.ahead)
        return "";
      return fit.options.ahead == 0
                 ? "no iteration of a loop runs ahead of the instructions that wait for it"
                 : "one iteration of a loop instead of two runs ahead of the instructions that "
                   "wait for it";
    }};

/// Whether there are parts that load what they need by themselves.
static bool loadsInParts(const LowerOptions &options) {
  return options.pointParts > 1 || options.statementBytes > 0;
}

static constexpr FitChange kNextPart = {
    [](const KernelFit &fit) {
      return loadsInParts(fit.options) && fit.options.partBuffers > 1 && hasSlots(fit);
    },
    [](KernelFit &fit) { fit.options.partBuffers = 1; },
    [](const KernelFit &fit) -> std::string {
      return loadsInParts(fit.options) && fit.options.partBuffers < kAll.partBuffers
                 ? "loads for the next part reuse the present buffers"
                 : "";
    }};

// Computes statements in parts. Tiles that are kept for other statements are the author's and stay
// whole; the rest needs no more bytes than it is given. The points of the grid are then cut anew.
static constexpr FitChange kStatements = {
    [](const KernelFit &fit) {
      return fit.mayCut && fit.tooSmall.space.place == "vec" &&
             fit.options.statementBytes != kLeastStatement;
    },
    [](KernelFit &fit) {
      noSlices(fit);
      fit.options.parts = fit.options.pointParts = 1;
      fit.options.gridBuffers = 1;
      fit.options.partBuffers = kAll.partBuffers;
      fit.options.ahead = 0;
      fit.insideLeft = false;
      int64_t bytes = fit.options.statementBytes;
      fit.options.statementBytes = bytes == 0 ? kMostStatement : bytes / 4;
    },
    [](const KernelFit &fit) -> std::string {
      return fit.options.statementBytes > 0 ? "stores and folds are computed in parts of " +
                                                  bytesText(fit.options.statementBytes) + " at most"
                                            : "";
    }};

static void cutInside(KernelFit &fit) {
  noSlices(fit);
  restoreOverlap(fit.options);
  fit.options.parts *= 2;
}

static constexpr FitChange kPartsInside = {
    canCutInside, cutInside, [](const KernelFit &fit) -> std::string {
      return fit.options.parts > 1 ? "tiles are done in " + std::to_string(fit.options.parts) +
                                         " parts inside of loops"
                                   : "";
    }};

static constexpr FitChange kPartsOfPoint = {
    [](const KernelFit &fit) {
      return fit.mayCut && fit.pointsLeft && fit.options.pointParts < kMaxParts;
    },
    [](KernelFit &fit) {
      // Statements in parts have given up overlap for good: what they load is small.
      if (fit.options.statementBytes == 0)
        restoreOverlap(fit.options);
      noSlices(fit);
      fit.options.parts = 1;
      fit.options.pointParts *= 2;
    },
    [](const KernelFit &fit) -> std::string {
      return fit.options.pointParts > 1 ? "all work of a point of the grid is done in " +
                                              std::to_string(fit.options.pointParts) + " parts"
                                        : "";
    }};

static constexpr FitChange kQueueSlots = {
    [](const KernelFit &fit) { return fit.options.queueSlots > 1 && fit.traits.isMixed; },
    [](KernelFit &fit) {
      restoreOverlap(fit.options);
      noSlices(fit);
      fit.options.parts = fit.options.pointParts = 1;
      fit.options.queueSlots = fit.options.gridBuffers = 1;
      fit.insideLeft = !fit.wholeInside; // all parts once more, with less room for queues
      fit.pointsLeft = !fit.wholePoint;
    },
    [](const KernelFit &fit) -> std::string {
      return fit.traits.isMixed && fit.options.queueSlots < kAll.queueSlots
                 ? "queues between cores have one slot"
                 : "";
    }};

static constexpr FitChange kHalving = {
    [](const KernelFit &fit) { return fit.mayHalve && !fit.isHalving; },
    [](KernelFit &fit) { fit.isHalving = true; },
    [](const KernelFit &fit) -> std::string {
      return fit.halvings == 0 ? ""
                               : "tiles are 1/" + std::to_string(int64_t(1) << fit.halvings) +
                                     " of the usual size";
    }};

std::span<const FitChange> fitChanges() {
  static constexpr FitChange all[] = {kUnrolling,  kNextPoint,  kStreaming,   kSlices,
                                      kAhead,      kNextPart,   kPartsInside, kPartsOfPoint,
                                      kQueueSlots, kStatements, kHalving};
  return all;
}

// ---- the search ---------------------------------------------------------------------------------

static KernelFit firstWay(int64_t halvings, bool mayHalve, bool mayCut) {
  KernelFit fit;
  fit.halvings = halvings;
  fit.mayHalve = mayHalve;
  // Where the size of tiles is the compiler's own choice, smaller ones are better than parts of
  // large ones.
  fit.mayCut = mayCut && !mayHalve;
  return fit;
}

KernelSearch::KernelSearch(int64_t halvings, bool mayHalve, bool mayCut, bool maySlice)
    : search_(fitChanges(), firstWay(halvings, mayHalve, mayCut)) {
  search_.state.slicesLeft = maySlice;
}

bool KernelSearch::afterOverflow(const Overflow &overflow, const KernelTraits &traits) {
  KernelFit &fit = search_.state;
  const LowerOptions &options = fit.options;
  fit.traits = traits;
  if (options.parts == 1 && options.slices == 1 && options.pointParts == 1 &&
      options.statementBytes == 0 && options.queueSlots == kAll.queueSlots)
    // This is what a message says if nothing helps: how much the tiles as written need.
    fit.whole = overflow;
  // Streaming one more operand helps only if the last one did.
  fit.streamsHelp = options.streamed == 0 || overflow.needed < fit.tooSmall.needed;
  fit.tooSmall = overflow;
  return search_.next();
}

bool KernelSearch::afterUncut() {
  // Tiles that cannot be sliced cannot be sliced further either.
  if (present().options.slices > 1) {
    search_.takeBack();
    search_.state.slicesLeft = false;
    return search_.next();
  }
  // The change that failed says which kind of part is not possible.
  bool isInside = present().options.parts > 1;
  // More than two parts mean that two were possible.
  bool atAll = present().options.parts * present().options.pointParts > 2;
  search_.takeBack();
  KernelFit &fit = search_.state;
  (isInside ? fit.insideLeft : fit.pointsLeft) = false;
  (isInside ? fit.wholeInside : fit.wholePoint) |= !atAll;
  return search_.next();
}

std::vector<std::string> KernelSearch::givenUp() const {
  std::vector<std::string> texts;
  for (const FitChange *each :
       {&kUnrolling, &kNextPoint, &kStreaming, &kAhead, &kNextPart, &kQueueSlots, &kStatements})
    if (std::string text = each->text(present()); !text.empty())
      texts.push_back(std::move(text));
  return texts;
}

Overflow KernelSearch::refusal() const {
  Overflow overflow = present().tooSmall;
  // The message lists what did not help, so that the author does not try it again.
  overflow.tried = search_.tried();
  overflow.wholeTiles = present().wholeInside && present().wholePoint;
  return overflow;
}

} // namespace ptl::block
