// OpenMP tasks: the run-time library derives the edges from the addresses of tiles.
#include "bench/task_shapes.h"

namespace ptl::bench {
namespace {

class OpenMp : public Contestant {
public:
  OpenMp(const Shape &shape, int threads) : threads_(threads) {
    std::vector<size_t> start = {0};
    for (int64_t count : shape.tiles)
      start.push_back(start.back() + size_t(count));
    cells_.resize(start.back());
    for (auto &task : shape.tasks) {
      Tiles tiles;
      for (const TileUse &use : task)
        (use.isWritten ? tiles.out : tiles.in)
            .push_back(&cells_[start[use.array] + size_t(use.tile)]);
      tasks_.push_back(std::move(tiles));
    }
  }
  bool replay() override { return false; }
  bool defer() override { return false; }
  void build() override {
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (Tiles &tiles : tasks_) {
      char **in = tiles.in.data(), **out = tiles.out.data();
      int ins = int(tiles.in.size()), outs = int(tiles.out.size());
#pragma omp task depend(iterator(int i = 0 : ins), in : *in[i])                                    \
    depend(iterator(int i = 0 : outs), inout : *out[i])
      {
      }
    }
  }

private:
  struct Tiles {
    std::vector<char *> in, out;
  };
  int threads_;
  std::vector<char> cells_;
  std::vector<Tiles> tasks_;
};

} // namespace

std::unique_ptr<Contestant> makeOpenMp(const Shape &shape, int threads) {
  return std::make_unique<OpenMp>(shape, threads);
}

} // namespace ptl::bench
