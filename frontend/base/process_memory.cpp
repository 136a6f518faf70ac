#include "frontend/base/process_memory.h"

#include <cstdio>
#include <unistd.h>

namespace ptl {

int64_t residentBytes() {
  long size = 0, resident = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return resident * ::sysconf(_SC_PAGESIZE);
}

} // namespace ptl
