#include "passes/prover/hazards.h"

#include <algorithm>
#include <map>

namespace ptl::prove {

namespace {

/// Bytes of one memory that no access tells apart.
struct Atom {
  uint32_t writer = kNone;
  bool undefined = false; ///< the writer used it as scratch
  uint32_t readers[8];    ///< the last reader of each pipe since the writer
  uint32_t lastReader = 0;
  Atom() { std::fill(std::begin(readers), std::end(readers), kNone); }
};

struct Span {
  uint32_t begin, end;
};

class TileJudge {
public:
  TileJudge(const Case &judged, uint32_t core)
      : judged_(judged), index_(core), core_(judged.execution.cores[core]) {}

  void run() {
    findAtoms();
    for (uint32_t i = 0; i < core_.events.size() && !judged_.enough(); ++i) {
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
  void read(uint32_t number, const Access &access, const std::vector<Span> &spans);
  void checkRead(uint32_t number, const Access &access, uint32_t atom);
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

  const Case &judged_;
  uint32_t index_;
  const Core &core_;
  std::vector<Atom> atoms_;
  std::vector<uint32_t> spanOf_;         ///< access → index of spans_, kNone for global memory
  std::vector<std::vector<Span>> spans_; ///< of each different part
  std::vector<uint32_t> epoch_;          ///< buffer → its last allocation
  std::vector<std::vector<uint32_t>>
      written_; ///< buffer → atom → event that wrote it through this buffer
};

} // namespace

// Cuts each memory at the ends of all accesses; then an access is a few runs of atoms.
void TileJudge::findAtoms() {
  struct Key {
    uint8_t place;
    int64_t base;
    uint32_t bytes;
    auto operator<=>(const Key &) const = default;
  };
  std::map<Key, uint32_t> known;
  std::vector<Key> keys;
  for (const Access &access : core_.accesses) {
    spanOf_.push_back(kNone);
    if (access.global)
      continue;
    auto [entry, isNew] =
        known.try_emplace({access.place, access.base, access.bytes}, uint32_t(keys.size()));
    if (isNew)
      keys.push_back(entry->first);
    spanOf_.back() = entry->second;
  }
  std::map<uint8_t, std::vector<int64_t>> cuts;
  for (const Key &key : keys)
    for (const ByteRange &range : judged_.ranges[key.bytes]) {
      cuts[key.place].push_back(key.base + range.begin);
      cuts[key.place].push_back(key.base + range.end);
    }
  std::map<uint8_t, uint32_t> first;
  uint32_t total = 0;
  for (auto &[place, points] : cuts) {
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    first[place] = total;
    total += static_cast<uint32_t>(points.size());
  }
  atoms_.resize(total);
  for (const Key &key : keys) {
    std::vector<Span> spans;
    for (const ByteRange &range : judged_.ranges[key.bytes]) {
      const auto &points = cuts[key.place];
      auto position = [&](int64_t byte) {
        return first[key.place] +
               static_cast<uint32_t>(
                   std::lower_bound(points.begin(), points.end(), key.base + byte) -
                   points.begin());
      };
      spans.push_back({position(range.begin), position(range.end)});
    }
    spans_.push_back(std::move(spans));
  }
  epoch_.assign(judged_.execution.buffers.size(), 0);
  written_.resize(judged_.execution.buffers.size());
}

uint32_t &TileJudge::lastWrite(uint32_t buffer, uint32_t atom) {
  auto &all = written_[buffer];
  if (all.empty())
    all.assign(atoms_.size(), kNone);
  return all[atom];
}

void TileJudge::judge(uint32_t number, const Event &event) {
  if (event.inPlace || event.accesses > 1)
    checkInPlace(number, event);
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = core_.accesses[a];
    if (spanOf_[a] == kNone)
      continue;
    for (Span span : spans_[spanOf_[a]])
      for (uint32_t i = span.begin; i < span.end; ++i) {
        if (access.reads)
          checkRead(number, access, i);
        if (access.writes || access.scratch)
          checkWrite(number, access, atoms_[i]);
      }
  }
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = core_.accesses[a];
    if (spanOf_[a] == kNone)
      continue;
    for (Span span : spans_[spanOf_[a]])
      for (uint32_t i = span.begin; i < span.end; ++i) {
        Atom &atom = atoms_[i];
        if (access.writes || access.scratch) {
          atom = Atom();
          atom.writer = number;
          atom.undefined = access.scratch;
          lastWrite(access.buffer, i) = number;
        } else {
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
                      : allocatedSince ? "which was allocated again since it was written"
                                       : "which was used as scratch since";
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
  if (atom.writer == own)
    return;
  mlir::Operation *writer = judged_.operation(ref(atom.writer));
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
    uint32_t other = access.buffer;
    for (uint32_t a = earlier.access; a < earlier.access + earlier.accesses; ++a)
      if (spanOf_[a] != kNone && core_.accesses[a].reads)
        for (Span span : spans_[spanOf_[a]])
          if (auto i = static_cast<uint32_t>(&atom - atoms_.data());
              i >= span.begin && i < span.end)
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
      bool harmless = x.global || y.global || (!x.writes && !x.scratch && !y.writes && !y.scratch),
           overlap;
      if (harmless)
        continue;
      bool same = sameBytes(x, y, overlap);
      bool oneReads = (x.reads && y.writes) || (x.writes && y.reads);
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
    // What one vector core does right, the other one does, too.
    bool again = core > 0 && cores[core].function == cores[core - 1].function &&
                 cores[core].hash == cores[core - 1].hash;
    if (!again)
      TileJudge(judged, core).run();
  }
}

// ---- slots of queues
// ----------------------------------------------------------------------------------------------

namespace {
using PushKey = std::pair<uint16_t, int64_t>; ///< queue, number of the push
} // namespace

static void judgeSlotsOf(const Case &judged, uint32_t consumer,
                         const std::multimap<PushKey, EventRef> &pushes) {
  const Core &core = judged.execution.cores[consumer];
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
