// Asks the worker (through feasibility_queue.h) whether kernels and programs fit the chips, and how
// they use each memory. The answers, called verdicts, are cached while the text stays the same, and
// shown in diagnostics, lenses and hovers.
#pragma once

#include "lsp/ide/workspace.h"
#include "lsp/server/worker_request.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace ptl::lsp {

using json = nlohmann::json;
class Session;

/// A part of a cost, with its place.
struct PlacedCost {
  Span span; ///< in a chunk
  json item; ///< as in the worker's answer
};

/// A change that was tried, with the places of its edits.
struct PlacedAdvice {
  Span span;
  json item; ///< as in the worker's answer
  std::vector<TextEdit> edits;
};

/// The answer for one kernel or program and one chip.
struct ChipVerdict {
  json result;         ///< the worker's last valid answer; null: there is none
  std::string problem; ///< there is no such chip
  /// The lines in `result` are relative to this line, the first of the declaration's chunk.
  uint32_t line = 0;
  /// The diagnostics, with places in chunks.
  std::vector<Diagnostic> diagnostics;
  std::vector<PlacedCost> statements, hints, tried;
  std::vector<PlacedAdvice> advice;
  /// The chunks that the verdict depends on, as far as it names them; the first has the
  /// declaration.
  std::vector<std::weak_ptr<const ide::Chunk>> chunks;

  bool isNone() const { return result.is_null() && problem.empty(); }
};

/// The verdicts by path, declaration and chip.
using Verdicts = std::map<std::tuple<std::string, std::string, std::string>, ChipVerdict>;

/// A kernel or program of a file.
struct ChipEntry {
  std::string name;
  size_t place = 0;                 ///< of the document
  ide::Range range;                 ///< of its name, in the chunk
  std::vector<std::string> targets; ///< that it is for; empty: all

  bool isFor(std::string_view target) const {
    return targets.empty() || std::find(targets.begin(), targets.end(),
                                        target.substr(0, target.find(':'))) != targets.end();
  }
};
std::vector<ChipEntry> chipEntries(const ide::Document &document);

/// Whether a verdict belongs to the present text.
bool isFresh(Session &session, const std::string &path, const ChipVerdict &verdict);
/// The tiles that are executed in parts, from the ledger.
json partsOf(const ChipVerdict &verdict);
/// Null if no answer has arrived yet.
const ChipVerdict *verdictOf(const Session &session, const std::string &path,
                             const std::string &entry, const std::string &target);

/// `a3: fits · vec 96/184 KiB · 41.2 µs · cube-bound 87 %`, for a hover.
std::string verdictTitle(Session &session, const std::string &path, const std::string &entry,
                         const std::string &target);
/// `a3 ✓ 41.2 µs · cube 87 %`, for a lens.
std::string verdictLens(Session &session, const std::string &path, const std::string &entry,
                        const std::string &target);
/// The lengths that the verdicts of an entry are for, for a lens.
std::string sizesLens(Session &session, const std::string &path, const std::string &entry);

/// Hints at the ends of lines: all hints of a line are merged into one.
class LineHints {
public:
  /// Adds a hint; one that the line already has is shown once. `tooltip` is Markdown.
  void add(uint32_t offset, const std::string &target, const std::string &label,
           const std::string &tooltip);
  /// The hints as JSON without brackets.
  std::string text(const Session &session, const ide::File &file) const;

private:
  struct Hint {
    std::vector<std::pair<std::string, std::vector<std::string>>> labels; ///< by target
    std::vector<std::string> tooltips;
  };
  std::map<uint32_t, Hint> hints_;
};
/// The text of a hover over a range, in Markdown: over the name of a kernel all memories, over
/// other names the buffers that are made there. Empty if there is nothing to show.
std::string ledgerText(Session &session, const ide::File &file, ide::Range range);
/// Adds hints within a range at tiles that are executed in parts.
void addPartHints(Session &session, const ide::File &file, ide::Range range, LineHints &hints);
/// The range of the `let` or `var` that declares a name; otherwise the range itself.
ide::Range statementOf(const ide::File &file, ide::Range range);

/// The question of a request about one kernel or program of a file and one chip.
struct ChipQuestion {
  ChipEntry entry;
  std::string target;
  WorkerRequest request; ///< for the worker
};
/// `params`: `entry` or `position`, `target`, `bindings`, `sizes`. Throws `RequestError`.
ChipQuestion chipQuestion(Session &session, const ide::File &file, const json &params);

/// Converts an answer of the worker about `document` to a verdict.
ChipVerdict readVerdict(Session &session, const ide::Document &document, const ChipEntry &entry,
                        json result);

/// Calls `visit` with the diagnostics of a file that belong to its present text, and their chip.
using VisitVerdict =
    std::function<void(const ide::FileDiagnostic &diagnostic, const std::string &target)>;
void forEachVerdict(Session &session, const ide::File &file, const VisitVerdict &visit);

/// The answer of `ptl/ledger`.
json ledgerAnswer(Session &session, const ide::File &file, const std::string &entry,
                  const ChipVerdict &verdict, bool isStale);

} // namespace ptl::lsp
