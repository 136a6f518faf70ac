#include "driver/version.h"

#include "driver/commit.h"
#include "machines/machine_set.h"

namespace ptl {

std::string versionText() {
  std::string text = "ptlc " PTL_VERSION;
  if (std::string commit = PTL_COMMIT; !commit.empty())
    text += " (" + commit + ")";
  text += "\nLLVM " PTL_LLVM_VERSION "\nmachines:";
  for (const std::string &name : MachineSet().names())
    text += " " + name;
  return text + "\n";
}

} // namespace ptl
