// What programs on parts call: movements, with what they name, and the words of pools.
#include "lsp/ide/completion_parts.h"

#include "ir/ops/movement_table.h"
#include "lsp/ide/completion_items.h"

#include <algorithm>

namespace ptl::ide {

namespace {

/// A word of pools or of tasks, how it is called, and what it does.
struct PoolWord {
  std::string_view name, signature, help;
};
constexpr PoolWord poolWords[] = {
    {"pool", "(T, memory: size, over: level, disk: size)",
     "Keeps pages of type `T` from run to run: `let kv = pool(f32[D], memory: 64MiB, disk: "
     "1GiB)`."},
    {"find", "(kv, rows)", "The number of leading pages of these rows that the pool already has."},
    {"submit", "(f(x), over: level)", "One part computes this call; the parts take turns."},
    {"keep", "(kv, page)", "Returns the page and stores it in the pool."}};

struct NamedArgument {
  std::string_view name, help;
};

std::vector<NamedArgument> argumentsOfParts(std::string_view callee) {
  if (callee == "pool")
    return {{"memory", "of each part, for the run"},
            {"over", "the level whose parts have one memory"},
            {"disk", "of all runs that share a folder"}};
  if (callee == "submit")
    return {{"over", "the level of whose parts one computes it"}};
  const MovementRecord *movement = findMovement(callee);
  if (!movement)
    return {};
  std::vector<NamedArgument> named = {{"over", "the level whose parts exchange the array"},
                                      {"how", "the algorithm"}};
  if (movement->takes == MovementTakes::Axis)
    named.push_back({"by", "the dimension along which the result is cut"});
  else if (movement->takes == MovementTakes::Distance)
    named.push_back({"by", "by how many positions the elements move"});
  else if (movement->takes == MovementTakes::Axes)
    named.push_back({"by", "one dimension for each level"});
  else if (movement->takes == MovementTakes::Part)
    named.push_back({"to", "the number of the part that gets the array"});
  return named;
}

} // namespace

bool isInProgram(const Tree &tree, uint32_t place) {
  for (TokenIndex i = 0; i < tree.tokens().size() && tree.token(i).begin < place; ++i)
    if (tree.tokenKind(i) == TokenKind::Program)
      return true;
  return false;
}

void Collector::partsCalls() {
  if (!isInProgram(tree, context.begin))
    return;
  // `broadcast` is an operation, too, and `dispatch` and `combine` functions of the library.
  for (const MovementRecord &movement : allMovements)
    if (movement.takes != MovementTakes::Rows && !isTaken(movement.name))
      add({.label = std::string(movement.name),
           .kind = CompletionKind::Function,
           .signature = "(x, over: …)",
           .detail = "movement",
           .rank = 3,
           .help = std::string(movement.doc)});
  for (const PoolWord &word : poolWords)
    if (!isTaken(word.name))
      add({.label = std::string(word.name),
           .kind = CompletionKind::Function,
           .signature = std::string(word.signature),
           .rank = 3,
           .help = std::string(word.help)});
}

void Collector::argumentsOfPartsCall(std::string_view callee, const CallContext &call) {
  if (!isInProgram(tree, context.begin) || isTaken(callee))
    return;
  for (const NamedArgument &argument : argumentsOfParts(callee)) {
    std::string name(argument.name);
    if (std::find(call.named.begin(), call.named.end(), name) != call.named.end() ||
        !seen_.insert(name + ":").second)
      continue;
    add({.label = name + ":",
         .kind = CompletionKind::Field,
         .insert = name + ": ",
         .rank = -50,
         .help = std::string(argument.help)});
  }
}

bool Collector::valueOfPartsArgument() {
  auto call = callAround(tree, context.begin);
  if (!call || call->name.empty() || !isInProgram(tree, context.begin))
    return false;
  const MovementRecord *movement = findMovement(tree.tokenText(call->open - 1));
  if (!movement || (call->name != "how" && call->name != "over"))
    return false;
  if (call->name == "over") {
    words(WordGroup::Level, 0);
    return true;
  }
  std::string_view algorithms = movement->algorithms;
  for (int rank = 0; !algorithms.empty(); ++rank) {
    size_t end = std::min(algorithms.find(' '), algorithms.size());
    add({.label = std::string(algorithms.substr(0, end)),
         .kind = CompletionKind::Name,
         .detail = "algorithm",
         .rank = rank});
    algorithms.remove_prefix(std::min(end + 1, algorithms.size()));
  }
  return true;
}

} // namespace ptl::ide
