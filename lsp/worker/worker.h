// The requests of the worker. README.md describes them.
#pragma once

#include "lsp/worker/cache.h"
#include "lsp/worker/channel.h"
#include "lsp/worker/narrow.h"
#include "lsp/worker/texts.h"

#include <map>

namespace ptl::worker {

struct WorkerOptions {
  std::string stdPath; ///< folder of the standard library
  size_t cacheBytes = size_t(128) << 20;
  std::string fault; ///< `hang:STEP`, `crash:STEP`: for tests of the limits
};

class Worker {
public:
  /// `watch` is called at each step of a request; false cancels the request.
  Worker(WorkerOptions options, Watch watch);

  /// The answer to one request: the members beside its id. Never throws.
  Json answer(Json request);
  /// Frees memory; to be called while no request waits.
  void tidy();
  bool shouldStop() const { return shouldStop_; }

private:
  /// A declaration from the point of view of a request. Its code may have been compiled from an
  /// older text, in which the same declarations were at other places.
  struct View;
  struct OpenStage;

  OpenStage openStage(const Json &request);
  Json preview(const Json &request);
  Json hover(const Json &request);
  Json facts(const Json &request);
  Json feasibility(const Json &request);
  Json processorTime(const Json &request);
  bool addCost(const View &view, const Cost *cost, Json &result);
  Json timeline(const Json &request);
  Json sizes(const Json &request);
  Json warm();
  Json stages() const;
  Json status() const;
  Json mlir(const Json &request) const;

  /// Checks, binds and looks up the declaration of a request. On failure `view.failure` is the
  /// answer. `target` is a chip; empty is the CPU.
  View open(const Json &request, const std::string &target);
  Json stageFailure(const View &view);
  bool step(const std::string &name);

  WorkerOptions options_;
  Watch watch_;
  Texts texts_;
  Narrower narrower_;
  FunctionCache functions_;
  Cache cache_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint64_t requests_ = 0;
  bool shouldStop_ = false;
};

} // namespace ptl::worker
