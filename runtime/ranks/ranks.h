// What a program needs of the other ranks of a run, as a plug-in gives it: `ptlc` knows no MPI, and
// loads the plug-in only where a program runs on ranks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One thread calls these, always the same. Between two ranks messages arrive in the order in which
/// they were sent.
typedef struct PtlRanks {
  uint32_t version; ///< kPtlRanksVersion
  int32_t rank, count;
  /// The bytes may be changed when it returns; it does not wait for the receiver.
  void (*send)(int32_t peer, const void *bytes, size_t size);
  /// The bytes stay where and as they are until `settle` has returned 0 for `peer`.
  void (*post)(int32_t peer, const void *bytes, size_t size);
  /// 0: all that was posted to `peer` has left; 1: it has not within so many seconds, which have no
  /// end if they are less than 0.
  int (*settle)(int32_t peer, double seconds);
  /// 0: the next message of `peer` is in `bytes`; 1: none came within so many seconds,
  /// which have no end if they are less than 0.
  int (*receive)(int32_t peer, void *bytes, size_t size, double seconds);
  /// Waits until all that was sent has been received and every rank has come here. 0: so it is; 1: it
  /// was not within so many seconds.
  int (*finish)(double seconds);
  /// After `finish`: nothing more is going to be said.
  void (*leave)(void);
  /// Ends all ranks with this exit code; does not return.
  void (*abort)(int code);
} PtlRanks;

enum { kPtlRanksVersion = 4 };

/// What a plug-in exports; null when it is not one of several ranks.
typedef const PtlRanks *(*PtlRanksOpen)(void);
#define PTL_RANKS_OPEN "ptlRanksOpen"

#ifdef __cplusplus
}
#endif
