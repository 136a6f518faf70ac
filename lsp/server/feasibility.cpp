#include "lsp/server/feasibility.h"
#include "lsp/server/connection.h"

#include "frontend/base/render.h"
#include "lsp/ide/lenses.h"
#include "lsp/server/advice.h"
#include "lsp/server/cost.h"
#include "lsp/server/feasibility_title.h"
#include "lsp/server/session.h"

#include <algorithm>

namespace ptl::lsp {

// ---- Which declarations -------------------------------------------------------------------------

static void addChipEntries(const ide::Document &document, size_t place,
                           std::vector<ChipEntry> &entries) {
  for (const ide::Lens &lens : ide::lenses(*document.places()[place].chunk))
    if (lens.kind == ide::LensKind::Chip)
      entries.push_back({lens.name, place, lens.range, lens.targets});
}

std::vector<ChipEntry> chipEntries(const ide::Document &document) {
  std::vector<ChipEntry> entries;
  for (size_t place = 0; place < document.places().size(); ++place)
    addChipEntries(document, place, entries);
  return entries;
}

bool isFresh(Session &session, const std::string &path, const ChipVerdict &verdict) {
  const ide::File *file = session.workspace.find(path);
  // A verdict is about chunks of text; it is fresh if all of these still stand in their files.
  if (!file || verdict.chunks.empty())
    return false;
  return std::all_of(verdict.chunks.begin(), verdict.chunks.end(), [&](const auto &weak) {
    // The pointer is weak, so that verdicts do not keep old texts alive.
    std::shared_ptr<const ide::Chunk> chunk = weak.lock();
    ide::Location at = chunk ? session.workspace.locate({chunk->id(), 0, 0}) : ide::Location();
    const ide::Place *place = at ? at.file->document.placeOf(chunk->id()) : nullptr;
    return place && place->chunk == chunk;
  });
}

const ChipVerdict *verdictOf(const Session &session, const std::string &path,
                             const std::string &entry, const std::string &target) {
  auto found = session.verdicts.find({path, entry, target});
  return found == session.verdicts.end() || found->second.isNone() ? nullptr : &found->second;
}

// ---- From the worker ----------------------------------------------------------------------------

namespace {

/// Makes places of chunks of the places in an answer about a text.
class PlaceReader {
public:
  PlaceReader(Session &session, const ide::Document &document, ChipVerdict &verdict)
      : session_(session), document_(document), verdict_(verdict) {}

  /// `kNoSpan` for what is no place.
  Span span(const json &place);

private:
  Session &session_;
  const ide::Document &document_;
  ChipVerdict &verdict_;
};

} // namespace

Span PlaceReader::span(const json &place) {
  if (!place.is_object())
    return kNoSpan;
  std::string path = place.value("path", "");
  // A place in another file needs that file to be loaded.
  const ide::Document *document = &document_;
  if (path != document_.path()) {
    ide::File *file = session_.workspace.load(path);
    if (!file)
      return kNoSpan;
    document = &file->document;
  }
  // Places of chunks stay right while text before them changes.
  auto begin = place.at("begin").get<uint32_t>(), end = place.at("end").get<uint32_t>();
  const ide::Place &at = document->places()[document->placeAt(begin)];
  bool isKnown = std::any_of(verdict_.chunks.begin(), verdict_.chunks.end(),
                             [&](const auto &chunk) { return chunk.lock() == at.chunk; });
  if (!isKnown)
    verdict_.chunks.push_back(at.chunk);
  uint32_t size = at.chunk->size();
  // A place may reach beyond its chunk.
  return {at.chunk->id(), std::min(begin - at.begin, size),
          std::min(std::max(end, begin) - at.begin, size)};
}

static DiagId diagIdOf(const std::string &code) {
  for (const DiagInfo &info : allDiagInfos())
    if (info.code == code)
      return info.id;
  // An unknown code is shown as a fault of the compiler.
  return DiagId::CompilerFault;
}

/// A kind that is not known is no reason to make a fix without being asked.
static FixId fixIdOf(const std::string &kind) {
  for (const FixInfo &info : allFixInfos())
    if (info.name == kind)
      return info.id;
  return FixId::Spelling;
}

static std::vector<std::string> textsOf(const json &list) {
  std::vector<std::string> texts;
  for (const json &each : list)
    texts.push_back(each.get<std::string>());
  return texts;
}

/// A diagnostic of the worker's. What has no place in the file stands at the name of the entry.
static Diagnostic diagnosticOf(PlaceReader &places, const json &from, Span entry,
                               const std::string &path) {
  Diagnostic result{};
  result.id = diagIdOf(from.value("code", ""));
  // Anything that is no warning counts as an error.
  result.severity = from.value("severity", "") == severityName(Severity::Warning)
                        ? Severity::Warning
                        : Severity::Error;
  result.message = from.value("message", "");
  result.primaryLabel = from.value("label", "");
  result.notes = textsOf(from.value("notes", json::array()));
  result.helps = textsOf(from.value("helps", json::array()));
  const json place = from.value("place", json());
  // The editor shows diagnostics in the file that was asked for.
  bool isElsewhere = place.is_object() && place.value("path", "") != path;
  Span span = places.span(place);
  result.span = span == kNoSpan || isElsewhere ? entry : span;
  if (isElsewhere && span != kNoSpan)
    result.labels.push_back({span, "here"});
  // Labels without a place would point nowhere.
  for (const json &label : from.value("labels", json::array()))
    if (Span at = places.span(label.at("place")); at != kNoSpan)
      result.labels.push_back({at, label.value("text", "")});
  for (const json &fix : from.value("fixes", json::array())) {
    Fix whole(fixIdOf(fix.value("kind", "")), fix.value("title", ""), std::vector<TextEdit>());
    for (const json &edit : fix.at("edits"))
      if (Span at = places.span(edit.at("place")); at != kNoSpan)
        whole.edits.push_back({at, edit.value("text", "")});
    result.fixes.push_back(std::move(whole));
  }
  return result;
}

ChipVerdict readVerdict(Session &session, const ide::Document &document, const ChipEntry &entry,
                        json result) {
  ChipVerdict verdict;
  const ide::Place &place = document.places()[entry.place];
  verdict.line = place.line;
  verdict.chunks.push_back(place.chunk);
  PlaceReader places(session, document, verdict);
  Span name{place.chunk->id(), entry.range.begin, entry.range.end};
  for (const json &each : result.value("diagnostics", json::array()))
    verdict.diagnostics.push_back(diagnosticOf(places, each, name, document.path()));
  const json cost = result.value("cost", json::object());
  for (const json &each : cost.value("statements", json::array()))
    if (Span span = places.span(each.value("place", json())); span != kNoSpan)
      verdict.statements.push_back({span, each});
  for (const json &each : cost.value("hints", json::array()))
    verdict.hints.push_back({places.span(each.value("place", json())), each});
  for (const json &each : cost.value("tried", json::array()))
    if (Span span = places.span(each.value("place", json())); span != kNoSpan)
      verdict.tried.push_back({span, each});
  for (const json &each : cost.value("advice", json::array())) {
    PlacedAdvice advice{places.span(each.value("place", json())), each, {}};
    for (const json &edit : each.at("edits"))
      advice.edits.push_back({places.span(edit.value("place", json())), edit.value("text", "")});
    // A change that has no place in the present text, even in part, is not offered.
    bool isPlaced = std::none_of(advice.edits.begin(), advice.edits.end(),
                                 [](const TextEdit &edit) { return edit.span == kNoSpan; });
    if (isPlaced && advice.span != kNoSpan)
      verdict.advice.push_back(std::move(advice));
  }
  verdict.result = std::move(result);
  return verdict;
}

void forEachVerdict(Session &session, const ide::File &file, const VisitVerdict &visit) {
  // Only targets that are shown are visited.
  for (const std::string &target : session.settings.targets)
    for (const ChipEntry &entry : chipEntries(file.document)) {
      const ChipVerdict *verdict = verdictOf(session, file.path(), entry.name, target);
      if (!verdict || !isFresh(session, file.path(), *verdict))
        // A stale verdict would mark text that has changed.
        continue;
      for (const Diagnostic &diagnostic : verdict->diagnostics)
        if (ide::Location at = session.workspace.locate(diagnostic.span); at.file == &file)
          visit({&diagnostic, at.range}, target);
    }
}

// ---- Work in parts ------------------------------------------------------------------------------

/// Calls `visit` with what the ledger says of tiles and of statements that are done in parts.
template <typename Visit> static void forEachParts(const ChipVerdict &verdict, Visit visit) {
  if (!verdict.result.is_object()) // no handler has answered yet
    return;
  const json ledger = verdict.result.value("ledger", json::object());
  for (const json &kernel : ledger.value("kernels", json::array()))
    if (auto parts = kernel.find("parts"); parts != kernel.end())
      visit(*parts);
  for (const json &statement : ledger.value("statements", json::array()))
    visit(statement);
}

json partsOf(const ChipVerdict &verdict) {
  json all = json::array();
  forEachParts(verdict, [&](const json &parts) { all.push_back(parts); });
  return all;
}

// ---- Hovers -------------------------------------------------------------------------------------

ide::Range statementOf(const ide::File &file, ide::Range range) {
  const ide::Place &place = file.document.places()[file.document.placeAt(range.begin)];
  const Tree &tree = *place.chunk->tree;
  NodeId node = tree.nodeAt(range.begin - place.begin);
  // The name is a part of the pattern of a `let`, whose statement is wanted.
  while (node != kNoNode && !tree.is(node, NodeKind::LetStmt) &&
         !tree.is(node, NodeKind::VarStmt) &&
         (tree.is(node, NodeKind::Name) || tree.is(node, NodeKind::TuplePattern)))
    node = tree.parent(node);
  if (node == kNoNode || (!tree.is(node, NodeKind::LetStmt) && !tree.is(node, NodeKind::VarStmt)))
    return range;
  Span span = tree.span(node);
  return {place.begin + span.begin, place.begin + span.end};
}

static std::string hexadecimal(int64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

static std::string bufferText(const json &buffer, const std::string &space, int64_t shift) {
  int64_t count = buffer.value("count", int64_t(1));
  std::string text = "`" + buffer.value("name", "") + "`: ";
  text += count > 1 ? std::to_string(count) + " × " : "";
  text += kibText(buffer.value("bytes", int64_t(0))) + " KiB in `" + space + "`";
  if (buffer.contains("address"))
    text += " at " + hexadecimal(buffer["address"].get<int64_t>());
  int64_t from = buffer.value("beginLine", int64_t(0)) + shift,
          to = buffer.value("endLine", int64_t(0)) + shift;
  text += from == to ? ", live at line " + std::to_string(from)
                     : ", live from line " + std::to_string(from) + " to " + std::to_string(to);
  if (buffer.value("kind", "") == "slots")
    text += ", used in turn";
  std::string pipes;
  for (const json &pipe : buffer.value("pipes", json::array()))
    pipes += (pipes.empty() ? " (" : " ") + pipe.get<std::string>();
  return text + (pipes.empty() ? "" : pipes + ")");
}

namespace {
/// Where the lines of a ledger are now.
struct LedgerView {
  const ide::File &file;
  const ChipVerdict &verdict;
  const ide::Place &place; ///< of the declaration, now

  int64_t shift() const { return int64_t(place.line) - int64_t(verdict.line); }
  /// The byte of a place of the ledger; nothing for what is in another file.
  std::optional<uint32_t> offsetOf(const json &at) const {
    int64_t line = at.value("line", int64_t(0)) - 1 + shift();
    if (at.value("file", "") != file.path() || at.value("line", int64_t(0)) == 0 || line < 0)
      return std::nullopt;
    return file.document.offset({static_cast<uint32_t>(line), at.value("column", uint32_t(1)) - 1});
  }
};
} // namespace

/// All memories, by what is in them.
static std::string wholeLedger(const LedgerView &view) {
  std::string text;
  for (const Diagnostic &diagnostic : view.verdict.diagnostics) {
    text += "\n\n" + asMarkdown(diagnostic.message);
    for (const std::vector<std::string> *list : {&diagnostic.notes, &diagnostic.helps})
      for (const std::string &each : *list)
        text += "\n- " + asMarkdown(each);
    for (const Fix &fix : diagnostic.fixes)
      text += "\n- " + asMarkdown(fix.title);
  }
  const json ledger = view.verdict.result.value("ledger", json::object());
  for (const json &kernel : ledger.value("kernels", json::array())) {
    text += "\n\nTo fit, `" + kernel.value("name", "") + "` is done with less overlap:";
    if (auto parts = kernel.find("parts"); parts != kernel.end())
      text += "\n- " + asMarkdown(parts->value("text", ""));
    for (const json &each : ledger.value("statements", json::array()))
      if (each.value("kernel", "") == kernel.value("name", ""))
        text += "\n- " + asMarkdown(each.value("text", ""));
    for (const json &each : kernel.value("givenUp", json::array()))
      text += "\n- " + asMarkdown(each.get<std::string>());
  }
  for (const json &function : ledger.value("functions", json::array()))
    for (const json &space : function.value("spaces", json::array())) {
      SpaceUse use{space.value("place", ""), space.value("peak", int64_t(0)),
                   space.value("usable", int64_t(0))};
      text += "\n\n`" + function.value("name", "") + "`, " + useText(use);
      constexpr size_t most = 12;
      const json buffers = space.value("buffers", json::array());
      for (size_t i = 0; i < std::min(buffers.size(), most); ++i)
        text += "\n- " + bufferText(buffers[i], use.place, view.shift());
      if (buffers.size() > most)
        text += "\n- " + std::to_string(buffers.size() - most) + " more";
    }
  return text;
}

/// The text about tiles within a range that are done in parts.
static std::string partsIn(const LedgerView &view, ide::Range range) {
  std::string text;
  forEachParts(view.verdict, [&](const json &parts) {
    if (auto at = view.offsetOf(parts); at && range.begin <= *at && *at < range.end)
      text += "\n\n" + asMarkdown(parts.value("text", ""));
  });
  return text;
}

void addPartHints(Session &session, const ide::File &file, ide::Range range, LineHints &hints) {
  for (const std::string &target : session.settings.targets)
    for (const ChipEntry &entry : chipEntries(file.document)) {
      const ChipVerdict *verdict = verdictOf(session, file.path(), entry.name, target);
      if (!verdict || !isFresh(session, file.path(), *verdict))
        continue;
      LedgerView view{file, *verdict, file.document.places()[entry.place]};
      forEachParts(*verdict, [&](const json &parts) {
        std::optional<uint32_t> at = view.offsetOf(parts);
        uint32_t offset = at ? endOfLine(file, *at) : 0;
        if (at && range.begin <= offset && offset <= range.end)
          hints.add(offset, target, parts.value("title", ""), asMarkdown(parts.value("text", "")));
      });
    }
}

void LineHints::add(uint32_t offset, const std::string &target, const std::string &label,
                    const std::string &tooltip) {
  Hint &hint = hints_[offset];
  auto own = std::find_if(hint.labels.begin(), hint.labels.end(),
                          [&](const auto &each) { return each.first == target; });
  if (own == hint.labels.end())
    own = hint.labels.insert(hint.labels.end(), {target, {}});
  auto addOnce = [](std::vector<std::string> &list, const std::string &text) {
    if (std::find(list.begin(), list.end(), text) == list.end())
      list.push_back(text);
  };
  addOnce(own->second, label);
  addOnce(hint.tooltips, tooltip);
}

std::string LineHints::text(const Session &session, const ide::File &file) const {
  std::string text;
  for (const auto &[offset, hint] : hints_) {
    std::string label, tooltip;
    for (const auto &[target, labels] : hint.labels) {
      label += (label.empty() ? "" : "  ") + target + ": ";
      for (const std::string &each : labels)
        label += (&each == labels.data() ? "" : " · ") + each;
    }
    for (const std::string &each : hint.tooltips)
      tooltip += (tooltip.empty() ? "" : "\n\n") + each;
    text += (text.empty() ? "" : ",") + dumped({{"position", session.position(file, offset)},
                                                {"label", label},
                                                {"paddingLeft", true},
                                                {"tooltip", session.markup(tooltip)}});
  }
  return text;
}

/// The buffers that are made within a range.
static std::string buffersIn(const LedgerView &view, ide::Range range) {
  std::string text;
  const json ledger = view.verdict.result.value("ledger", json::object());
  for (const json &function : ledger.value("functions", json::array()))
    for (const json &space : function.value("spaces", json::array()))
      for (const json &buffer : space.value("buffers", json::array()))
        if (auto at = view.offsetOf(buffer); at && range.begin <= *at && *at < range.end)
          text += "\n- " + bufferText(buffer, space.value("place", ""), view.shift());
  return text;
}

std::string ledgerText(Session &session, const ide::File &file, ide::Range range) {
  std::string text;
  // A hover asks for this, so the rest of a long file is not looked at.
  std::vector<ChipEntry> entries;
  size_t at = file.document.placeAt(range.begin);
  const ide::Place &place = file.document.places()[at];
  if (!session.settings.targets.empty() && range.end <= place.begin + place.chunk->size())
    addChipEntries(file.document, at, entries);
  for (const ChipEntry &entry : entries) {
    bool isName = range.begin == place.begin + entry.range.begin;
    for (const std::string &target : session.settings.targets) {
      const ChipVerdict *verdict = verdictOf(session, file.path(), entry.name, target);
      if (!verdict)
        continue;
      LedgerView view{file, *verdict, place};
      bool isStale = !isFresh(session, file.path(), *verdict);
      if (isName)
        text += "\n\n**" + verdictTitle(session, file.path(), entry.name, target) + "**" +
                kernelCostText(*verdict) + wholeLedger(view);
      else if (std::string own = buffersIn(view, statementOf(file, range)) +
                                 partsIn(view, statementOf(file, range)) +
                                 statementCostText(session, file, *verdict, range) +
                                 triedText(session, file, *verdict, range);
               !own.empty() && !isStale)
        text += "\n\n**" + target + "**" + own;
    }
  }
  return text.empty() ? text : text.substr(2);
}

// ---- The request --------------------------------------------------------------------------------

json ledgerAnswer(Session &session, const ide::File &file, const std::string &entry,
                  const ChipVerdict &verdict, bool isStale) {
  const json &result = verdict.result;
  json answer = {
      {"version", file.version},
      {"entry", entry},
      {"target", result.value("target", "")},
      {"fits", result.value("fits", false)},
      {"stale", isStale},
      {"summary", result.value("target", "") + ": " + summaryOf(verdict)},
      {"machine", result.value("ledger", json::object()).value("machine", "")},
      {"functions", result.value("ledger", json::object()).value("functions", json::array())},
      {"kernels", result.value("ledger", json::object()).value("kernels", json::array())},
      {"statements", result.value("ledger", json::object()).value("statements", json::array())},
      {"diagnostics", json::array()},
      {"bindings", json::array()}};
  for (const json &bound : result.value("entries", json::array()))
    for (const json &value : bound.value("values", json::array()))
      answer["bindings"].push_back(value);
  if (result.contains("overflow"))
    answer["overflow"] = result["overflow"];
  for (const json &each : result.value("diagnostics", json::array()))
    answer["diagnostics"].push_back({{"code", each.value("code", "")},
                                     {"message", each.value("message", "")},
                                     {"notes", each.value("notes", json::array())},
                                     {"helps", each.value("helps", json::array())}});
  // Where each buffer is made, as the protocol has it.
  const std::vector<ChipEntry> entries = chipEntries(file.document);
  auto now = std::find_if(entries.begin(), entries.end(),
                          [&](const ChipEntry &each) { return each.name == entry; });
  if (now == entries.end())
    return answer;
  LedgerView view{file, verdict, file.document.places()[now->place]};
  for (json &function : answer["functions"])
    for (json &space : function["spaces"])
      for (json &buffer : space["buffers"])
        if (auto at = view.offsetOf(buffer))
          buffer["location"] = session.location({&file, {*at, *at}});
  for (json &kernel : answer["kernels"])
    if (auto parts = kernel.find("parts"); parts != kernel.end())
      if (auto at = view.offsetOf(*parts))
        (*parts)["location"] = session.location({&file, {*at, *at}});
  for (json &each : answer["statements"])
    if (auto at = view.offsetOf(each))
      each["location"] = session.location({&file, {*at, *at}});
  return answer;
}

} // namespace ptl::lsp
