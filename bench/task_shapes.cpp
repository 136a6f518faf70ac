#include "bench/task_shapes.h"

#include "runtime/schedule/path_submitter.h"
#include "runtime/schedule/replay.h"

using namespace ptl::rt;

namespace ptl::bench {
namespace {

constexpr size_t kFlatTasks = 16384;

Shape independent() {
  Shape shape{"empty", {int64_t(kFlatTasks)}, {}};
  for (size_t i = 0; i < kFlatTasks; ++i)
    shape.tasks.push_back({{0, int64_t(i), true}});
  return shape;
}

Shape chain() {
  Shape shape{"chain", {1}, {}};
  shape.tasks.assign(kFlatTasks, {{0, 0, true}});
  return shape;
}

Shape fans() {
  constexpr int64_t width = 100;
  Shape shape{"fan", {1, width}, {}};
  while (shape.tasks.size() < kFlatTasks) {
    shape.tasks.push_back({{0, 0, true}});
    for (int64_t i = 0; i < width; ++i)
      shape.tasks.push_back({{0, 0, false}, {1, i, true}});
    std::vector<TileUse> join = {{0, 0, true}};
    for (int64_t i = 0; i < width; ++i)
      join.push_back({1, i, false});
    shape.tasks.push_back(join);
  }
  return shape;
}

/// One layer: norm, queries and keys, attention per head, projection, norm, gate and up, product,
/// down. Arrays are cut into tiles; each task reads the tiles that its result needs.
Shape decoder() {
  enum : uint32_t { H, Normed, Qkv, Attended, Gate, Up, Act, Cache };
  Shape shape{"decoder", {8, 8, 48, 32, 64, 64, 64, 32 * 41}, {}};
  auto all = [](uint32_t array, int64_t from, int64_t to, std::vector<TileUse> uses) {
    for (int64_t i = from; i < to; ++i)
      uses.push_back({array, i, false});
    return uses;
  };
  auto &tasks = shape.tasks;
  for (int64_t layer = 0; layer < 41; ++layer) {
    auto norm = [&] {
      for (int64_t i = 0; i < 8; ++i)
        tasks.push_back({{H, i, false}, {Normed, i, true}});
    };
    norm();
    for (int64_t i = 0; i < 48; ++i)
      tasks.push_back(all(Normed, 0, 8, {{Qkv, i, true}}));
    for (int64_t i = 0; i < 32; ++i) {
      tasks.push_back({{Qkv, 32 + i % 16, false}, {Cache, layer * 32 + i, true}});
      tasks.push_back({{Qkv, i, false}, {Cache, layer * 32 + i, false}, {Attended, i, true}});
    }
    for (int64_t i = 0; i < 8; ++i)
      tasks.push_back(all(Attended, i * 4, i * 4 + 4, {{H, i, true}}));
    norm();
    for (int64_t i = 0; i < 64; ++i) {
      tasks.push_back(all(Normed, 0, 8, {{Gate, i, true}}));
      tasks.push_back(all(Normed, 0, 8, {{Up, i, true}}));
      tasks.push_back({{Gate, i, false}, {Up, i, false}, {Act, i, true}});
    }
    for (int64_t part = 0; part < 8; ++part)
      for (int64_t i = 0; i < 8; ++i)
        tasks.push_back(all(Act, part * 8, part * 8 + 8, {{H, i, true}}));
  }
  return shape;
}

void nothing(void *, const void *, int64_t, int64_t) {}

/// The accesses of all tasks, made once: what compiled programs hand over.
struct Accesses {
  explicit Accesses(const Shape &shape, const std::vector<StorageId> &ids) {
    size_t count = 0;
    for (auto &task : shape.tasks)
      count += task.size();
    axes.reserve(count);
    for (auto &task : shape.tasks) {
      first.push_back(all.size());
      for (const TileUse &use : task) {
        axes.push_back({use.tile, 1, 1});
        all.push_back({ids[use.array],
                       use.isWritten ? AccessMode::Write : AccessMode::Read,
                       {&axes.back(), 1}});
      }
    }
    first.push_back(all.size());
  }
  std::span<const Access> of(size_t task) const {
    return {all.data() + first[task], first[task + 1] - first[task]};
  }
  std::vector<Axis> axes;
  std::vector<Access> all;
  std::vector<size_t> first;
};

std::vector<StorageId> numbers(const Shape &shape) {
  std::vector<StorageId> ids(shape.tiles.size());
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = StorageId(i);
  return ids;
}

class Ptl : public Contestant {
public:
  Ptl(const Shape &shape, int threads)
      : shape_(shape), pool_(threads), graph_(graphOf(shape, nothing)), replay_(graph_, threads),
        window_(threads), deferring_(threads, {.deferAlways = true}),
        accesses_(shape, numbers(shape)) {}

  bool replay() override {
    replay_.run(pool_, nullptr);
    return true;
  }
  void build() override {
    window_.run(
        pool_,
        [](void *opaque) {
          auto *self = static_cast<Ptl *>(opaque);
          self->submitAll(self->window_, nullptr);
        },
        this);
  }
  bool defer() override {
    auto program = [](void *opaque) {
      auto *self = static_cast<Ptl *>(opaque);
      self->submitAll(self->deferring_, nullptr);
    };
    deferring_.run(pool_, program, this);
    return true;
  }
  bool follow() override {
    auto program = [](void *opaque) {
      auto *self = static_cast<Ptl *>(opaque);
      self->submitAll(self->deferring_, &self->tree_);
    };
    deferring_.run(pool_, program, this);
    return true;
  }

private:
  void submitAll(TaskWindow &window, PathTree *tree) const {
    PathSubmitter submitter(window, tree);
    for (size_t i = 0; i < shape_.tiles.size(); ++i)
      submitter.addStorage(1);
    TaskSpec spec;
    spec.body = nothing;
    for (size_t i = 0; i < shape_.tasks.size(); ++i)
      submitter.submit(spec, 0, [](char *) {}, accesses_.of(i));
  }

  const Shape &shape_;
  ThreadPool pool_;
  TaskGraph graph_;
  Replay replay_;
  TaskWindow window_, deferring_;
  PathTree tree_;
  Accesses accesses_;
};

} // namespace

std::vector<Shape> shapes() { return {independent(), chain(), fans(), decoder()}; }

TaskGraph graphOf(const Shape &shape, TaskBody body) {
  GraphBuilder builder;
  std::vector<StorageId> ids;
  for (size_t i = 0; i < shape.tiles.size(); ++i)
    ids.push_back(builder.addStorage(1));
  Accesses accesses(shape, ids);
  for (size_t i = 0; i < shape.tasks.size(); ++i)
    builder.add({.body = body}, accesses.of(i));
  return std::move(builder).finish();
}

std::unique_ptr<Contestant> makePtl(const Shape &shape, int threads) {
  return std::make_unique<Ptl>(shape, threads);
}

} // namespace ptl::bench
