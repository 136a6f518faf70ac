#include "codegen/pto/emit_cpp_events.h"

namespace ptl::pto {

// By core: the vector cores, then the cube core. Counters go on from one group to the next.
static constexpr const char *kSimulated[] = {
    "struct CoreEvents {",
    "  std::mutex mutex;",
    "  std::condition_variable changed;",
    "  uint32_t signals[3][32] = {}, waits[3][32] = {}; // of vector core 0, 1, of the cube core",
    "};",
    "inline CoreEvents coreEvents;",
    "inline void signalFrom(uint32_t core, uint32_t id) {",
    "  std::lock_guard<std::mutex> lock(coreEvents.mutex);",
    "  ++coreEvents.signals[core][id];",
    "  coreEvents.changed.notify_all();",
    "}",
    "inline void waitFor(uint32_t core, uint32_t first, uint32_t last, uint32_t id) {",
    "  std::unique_lock<std::mutex> lock(coreEvents.mutex);",
    "  uint32_t number = coreEvents.waits[core][id]++;",
    "  coreEvents.changed.wait(lock, [=] {",
    "    bool all = true;",
    "    for (uint32_t other = first; other < last; ++other)",
    "      all &= coreEvents.signals[other][id] > number;",
    "    return all;",
    "  });",
    "}",
    "template <pipe_t Pipe> void signalVectorCores(uint32_t id) { signalFrom(2, id); }",
    "template <pipe_t Pipe> void signalCubeCore(uint32_t id) { signalFrom(get_subblockid(), id); }",
    "template <pipe_t Pipe> void waitForCubeCore(uint32_t id) {",
    "  waitFor(get_subblockid(), 2, 3, id);",
    "}",
};

void addCoreEvents(TextLines &text, const Machine &machine, bool firstAlone) {
  text.add(
      "// Events between the cores of a group, which count signals that nobody has waited for.");
  text.add("#ifdef __CPU_SIM");
  for (const char *line : kSimulated)
    text.add(line);
  text.add("template <pipe_t Pipe> void waitForVectorCores(uint32_t id) {");
  text.add(std::string("  waitFor(2, 0, ") + (firstAlone ? "1" : "get_subblockdim()") + ", id);");
  text.add("}");
  text.add("#else");
  auto add = [&](const std::string &name, const std::string &body) {
    text.add("template <pipe_t Pipe> AICORE inline void " + name + "(uint32_t id) {");
    text.add(body);
    text.add("}");
  };
  if (machine.exchange.throughBuffer) {
    // Each vector core has ids of its own.
    std::string flags = std::to_string(machine.crossCore.flags);
    auto each = [&](const std::string &call) {
      std::string first = "  " + call + "(Pipe, id);";
      return firstAlone ? first : first + " " + call + "(Pipe, id + " + flags + ");";
    };
    add("signalVectorCores", each("set_intra_block"));
    add("waitForVectorCores", each("wait_intra_block"));
    add("signalCubeCore", "  set_intra_block(Pipe, id);");
    add("waitForCubeCore", "  wait_intra_block(Pipe, id);");
  } else {
    // A signal reaches all cores of the other kind, and a wait is for all of them.
    for (const char *name : {"signalVectorCores", "signalCubeCore"})
      add(name, "  ffts_cross_core_sync(Pipe, getFFTSMsg(FFTS_MODE_VAL, id));");
    for (const char *name : {"waitForVectorCores", "waitForCubeCore"})
      add(name, "  wait_flag_dev(id);");
  }
  text.add("#endif");
  text.blank();
}

} // namespace ptl::pto
