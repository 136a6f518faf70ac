// Information on an internal error of the compiler.
#pragma once

#include <string>

namespace ptl {

struct Fault {
  std::string stage;   ///< where the compiler failed
  std::string message; ///< the reason, as the compiler reported it
  std::string ir;      ///< the program at that stage; empty if there is none
};

} // namespace ptl
