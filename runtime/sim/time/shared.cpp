#include "runtime/sim/time/shared.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace ptl::rt::sim {

void SharedRate::advance(Cycles now) {
  // Transfers with the same limit get the same rate, so one number for each class is enough.
  for (Class &each : classes_)
    if (!each.members.empty())
      each.got += each.rate * (now - now_);
  now_ = now;
}

/// Divides the rate. Transfers whose limit is below an even share leave the rest to the others.
void SharedRate::divide() {
  // This is max-min fair sharing by water filling: classes come in the order of their limits, and
  // what one leaves is shared by the rest.
  double left = 0;
  for (const Class &each : classes_)
    left += each.weight;
  double rate = rate_;
  next_ = never;
  for (size_t i = 0; i < classes_.size(); ++i) {
    Class &each = classes_[i];
    if (each.members.empty())
      continue;
    each.rate = std::min(each.limit, rate / left);
    rate -= each.rate * each.weight;
    left -= each.weight;
    Cycles done = now_ + std::max(0.0, each.first().until - each.got) / each.rate;
    if (done < next_) {
      next_ = done;
      nextClass_ = i;
    }
  }
}

double &SharedRate::Class::weightOf(uint32_t launch) {
  for (auto &[number, weight] : launches)
    if (number == launch)
      return weight;
  return launches.emplace_back(launch, 0).second;
}

/// The part of what moves now that a launch moves.
double SharedRate::partOf(uint32_t launch) const {
  double own = 0, all = 0;
  for (const Class &each : classes_) {
    if (each.members.empty())
      continue;
    for (const auto &[number, weight] : each.launches) {
      all += each.rate * weight;
      own += number == launch ? each.rate * weight : 0;
    }
  }
  return all > 0 ? own / all : 1;
}

void SharedRate::join(Cycles now, uint32_t id, double bytes, double limit, double weight,
                      uint32_t launch) {
  advance(now);
  // The order of limits is what `divide` relies on.
  auto place = classes_.begin();
  while (place != classes_.end() && place->limit < limit)
    ++place;
  if (place == classes_.end() || place->limit != limit) {
    place = classes_.emplace(place);
    place->limit = limit;
  }
  // A member is done when its class has got as much more as it wants.
  place->members.push_back({place->got + bytes, id, weight, launch});
  std::push_heap(place->members.begin(), place->members.end(), std::greater<>());
  place->weight += weight;
  place->weightOf(launch) += weight;
  divide();
}

void SharedRate::raise(Cycles now, uint32_t id, double more) {
  for (Class &each : classes_)
    for (Waiting &member : each.members)
      if (member.id == id) {
        advance(now);
        member.weight += more;
        each.weight += more;
        each.weightOf(member.launch) += more;
        return divide();
      }
}

uint32_t SharedRate::leave() {
  advance(next_);
  Class &each = classes_[nextClass_];
  // Rounding must not leave the transfer with bytes to go.
  each.got = std::max(each.got, each.first().until);
  const Waiting done = each.first();
  partOfLaunch_ = partOf(done.launch);
  each.weight -= done.weight;
  each.weightOf(done.launch) -= done.weight;
  std::pop_heap(each.members.begin(), each.members.end(), std::greater<>());
  each.members.pop_back();
  std::erase_if(each.launches, [](const auto &launch) { return launch.second < 1e-6; });
  // An empty class starts again at 0, which keeps the numbers small. Limits that occur once must not
  // become many.
  constexpr size_t kMostClasses = 16;
  if (each.members.empty() && classes_.size() > kMostClasses)
    classes_.erase(classes_.begin() + static_cast<ptrdiff_t>(nextClass_));
  else if (each.members.empty())
    each.got = each.weight = 0;
  divide();
  return done.id;
}

Cycles SignalHub::pass(Cycles now) {
  Cycles begin = std::max(free_, now);
  free_ = begin + each_;
  // The hub works in advance up to a point, so only longer queues delay a signal.
  return std::max(begin - now - inAdvance_, std::exchange(behind_, 0.0));
}

// ---- the second level ---------------------------------------------------------------------------

SecondLevel::SecondLevel(int64_t bytes, int64_t lineBytes)
    : lineBytes_(std::max<int64_t>(lineBytes, 1)),
      // A power of two lets lines be found by shifting.
      shift_(lineBytes_ & (lineBytes_ - 1) ? -1 : std::countr_zero(uint64_t(lineBytes_))),
      capacity_(static_cast<uint32_t>(bytes / lineBytes_)) {}

void ByteRange::cover(ByteRange other) {
  if (other.isEmpty())
    return;
  if (isEmpty())
    *this = other;
  begin = std::min(begin, other.begin);
  end = std::max(end, other.end);
}

uint32_t SecondLevel::Touched::stampOf(int64_t byte) const {
  double part = static_cast<double>(byte - all.begin) / static_cast<double>(all.end - all.begin);
  return first + static_cast<uint32_t>(part * static_cast<double>(last - first));
}

void SecondLevel::setTouched(uint32_t array, ByteRange range, uint32_t since) {
  range = {std::max<int64_t>(range.begin, 0), std::min(range.end, bytes_[array])};
  if (range.isEmpty())
    return;
  std::vector<Touched> &all = touched_[array];
  auto first = std::partition_point(
      all.begin(), all.end(), [&](const Touched &own) { return own.range.end <= range.begin; });
  auto last = first;
  // What was accessed earlier remains at both ends.
  std::vector<Touched> made{{range, range, since, filled_}};
  for (; last != all.end() && last->range.begin < range.end; ++last) {
    if (last->range.begin < range.begin) {
      made.insert(made.begin(), *last);
      made.front().range.end = range.begin;
    }
    if (last->range.end > range.end) {
      made.push_back(*last);
      made.back().range.begin = range.end;
    }
  }
  all.insert(all.erase(first, last), made.begin(), made.end());
}

/// Whether a line that was not touched is in the cache: that of a warm array since the start.
bool SecondLevel::isWarm(uint32_t array, int64_t line) const {
  if (warm_[array] && isIn(0))
    return true;
  const std::vector<Touched> &all = touched_[array];
  auto own = std::partition_point(all.begin(), all.end(), [&](const Touched &each) {
    return each.range.end <= line * lineBytes_;
  });
  for (; own != all.end() && own->range.begin < (line + 1) * lineBytes_; ++own)
    if (isIn(own->stampOf(std::max(line * lineBytes_, own->range.begin))))
      return true;
  return false;
}

uint32_t SecondLevel::add(int64_t bytes, bool warm) {
  bytes_.push_back(bytes);
  warm_.push_back(warm);
  touched_.emplace_back();
  stamps_.emplace_back();
  next_.push_back(0);
  return static_cast<uint32_t>(bytes_.size() - 1);
}

void SecondLevel::touchRun(uint32_t array, int64_t first, int64_t last) {
  Lines &lines = stamps_[array];
  constexpr int64_t pieceSize = int64_t(1) << kPieceBits;
  int64_t line = lineOf(first), end = lineOf(last) + 1;
  while (line < end) {
    auto number = static_cast<size_t>(line >> kPieceBits);
    if (number >= lines.size())
      // Arrays are touched from the beginning, so the list doubles as it grows.
      lines.resize(std::max(number + 1, 2 * lines.size()));
    std::vector<uint32_t> &piece = lines[number];
    if (piece.empty())
      piece.resize(pieceSize);
    int64_t stop = std::min(end, (int64_t(number) + 1) << kPieceBits);
    for (; line < stop; ++line) {
      uint32_t &stamp = piece[static_cast<size_t>(line & (pieceSize - 1))];
      // A line is in the cache if fewer lines have been filled since than it holds: this
      // approximates replacement by age.
      if (!stamp || !isIn(stamp)) {
        missed_ += isWarm(array, line) ? 0 : lineBytes_;
        ++filled_;
      }
      stamp = std::max(filled_, 1u);
    }
  }
}

int64_t SecondLevel::touch(uint32_t array, View view, ByteRange *touched) {
  // For a place that is not known any part of the array of that size will do; the parts are taken
  // in turn.
  if (view.isSomewhere) {
    int64_t size = 1;
    for (int i = 0; i < view.rank; ++i)
      size += std::max<int64_t>(view.shape[i] - 1, 0) * std::abs(view.strides[i]);
    size *= elemBytes(view.elem);
    if (next_[array] + size > bytes_[array])
      next_[array] = 0;
    view.offset = std::exchange(next_[array], next_[array] + size);
    // The place is only assumed, so the view may have touched any byte of the array.
    if (touched)
      *touched = {0, bytes_[array]};
  }
  missed_ = 0;
  int64_t size = elemBytes(view.elem);
  // The axis whose elements lie closest runs; the others are walked.
  int run = view.rank - 1;
  for (int i = 0; i < view.rank; ++i)
    if (view.shape[i] > 1 && view.strides[i] == 1)
      run = i;
  int64_t index[View::maxRank] = {}, offset = view.offset;
  // A view without elements touches nothing.
  for (int i = 0; i < view.rank; ++i)
    if (view.shape[i] <= 0)
      return 0;
  for (;;) {
    int64_t length = run < 0 ? size : ((view.shape[run] - 1) * view.strides[run] + 1) * size;
    // What reaches beyond the array is cut off, since the place may be unknown.
    int64_t last = std::min(offset + length, bytes_[array]) - 1;
    if (offset >= 0 && last >= offset) {
      touchRun(array, offset, last);
      if (touched)
        touched->cover({offset, last + 1});
    }
    // The index counts up like an odometer; `offset` moves with it.
    int axis = view.rank - 1;
    for (; axis >= 0; --axis) {
      if (axis == run)
        continue;
      offset += view.strides[axis] * size;
      if (++index[axis] < view.shape[axis])
        break;
      offset -= view.shape[axis] * view.strides[axis] * size;
      index[axis] = 0;
    }
    if (axis < 0)
      return missed_;
  }
}

} // namespace ptl::rt::sim
