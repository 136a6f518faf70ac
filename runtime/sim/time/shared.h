// Models resources that the cores of a chip share: the second-level cache, and rates that are
// divided among concurrent transfers.
#pragma once

#include "runtime/sim/time/cost.h"

#include <limits>
#include <queue>

namespace ptl::rt::sim {

inline constexpr Cycles never = std::numeric_limits<Cycles>::infinity();

/// A rate that is divided fairly among transfers (max-min fairness), each of which has a limit of
/// its own. Calls must be in order of time.
class SharedRate {
public:
  explicit SharedRate(double rate) : rate_(rate) {}

  /// Adds a transfer of a launch; `weight` is the number of equal transfers that it represents.
  void join(Cycles now, uint32_t id, double bytes, double limit, double weight = 1,
            uint32_t launch = 0);
  /// From now on a transfer represents so many more.
  void raise(Cycles now, uint32_t id, double more);
  /// The time at which the next transfer ends, if none joins before.
  Cycles next() const { return next_; }
  /// Removes the transfer that ends at `next()`, and returns its id.
  uint32_t leave();
  /// Of what moved when the last transfer left, the part that its launch moved.
  double partOfLaunch() const { return partOfLaunch_; }

private:
  struct Waiting {
    double until; ///< bytes that each member of the class has transferred by then
    uint32_t id;
    double weight;
    uint32_t launch;
    bool operator>(const Waiting &other) const {
      return until != other.until ? until > other.until : id > other.id;
    }
  };
  /// Transfers with the same limit progress equally.
  struct Class {
    double limit = 0, got = 0, rate = 0;
    double weight = 0;                                 ///< of all members
    std::vector<std::pair<uint32_t, double>> launches; ///< their members' weight
    double &weightOf(uint32_t launch);
    std::vector<Waiting> members; ///< a heap
    const Waiting &first() const { return members.front(); }
  };

  void advance(Cycles now);
  void divide();
  double partOf(uint32_t launch) const;

  double rate_, partOfLaunch_ = 1;
  Cycles now_ = 0, next_ = never;
  size_t nextClass_ = 0;
  std::vector<Class> classes_; ///< by increasing limit
};

/// Models the hub through which all signals between cores of the chip pass, one after another.
/// Calls must be in order of time.
class SignalHub {
public:
  /// `inAdvance` is the amount of unfinished work that the hub accepts before a signal must wait.
  explicit SignalHub(Cycles each = 0, Cycles inAdvance = 0) : each_(each), inAdvance_(inAdvance) {}
  /// From now on it is the hub from the view of one of `groups` core groups that signal alike: the
  /// group gets a share of the hub's time, but not always when it needs it. `each` is the hub's own
  /// time per signal.
  void shareWith(Cycles each, double groups) {
    each_ = each * groups;
    inAdvance_ = kInAdvance * each_;
  }
  /// Delays the first signal by those of so many groups that begin simultaneously. The distance
  /// between groups that results prevents them from moving the same bytes at the same moment.
  void comeBehind(Cycles each, double groups) { behind_ = each * groups; }

  /// The time that a signal sent now waits for earlier ones.
  Cycles pass(Cycles now);
  Cycles each() const { return each_; }

private:
  static constexpr double kInAdvance = 1; ///< signals of a group that find the others silent
  Cycles each_, inAdvance_, free_ = 0;
  Cycles behind_ = 0; ///< delay of the next signal by those of other groups
};

/// Bytes of an array from `begin` up to `end`; none if these are equal.
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool isEmpty() const { return begin >= end; }
  /// Extends it to cover the other one, too.
  void cover(ByteRange other);
};

/// The contents of the second-level cache: a line of global memory is in it if at most the cache's
/// size has been filled since the line was last touched (LRU).
class SecondLevel {
public:
  SecondLevel(int64_t bytes, int64_t lineBytes);

  /// A cache of the same size without arrays.
  SecondLevel empty() const { return {bytes(), lineBytes_}; }
  int64_t bytes() const { return int64_t(capacity_) * lineBytes_; }
  /// Adds an array of global memory and returns its number. The lines of a warm array are in the
  /// cache when they are first touched.
  uint32_t add(int64_t bytes, bool warm);
  /// Touches the lines that a view of an array accesses, and returns the bytes of those that
  /// missed. A view at an unknown position is assumed to begin where the previous one ended,
  /// cyclically. `touched` is extended to cover its bytes.
  int64_t touch(uint32_t array, View view, ByteRange *touched = nullptr);
  /// Records that core groups that are not simulated have accessed these bytes of an array in order,
  /// since the cache had been filled with `since` lines.
  void setTouched(uint32_t array, ByteRange range, uint32_t since);
  uint32_t filled() const { return filled_; }
  /// Records that so many other bytes were filled into the cache.
  void forget(int64_t bytes) { filled_ += static_cast<uint32_t>(bytes / lineBytes_); }

private:
  int64_t lineOf(int64_t byte) const { return shift_ >= 0 ? byte >> shift_ : byte / lineBytes_; }
  /// The lines of an array, in pieces that are allocated when they are touched, because arrays may
  /// be very large.
  using Lines = std::vector<std::vector<uint32_t>>;
  static constexpr int kPieceBits = 12;
  void touchRun(uint32_t array, int64_t first, int64_t last);
  bool isWarm(uint32_t array, int64_t line) const;
  bool isIn(uint32_t stamp) const { return filled_ - stamp < capacity_; }

  int64_t lineBytes_;
  int shift_;         ///< log2 of the line size; -1: the line size is not a power of two
  uint32_t capacity_; ///< in lines
  uint32_t filled_ = 0;
  int64_t missed_ = 0;
  std::vector<int64_t> bytes_; ///< of each array
  std::vector<bool> warm_;
  struct Touched {
    ByteRange range;      ///< what nothing has touched since
    ByteRange all;        ///< what was touched at that time, in order
    uint32_t first, last; ///< numbers of lines filled at its beginning and at its end
    uint32_t stampOf(int64_t byte) const;
  };
  std::vector<std::vector<Touched>> touched_; ///< from `setTouched`; disjoint, ascending
  /// number of lines filled at the last touch; 0: never touched
  std::vector<Lines> stamps_;
  std::vector<int64_t> next_; ///< start of the next view with an unknown position
};

} // namespace ptl::rt::sim
