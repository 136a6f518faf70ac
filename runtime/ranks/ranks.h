// The interface of the plug-in that connects the ranks of a run. `ptlc` itself is not linked with MPI and
// loads the plug-in only if a program runs on ranks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Writes the next `size` bytes of a message to `bytes`, or reads them from there. It must not call the plug-in.
typedef void (*PtlMoveBytes)(void *message, void *bytes, size_t size);

/// All functions are called by the same thread. Messages from one rank to another arrive in the order in
/// which they were sent. A time limit below 0 is none.
typedef struct PtlRanks {
  uint32_t version; ///< kPtlRanksVersion
  int32_t rank, count;
  /// How many ranks take turns on one core, at least 1, where most do; the same on all ranks.
  double ranksPerCore;
  int32_t
      cores; ///< that this rank may keep busy, at least 1, so that those of its machine do not take turns
  /// Sends a copy of the bytes and does not wait for the receiver.
  void (*send)(int32_t peer, const void *bytes, size_t size);
  /// Sends bytes without a copy: `give` writes them where there is room for them, now and later. `message` and the
  /// bytes stay unchanged until `settle` has returned 0 for `peer`. Without `give`, `message` are the bytes.
  void (*post)(int32_t peer, size_t size, PtlMoveBytes give, void *message);
  /// Waits until everything that was posted to `peer` has been sent, and what was sent before goes on without calls of
  /// these functions. Returns 1 when the time is over, else 0.
  int (*settle)(int32_t peer, double seconds);
  /// Receives the next message of `peer`. `place` is where its bytes belong, if they belong in one run; `take`, if there
  /// is one, reads them piece by piece, at their place if they have one. Returns 1 when the time is over, else 0.
  int (*receive)(int32_t peer, size_t size, void *place, PtlMoveBytes take, void *message,
                 double seconds);
  /// Waits until every message has been received and every rank has called this. Returns 1 when the time is
  /// over, else 0.
  int (*finish)(double seconds);
  /// Called after `finish`: no more messages will be sent.
  void (*leave)(void);
  /// Ends all ranks with this exit code; does not return.
  void (*abort)(int code);
} PtlRanks;

enum { kPtlRanksVersion = 7 };

/// The function that a plug-in exports. It returns null if this process is not one of several ranks.
typedef const PtlRanks *(*PtlRanksOpen)(void);
#define PTL_RANKS_OPEN "ptlRanksOpen"

#ifdef __cplusplus
}
#endif
