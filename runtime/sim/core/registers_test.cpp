#include "runtime/sim/core/registers.h"

#include <gtest/gtest.h>

using namespace ptl::rt::sim;

namespace registers_test {

/// A step with two scalars: the first is 5, the second comes from the array 2.
struct Fixture {
  Function function = [] {
    Function made;
    made.numScalars = 2;
    return made;
  }();
  Registers registers{function};
  Step step;

  Fixture() {
    step.operands = {{RegisterKind::Scalar, 0}, {RegisterKind::Scalar, 1}};
    registers.scalar(step.operands[0]) = Scalar::integer(5);
    registers.scalar(step.operands[1]) = Scalar::unknown(2);
  }
};

TEST(SimRegisters, AValueThatIsNotKnownIsNotedOnce) {
  Fixture f;
  EXPECT_EQ(f.registers.integer(f.step, 0), 5);
  EXPECT_EQ(f.registers.takeNeeded(), nullptr);
  f.registers.integer(f.step, 1);
  const Scalar *needed = f.registers.takeNeeded();
  ASSERT_TRUE(needed);
  EXPECT_EQ(needed->i, 2) << "the number of its array";
  EXPECT_EQ(f.registers.takeNeeded(), nullptr);
}

TEST(SimRegisters, APositionThatIsNotKnownIsSomewhere) {
  Fixture f;
  View view;
  EXPECT_EQ(f.registers.position(f.step, 0, view), 5);
  EXPECT_FALSE(view.isSomewhere);
  EXPECT_EQ(f.registers.position(f.step, 1, view), 0);
  EXPECT_TRUE(view.isSomewhere);
  EXPECT_EQ(f.registers.position(f.step, 0, view), 5);
  EXPECT_TRUE(view.isSomewhere) << "it stays so";
  EXPECT_EQ(f.registers.takeNeeded(), nullptr) << "nothing depends on where";
}

} // namespace registers_test
