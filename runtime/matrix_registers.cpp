// Whether this process may use registers of matrices.
#include "runtime/abi/kernel_abi.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

/// Asks the system for their state, which threads do not have from the start. It refuses where it does not know it, or where the
/// processor has none.
static bool areGranted() {
  // ARCH_REQ_XCOMP_PERM of <asm/prctl.h>, which older headers lack, for the state XFEATURE_XTILEDATA.
  constexpr long kRequest = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}
#else
static bool areGranted() { return false; }
#endif

int32_t ptl_rt_matrix_registers(void) {
  static const bool granted = areGranted();
  return granted ? 1 : 0;
}
