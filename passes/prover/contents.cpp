#include "passes/prover/contents.h"

#include "passes/prover/mix.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <algorithm>

namespace ptl::prove {

Contents::Contents(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
                   uint32_t core)
    : kernel_(kernel), execution_(execution), ranges_(ranges) {
  const Core &trace = execution.cores[core];
  for (const Event &event : trace.events)
    results_.push_back(resultOf(trace, event));
}

uint64_t Contents::resultOf(const Core &core, const Event &event) {
  bool computes =
      event.kind == Event::Operation || event.kind == Event::Push || event.kind == Event::Pop;
  if (!computes)
    return 0;
  // Decisions that depend on scalars from memory are not followed. All results depend on these
  // scalars instead, so that cores which read different ones count as doing different things.
  // A result is a hash of the operation and of everything that goes into it; equal hashes stand for
  // equal contents.
  uint64_t result = mix(mix(event.op, event.scalars), scalars_);
  // A pop depends on which tile it gets, and, of a split tile, on which part.
  if (event.kind == Event::Pop) {
    auto split = kernel_.operations[event.op]->getAttrOfType<mlir::IntegerAttr>("split");
    bool parts = split && split.getInt() != 0;
    result = mix(result, mix(event.number, parts ? core.subBlock + 1 : 0));
  }
  bool writes = false;
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a) {
    const Access &access = core.accesses[a];
    writes |= access.writes;
    // Global memory is named by its box; its contents are not followed.
    if (access.global)
      result = mix(result, hashOf(execution_.boxes[access.bytes]));
    else if (access.reads)
      result = mix(result, read(access));
  }
  for (uint32_t a = event.access; a < event.access + event.accesses; ++a)
    // Several results of one operation differ by their number.
    if (const Access &access = core.accesses[a];
        !access.global && (access.writes || access.scratch))
      write(access, mix(result, a - event.access));
  if (event.pipe == static_cast<uint8_t>(Pipe::S) && !writes)
    // A read into the scalar unit changes no memory, but all that follows may depend on it.
    scalars_ = mix(scalars_, result);
  return result;
}

// No piece lies on both sides of `at`.
void Contents::cut(Memory &memory, int64_t at) {
  auto next = memory.upper_bound(at);
  if (next == memory.begin())
    return;
  auto piece = std::prev(next);
  if (piece->first == at || piece->second.end <= at)
    return;
  // Both pieces keep the place where their value begins, so parts of it can be told apart.
  memory.emplace_hint(next, at, piece->second);
  piece->second.end = at;
}

uint64_t Contents::read(const Access &access) {
  Memory &memory = memories_[access.place];
  uint64_t result = 0;
  for (const ByteRange &range : ranges_[access.bytes]) {
    int64_t begin = access.base + range.begin, end = access.base + range.end;
    cut(memory, begin);
    cut(memory, end);
    for (auto piece = memory.lower_bound(begin); piece != memory.end() && piece->first < end;
         ++piece) {
      // The place within the access and within the value both count: the same value at another
      // place is other data.
      auto where = static_cast<uint64_t>(piece->first - access.base),
           from = static_cast<uint64_t>(piece->first - piece->second.base);
      result = mix(mix(result, where), mix(piece->second.value, from));
    }
  }
  return result;
}

void Contents::write(const Access &access, uint64_t value) {
  Memory &memory = memories_[access.place];
  for (const ByteRange &range : ranges_[access.bytes]) {
    int64_t begin = access.base + range.begin, end = access.base + range.end;
    cut(memory, begin);
    cut(memory, end);
    // Everything in between is overwritten.
    memory.erase(memory.lower_bound(begin), memory.lower_bound(end));
    memory[begin] = {end, access.base, value};
  }
}

// ---- what is used -------------------------------------------------------------------------------

namespace {

/// Bytes of all memories of a core.
class ByteSet {
public:
  bool touches(const Access &access, const std::vector<ByteRange> &ranges) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part &part) {
      return part.place == access.place &&
             std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange &range) {
               return access.base + range.begin < part.end && part.begin < access.base + range.end;
             });
    });
  }
  void add(const Access &access, const std::vector<ByteRange> &ranges) {
    for (const ByteRange &range : ranges)
      parts_.push_back({access.place, access.base + range.begin, access.base + range.end});
  }
  void remove(const Access &access, const std::vector<ByteRange> &ranges) {
    for (const ByteRange &range : ranges) {
      int64_t begin = access.base + range.begin, end = access.base + range.end;
      std::vector<Part> kept;
      for (const Part &part : parts_)
        // Parts beside the removed range stay.
        if (part.place != access.place || part.end <= begin || end <= part.begin) {
          kept.push_back(part);
        } else {
          if (part.begin < begin)
            kept.push_back({part.place, part.begin, begin});
          if (end < part.end)
            kept.push_back({part.place, end, part.end});
        }
      parts_ = std::move(kept);
    }
  }
  bool empty() const { return parts_.empty(); }

private:
  struct Part {
    uint8_t place;
    int64_t begin, end;
  };
  std::vector<Part> parts_;
};

} // namespace

bool isUsed(const Kernel &kernel, const Execution &execution, const RangeTable &ranges,
            uint32_t core, uint32_t event) {
  const Core &trace = execution.cores[core];
  ByteSet open; // what holds the data, or was computed from it
  for (uint32_t i = event; i < trace.events.size(); ++i) {
    const Event &each = trace.events[i];
    // The event itself holds the data to begin with.
    bool reads = i == event, writes = false;
    for (uint32_t a = each.access; a < each.access + each.accesses; ++a) {
      const Access &access = trace.accesses[a];
      reads |= access.reads && !access.global && open.touches(access, ranges[access.bytes]);
      writes |= access.writes && !access.global;
      // Data that reaches global memory is used.
      if (access.global && access.writes && reads && !execution.boxes[access.bytes].empty())
        return true;
    }
    // Data that goes to another core, to the scalar unit or to a print is used as well.
    if (reads && (!writes || each.kind == Event::Push) && i != event)
      if (each.kind == Event::Push || each.pipe == static_cast<uint8_t>(Pipe::S) ||
          std::find(kernel.prints.begin(), kernel.prints.end(), each.op) != kernel.prints.end())
        return true;
    if (i == event && !writes) // a scalar
      return true;
    // A write of data spreads it; a write of something else ends it in these bytes.
    for (uint32_t a = each.access; a < each.access + each.accesses; ++a)
      if (const Access &access = trace.accesses[a]; access.writes && !access.global)
        reads ? open.add(access, ranges[access.bytes]) : open.remove(access, ranges[access.bytes]);
    // Nothing holds the data any more.
    if (open.empty())
      return false;
  }
  return false;
}

} // namespace ptl::prove
