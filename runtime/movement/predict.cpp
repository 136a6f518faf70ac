// The time of a step list: messages through ports that carry one message at a time in each
// direction, of ranks that may share cores.

#include "runtime/movement/predict.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

namespace ptl::movement {

namespace {

/// The time at which a message begins to arrive, and the seconds it takes through a port.
struct Arrival {
  double begin = 0, seconds = 0;
};

class Clock {
public:
  Clock(const StepList &list, int64_t elementBytes, const Cost &cost)
      : list_(list), elementBytes_(elementBytes), bytes_(static_cast<double>(elementBytes)),
        cost_(cost), now_(list.ranks.size()), out_(list.ranks.size()), in_(list.ranks.size()),
        joined_(list.ranks.size()), next_(list.ranks.size()) {
    // A message is seen when the rank that gets it has its turn.
    perMessage_ = cost_.perMessage * (2 * cost_.ranksPerCore - 1);
  }

  double run() {
    // Ranks advance in turn until none can. A list that waits in a cycle ends here as well;
    // `findMistake` is what rejects it.
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t rank = 0; rank < now_.size(); ++rank)
        while (advance(rank))
          moved = true;
    }
    // Ranks that share cores wait for them, too.
    double last = busy_ * cost_.ranksPerCore / static_cast<double>(now_.size());
    for (uint32_t rank = 0; rank < now_.size(); ++rank)
      last = std::max({last, now_[rank], out_[rank]});
    return last;
  }

private:
  /// Executes the next step of a rank. False if there is none or its message has not been sent yet.
  bool advance(uint32_t rank) {
    const std::vector<Step> &steps = list_.ranks[rank].steps;
    if (next_[rank] == steps.size())
      return false;
    const Step &step = steps[next_[rank]];
    double bytes = static_cast<double>(elementCount(step.box)) * bytes_;
    bool isPiece = step.isJoined && (joined_[rank] > 0 ||
                                     list_.ranks[rank].piecesAt(next_[rank], elementBytes_) > 1);
    if (isPiece) {
      joined_[rank] += bytes;
      ++next_[rank];
      return true;
    }
    // Pieces of one message are packed at the sender and unpacked at the receiver, which costs as
    // much per byte as combining.
    double packing = joined_[rank] > 0 ? (bytes + joined_[rank]) * cost_.perByteCombined : 0;
    bytes += joined_[rank];
    if (step.kind == StepKind::Send) {
      // What is written over while it is on its way is copied first.
      double kept =
          packing == 0 && !list_.ranks[rank].stays(step) ? bytes * cost_.perByteCombined : 0;
      work(rank, packing + kept + cost_.perSend);
      joined_[rank] = 0;
      // A rank continues as soon as the message is handed over, and its port sends one message
      // after the other.
      double begin = std::max(now_[rank], out_[rank]);
      double seconds = cost_.secondsOnWay(bytes);
      out_[rank] = begin + seconds;
      busy_ += seconds;
      channels_[{rank, step.peer}].push_back({begin + perMessage_, seconds});
    } else if (step.kind == StepKind::Receive) {
      std::deque<Arrival> &channel = channels_[{step.peer, rank}];
      if (channel.empty())
        return false;
      Arrival arrival = channel.front();
      channel.pop_front();
      if (cost_.ranksPerCore > 1 && arrival.begin > now_[rank])
        busy_ += cost_.perWait;
      // A port receives one message after the other as well, also from several senders.
      in_[rank] = std::max(arrival.begin, in_[rank]) + arrival.seconds;
      now_[rank] = std::max(now_[rank], in_[rank]);
      work(rank, packing + cost_.secondsToReceive(bytes));
      joined_[rank] = 0;
    } else if (step.kind == StepKind::Combine) {
      work(rank, bytes * cost_.perByteCombined);
    } else if (step.from != step.to) {
      // A local copy delays no message, so the rank goes on at once; it still takes a core's time from ranks that share it.
      busy_ += bytes * cost_.perByteFetched;
    }
    ++next_[rank];
    return true;
  }

  void work(uint32_t rank, double seconds) {
    now_[rank] += seconds;
    busy_ += seconds;
  }

  const StepList &list_;
  int64_t elementBytes_;
  double bytes_;
  const Cost &cost_;
  std::vector<double> now_, out_, in_; ///< per rank: its time, and when its ports are free
  double perMessage_ = 0;
  double busy_ = 0;            ///< what cores do for all ranks together
  std::vector<double> joined_; ///< bytes of the pieces joined so far
  std::vector<size_t> next_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Arrival>> channels_;
};

} // namespace

double predictSeconds(const StepList &list, int64_t elementBytes, const Cost &cost) {
  return Clock(list, elementBytes, cost).run();
}

/// What is predicted to take less by a smaller share than this may take longer.
constexpr double kSurely = 0.98;

StepList chooseSteps(const Request &request, int64_t elementBytes, const Cost &cost) {
  StepList best;
  double least = std::numeric_limits<double>::infinity();
  for (Algorithm algorithm : algorithmsFor(request))
    for (StepList &list : variantsOf(request, algorithm)) {
      double seconds = predictSeconds(list, elementBytes, cost);
      if (seconds < least * kSurely) {
        least = seconds;
        best = std::move(list);
      }
    }
  return best;
}

} // namespace ptl::movement
