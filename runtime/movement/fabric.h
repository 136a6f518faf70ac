// The network between chips: ports and links of the levels of a machine, and the path of a message
// through them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptl::movement {

enum class Topology : uint8_t {
  Mesh,  ///< a link between every two parts
  Ring,  ///< links between neighbours, in both directions
  Switch ///< no links, only the ports
};

/// A level. Times are in seconds, rates in bytes per second and direction; a rate of 0 is
/// unlimited.
struct FabricLevel {
  std::string name;
  uint32_t count = 1; ///< in each part of the next outer level
  Topology topology = Topology::Switch;
  bool isSamePlace = false;  ///< links connect only chips at the same position within their parts
  bool throughInner = false; ///< messages also occupy the ports of the next inner level
  double latency = 0;
  double linkRate = 0; ///< of a link
  double portRate = 0; ///< of a chip at this level
  double partRate = 0; ///< of all chips of a part together
  double start = 0;    ///< of a movement over this level
  double diskRate = 0; ///< of the disk that all chips of a part share; 0: unknown
  double diskLatency = 0;
};

struct Fabric {
  std::vector<FabricLevel> levels; ///< innermost first; chips are counted in this order
  double perMessage = 0;           ///< seconds of a chip for each message that it sends
  double combineRate = 0;          ///< bytes of operands per second; 0: unlimited
  double contended = 1; ///< share of a port's rate that remains when several senders share it

  uint32_t chips() const;
  /// The number of a chip within its part of a level.
  uint32_t coordinate(uint32_t chip, size_t level) const;
  /// The outermost level in which two different chips differ.
  size_t levelBetween(uint32_t a, uint32_t b) const;
};

/// A port or a link, in one direction: it transfers one message at a time.
struct Carrier {
  double rate = 0;
  bool isInward = false; ///< of a port: several senders may share it
  size_t level = 0;
  std::string name; ///< `port of chip 3 into the hosts`
};

/// One resource on the path of a message, and the time of the first byte up to it.
struct Hop {
  uint32_t carrier = 0;
  double latency = 0;
};

/// A cache of the paths between chips.
class Ways {
public:
  explicit Ways(const Fabric &fabric) : fabric_(fabric) {}

  const std::vector<Hop> &between(uint32_t from, uint32_t to);
  const std::vector<Carrier> &carriers() const { return carriers_; }

private:
  enum class Kind : uint8_t { PortOut, PortIn, PartOut, PartIn, Link };

  void over(std::vector<Hop> &way, uint32_t from, uint32_t to, size_t level);
  void innerPort(std::vector<Hop> &way, uint32_t chip, size_t level, Kind kind);
  void links(std::vector<Hop> &way, uint32_t from, uint32_t to, size_t level);
  void add(std::vector<Hop> &way, Kind kind, size_t level, uint32_t a, uint32_t b, double rate);
  std::string nameOf(Kind kind, size_t level, uint32_t a, uint32_t b) const;
  /// The part of a level that contains the chip.
  uint32_t partOf(uint32_t chip, size_t level) const;
  std::string textOf(uint32_t chip, size_t level) const;

  const Fabric &fabric_;
  std::vector<Carrier> carriers_;
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::unordered_map<uint64_t, std::vector<Hop>> ways_;
};

} // namespace ptl::movement
