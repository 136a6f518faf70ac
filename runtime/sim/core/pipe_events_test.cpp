#include "runtime/sim/core/pipe_events.h"

#include <gtest/gtest.h>

using namespace ptl;
using namespace ptl::rt::sim;

namespace pipe_events_test {

constexpr Flag kStored{Pipe::V, Pipe::MTE3, 2}, kReused{Pipe::MTE3, Pipe::V, 0};

TEST(SimPipeEvents, KnowledgeSpreadsAlongChains) {
  PipeEvents events;
  events.set(kStored, 3);
  EXPECT_EQ(events.known(Pipe::MTE3), 0u);
  EXPECT_EQ(events.take(kStored, Pipe::MTE3), 3u);
  events.set(kReused, events.known(Pipe::MTE3));
  EXPECT_EQ(events.take(kReused, Pipe::V), 3u);
  EXPECT_EQ(events.known(Pipe::MTE2), 0u) << "a pipe outside of the chain";
}

TEST(SimPipeEvents, NobodyForgets) {
  PipeEvents events;
  events.set(kStored, 5);
  events.take(kStored, Pipe::MTE3);
  events.set(kStored, 2);
  EXPECT_EQ(events.take(kStored, Pipe::MTE3), 5u);
}

TEST(SimPipeEvents, AnEventIsSetAsOftenAsItWasSet) {
  PipeEvents events;
  EXPECT_FALSE(events.isSet(kStored));
  events.set(kStored, 0);
  events.set(kStored, 0);
  events.take(kStored, Pipe::MTE3);
  EXPECT_TRUE(events.isSet(kStored));
  EXPECT_FALSE(events.isSet(kReused));
  events.take(kStored, Pipe::MTE3);
  EXPECT_FALSE(events.isSet(kStored));
}

TEST(SimPipeEvents, AnEventThatIsLeftSetIsFound) {
  PipeEvents events;
  EXPECT_FALSE(events.anySet());
  events.set(kStored, 0);
  std::optional<Flag> found = events.anySet();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, kStored.source);
  EXPECT_EQ(found->target, kStored.target);
  EXPECT_EQ(found->id, kStored.id);
}

} // namespace pipe_events_test
