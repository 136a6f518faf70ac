#include "passes/lower_block/lower_choices.h"

namespace ptl::block {

static constexpr int64_t kMaxParts = 16, kMaxStreamed = 4;
static const LowerOptions kAll; ///< nothing is given up

/// Whether queues with slots of half the size would do.
static bool halfQueuesFit(const Overflow &overflow) {
  int64_t queues = 0;
  for (const LedgerBuffer &buffer : overflow.live)
    if (buffer.kind == LedgerBuffer::Kind::Queue)
      queues += buffer.total;
  return overflow.needed - queues / 2 <= overflow.space.usable;
}

/// Whether anything in the memory that was too small is used in turn.
bool LowerChoices::hasSlots() const {
  return llvm::any_of(tooSmall_.live, [](const LedgerBuffer &buffer) {
    return buffer.kind == LedgerBuffer::Kind::Slots;
  });
}

bool LowerChoices::canCutInside() const {
  return insideLeft_ && options_.pointParts == 1 && options_.parts < kMaxParts;
}

/// Smaller tiles may leave room for what was given up before.
void LowerChoices::restoreOverlap() {
  options_.gridBuffers = kAll.gridBuffers;
  options_.partBuffers = kAll.partBuffers;
  options_.ahead = kAll.ahead;
  options_.streamed = 0;
}

/// One thing that can be given up for room.
struct Relaxation {
  using Choices = LowerChoices;
  bool (*helps)(const Choices &); ///< it may leave enough room
  void (*change)(Choices &);
  /// That it is given up, in words; empty where it is not, or where others tell it.
  std::string (*text)(const LowerOptions &, const KernelTraits &);

  static const Relaxation all[];

private:
  static bool unrolls(const Choices &c) { return c.options_.unrolls && c.traits_.unrolls; }
  static void unroll(Choices &c) { c.options_.unrolls = false; }
  static std::string unrollText(const LowerOptions &options, const KernelTraits &traits) {
    return traits.unrolls && !options.unrolls ? "loops that say `unroll` are not unrolled" : "";
  }

  static bool hasNext(const Choices &c) { return c.options_.gridBuffers > 1 && c.hasSlots(); }
  static void next(Choices &c) { c.options_.gridBuffers = 1; }
  static std::string nextText(const LowerOptions &options, const KernelTraits &) {
    return options.gridBuffers < kAll.gridBuffers
               ? "what the next point of the grid loads has no buffers of its own"
               : "";
  }

  // Loading in pieces that left as much to be found has helped nothing.
  static bool streams(const Choices &c) {
    return c.tooSmall_.space.place == "mat" && c.streamsHelp_ &&
           c.options_.streamed < kMaxStreamed && !(c.canCutInside() && halfQueuesFit(c.tooSmall_));
  }
  static void stream(Choices &c) { ++c.options_.streamed; }
  static std::string streamText(const LowerOptions &options, const KernelTraits &) {
    return options.streamed == 0
               ? ""
               : std::to_string(options.streamed) + " of the operands of products " +
                     (options.streamed == 1 ? "is" : "are") + " loaded piece by piece";
  }

  static bool isAhead(const Choices &c) { return c.options_.ahead > 0 && c.traits_.isMixed; }
  static void ahead(Choices &c) { --c.options_.ahead; }
  static std::string aheadText(const LowerOptions &options, const KernelTraits &traits) {
    if (!traits.isMixed || options.ahead >= kAll.ahead)
      return "";
    return options.ahead == 0 ? "no iteration of a loop is ahead of what waits for it"
                              : "one iteration of a loop instead of two is ahead of what waits "
                                "for it";
  }

  static bool hasNextPart(const Choices &c) {
    return c.options_.pointParts > 1 && c.options_.partBuffers > 1 && c.hasSlots();
  }
  static void nextPart(Choices &c) { c.options_.partBuffers = 1; }
  static std::string nextPartText(const LowerOptions &options, const KernelTraits &) {
    return options.pointParts > 1 && options.partBuffers < kAll.partBuffers
               ? "what the next part loads has no buffers of its own"
               : "";
  }

  static bool cutsInside(const Choices &c) { return c.canCutInside(); }
  static void cutInside(Choices &c) {
    c.restoreOverlap();
    c.options_.parts *= 2;
  }
  static bool cutsPoints(const Choices &c) {
    return c.pointsLeft_ && c.options_.pointParts < kMaxParts;
  }
  static void cutPoints(Choices &c) {
    c.restoreOverlap();
    c.options_.parts = 1;
    c.options_.pointParts *= 2;
  }
  // The ledger tells the parts of tiles (`LedgerParts`).
  static std::string noText(const LowerOptions &, const KernelTraits &) { return ""; }

  static bool hasQueues(const Choices &c) { return c.options_.queueSlots > 1 && c.traits_.isMixed; }
  static void queues(Choices &c) {
    c.restoreOverlap();
    c.options_.parts = c.options_.pointParts = 1;
    c.options_.queueSlots = c.options_.gridBuffers = 1;
    c.insideLeft_ = c.pointsLeft_ = c.mayCut_; // all parts once more, with less room for queues
  }
  static std::string queueText(const LowerOptions &options, const KernelTraits &traits) {
    return traits.isMixed && options.queueSlots < kAll.queueSlots
               ? "queues between cores have one slot"
               : "";
  }
};

const Relaxation Relaxation::all[] = {
    {unrolls, unroll, unrollText},         {hasNext, next, nextText},
    {streams, stream, streamText},         {isAhead, ahead, aheadText},
    {hasNextPart, nextPart, nextPartText}, {cutsInside, cutInside, noText},
    {cutsPoints, cutPoints, noText},       {hasQueues, queues, queueText},
};

/// What is unlike usual, in words.
static std::string describe(const LowerOptions &options, const std::vector<std::string> &givenUp) {
  std::string text;
  for (const std::string &each : givenUp)
    text += (text.empty() ? "" : "; ") + each;
  int64_t parts = options.parts * options.pointParts;
  if (parts > 1)
    text +=
        (text.empty() ? "" : "; ") + std::string("tiles in ") + std::to_string(parts) + " parts";
  return text;
}

std::vector<std::string> LowerChoices::givenUp(const KernelTraits &traits) const {
  std::vector<std::string> texts;
  for (const Relaxation &each : Relaxation::all)
    if (std::string text = each.text(options_, traits); !text.empty())
      texts.push_back(std::move(text));
  return texts;
}

bool LowerChoices::relax() {
  for (const Relaxation &each : Relaxation::all)
    if (each.helps(*this)) {
      each.change(*this);
      texts_.push_back(describe(options_, givenUp(traits_)));
      return true;
    }
  return false;
}

bool LowerChoices::afterOverflow(const Overflow &overflow, const KernelTraits &traits) {
  traits_ = traits;
  if (options_.parts == 1 && options_.pointParts == 1 && options_.queueSlots == kAll.queueSlots)
    whole_ = overflow;
  streamsHelp_ = options_.streamed == 0 || overflow.needed < tooSmall_.needed;
  tried_ = options_;
  tooSmall_ = overflow;
  return relax();
}

bool LowerChoices::afterUncut() {
  (options_.parts > 1 ? insideLeft_ : pointsLeft_) = false;
  options_ = tried_;
  texts_.pop_back();
  return relax();
}

} // namespace ptl::block
