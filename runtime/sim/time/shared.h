// Models what the cores of a chip share: the second-level cache, and rates that are divided among
// the transfers of the same time.
#pragma once

#include "runtime/sim/time/cost.h"

#include <limits>
#include <queue>

namespace ptl::rt::sim {

inline constexpr Cycles never = std::numeric_limits<Cycles>::infinity();

/// A rate that is divided fairly among transfers, none of which takes more than its own limit. All
/// times are given in order.
class SharedRate {
public:
  explicit SharedRate(double rate) : rate_(rate) {}

  /// Adds a transfer; `weight` is the number of transfers that it represents, each of which takes
  /// as much.
  void join(Cycles now, uint32_t id, double bytes, double limit, double weight = 1);
  /// The time at which the next transfer ends, if none joins before.
  Cycles next() const { return next_; }
  /// Removes the transfer that ends at `next()`, and returns its id.
  uint32_t leave();

private:
  struct Waiting {
    double until; ///< bytes that each member of the class has got by then
    uint32_t id;
    double weight;
    bool operator>(const Waiting &other) const {
      return until != other.until ? until > other.until : id > other.id;
    }
  };
  /// Transfers with the same limit have got equally much at any time.
  struct Class {
    double limit = 0, got = 0, rate = 0;
    double weight = 0; ///< of all members
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> members;
  };

  void advance(Cycles now);
  void divide();

  double rate_;
  Cycles now_ = 0, next_ = never;
  size_t nextClass_ = 0;
  std::vector<Class> classes_; ///< by rising limit
};

/// Models the hub that all signals between cores of the chip go through, one after another. All
/// times are given in order.
class SignalHub {
public:
  /// `inAdvance` is how much unfinished work the hub accepts before a signal has to wait.
  explicit SignalHub(Cycles each = 0, Cycles inAdvance = 0) : each_(each), inAdvance_(inAdvance) {}
  /// From now on it is the hub as one of `groups` core groups sees it that all signal alike: it gets
  /// a part of the hub's time, but not always when it needs it. `each` is what the hub itself takes.
  void shareWith(Cycles each, double groups) {
    each_ = each * groups;
    inAdvance_ = kInAdvance * each_;
  }
  /// The first signal comes behind those of so many groups that begin at the same time. What groups
  /// are apart from then on keeps them from moving the same bytes at the same moment.
  void comeBehind(Cycles each, double groups) { behind_ = each * groups; }

  /// How long a signal that is sent now waits for those before it.
  Cycles pass(Cycles now);
  Cycles each() const { return each_; }

private:
  static constexpr double kInAdvance = 1; ///< signals of a group that find the others silent
  Cycles each_, inAdvance_, free_ = 0;
  Cycles behind_ = 0; ///< how much later the next signal is, for those of other groups
};

/// Bytes of an array from `begin` up to `end`; none if these are equal.
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool isEmpty() const { return begin >= end; }
  /// Has it hold the other one, too.
  void cover(ByteRange other);
};

/// Which lines of global memory are in the second-level cache: those that were touched while not
/// more than its size has been brought in since.
class SecondLevel {
public:
  SecondLevel(int64_t bytes, int64_t lineBytes);

  /// A cache of the same size without arrays.
  SecondLevel empty() const { return {int64_t(capacity_) * lineBytes_, lineBytes_}; }
  /// Adds an array of global memory and returns its number. The lines of a warm array are in the
  /// cache when they are touched first.
  uint32_t add(int64_t bytes, bool warm);
  /// Touches what a view of an array reads or writes, and returns the bytes of the lines that were
  /// not there. A view whose position is unknown is assumed to begin where the one before it ended,
  /// round and round. `touched` is made to hold its bytes.
  int64_t touch(uint32_t array, View view, ByteRange *touched = nullptr);
  /// Notes that these bytes of an array were read or written by core groups that are not simulated.
  void setTouched(uint32_t array, ByteRange range);
  /// Notes that this number of other bytes was brought in.
  void forget(int64_t bytes) { filled_ += static_cast<uint32_t>(bytes / lineBytes_); }

private:
  int64_t lineOf(int64_t byte) const { return shift_ >= 0 ? byte >> shift_ : byte / lineBytes_; }
  /// The lines of an array, in pieces that are made when they are touched, because arrays may be
  /// very large.
  using Lines = std::vector<std::vector<uint32_t>>;
  static constexpr int kPieceBits = 12;
  void touchRun(uint32_t array, int64_t first, int64_t last);
  bool isWarm(uint32_t array, int64_t line) const;

  int64_t lineBytes_;
  int shift_;         ///< of a byte to its line; -1: the size of a line is no power of two
  uint32_t capacity_; ///< in lines
  uint32_t filled_ = 0;
  int64_t missed_ = 0;
  std::vector<int64_t> bytes_; ///< of each array
  std::vector<bool> warm_;
  std::vector<std::vector<ByteRange>> touched_; ///< as `setTouched` said; apart, ascending
  std::vector<Lines> stamps_;                   ///< lines filled when it was touched last; 0: never
  std::vector<int64_t> next_;                   ///< where the next view begins that lies somewhere
};

} // namespace ptl::rt::sim
