// What the cores of a chip share: the second-level cache, and rates that are divided among those
// who move something at the same time.
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

  /// `weight`: for how many it stands who take as much, each of them.
  void join(Cycles now, uint32_t id, double bytes, double limit, double weight = 1);
  /// When the next transfer is done, if nobody joins before.
  Cycles next() const { return next_; }
  /// Takes out the transfer that is done at `next()`.
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

/// What all signals between cores of the chip go through, one after another. All times are given in
/// order.
class SignalHub {
public:
  /// `inAdvance`: what it may owe before anybody waits.
  explicit SignalHub(Cycles each = 0, Cycles inAdvance = 0) : each_(each), inAdvance_(inAdvance) {}
  /// What one of so many core groups sees of it that signal alike: a part of its time, but not
  /// always when it wants it.
  static SignalHub shareOf(Cycles each, double groups) {
    return SignalHub(each * groups, kInAdvance * each * groups);
  }

  /// How long a signal that is sent now waits for those before it.
  Cycles pass(Cycles now);
  Cycles each() const { return each_; }

private:
  static constexpr double kInAdvance = 1; ///< signals of a group that find the others silent
  Cycles each_, inAdvance_, free_ = 0;
};

/// Which lines of global memory are in the second-level cache: those that were touched while not
/// more than its size has been brought in since.
class SecondLevel {
public:
  SecondLevel(int64_t bytes, int64_t lineBytes);

  /// One like this without arrays.
  SecondLevel empty() const { return {int64_t(capacity_) * lineBytes_, lineBytes_}; }
  /// Another array of global memory; its number. Warm ones are there when they are touched first.
  uint32_t add(int64_t bytes, bool warm);
  /// Touches what a view of an array reads or writes; bytes of the lines that were not there. Of
  /// views that lie somewhere each is taken to begin where the one before it ended, over and over.
  int64_t touch(uint32_t array, View view);
  /// An array was gone through, by others than those who touch it here.
  void setTouched(uint32_t array) { warm_[array] = true; }
  /// So many bytes more were brought in, from somewhere.
  void forget(int64_t bytes) { filled_ += static_cast<uint32_t>(bytes / lineBytes_); }

private:
  int64_t lineOf(int64_t byte) const { return shift_ >= 0 ? byte >> shift_ : byte / lineBytes_; }
  /// Lines of an array by pieces, which are made when they are touched: arrays may be as large as
  /// one likes.
  using Lines = std::vector<std::vector<uint32_t>>;
  static constexpr int kPieceBits = 12;
  void touchRun(Lines &lines, bool warm, int64_t first, int64_t last);

  int64_t lineBytes_;
  int shift_;         ///< of a byte to its line; -1: the size of a line is no power of two
  uint32_t capacity_; ///< in lines
  uint32_t filled_ = 0;
  int64_t missed_ = 0;
  std::vector<int64_t> bytes_; ///< of each array
  std::vector<bool> warm_;
  std::vector<Lines> stamps_; ///< lines filled when it was touched last; 0: never
  std::vector<int64_t> next_; ///< where the next view begins that lies somewhere
};

} // namespace ptl::rt::sim
