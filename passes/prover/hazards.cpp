#include "passes/prover/hazards.h"
#include "passes/prover/report.h"

#include "passes/prover/mix.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

namespace ptl::prove {

namespace {

/// Bytes of one memory, adjacent or not, that every access covers all together or not at all.
struct Atom {
  uint32_t writer = kNone;
  bool undefined = false; ///< the writer used it as scratch
  bool unsure = false;    ///< data decide whether it was written
  uint32_t held = 0;      ///< what the writer left, as of `AccessSpec`
  uint32_t readers[8];    ///< the last reader of each pipe since the writer
  Atom() { std::fill(std::begin(readers), std::end(readers), kNone); }
};

class TileJudge {
public:
  TileJudge(const Case &judged, uint32_t core)
      : judged_(judged), index_(core), core_(judged.execution.cores[core]) {}

  void run() {
    // Atoms are found first, since they depend on all accesses of the core.
    findAtoms();
    for (uint32_t i = 0; i < core_.events.size() && !judged_.enough(); ++i) {
      // An allocation begins the life of a buffer anew: what an earlier one wrote is undefined.
      const Event &event = core_.events[i];
      if (event.kind == Event::Alloc)
        epoch_[event.number] = i;
      else if (event.accesses)
        judge(i, event);
    }
  }

private:
  void findAtoms();
  void judge(uint32_t number, const Event &event);
  void checkRead(uint32_t number, const Access &access, uint32_t atom);
  void checkHeld(uint32_t number, const Access &access, const Atom &atom);
  void checkSure(uint32_t number, const Access &access, const Atom &atom);
  void checkWrite(uint32_t number, const Access &access, const Atom &atom);
  void checkInPlace(uint32_t number, const Event &event);
  bool sameBytes(const Access &a, const Access &b, bool &overlap) const;
  /// Also when the pair was reported before.
  bool ordered(uint32_t first, uint32_t second) const {
    return judged_.order.before(index_, core_.events[first].pipe, first, index_, second) ||
           judged_.findings.has(DiagId::PipeHazard, judged_.operation(ref(second)),
                                judged_.operation(ref(first)));
  }
  EventRef ref(uint32_t number) const { return {index_, number}; }
  /// The buffer through which an event wrote an atom.
  uint32_t ownerOf(uint32_t writer, uint32_t atom) const;
  std::string name(uint32_t buffer) const { return judged_.bufferName(buffer); }
  uint32_t &lastWrite(uint32_t buffer, uint32_t atom);
  /// The atoms that an access touches; none for global memory.
  llvm::ArrayRef<uint32_t> atomsOf(uint32_t access) const {
    uint32_t part = partOf_[access];
    if (part == kNone)
      return {};
    return llvm::ArrayRef(touched_).slice(first_[part], first_[part + 1] - first_[part]);
  }

  const Case &judged_;
  uint32_t index_;
  const Core &core_;
  std::vector<Atom> atoms_;
  std::vector<uint32_t> partOf_;          ///< access → what it touches, kNone for global memory
  std::vector<uint32_t> touched_, first_; ///< the atoms of all parts, and where those of each begin
  std::vector<uint32_t> epoch_;           ///< buffer → its last allocation
  std::vector<std::vector<uint32_t>>
      written_; ///< buffer → atom → event that wrote it through this buffer
};

} // namespace

namespace {
/// A part of a memory that is touched.
struct Part {
  uint8_t place;
  int64_t base;
  uint32_t bytes;
};
} // namespace

/// Cuts memories at the ends of all parts, by coordinate compression: only the ends of ranges matter, not single bytes. Visits the pieces
/// of each range of each part, one part after the other, as numbers from `begin` to `end`; returns how many pieces there are.
static uint32_t
cutMemories(const std::vector<Part> &parts, const RangeTable &ranges,
            llvm::function_ref<void(uint32_t part, uint32_t begin, uint32_t end)> visit) {
  std::map<uint8_t, std::vector<int64_t>> cuts;
  for (const Part &part : parts) {
    std::vector<int64_t> &points = cuts[part.place];
    for (const ByteRange &range : ranges[part.bytes]) {
      points.push_back(part.base + range.begin);
      points.push_back(part.base + range.end);
    }
  }
  std::map<uint8_t, uint32_t> first;
  uint32_t total = 0;
  for (auto &[place, points] : cuts) {
    std::sort(points.begin(), points.end());
    // Parts that end where others begin have one cut there, not two with nothing in between.
    points.erase(std::unique(points.begin(), points.end()), points.end());
    first[place] = total;
    total += static_cast<uint32_t>(points.size());
  }
  for (uint32_t number = 0; number < parts.size(); ++number) {
    const Part &part = parts[number];
    const std::vector<int64_t> &points = cuts[part.place];
    uint32_t start = first[part.place];
    auto from = points.begin();
    // Both ends of the ranges increase, so the search starts where the last one ended.
    auto position = [&](int64_t byte) { // ranges are sorted
      from = std::lower_bound(from, points.end(), part.base + byte);
      return start + static_cast<uint32_t>(from - points.begin());
    };
    for (const ByteRange &range : ranges[part.bytes]) {
      uint32_t begin = position(range.begin);
      visit(number, begin, position(range.end));
    }
  }
  return total;
}

// Cuts each memory at the ends of all accesses. Pieces that the same accesses touch have the same
// history, and are one atom; then an access is a few of them.
void TileJudge::findAtoms() {
  std::vector<Part> parts;
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, uint32_t> known;
  for (const Access &access : core_.accesses) {
    partOf_.push_back(kNone);
    if (access.global)
      continue;
    // Equal parts are cut and judged once.
    // `bytes` is an index into the range table and `place` a small number, so both fit into one
    // key.
    auto [entry, isNew] = known.try_emplace(
        {static_cast<uint64_t>(access.base), access.bytes * 256ull + access.place}, parts.size());
    if (isNew)
      parts.push_back({access.place, access.base, access.bytes});
    partOf_.back() = entry->second;
  }
  struct Pieces {
    uint32_t part, begin, end;
  };
  std::vector<Pieces> pieces;
  uint32_t total =
      cutMemories(parts, judged_.ranges, [&](uint32_t part, uint32_t begin, uint32_t end) {
        pieces.push_back({part, begin, end});
      });
  // The hashes of all parts that touch a piece identify its history, so equal hashes become one
  // atom.
  std::vector<uint64_t> touching(total); // a hash of the parts that touch a piece
  for (const Pieces &each : pieces)
    for (uint32_t i = each.begin; i < each.end; ++i)
      touching[i] = mix(touching[i], each.part);
  std::vector<uint32_t> atomOf(total), lastPart;
  llvm::DenseMap<uint64_t, uint32_t> atoms;
  first_.assign(1, 0);
  for (const Pieces &each : pieces) {
    while (first_.size() <= each.part)
      first_.push_back(static_cast<uint32_t>(touched_.size()));
    for (uint32_t i = each.begin; i < each.end; ++i) {
      // The map reserves the two largest keys for itself; the shift keeps hashes away from them.
      auto [entry, isNew] = atoms.try_emplace(touching[i] >> 1, lastPart.size());
      if (isNew)
        lastPart.push_back(kNone);
      // An atom is entered once for a part although several of its pieces belong to it.
      if (std::exchange(lastPart[entry->second], each.part) != each.part)
        touched_.push_back(entry->second);
    }
  }
  // The last entry ends the last part.
  while (first_.size() <= parts.size())
    first_.push_back(static_cast<uint32_t>(touched_.size()));
  atoms_.resize(lastPart.size());
  epoch_.assign(judged_.execution.buffers.size(), 0);
  written_.resize(judged_.execution.buffers.size());
}

uint32_t &TileJudge::lastWrite(uint32_t buffer, uint32_t atom) {
  auto &all = written_[buffer];
  if (all.empty())
    // Most buffers touch few memories, so the table of a buffer is made when it is first written.
    all.assign(atoms_.size(), kNone);
  return all[atom];
}

void TileJudge::judge(uint32_t number, const Event &event) {
  // With one access there is nothing that an instruction could overwrite before it has read it.
  if (event.inPlace || event.accesses > 1)
    checkInPlace(number, event);
  // A write before the last allocation of the buffer does not count.
  auto isWritten = [&](const Access &access, uint32_t i) {
    uint32_t own = lastWrite(access.buffer, i);
    return own != kNone && own >= epoch_[access.buffer];
  };
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = core_.accesses[a];
    auto isDefined = [&](uint32_t i) { return isWritten(access, i); };
    // An access at an unknown position may miss the undefined bytes, as long as some of the bytes
    // are defined. Where none is, it reads undefined bytes at whatever position.
    bool mayMiss = access.partly && (access.writes || llvm::any_of(atomsOf(a), isDefined));
    for (uint32_t i : atomsOf(a)) {
      if (access.reads && (!mayMiss || isDefined(i)))
        checkRead(number, access, i);
      if (access.writes || access.scratch)
        checkWrite(number, access, atoms_[i]);
    }
  }
  // All accesses of an event are checked before any of them is entered, since an instruction reads
  // before it writes.
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = core_.accesses[a];
    for (uint32_t i : atomsOf(a)) {
      Atom &atom = atoms_[i];
      if (access.writes || access.scratch) {
        bool staysUnsure = !isWritten(access, i) || atom.undefined || atom.unsure;
        atom = Atom();
        atom.writer = number;
        // Where data decide the place of a write, it makes defined what it meets, and nobody knows what it meets.
        atom.unsure = access.partly && staysUnsure;
        // What scratch leaves behind is garbage, which a later reader of this buffer must not see.
        atom.undefined = access.scratch;
        atom.held = access.scratch ? 0 : access.held;
        lastWrite(access.buffer, i) = number;
      } else {
        // What is ordered after the last reader of a pipe is so after its earlier ones, too.
        atom.readers[event.pipe] = number;
      }
    }
  }
}

uint32_t TileJudge::ownerOf(uint32_t writer, uint32_t atom) const {
  for (uint32_t b = 0; b < written_.size(); ++b)
    if (!written_[b].empty() && written_[b][atom] == writer)
      return b;
  return 0;
}

void TileJudge::checkRead(uint32_t number, const Access &access, uint32_t index) {
  const Atom &atom = atoms_[index];
  if (atom.writer != kNone && !ordered(atom.writer, number))
    reportHazard(judged_, HazardKind::ReadAfterWrite, ref(atom.writer), ref(number),
                 name(access.buffer), name(ownerOf(atom.writer, index)));
  uint32_t own = lastWrite(access.buffer, index);
  mlir::Operation *reader = judged_.operation(ref(number));
  bool allocatedSince = own != kNone && own < epoch_[access.buffer];
  if (own == kNone || allocatedSince || (own == atom.writer && atom.undefined)) {
    // A push hands on whole slots; what was never written there is as undefined to who pops it.
    if (reader->getName().getStringRef() == "pto.tpush")
      return;
    const char *why = own == kNone     ? "parts of which were never written"
                      : allocatedSince ? "which was allocated again after it was written"
                                       : "which was used as scratch space after it was written";
    mlir::Operation *maker = judged_.kernel.operations[judged_.execution.buffers[access.buffer].op];
    if (judged_.findings.has(DiagId::ReadOfUndefined, reader, maker))
      return;
    Finding *finding = judged_.findings.add(DiagId::ReadOfUndefined, reader,
                                            {mnemonic(reader), name(access.buffer), why}, maker);
    if (finding) {
      finding->related.push_back({maker->getLoc(), "`" + name(access.buffer) + "` is made here"});
      if (!judged_.with.empty())
        finding->notes.push_back("it happens with " + judged_.with);
    }
    return;
  }
  // The last writer of the bytes wrote them through this very buffer, so only the value can be
  // wrong.
  if (atom.writer == own) {
    checkSure(number, access, atom);
    checkHeld(number, access, atom);
    return;
  }
  mlir::Operation *writer = judged_.operation(ref(atom.writer));
  // One pair of operations may touch many atoms, and is told once.
  if (judged_.findings.has(DiagId::ValueOverwritten, reader, writer))
    return;
  uint32_t other = ownerOf(atom.writer, index);
  Finding *finding = judged_.findings.add(
      DiagId::ValueOverwritten, reader,
      {mnemonic(reader), name(access.buffer), mnemonic(writer), name(other)}, writer);
  if (!finding)
    return;
  const auto &buffers = judged_.execution.buffers;
  auto where = [&](uint32_t b) {
    return "`" + name(b) + "` lies at bytes " + std::to_string(buffers[b].base) + " to " +
           std::to_string(buffers[b].base + buffers[b].bytes - 1);
  };
  finding->related.push_back({writer->getLoc(), "this writes `" + name(other) + "`"});
  finding->related.push_back(
      {judged_.operation(ref(own))->getLoc(), "the value that is read was written here"});
  finding->related.push_back(
      {judged_.kernel.operations[buffers[access.buffer].op]->getLoc(), where(access.buffer)});
  finding->related.push_back(
      {judged_.kernel.operations[buffers[other].op]->getLoc(), where(other)});
  finding->fix =
      "place `" + name(other) + "` where it shares no bytes with `" + name(access.buffer) + "`";
}

// Of a read whose place data decide, too, nobody can say more.
void TileJudge::checkSure(uint32_t number, const Access &access, const Atom &atom) {
  mlir::Operation *reader = judged_.operation(ref(number));
  // A push hands on whole slots; who pops it reads what was written.
  bool isWhole = !access.partly && reader->getName().getStringRef() != "pto.tpush";
  if (atom.unsure && isWhole && !judged_.findings.has(DiagId::CannotBeProved, reader, nullptr))
    judged_.findings.undecided(reader, "whether all that `" + mnemonic(reader) + "` reads of `" +
                                           name(access.buffer) + "` was written depends on data");
}

// The right buffer, but does it still hold the value that the compiler takes from it?
void TileJudge::checkHeld(uint32_t number, const Access &access, const Atom &atom) {
  // A place that wants no value, or a writer that left none, has no witness and is not judged.
  const std::vector<int32_t> &wanted = judged_.kernel.held[access.writes ? 0 : access.held];
  if (wanted.empty() || !atom.held || llvm::is_contained(wanted, static_cast<int32_t>(atom.held)))
    return;
  mlir::Operation *reader = judged_.operation(ref(number)),
                  *writer = judged_.operation(ref(atom.writer));
  std::string buffer = name(access.buffer);
  Finding *finding =
      judged_.findings.add(DiagId::ValueOverwritten, reader,
                           {mnemonic(reader), buffer, mnemonic(writer), buffer}, writer);
  if (!finding)
    return;
  finding->related.push_back({writer->getLoc(), "this leaves another value in `" + buffer + "`"});
  finding->related.push_back(
      {judged_.kernel.operations[judged_.execution.buffers[access.buffer].op]->getLoc(),
       "`" + buffer + "` is made here"});
  if (!judged_.with.empty())
    finding->notes.push_back("it happens with " + judged_.with);
  finding->fix = "give each of the two values a buffer of its own";
}

void TileJudge::checkWrite(uint32_t number, const Access &access, const Atom &atom) {
  if (atom.writer != kNone && atom.writer != number && !ordered(atom.writer, number)) {
    uint32_t index = static_cast<uint32_t>(&atom - atoms_.data());
    reportHazard(judged_, HazardKind::WriteAfterWrite, ref(atom.writer), ref(number),
                 name(access.buffer), name(ownerOf(atom.writer, index)));
  }
  for (uint32_t reader : atom.readers) {
    if (reader == kNone || ordered(reader, number))
      continue;
    const Event &earlier = core_.events[reader];
    // The report names the buffer through which the reader reached the atom, which may be another
    // one.
    uint32_t other = access.buffer;
    for (uint32_t a = earlier.access; a < earlier.access + earlier.accesses; ++a)
      if (core_.accesses[a].reads && llvm::is_contained(atomsOf(a), &atom - atoms_.data()))
        other = core_.accesses[a].buffer;
    reportHazard(judged_, HazardKind::WriteAfterRead, ref(reader), ref(number), name(access.buffer),
                 name(other));
  }
}

// Whether two accesses touch exactly the same bytes; `overlap`: at least some.
bool TileJudge::sameBytes(const Access &a, const Access &b, bool &overlap) const {
  overlap = false;
  if (a.place != b.place)
    return false;
  if (a.base == b.base && a.bytes == b.bytes) {
    overlap = !judged_.ranges[a.bytes].empty();
    return true;
  }
  const auto &x = judged_.ranges[a.bytes], &y = judged_.ranges[b.bytes];
  // Two sorted lists of ranges are walked in step until one pair intersects.
  for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    int64_t beginX = a.base + x[i].begin, endX = a.base + x[i].end;
    int64_t beginY = b.base + y[j].begin, endY = b.base + y[j].end;
    if (beginX < endY && beginY < endX) {
      overlap = true;
      break;
    }
    endX <= endY ? ++i : ++j;
  }
  return a.base == b.base && x == y;
}

void TileJudge::checkInPlace(uint32_t number, const Event &event) {
  uint32_t last = event.access + event.accesses;
  for (uint32_t a = event.access; a < last; ++a)
    for (uint32_t b = a + 1; b < last; ++b) {
      const Access &x = core_.accesses[a], &y = core_.accesses[b];
      // Two reads never disturb each other, and what the data places cannot be compared.
      bool harmless = x.global || y.global || x.partly || y.partly ||
                      (!x.writes && !x.scratch && !y.writes && !y.scratch),
           overlap;
      if (harmless)
        continue;
      bool same = sameBytes(x, y, overlap);
      bool oneReads = (x.reads && y.writes) || (x.writes && y.reads);
      // Exactly the same bytes are allowed where the instruction is known to work in place.
      if (!overlap || (same && oneReads && event.inPlace))
        continue;
      bool writesX = x.writes || x.scratch;
      mlir::Operation *op = judged_.operation(ref(number));
      if (judged_.findings.has(DiagId::InPlaceOverlap, op, nullptr))
        continue;
      Finding *finding = judged_.findings.add(
          DiagId::InPlaceOverlap, op,
          {mnemonic(op), name((writesX ? x : y).buffer), name((writesX ? y : x).buffer)});
      if (finding)
        for (const Access *access : {&x, &y})
          finding->related.push_back(
              {judged_.kernel.operations[judged_.execution.buffers[access->buffer].op]->getLoc(),
               "`" + name(access->buffer) + "` lies at byte " + std::to_string(access->base)});
    }
}

void judgeTiles(const Case &judged) {
  const std::vector<Core> &cores = judged.execution.cores;
  for (uint32_t core = 0; core < cores.size(); ++core) {
    // If one vector core has no fault, the other one, which runs the same code on the same bytes,
    // has none.
    bool again = core > 0 && cores[core].function == cores[core - 1].function &&
                 cores[core].hash == cores[core - 1].hash;
    if (!again)
      TileJudge(judged, core).run();
  }
}

// ---- slots of queues ----------------------------------------------------------------------------

namespace {
using PushKey = std::pair<uint16_t, int64_t>; ///< queue, number of the push
} // namespace

static void judgeSlotsOf(const Case &judged, uint32_t consumer,
                         const std::multimap<PushKey, EventRef> &pushes) {
  const Core &core = judged.execution.cores[consumer];
  // A slot's tile is read until the push that takes the same slot again, `slots` pushes later.
  std::map<uint32_t, PushKey> writers; // buffer → the push that writes its bytes next
  for (uint32_t i = 0; i < core.events.size(); ++i) {
    const Event &event = core.events[i];
    if (event.kind == Event::Pop && !judged.kernel.queues[event.flag].throughGlobal)
      writers[core.accesses[event.access].buffer] = {
          event.flag, event.number + judged.kernel.queues[event.flag].producer().slots};
    if (event.kind != Event::Operation && event.kind != Event::Push)
      continue;
    for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
      const Access &access = core.accesses[a];
      auto next = access.global ? writers.end() : writers.find(access.buffer);
      if (next == writers.end())
        continue;
      auto [first, last] = pushes.equal_range(next->second);
      for (auto push = first; push != last; ++push) {
        EventRef ref = push->second;
        const Core &producer = judged.execution.cores[ref.core];
        // A push of the same side is ordered elsewhere; only the other side's push overwrites the
        // slot.
        if (producer.function->cube == core.function->cube ||
            judged.order.before(consumer, event.pipe, i, ref.core, ref.event))
          continue;
        std::string name = judged.bufferName(access.buffer);
        reportHazard(judged, HazardKind::WriteAfterRead, {consumer, i}, ref, name, name);
      }
    }
  }
}

/// Through the consumer's own memory a slot is written again by the push that comes so many later:
/// all that touches the popped tile has to be done by then.
void judgeSlots(const Case &judged) {
  const std::vector<Queue> &queues = judged.kernel.queues;
  if (std::all_of(queues.begin(), queues.end(), [](const Queue &q) { return q.throughGlobal; }))
    return;
  std::multimap<PushKey, EventRef> pushes;
  for (uint32_t core = 0; core < judged.execution.cores.size(); ++core) {
    const std::vector<Event> &events = judged.execution.cores[core].events;
    for (uint32_t i = 0; i < events.size(); ++i)
      if (events[i].kind == Event::Push)
        pushes.insert({{events[i].flag, events[i].number}, {core, i}});
  }
  for (uint32_t core = 0; core < judged.execution.cores.size(); ++core)
    judgeSlotsOf(judged, core, pushes);
}

} // namespace ptl::prove
