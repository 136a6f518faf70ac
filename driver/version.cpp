#include "driver/version.h"

#include "codegen/machines/machine_set.h"
#include "driver/commit.h"

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
