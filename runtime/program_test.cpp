// Programs as compiled code runs them: what its calls do, with bodies in C++.
#include "runtime/program_graph.h"
#include "runtime/schedule/pool.h"
#include "runtime/storage_table.h"

#include <gtest/gtest.h>
#include <random>
#include <unordered_map>

using namespace ptl::rt;

namespace {

constexpr PtlPlace here{"task", "a.ptl", 3, 1};

/// Builds the words of accesses.
struct Words {
  std::vector<int64_t> words;
  int32_t count = 0;
  Words &add(const void *storage, bool isWritten, std::vector<Axis> axes) {
    words.insert(words.end(), {reinterpret_cast<int64_t>(storage), isWritten ? 1 : 0,
                               static_cast<int64_t>(axes.size())});
    for (const Axis &axis : axes)
      words.insert(words.end(), {axis.start, axis.count, axis.step});
    ++count;
    return *this;
  }
  Words &whole(const void *storage, bool isWritten) {
    words.insert(words.end(), {reinterpret_cast<int64_t>(storage), isWritten ? 1 : 0, -1});
    ++count;
    return *this;
  }
};

template <class Closure>
void submit(PtlContext *context, PtlBody body, int64_t count, const Closure &closure,
            const Words &words) {
  ptl_rt_submit(context, body, count, &closure, sizeof(closure), words.words.data(), words.count,
                &here);
}

struct Program {
  PtlProgramBody body;
  int32_t dims = 1;
  int32_t isStatic = 0;
  int64_t number = 0;

  int32_t run(PtlContext &context, const PtlArray *const *arrays, const int64_t *sizes) {
    PtlProgram program{body, &number, dims, 0, isStatic};
    return ptl_rt_program(&context, &program, arrays, sizes, nullptr);
  }
};

struct Add {
  const int64_t *from;
  int64_t *to;
  int64_t plus;
};

void addBody(PtlContext *, int64_t begin, int64_t end, void *closure) {
  auto *add = static_cast<const Add *>(closure);
  for (int64_t i = begin; i < end; ++i)
    add->to[i] = add->from[i] + add->plus;
}

/// to = from + 1 + … + rounds, by way of intermediates of which each is released at once.
void sumProgram(PtlContext *context, const PtlArray *const *arrays, const int64_t *dims,
                const PtlScalar *) {
  auto *from = static_cast<int64_t *>(arrays[0]->data),
       *to = static_cast<int64_t *>(arrays[1]->data);
  int64_t count = dims[0], rounds = dims[1];
  std::vector<Axis> all = {{0, count, 1}};
  int64_t *last = from;
  for (int64_t round = 1; round <= rounds; ++round) {
    bool isLast = round == rounds;
    auto *next =
        isLast ? to
               : static_cast<int64_t *>(ptl_rt_alloc(context, count * int64_t(sizeof(int64_t))));
    Words words;
    words.add(next, true, all);
    if (last != from)
      words.add(last, false, all);
    submit(context, addBody, count, Add{last, next, round}, words);
    if (ptl_rt_status(context) != 0)
      return;
    if (last != from)
      ptl_rt_release(context, last);
    last = next;
  }
}

void expectSums(Program &program, int threads, int64_t count, int64_t rounds) {
  ThreadPool pool(threads);
  PtlContext context(pool);
  std::vector<int64_t> from(static_cast<size_t>(count)), to(from.size(), -1);
  for (int64_t i = 0; i < count; ++i)
    from[static_cast<size_t>(i)] = 10 * i;
  PtlArray a{}, b{};
  a.data = from.data();
  b.data = to.data();
  const PtlArray *arrays[] = {&a, &b};
  int64_t dims[] = {count, rounds};
  ASSERT_EQ(program.run(context, arrays, dims), 0) << context.failure.message;
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(to[static_cast<size_t>(i)], 10 * i + rounds * (rounds + 1) / 2);
  EXPECT_EQ(context.allocations, nullptr);
}

} // namespace

TEST(Program, DynamicStaticAndInOrderGiveTheSame) {
  for (int32_t isStatic : {0, 1})
    for (int threads : {1, 2, 8}) {
      Program program{sumProgram, 2, isStatic};
      for (int64_t count : {1, 100, 10000, 100})
        for (int64_t rounds : {1, 2, 7, 100, 7})
          expectSums(program, threads, count, rounds);
    }
}

TEST(Program, AStaticGraphIsLinkedOnceAndSharesStorage) {
  Program program{sumProgram, 2, 1};
  expectSums(program, 2, 1000, 50);
  auto graph = ProgramGraphs::take({program.number, 2, 1000, 50});
  ASSERT_TRUE(graph);
  ASSERT_TRUE(graph->isUsable());
  // Of a chain two intermediates are live at once.
  EXPECT_EQ(graph->plan().bytes, 2 * 8000);
  EXPECT_EQ(graph->plan().unshared, 49 * 8000);
  ProgramGraphs::giveBack(std::move(graph));
  // Other arrays, the same graph.
  expectSums(program, 2, 1000, 50);
}

TEST(Program, WhatIsTooLongForAGraphRunsInAWindow) {
  Program program{sumProgram, 2, 1};
  expectSums(program, 2, 3, 70000);
  auto graph = ProgramGraphs::take({program.number, 2, 3, 70000});
  ASSERT_TRUE(graph);
  EXPECT_FALSE(graph->isUsable());
}

namespace {

struct Fail {
  int64_t number;
  std::atomic<int> *ran;
};

void failBody(PtlContext *context, int64_t, int64_t, void *closure) {
  auto *fail = static_cast<const Fail *>(closure);
  fail->ran->fetch_add(1);
  PtlValue value{PTL_VALUE_SCALAR, PTL_INT, {}};
  value.as.scalar.i64 = fail->number;
  if (fail->number >= 40)
    ptl_rt_fail(context, PTL_ERROR_ASSERT, "a.ptl", 1, "task {0}", &value, 1);
}

std::atomic<int> tasksRun{0};

/// Tasks without anything in common, of which those from the 40th on fail; then the code itself.
void failProgram(PtlContext *context, const PtlArray *const *, const int64_t *dims,
                 const PtlScalar *) {
  static int64_t cells[1000];
  for (int64_t i = 0; i < dims[0]; ++i) {
    submit(context, failBody, 1, Fail{i, &tasksRun}, Words().whole(&cells[i], true));
    if (ptl_rt_status(context) != 0)
      return;
  }
  ptl_rt_fail(context, PTL_ERROR_ASSERT, "a.ptl", 2, "the end", nullptr, 0);
}

} // namespace

TEST(Program, TheFailureThatComesFirstInProgramOrderIsReported) {
  for (int32_t isStatic : {0, 1})
    for (int threads : {1, 2, 8})
      for (int64_t count : {10, 41, 60, 1000}) {
        ThreadPool pool(threads);
        Program program{failProgram, 1, isStatic};
        for (int round = 0; round < 5; ++round) {
          tasksRun = 0;
          PtlContext context(pool);
          EXPECT_EQ(program.run(context, nullptr, &count), PTL_ERROR_ASSERT);
          EXPECT_EQ(context.failure.message, count <= 40 ? "the end" : "task 40");
          EXPECT_GE(tasksRun.load(), std::min<int64_t>(count, 41));
        }
      }
}

namespace {

struct Wait {
  int64_t *cells;
  int64_t at;
};

void doubleBody(PtlContext *, int64_t, int64_t, void *closure) {
  auto *wait = static_cast<const Wait *>(closure);
  wait->cells[wait->at] = 2 * wait->cells[wait->at] + 1;
}

/// Goes on by what tasks have computed.
void untilProgram(PtlContext *context, const PtlArray *const *arrays, const int64_t *dims,
                  const PtlScalar *) {
  auto *cells = static_cast<int64_t *>(arrays[0]->data);
  for (int64_t at = 0; at < dims[0]; ++at)
    while (true) {
      Words box;
      box.add(cells, false, {{at, 1, 1}});
      ptl_rt_await(context, box.words.data());
      if (cells[at] > 1000)
        break;
      submit(context, doubleBody, 1, Wait{cells, at}, Words().add(cells, true, {{at, 1, 1}}));
    }
}

} // namespace

TEST(Program, CodeBetweenTasksWaitsForWhatItReads) {
  for (int threads : {1, 2, 8}) {
    ThreadPool pool(threads);
    PtlContext context(pool);
    Program program{untilProgram};
    // The same way three times, then others.
    for (int64_t start : {0, 0, 0, 3, 127, 3, 0}) {
      std::vector<int64_t> cells(100, start);
      PtlArray array{};
      array.data = cells.data();
      const PtlArray *arrays[] = {&array};
      int64_t count = 100;
      EXPECT_EQ(program.run(context, arrays, &count), 0);
      EXPECT_EQ(cells, std::vector<int64_t>(100, 1023));
    }
  }
}

TEST(StorageTable, AgreesWithAMap) {
  StorageTable table;
  std::unordered_map<int64_t, StorageId> wanted;
  std::mt19937_64 random(1);
  for (uint32_t step = 0; step < 20000; ++step) {
    int64_t address = int64_t(1 + random() % 500) * 64;
    if (wanted.count(address)) {
      table.remove(address);
      wanted.erase(address);
    } else {
      table.add({address, step, 1});
      wanted[address] = step;
    }
    int64_t asked = int64_t(1 + random() % 500) * 64;
    const StorageTable::Entry *found = table.find(asked);
    ASSERT_EQ(found != nullptr, wanted.count(asked) != 0);
    if (found) {
      ASSERT_EQ(found->id, wanted[asked]);
    }
  }
  size_t count = 0;
  table.forEach([&](const StorageTable::Entry &) { ++count; });
  EXPECT_EQ(count, wanted.size());
}
