// Shared libraries from objects. The linker is called as it is, without a compiler driver: what is
// made needs no start-up code, and of the system only what is loaded here anyway, so that no
// development files have to be installed.

#include "codegen/cpu/link.h"

#include "llvm/Support/Program.h"

#include <dlfcn.h>
#include <link.h>

using namespace llvm;

namespace ptl::cpu {

/// Where the loader finds a library of the system; empty if it is not there.
static std::string pathOfLoaded(const char *name) {
  void *library = ::dlopen(name, RTLD_LAZY);
  link_map *map = nullptr;
  if (!library || ::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    return "";
  return map->l_name;
}

Error linkSharedLibrary(const std::vector<std::string> &objects,
                        const std::vector<std::string> &arguments, const std::string &output) {
  ErrorOr<std::string> linker = std::make_error_code(std::errc::no_such_file_or_directory);
  for (const char *name : {"ld.lld-19", "ld.lld", "ld"})
    if (linker = sys::findProgramByName(name); linker)
      break;
  if (!linker)
    return createStringError(
        "no linker (`ld.lld` or `ld`, of the packages lld and binutils) was found");
  std::vector<StringRef> command = {*linker, "-shared", "--eh-frame-hdr", "-o", output};
  command.insert(command.end(), objects.begin(), objects.end());
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> system;
  // Libraries are named by the files that are loaded, since `-lm` needs the files of a development
  // package.
  for (const char *name : {"libm.so.6", "libc.so.6"})
    system.push_back(pathOfLoaded(name));
  command.insert(command.end(), system.begin(), system.end());
  std::string message;
  int status = sys::ExecuteAndWait(*linker, command, std::nullopt, {}, 0, 0, &message);
  if (status != 0)
    return createStringError("linking failed: " + (message.empty() ? *linker : message));
  return Error::success();
}

} // namespace ptl::cpu
