// oneTBB's flow graph: nodes without messages, edges as our graph has them.
#include "bench/task_shapes.h"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

namespace ptl::bench {
namespace {

using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct FlowGraph {
  FlowGraph(const rt::TaskGraph &edges) {
    nodes.reserve(edges.size());
    for (rt::TaskId id = 0; id < edges.size(); ++id)
      nodes.push_back(std::make_unique<Node>(graph, [](const tbb::flow::continue_msg &) {}));
    for (rt::TaskId id = 0; id < edges.size(); ++id)
      for (rt::TaskId next : edges.successors(id))
        tbb::flow::make_edge(*nodes[id], *nodes[next]);
  }
  void run(const rt::TaskGraph &edges) {
    for (rt::TaskId root : edges.roots())
      nodes[root]->try_put({});
    graph.wait_for_all();
  }
  tbb::flow::graph graph;
  std::vector<std::unique_ptr<Node>> nodes;
};

class Tbb : public Contestant {
public:
  Tbb(const Shape &shape, int threads)
      : edges_(graphOf(shape, nullptr)), arena_(threads),
        limit_(tbb::global_control::max_allowed_parallelism, size_t(threads)) {
    arena_.execute([&] { graph_ = std::make_unique<FlowGraph>(edges_); });
  }
  bool replay() override {
    arena_.execute([&] { graph_->run(edges_); });
    return true;
  }
  void build() override {
    arena_.execute([&] { FlowGraph(edges_).run(edges_); });
  }
  bool defer() override {
    build();
    return true;
  }

private:
  rt::TaskGraph edges_;
  tbb::task_arena arena_;
  tbb::global_control limit_;
  std::unique_ptr<FlowGraph> graph_;
};

} // namespace

std::unique_ptr<Contestant> makeTbb(const Shape &shape, int threads) {
  return std::make_unique<Tbb>(shape, threads);
}

} // namespace ptl::bench
