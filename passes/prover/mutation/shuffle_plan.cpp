#include "passes/prover/mutation/shuffle_plan.h"

#include "ir/dialect/pto_dialect.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ptl::prove {

ShufflePlan::ShufflePlan(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
                         const Machine &machine)
    : kernel(kernel), execution(execution), vectorBarrier(machine.vectorBarrier),
      cores(execution.cores.size()) {
  // A mutant has the operations of what it was made from, not copies.
  for (mlir::Operation *op : kernel.operations)
    identity.push_back(reinterpret_cast<uintptr_t>(op));
  makeCells();
  for (uint32_t core = 0; core < cores.size(); ++core) {
    CorePlan &plan = cores[core];
    const std::vector<Event> &events = execution.cores[core].events;
    for (uint32_t i = 0; i < events.size(); ++i) {
      const Event &event = events[i];
      // A core has at most eight pipes, so they fit a byte.
      plan.pipes |= static_cast<uint8_t>(1u << (event.pipe & 7));
      if (event.kind == Event::Push || event.kind == Event::Pop)
        plan.takesPart.insert({event.flag, event.kind});
      if (event.kind == Event::Pop)
        plan.pops[{event.flag, event.number}] = i;
    }
    makeAtoms(core, ranges, machine);
    findInPlace(core);
    findPushed(core);
  }
}

// ---- global memory ------------------------------------------------------------------------------

void ShufflePlan::makeCells() {
  std::vector<uint32_t> cellOf;
  std::map<std::pair<uint32_t, int64_t>, std::vector<uint32_t>> known; // pointer and offset → cells
  for (const GlobalBox &box : execution.boxes) {
    // Boxes are hashed by pointer and offset; only those that agree in both are compared.
    std::vector<uint32_t> &near = known[{box.pointer, box.offset}];
    auto same =
        std::find_if(near.begin(), near.end(), [&](uint32_t cell) { return cells[cell] == box; });
    if (same == near.end()) {
      near.push_back(static_cast<uint32_t>(cells.size()));
      cells.push_back(box);
      same = near.end() - 1;
    }
    cellOf.push_back(*same);
  }
  // Only boxes that something writes can conflict with others.
  overlaps.resize(cells.size());
  std::map<uint32_t, std::vector<uint32_t>> written; // pointer → cells that something writes
  std::vector<bool> isWritten(cells.size());
  for (uint32_t core = 0; core < cores.size(); ++core) {
    cores[core].touches.resize(execution.cores[core].accesses.size());
    for (size_t a = 0; a < cores[core].touches.size(); ++a) {
      const Access &access = execution.cores[core].accesses[a];
      if (!access.global)
        continue;
      uint32_t cell = cores[core].touches[a].cell = cellOf[access.bytes];
      if (access.writes && !isWritten[cell]) {
        isWritten[cell] = true;
        written[cells[cell].pointer].push_back(cell);
      }
    }
  }
  for (uint32_t cell = 0; cell < cells.size(); ++cell)
    // Boxes of one pointer are compared in pairs; other pointers never meet.
    for (uint32_t writer : written[cells[cell].pointer])
      if (writer != cell && mayOverlap(cells[writer], cells[cell]))
        overlaps[writer].push_back(cell);
}

// ---- on chip ------------------------------------------------------------------------------------

void ShufflePlan::makeAtoms(uint32_t core, const RangeTable &ranges, const Machine &machine) {
  CorePlan &plan = cores[core];
  const std::vector<Access> &accesses = execution.cores[core].accesses;
  // On chip memory is cut where any access begins or ends. Between two cuts lies an atom, whose
  // bytes are always accessed together.
  std::map<uint8_t, std::vector<int64_t>> cuts;
  for (const Access &access : accesses)
    if (!access.global)
      for (const ByteRange &range : ranges[access.bytes]) {
        cuts[access.place].push_back(access.base + range.begin);
        cuts[access.place].push_back(access.base + range.end);
      }
  std::map<uint8_t, uint32_t> first;
  for (auto &[place, points] : cuts) {
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    first[place] = static_cast<uint32_t>(plan.lengths.size());
    for (size_t i = 0; i < points.size(); ++i)
      // The last cut ends the memory; its atom has no bytes.
      plan.lengths.push_back(i + 1 < points.size() ? points[i + 1] - points[i] : 0);
  }
  // Equal accesses share their spans.
  std::map<std::tuple<uint8_t, int64_t, uint32_t>, std::pair<uint32_t, uint32_t>> known;
  for (size_t a = 0; a < accesses.size(); ++a) {
    const Access &access = accesses[a];
    Touch &touch = plan.touches[a];
    // Scratch is written with something that nobody may read, and read by its own instruction
    // alone.
    touch.reads = access.reads && !access.scratch;
    touch.writes = access.writes || access.scratch;
    touch.atomic = access.atomic;
    touch.global = access.global;
    if (access.global)
      continue;
    const MemorySpace *space =
        machine.space(std::string_view(ir::placeName(static_cast<ir::Place>(access.place))));
    int64_t end = space && space->usableBytes() > 0 ? space->usableBytes() : INT64_MAX;
    for (const ByteRange &range : ranges[access.bytes])
      // Bytes outside of the memory are noted for the judge.
      touch.outside |= access.base + range.begin < 0 || access.base + range.end > end;
    auto [entry, isNew] = known.try_emplace({access.place, access.base, access.bytes});
    if (isNew) {
      entry->second.first = static_cast<uint32_t>(plan.spans.size());
      const std::vector<int64_t> &points = cuts[access.place];
      auto atomAt = [&](int64_t byte) {
        auto point = std::lower_bound(points.begin(), points.end(), access.base + byte);
        return first[access.place] + static_cast<uint32_t>(point - points.begin());
      };
      for (const ByteRange &range : ranges[access.bytes])
        plan.spans.push_back({atomAt(range.begin), atomAt(range.end)});
      entry->second.second = static_cast<uint32_t>(plan.spans.size());
    }
    std::tie(touch.firstSpan, touch.lastSpan) = entry->second;
  }
}

// While it runs, its result cannot be told from its operand.
void ShufflePlan::findInPlace(uint32_t core) {
  CorePlan &plan = cores[core];
  const std::vector<Event> &events = execution.cores[core].events;
  plan.inPlace.resize(events.size());
  auto meet = [&](const Touch &x, const Touch &y) {
    for (uint32_t i = x.firstSpan, j = y.firstSpan; i < x.lastSpan && j < y.lastSpan;) {
      const Span &one = plan.spans[i], &two = plan.spans[j];
      if (one.begin < two.end && two.begin < one.end)
        return true;
      // Spans are sorted, so one pass over both lists finds whether any two meet.
      one.end <= two.end ? ++i : ++j;
    }
    return false;
  };
  for (uint32_t e = 0; e < events.size(); ++e) {
    uint32_t from = events[e].access, to = from + events[e].accesses;
    bool found = false;
    for (uint32_t a = from; a < to && !found; ++a)
      for (uint32_t b = from; b < to && !found; ++b) {
        const Touch &x = plan.touches[a], &y = plan.touches[b];
        if (!x.reads || !y.writes || x.global != y.global)
          continue;
        // An access that both reads and writes is in place by itself.
        found = x.global ? x.cell == y.cell : a == b || meet(x, y);
      }
    plan.inPlace[e] = found;
  }
}

// In program order: an atom has a value if the buffer that is pushed wrote it last, since its
// allocation and since it was pushed there the last time: rows beyond the valid ones hold what an
// earlier turn left, which nobody reads.
void ShufflePlan::findPushed(uint32_t core) {
  CorePlan &plan = cores[core];
  const Core &trace = execution.cores[core];
  struct Written {
    uint32_t buffer = kNone, event = 0;
  };
  std::vector<Written> written(plan.lengths.size());
  std::vector<uint32_t> allocated(execution.buffers.size());
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> lastPushes; // operation, buffer
  // The last write of each atom in program order is what a push hands over.
  for (uint32_t i = 0; i < trace.events.size(); ++i) {
    const Event &event = trace.events[i];
    if (event.kind == Event::Alloc)
      allocated[event.number] = i;
    for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
      const Touch &touch = plan.touches[a];
      uint32_t buffer = trace.accesses[a].buffer;
      bool pushes = event.kind == Event::Push;
      if (touch.global || (!pushes && !touch.writes))
        continue;
      std::vector<bool> *known = pushes ? &plan.pushed[i] : nullptr;
      uint32_t since = allocated[buffer];
      // What was pushed before is the consumer's; only writes since then count.
      if (pushes)
        since = std::max(since, std::exchange(lastPushes[{event.op, buffer}], i));
      for (uint32_t s = touch.firstSpan; s < touch.lastSpan; ++s)
        for (uint32_t atom = plan.spans[s].begin; atom < plan.spans[s].end; ++atom)
          if (known)
            known->push_back(written[atom].buffer == buffer && written[atom].event >= since);
          else
            written[atom] = {buffer, i};
    }
  }
}

} // namespace ptl::prove
