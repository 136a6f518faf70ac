#include "compile/tune/schedule_choices.h"

#include "common/read_number.h"
#include "compile/tune/source_moves.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <map>

namespace ptl {

static constexpr int64_t kUnrolls[] = {1, 2, 4};
/// Rows, columns and contracted positions of a step through the operand buffers. Larger steps fit
/// the operand buffers of no chip, whatever the element type is.
static constexpr int64_t kSteps[][3] = {
    {64, 64, 64},   {64, 128, 64},   {64, 256, 64},  {128, 64, 64},  {128, 128, 32},
    {128, 128, 64}, {128, 128, 128}, {128, 256, 32}, {128, 256, 64}, {256, 128, 64}};
/// Rows and columns of the tiles of a program's value.
static constexpr int64_t kTiles[][2] = {{8, 512},  {8, 2048},  {16, 256},  {16, 1024},
                                        {32, 128}, {32, 512},  {64, 128},  {64, 256},
                                        {64, 512}, {128, 128}, {128, 256}, {256, 128}};
/// Chunks of the contraction of a program's product.
static constexpr int64_t kChunks[] = {1, 2, 4, 8, 16};
/// The most values of a program for which choices are made: each of them multiplies the search
/// space.
static constexpr size_t kMostValues = 8;

ScheduleNode nodeOf(const CheckedProgram &program, const ScheduleDecl &schedule) {
  for (const auto &module : program.modules)
    if (module->file == schedule.span.file)
      for (NodeId item : module->tree->children(module->tree->root()))
        if (module->tree->is(item, NodeKind::ScheduleDecl) &&
            module->tree->span(item).begin == schedule.span.begin)
          return {module->tree.get(), item};
  return {};
}

std::string choiceKey(const Tree &tree, NodeId item) {
  std::string first(tree.text(tree.child(item, 0)));
  switch (tree.kind(item)) {
  case NodeKind::PipelineItem:
    return "pipeline " + first;
  case NodeKind::UnrollItem:
    return "unroll " + first;
  case NodeKind::CoresItem:
    return "cores";
  case NodeKind::SplitItem:
    return "split after " + first;
  case NodeKind::ScheduleBlock:
    return first + " { }";
  case NodeKind::FuseItem:
  case NodeKind::OrderItem: {
    std::string word = tree.kind(item) == NodeKind::FuseItem ? "fuse" : "order", key = word;
    for (NodeId label : tree.children(item))
      key += (key == word ? " " : ", ") + std::string(tree.text(label));
    return key;
  }
  default: // an assignment
    return first;
  }
}

namespace {

/// Collects the choices of one declaration.
class ChoiceReader {
public:
  ChoiceReader(const CheckedProgram &program, const CallableDecl &decl, const ScheduleDecl *today,
               const Machine *machine)
      : program_(program), decl_(decl), tree_(*decl.module->tree), machine_(machine) {
    if (today)
      today_ = nodeOf(program, *today);
    if (today_.node != kNoNode)
      for (NodeId item : ScheduleDeclView(*today_.tree, today_.node).items())
        present_.emplace(choiceKey(*today_.tree, item), item);
    countLabels(decl.syntax);
  }

  std::vector<ScheduleChoice> read() {
    if (machine_ && decl_.kind == DeclKind::Kernel)
      addLoops(decl_.syntax);
    if (decl_.kind == DeclKind::Program)
      addValues();
    if (machine_)
      addCores();
    return std::move(choices_);
  }

private:
  std::string text(NodeId node) const { return std::string(tree_.text(node)); }
  /// A label can be used in a schedule only if it names one thing.
  bool isLabel(const std::string &name) const {
    auto found = labels_.find(name);
    return found != labels_.end() && found->second == 1;
  }
  void countLabels(NodeId node);
  bool mentions(NodeId node, const std::string &name) const;
  void addLoops(NodeId node);
  void addModifier(const std::string &word, const std::string &label, std::vector<int64_t> values,
                   NodeId inSource);
  void addSteps(const std::string &label);
  void addValues();
  size_t countProducts(NodeId node) const;
  void addItemsOfValue(NodeId let, const std::string &name);
  void addSwitch(const std::string &item);
  void addTable(const std::string &label, size_t count,
                const std::function<std::string(size_t)> &what);
  void addCores();
  void add(ScheduleChoice choice, int64_t startValue);
  std::optional<int64_t> numberIn(const Tree &tree, NodeId node) const;

  const CheckedProgram &program_;
  const CallableDecl &decl_;
  const Tree &tree_;
  const Machine *machine_;
  ScheduleNode today_;
  std::map<std::string, NodeId> present_; ///< items of today's schedule by key
  std::map<std::string, size_t> labels_;  ///< how many things each name stands for
  std::vector<ScheduleChoice> choices_;
};

} // namespace

void ChoiceReader::countLabels(NodeId node) {
  if (node == kNoNode)
    return;
  if (tree_.is(node, NodeKind::LetStmt) || tree_.is(node, NodeKind::VarStmt) ||
      tree_.is(node, NodeKind::LoopBinding))
    ++labels_[text(tree_.child(node, 0))];
  if (tree_.is(node, NodeKind::ForStmt) || tree_.is(node, NodeKind::ParallelStmt))
    if (NodeId label = LoopView(tree_, node).label(); label != kNoNode)
      ++labels_[text(label)];
  for (NodeId child : tree_.children(node))
    countLabels(child);
}

bool ChoiceReader::mentions(NodeId node, const std::string &name) const {
  return node != kNoNode && ((tree_.is(node, NodeKind::NameExpr) && text(node) == name) ||
                             std::ranges::any_of(tree_.children(node), [&](NodeId child) {
                               return mentions(child, name);
                             }));
}

std::optional<int64_t> ChoiceReader::numberIn(const Tree &tree, NodeId node) const {
  return integerIn(tree.text(node));
}

void ChoiceReader::add(ScheduleChoice choice, int64_t startValue) {
  // The present value is always one of the choice, so that the search can begin there.
  choice.values.push_back(startValue);
  std::sort(choice.values.begin(), choice.values.end());
  choice.values.erase(std::unique(choice.values.begin(), choice.values.end()), choice.values.end());
  choice.start =
      static_cast<size_t>(std::lower_bound(choice.values.begin(), choice.values.end(), startValue) -
                          choice.values.begin());
  choices_.push_back(std::move(choice));
}

// ---- Kernels ------------------------------------------------------------------------------------

void ChoiceReader::addModifier(const std::string &word, const std::string &label,
                               std::vector<int64_t> values, NodeId inSource) {
  ScheduleChoice choice;
  choice.key = word + " " + label;
  choice.values = std::move(values);
  choice.absent = 1;
  if (inSource != kNoNode)
    choice.absent = numberIn(tree_, inSource);
  if (!choice.absent)
    return; // A constant or a tunable decides the number.
  int64_t start = *choice.absent;
  if (auto item = present_.find(choice.key); item != present_.end()) {
    NodeId number = today_.tree->child(item->second, 1);
    // Today's item has a name instead of a number: the author's decision is kept.
    std::optional<int64_t> set = number == kNoNode ? std::nullopt : numberIn(*today_.tree, number);
    if (!set)
      return;
    start = *set;
  }
  choice.item = [key = choice.key](int64_t value) { return key + " " + std::to_string(value); };
  add(std::move(choice), start);
}

void ChoiceReader::addTable(const std::string &label, size_t count,
                            const std::function<std::string(size_t)> &what) {
  ScheduleChoice choice;
  choice.key = label + " { }";
  if (present_.contains(choice.key))
    return; // The schedule's author chose these tiles.
  for (size_t i = 1; i <= count; ++i)
    choice.values.push_back(static_cast<int64_t>(i));
  choice.absent = 0;
  choice.item = [label, what](int64_t value) {
    return label + " { " + what(static_cast<size_t>(value) - 1) + " }";
  };
  add(std::move(choice), 0);
}

void ChoiceReader::addSteps(const std::string &label) {
  addTable(label, std::size(kSteps), [](size_t number) {
    const auto &step = kSteps[number];
    return "l0 " + std::to_string(step[0]) + ", " + std::to_string(step[1]) + ", " +
           std::to_string(step[2]);
  });
}

void ChoiceReader::addLoops(NodeId node) {
  if (node == kNoNode)
    return;
  if (tree_.is(node, NodeKind::ForStmt) && !tree_.has(node, NodeFlag::Static)) {
    LoopView loop(tree_, node);
    std::span<const NodeId> bindings = tree_.children(loop.bindings());
    std::string label = loop.label() != kNoNode ? text(loop.label())
                        : bindings.size() == 1  ? text(tree_.child(bindings[0], 0))
                                                : "";
    if (isLabel(label)) {
      addModifier("pipeline", label, {std::begin(kDepths), std::end(kDepths)}, loop.pipeline());
      // An `unroll` in the source is the author's choice and stays.
      if (loop.unroll() == kNoNode)
        addModifier("unroll", label, {std::begin(kUnrolls), std::end(kUnrolls)}, kNoNode);
    }
  }
  bool isSum = tree_.is(node, NodeKind::AssignStmt) && tree_.mainText(node) == "+=";
  bool isLet = tree_.is(node, NodeKind::LetStmt);
  NodeId value = isSum ? tree_.child(node, 1) : isLet ? tree_.child(node, 2) : kNoNode;
  if (std::string label = value != kNoNode ? text(tree_.child(node, 0)) : "";
      isLabel(label) && tree_.is(value, NodeKind::BinaryExpr) && tree_.mainText(value) == "@")
    addSteps(label);
  for (NodeId child : tree_.children(node))
    addLoops(child);
}

// ---- Programs -----------------------------------------------------------------------------------

void ChoiceReader::addSwitch(const std::string &item) {
  ScheduleChoice choice;
  choice.key = item;
  choice.values = {0, 1};
  choice.absent = 0;
  choice.item = [item](int64_t) { return item; };
  add(std::move(choice), present_.contains(item));
}

void ChoiceReader::addValues() {
  std::vector<NodeId> lets;
  for (NodeId statement : tree_.children(CallableView(tree_, decl_.syntax).body()))
    if (tree_.is(statement, NodeKind::LetStmt) &&
        tree_.is(tree_.child(statement, 0), NodeKind::Name) &&
        isLabel(text(tree_.child(statement, 0))) && lets.size() < kMostValues)
      lets.push_back(statement);
  for (size_t i = 0; i < lets.size(); ++i) {
    std::string name = text(tree_.child(lets[i], 0));
    addSwitch("split after " + name);
    if (i + 1 < lets.size()) {
      std::string next = text(tree_.child(lets[i + 1], 0));
      addSwitch("fuse " + name + ", " + next);
      // On threads the order in which tasks are submitted decides nothing.
      if (machine_ && !mentions(lets[i + 1], name))
        addSwitch("order " + next + ", " + name);
    }
    addItemsOfValue(lets[i], name);
  }
}

size_t ChoiceReader::countProducts(NodeId node) const {
  if (node == kNoNode)
    return 0;
  size_t count = tree_.is(node, NodeKind::BinaryExpr) && tree_.mainText(node) == "@";
  for (NodeId child : tree_.children(node))
    count += countProducts(child);
  return count;
}

/// The items of one value are one choice, because each label has one block: its tiles, or the chunks of
/// its product.
void ChoiceReader::addItemsOfValue(NodeId let, const std::string &name) {
  std::vector<std::string> items;
  if (std::vector<std::string> dims = tiledDims(program_, decl_, name); !dims.empty())
    for (const auto &[rows, columns] : kTiles)
      items.push_back("tile " + dims[0] + " by " + std::to_string(rows) + ", " + dims[1] + " by " +
                      std::to_string(columns));
  // The processor multiplies whole rows and columns, and of several products none would be meant.
  if (machine_ && countProducts(tree_.child(let, 2)) == 1)
    for (int64_t chunks : kChunks)
      items.push_back("chunks " + std::to_string(chunks));
  if (!items.empty())
    addTable(name, items.size(), [items](size_t number) { return items[number]; });
}

/// The numbers of core groups. Fewer groups share the memory's bandwidth among fewer, and with even
/// shares none waits for the others.
void ChoiceReader::addCores() {
  ScheduleChoice choice;
  choice.key = "cores";
  choice.absent = 0;
  int64_t start = 0;
  if (auto item = present_.find("cores"); item != present_.end()) {
    std::optional<int64_t> set = numberIn(*today_.tree, today_.tree->child(item->second, 0));
    if (!set)
      return;
    start = *set;
  }
  choice.values = {0};
  for (const MachineCore &core : machine_->cores)
    for (int64_t quarters : {2, 3})
      if (int64_t groups = core.count * quarters / 4; groups > 0)
        choice.values.push_back(groups);
  choice.item = [](int64_t value) { return "cores " + std::to_string(value); };
  add(std::move(choice), start);
}

std::vector<ScheduleChoice> itemChoices(const CheckedProgram &program, const CallableDecl &decl,
                                        const ScheduleDecl *today, const Machine *machine) {
  if (decl.isBlockLevel)
    return {};
  return ChoiceReader(program, decl, today, machine).read();
}

} // namespace ptl
