// What compiled code may call of the runtime. Code that runs in the process that compiled it finds these
// addresses here, because the process does not export its symbols.
#pragma once

#include "runtime/abi/kernel_abi.h"
#include "runtime/half_calls.h"

#include <string>
#include <utility>
#include <vector>

namespace ptl::rt {

inline std::vector<std::pair<std::string, void *>> calledSymbols() {
#define PTL_SYMBOL(NAME) {#NAME, reinterpret_cast<void *>(&NAME)}
  return {
      PTL_SYMBOL(ptl_rt_parallel_for),
      PTL_SYMBOL(ptl_rt_thread_count),
      PTL_SYMBOL(ptl_rt_thread_index),
      PTL_SYMBOL(ptl_rt_scratch),
      PTL_SYMBOL(ptl_rt_scratch_mark),
      PTL_SYMBOL(ptl_rt_scratch_release),
      PTL_SYMBOL(ptl_rt_alloc),
      PTL_SYMBOL(ptl_rt_free),
      PTL_SYMBOL(ptl_rt_fail),
      PTL_SYMBOL(ptl_rt_status),
      PTL_SYMBOL(ptl_rt_print),
      PTL_SYMBOL(ptl_rt_program),
      PTL_SYMBOL(ptl_rt_submit),
      PTL_SYMBOL(ptl_rt_await),
      PTL_SYMBOL(ptl_rt_release),
      PTL_SYMBOL(ptl_rt_grid),
      PTL_SYMBOL(ptl_rt_order),
      PTL_SYMBOL(ptl_rt_product_tile),
      PTL_SYMBOL(ptl_rt_matrix_registers),
      PTL_SYMBOL(ptl_rt_grid_combining),
#if defined(__x86_64__)
      PTL_SYMBOL(__extendhfsf2),
      PTL_SYMBOL(__truncsfhf2),
      PTL_SYMBOL(__truncdfhf2),
#endif
  };
#undef PTL_SYMBOL
}

} // namespace ptl::rt
