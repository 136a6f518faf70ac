// What is known of an error of the compiler itself.
#pragma once

#include <string>

namespace ptl {

struct Fault {
  std::string stage;   ///< where the compiler failed
  std::string message; ///< and why, in its own words
  std::string ir;      ///< the program at that stage; empty if there is none
};

} // namespace ptl
