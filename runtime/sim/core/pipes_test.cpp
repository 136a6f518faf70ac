#include "runtime/sim/core/slot_frees.h"

#include <gtest/gtest.h>

using namespace ptl;
using namespace ptl::rt::sim;

namespace pipes_test {

void end(PipeState &pipe) {
  pipe.queue.pop();
  ++pipe.done;
}

TEST(SimPipes, MarksTakeNoRoom) {
  PipeState pipe;
  size_t room = 0;
  for (; !pipe.isFull(); ++room)
    pipe.append();
  pipe.append();
  ++pipe.marks;
  EXPECT_TRUE(pipe.isFull());
  end(pipe);
  EXPECT_FALSE(pipe.isFull()) << "a mark and one operation less than there is room for";
  EXPECT_EQ(pipe.queue.size(), room);
}

TEST(SimPipes, AreDrainedWhenNothingIsQueuedOrInFlight) {
  Pipes pipes;
  EXPECT_TRUE(pipes.areDrained());
  pipes[Pipe::MTE2].append();
  EXPECT_FALSE(pipes.areDrained());
  end(pipes[Pipe::MTE2]);
  EXPECT_TRUE(pipes.areDrained());
  pipes[Pipe::V].inFlight.emplace();
  EXPECT_FALSE(pipes.areDrained());
}

TEST(SimSlotFrees, AFreeWaitsForWhatWasIssuedBeforeIt) {
  constexpr int32_t queue = 3;
  Pipes pipes;
  SlotFrees frees;
  pipes[Pipe::V].append();
  pipes[Pipe::MTE3].append();
  frees.add(queue, pipes);
  pipes[Pipe::V].append();
  EXPECT_EQ(frees.takeDue(pipes), -1);
  end(pipes[Pipe::V]);
  EXPECT_EQ(frees.takeDue(pipes), -1) << "another pipe may read the tile, too";
  end(pipes[Pipe::MTE3]);
  EXPECT_EQ(frees.takeDue(pipes), queue) << "what was issued later does not count";
  EXPECT_EQ(frees.takeDue(pipes), -1);
}

TEST(SimSlotFrees, FreesThatAreDueAreTakenInOrder) {
  Pipes pipes;
  SlotFrees frees;
  frees.add(1, pipes);
  frees.add(0, pipes);
  EXPECT_EQ(frees.takeDue(pipes), 1);
  EXPECT_EQ(frees.takeDue(pipes), 0);
}

} // namespace pipes_test
