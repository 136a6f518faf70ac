#include "runtime/movement/fabric.h"

#include <algorithm>

namespace ptl::movement {

uint32_t Fabric::chips() const {
  uint32_t chips = 1;
  for (const FabricLevel &level : levels)
    chips *= level.count;
  return chips;
}

uint32_t Fabric::coordinate(uint32_t chip, size_t level) const {
  for (size_t inside = 0; inside < level; ++inside)
    chip /= levels[inside].count;
  return chip % levels[level].count;
}

size_t Fabric::levelBetween(uint32_t a, uint32_t b) const {
  size_t outermost = 0;
  for (size_t level = 0; level < levels.size(); ++level)
    if (coordinate(a, level) != coordinate(b, level))
      outermost = level;
  return outermost;
}

uint32_t Ways::partOf(uint32_t chip, size_t level) const {
  for (size_t inside = 0; inside < level; ++inside)
    chip /= fabric_.levels[inside].count;
  return chip;
}

/// The name of a chip such as `host 1, chip 3`, down to the given level.
std::string Ways::textOf(uint32_t chip, size_t level) const {
  std::string text;
  for (size_t i = fabric_.levels.size(); i-- > level;)
    if (fabric_.levels[i].count > 1)
      text += (text.empty() ? "" : ", ") + fabric_.levels[i].name + " " +
              std::to_string(fabric_.coordinate(chip, i));
  return text.empty() ? fabric_.levels[level].name + " 0" : text;
}

std::string Ways::nameOf(Kind kind, size_t level, uint32_t a, uint32_t b) const {
  std::string between = "between the " + fabric_.levels[level].name + "s";
  switch (kind) {
  case Kind::PortOut:
    return "port out of " + textOf(a, 0) + " " + between;
  case Kind::PortIn:
    return "port into " + textOf(a, 0) + " " + between;
  case Kind::PartOut:
    return "ports out of " + textOf(a, level) + " " + between;
  case Kind::PartIn:
    return "ports into " + textOf(a, level) + " " + between;
  case Kind::Link:
    return "link from " + textOf(a, 0) + " to " + textOf(b, 0);
  }
  __builtin_unreachable();
}

/// Appends a carrier to a route. `a` and `b` are chips that stand for the parts it belongs to. A
/// rate of 0 or less means that the machine has no such carrier.
void Ways::add(std::vector<Hop> &way, Kind kind, size_t level, uint32_t a, uint32_t b,
               double rate) {
  if (rate <= 0)
    return;
  bool isOfPart = kind == Kind::PartOut || kind == Kind::PartIn;
  uint64_t first = isOfPart ? partOf(a, level) : a;
  // 63 bits: 3 of the kind, 4 of the level, and 28 for each chip or part.
  uint64_t key = (((static_cast<uint64_t>(kind) << 4 | level) << 28 | first) << 28) | b;
  // Routes share a carrier by its key, and so messages of different pairs compete for it.
  auto [found, isNew] = numbers_.emplace(key, static_cast<uint32_t>(carriers_.size()));
  if (isNew)
    carriers_.push_back(
        {rate, kind == Kind::PortIn || kind == Kind::PartIn, level, nameOf(kind, level, a, b)});
  way.push_back({found->second, 0});
}

/// The ports of inner levels through which a level without ports of its own is reached.
void Ways::innerPort(std::vector<Hop> &way, uint32_t chip, size_t level, Kind kind) {
  for (; level > 0 && fabric_.levels[level].throughInner; --level)
    add(way, kind, level - 1, chip, 0, fabric_.levels[level - 1].portRate);
}

/// The links of a mesh or a ring between the parts of one level; a ring goes the shorter way
/// around.
void Ways::links(std::vector<Hop> &way, uint32_t from, uint32_t to, size_t level) {
  const FabricLevel &here = fabric_.levels[level];
  if (here.topology == Topology::Switch)
    return;
  if (here.topology == Topology::Mesh)
    return add(way, Kind::Link, level, from, to, here.linkRate);
  uint32_t stride = 1;
  for (size_t inside = 0; inside < level; ++inside)
    stride *= fabric_.levels[inside].count;
  uint32_t n = here.count, at = fabric_.coordinate(from, level);
  uint32_t ahead = (fabric_.coordinate(to, level) + n - at) % n;
  bool isForward = ahead <= n - ahead;
  for (uint32_t left = isForward ? ahead : n - ahead; left > 0; --left) {
    uint32_t next = (at + (isForward ? 1 : n - 1)) % n;
    uint32_t base = from - fabric_.coordinate(from, level) * stride;
    size_t before = way.size();
    add(way, Kind::Link, level, base + at * stride, base + next * stride, here.linkRate);
    // The level's own latency, which `over` adds, covers the first link; each further link adds it
    // again.
    if (way.size() > before && at != fabric_.coordinate(from, level))
      way.back().latency = here.latency;
    at = next;
  }
}

void Ways::over(std::vector<Hop> &way, uint32_t from, uint32_t to, size_t level) {
  const FabricLevel &here = fabric_.levels[level];
  size_t begin = way.size();
  innerPort(way, from, level, Kind::PortOut);
  add(way, Kind::PortOut, level, from, 0, here.portRate);
  add(way, Kind::PartOut, level, from, 0, here.partRate);
  links(way, from, to, level);
  add(way, Kind::PartIn, level, to, 0, here.partRate);
  add(way, Kind::PortIn, level, to, 0, here.portRate);
  innerPort(way, to, level, Kind::PortIn);
  // The latency counts once, at the first carrier of the crossing.
  if (way.size() > begin)
    way[begin].latency += here.latency;
}

const std::vector<Hop> &Ways::between(uint32_t from, uint32_t to) {
  auto [found, isNew] = ways_.try_emplace(static_cast<uint64_t>(from) << 32 | to);
  std::vector<Hop> &way = found->second;
  if (!isNew)
    return way;
  size_t level = fabric_.levelBetween(from, to);
  uint32_t at = from;
  // Where links join only chips at the same place of each part, the message first goes to the chip
  // of its own part that is at the receiver's place.
  if (fabric_.levels[level].isSamePlace) {
    uint32_t size = 1;
    for (size_t inside = 0; inside < level; ++inside)
      size *= fabric_.levels[inside].count;
    uint32_t beside = from - from % size + to % size;
    if (beside != from)
      over(way, from, beside, fabric_.levelBetween(from, beside));
    at = beside;
  }
  over(way, at, to, level);
  return way;
}

} // namespace ptl::movement
