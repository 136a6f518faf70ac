#include "lsp/server/feasibility_queue.h"

#include "lsp/server/advice.h"
#include "lsp/server/compiler_failed.h"
#include "lsp/server/cost.h"
#include "lsp/server/deferred.h"
#include "lsp/server/later.h"
#include "lsp/server/refresh.h"

#include <algorithm>
#include <utility>

namespace ptl::lsp {

/// The pause in ms after the last edit before declarations that were not edited themselves are
/// asked about again.
static constexpr uint64_t kPause = 300;

/// A long text takes longer to send, time that the next keystroke should not have to wait for.
static uint64_t delayFor(const ide::File &file) {
  // These are 5 ms, and 1 ms for each 4 KiB up to 0.2 s.
  return 5 + std::min<uint64_t>(file.document.size() / 4096, 200);
}

void FeasibilityQueue::edited(const ide::File &file) {
  if (server_.session.settings.targets.empty())
    return;
  edited_[file.path()] = uv_now(server_.loop());
  wakeIn(delayFor(file));
}

void FeasibilityQueue::settingsChanged() {
  due_.clear();
  later_.clear();
  server_.session.verdicts.clear();
  for (ide::File *file : server_.session.workspace.openFiles())
    edited(*file);
}

void FeasibilityQueue::wakeIn(uint64_t milliseconds) {
  // The timer that is running will find these edits as well.
  if (isWaiting_)
    return;
  isWaiting_ = true;
  auto onTime = [this] {
    isWaiting_ = false;
    guarded([this] { collect(); });
    pump();
  };
  lsp::later(server_.loop(), milliseconds, {onTime, reportProblem});
}

void FeasibilityQueue::add(std::deque<Task> &tasks, Task task) {
  auto same = [&](const Task &each) { return each.isSame(task); };
  // A newer task for the same entry replaces the older one, in its place in the queue.
  if (auto known = std::find_if(tasks.begin(), tasks.end(), same); known != tasks.end())
    *known = std::move(task);
  else
    tasks.push_back(std::move(task));
}

/// Finds the entries to ask about in files that were edited.
void FeasibilityQueue::collect() {
  Session &session = server_.session;
  uint64_t now = uv_now(server_.loop());
  for (auto edit = edited_.begin(); edit != edited_.end();) {
    const ide::File *file = session.workspace.find(edit->first);
    // The last edit is so recent that the next keystroke may follow at once.
    if (uint64_t delay = file ? delayFor(*file) : 0; now < edit->second + delay) {
      // The timer is set again for this file.
      wakeIn(edit->second + delay - now);
      ++edit;
      continue;
    }
    edit = edited_.erase(edit);
    // A change in one file may change the verdict of every file that reads it.
    for (const ide::File *reader : session.workspace.openFiles())
      if (file && readsFile(*reader, *file))
        for (const ChipEntry &entry : chipEntries(reader->document))
          for (const std::string &target : session.settings.targets) {
            if (!entry.isFor(target))
              continue;
            const ChipVerdict *verdict = verdictOf(session, reader->path(), entry.name, target);
            bool isKnown = verdict && isFresh(session, reader->path(), *verdict);
            // If the last verdict showed help, it is asked for again, so that it does not vanish.
            bool hadHelps = isKnown && verdict->result.contains("overflow");
            bool hadHints = isKnown && !verdict->result.contains("overflow");
            // An entry with a verdict about the present text is asked about again without haste,
            // because something that it imports may have changed.
            bool hadAdvice = isKnown && !verdict->advice.empty();
            add(isKnown ? later_ : due_,
                {reader->path(), entry.name, target, hadHelps, hadHints, hadAdvice});
          }
  }
}

void FeasibilityQueue::pump() {
  if (isAsking_ && !due_.empty())
    server_.worker.cancelIdle();
  if (isAsking_)
    return;
  // Clients ask for all lenses of a file at once, so they are told only when no answer is due.
  if (due_.empty() && std::exchange(lensesChanged_, false))
    // The flag is reset before the client is told, since it may ask at once.
    refreshLenses(server_);
  if (due_.empty() && std::exchange(hintsChanged_, false))
    refreshHints(server_);
  std::deque<Task> &tasks = due_.empty() ? later_ : due_;
  if (tasks.empty())
    return;
  // Work without haste waits until the user has paused.
  if (due_.empty()) {
    const ide::File *file = server_.session.workspace.find(tasks.front().path);
    uint64_t now = uv_now(server_.loop());
    if (file && now < file->editedAt + kPause)
      return wakeIn(file->editedAt + kPause - now);
  }
  isAskingDue_ = !due_.empty();
  Task task = std::move(tasks.front());
  tasks.pop_front();
  ask(std::move(task));
}

/// The bindings of previews that name one declaration. The others need not fit every declaration.
static json ownBindings(const json &bindings) {
  json own = json::object();
  for (const auto &[name, value] : bindings.items())
    // A dot at the beginning is that of `..`, a prefix.
    if (size_t dot = name.find('.'); dot != 0 && dot != name.npos)
      own[name] = value;
  return own;
}

/// Continues with the next task without a request.
void FeasibilityQueue::skip() {
  isAskingDue_ = false;
  pump();
}

void FeasibilityQueue::ask(Task task) {
  Session &session = server_.session;
  const ide::File *file = session.workspace.find(task.path);
  // The file may have been closed since the task was queued.
  if (!file || !file->isOpen)
    return skip();
  std::vector<ChipEntry> entries = chipEntries(file->document);
  auto entry = std::find_if(entries.begin(), entries.end(),
                            [&](const ChipEntry &each) { return each.name == task.entry; });
  // The entry may have gone with an edit, and its verdict with it.
  if (entry == entries.end() || !entry->isFor(task.target)) {
    session.verdicts.erase({task.path, task.entry, task.target});
    return skip();
  }
  PreviewKey key;
  key.path = task.path;
  key.entry = task.entry;
  WorkerRequest request = entryRequest(session, *file, key);
  request["target"] = task.target;
  request["bindings"] = ownBindings(request["bindings"]);
  request["options"] = {{"helps", task.helps}};
  request["cost"] = true;
  request["hints"] = task.hints;
  request["advice"] = task.advice;
  // Ten seconds are beyond what a user waits for, so a compiler that takes longer counts as hung; a
  // search for advice is asked for while nobody waits, and tries many compilations.
  request["timeoutMs"] = task.advice ? 120000 : 10000;
  isAsking_ = true;
  // A copy of the document shares its chunks, so places in the answer can be told from later ones.
  auto onAnswer = [this, task, request, document = file->document,
                   entry = *entry](const WorkerAnswer &answer) {
    isAsking_ = isAskingDue_ = false;
    std::string code = answer.ok() ? "" : answer.error.value("code", "");
    // The server is ending, and so must the series of requests.
    if (code == "ended")
      return;
    if (answer.ok())
      take(task, document, entry, answer.result);
    else if (code == "cancelled" && task.advice)
      later(task);
    else if (code == "crash" || code == "timeout")
      compilerFailed(server_, task.path, task.entry, answer.error.value("message", ""),
                     request.whole());
    pump();
  };
  // An answer that cannot be read counts as none; the next task follows.
  auto onProblem = [this](const RequestError &problem) {
    reportProblem(problem);
    pump();
  };
  server_.worker.ask("feasibility", request, task.advice ? WorkerClient::kIdle : "",
                     {onAnswer, onProblem});
}

/// Queues a task again that gave way to another request, unless a newer task for the same entry is
/// queued.
void FeasibilityQueue::later(const Task &task) {
  auto same = [&](const Task &each) { return each.isSame(task); };
  if (std::none_of(due_.begin(), due_.end(), same) &&
      std::none_of(later_.begin(), later_.end(), same))
    later_.push_back(task);
}

/// The parts of a cost that are shown within the text.
static json dominantOf(const ChipVerdict &verdict) {
  json shown = json::array();
  for (const PlacedCost &each : verdict.statements)
    if (each.item.value("dominant", false))
      shown.push_back({each.item.value("us", 0.0), each.span.begin});
  shown.push_back(partsOf(verdict));
  return shown;
}

/// Why there is no verdict, in a few words for a lens.
static std::string problemOf(const json &result) {
  const json diagnostics = result.value("diagnostics", json::array());
  std::string code = diagnostics.empty() ? "" : diagnostics[0].value("code", "");
  if (result.value("error", json::object()).value("code", "") == "errors")
    return code.empty() ? "has errors" : "has errors (" + code + ")";
  return code.empty() ? "cannot be compiled" : "cannot be compiled (" + code + ")";
}

namespace {
/// What clients show of a verdict, to find out whether it has changed.
struct Shown {
  std::vector<Diagnostic> diagnostics; ///< none where they are of another text
  std::vector<std::string> advice;
  std::string title;
  json dominant;

  Shown(Session &session, const std::string &path, const std::string &entry,
        const std::string &target, const ChipVerdict &verdict)
      : advice(adviceTexts(verdict)),
        title(verdictTitle(session, path, entry, target) +
              verdictLens(session, path, entry, target) + sizesLens(session, path, entry)),
        dominant(dominantOf(verdict)) {
    if (isFresh(session, path, verdict))
      diagnostics = verdict.diagnostics;
  }

  bool hasSameDiagnostics(const Shown &other) const {
    auto isSame = [](const Diagnostic &a, const Diagnostic &b) {
      return a.span == b.span && a.message == b.message && a.helps == b.helps &&
             a.notes == b.notes && a.fixes.size() == b.fixes.size();
    };
    return std::equal(diagnostics.begin(), diagnostics.end(), other.diagnostics.begin(),
                      other.diagnostics.end(), isSame);
  }
};
} // namespace

/// Queues the next request for what nobody reads while typing: helps, then hints, then advice.
void FeasibilityQueue::askForMore(const Task &task, const ChipVerdict &verdict) {
  if (!task.helps && (verdict.result.contains("overflow") || !partsOf(verdict).empty()))
    add(later_, {task.path, task.entry, task.target, true, false});
  else if (!task.hints && verdict.result.contains("cost"))
    add(later_, {task.path, task.entry, task.target, task.helps, true});
  else if (!task.advice && server_.session.settings.advice && task.target != "cpu" &&
           verdict.result.value("cost", json::object()).contains("us"))
    add(later_, {task.path, task.entry, task.target, task.helps, true, true});
}

void FeasibilityQueue::take(const Task &task, const ide::Document &document, const ChipEntry &entry,
                            json result) {
  Session &session = server_.session;
  // The file may have been removed while the compiler was at work.
  if (!session.workspace.find(task.path))
    return;
  ChipVerdict &verdict = session.verdicts[{task.path, task.entry, task.target}];
  auto shown = [&] { return Shown(session, task.path, task.entry, task.target, verdict); };
  // What was shown is compared below with what is shown then, so that clients are bothered only by
  // changes.
  Shown before = shown();
  bool isGood = result.value("ok", false);
  if (isGood)
    verdict = readVerdict(session, document, entry, std::move(result));
  else if (result.value("error", json::object()).value("code", "") == "no-target")
    verdict.problem = "no such chip";
  else if (verdict.result.is_null())
    verdict.problem = problemOf(result); // there is no good one to show
  else
    // Without chunks the verdict is never fresh.
    verdict.chunks.clear(); // the last good one, about another text
  Shown now = shown();
  if (!now.hasSameDiagnostics(before) || now.advice != before.advice)
    server_.publisher.changed(task.path);
  lensesChanged_ |= now.title != before.title || now.advice != before.advice;
  hintsChanged_ |= now.dominant != before.dominant;
  if (isGood)
    askForMore(task, verdict);
}

// ---- The request --------------------------------------------------------------------------------

ChipQuestion chipQuestion(Session &session, const ide::File &file, const json &params) {
  PreviewKey key;
  key.path = file.path();
  key.entry = params.value("entry", "");
  key.bindings = params.value("bindings", json::object());
  // Without a name the entry at the cursor is meant.
  if (key.entry.empty() && params.contains("position"))
    key.entry = entryAt(file, session.offsetIn(file, params));
  std::vector<ChipEntry> entries = chipEntries(file.document);
  auto entry = std::find_if(entries.begin(), entries.end(),
                            [&](const ChipEntry &each) { return each.name == key.entry; });
  if (entry == entries.end())
    throw RequestError{kInvalidParams, key.entry.empty()
                                           ? "there is no declaration at this position"
                                           : "`" + key.entry + "` is not a kernel or program here"};
  WorkerRequest request = entryRequest(session, file, key);
  if (params.contains("target"))
    request["target"] = params["target"];
  else if (!session.settings.targets.empty())
    request["target"] = session.settings.targets.front();
  // Sizes in the request win over those in the settings.
  request["sizes"].update(params.value("sizes", json::object()));
  std::string target = request.members.value("target", "");
  return {*entry, std::move(target), std::move(request)};
}

using AnswerOf = json (*)(Session &session, const ide::File &file, const std::string &entry,
                          const ChipVerdict &verdict, bool isStale);

/// Asks about one kernel, and answers with the last good verdict where there is no better.
static void askVerdict(Server &server, const json &params, const Reply &reply, const json &more,
                       AnswerOf answerOf) {
  Session &session = server.session;
  ide::File &file = session.file(params);
  ChipQuestion question = chipQuestion(session, file, params);
  question.request.members.update(more);
  auto onAnswer = [&session, reply, answerOf, path = file.path(), target = question.target,
                   document = file.document, entry = question.entry](const WorkerAnswer &answer) {
    // The file may have been closed, which ends the request.
    ide::File &now = session.fileStill(path);
    const ChipVerdict *known = verdictOf(session, path, entry.name, target);
    if (answer.ok() && answer.result.value("ok", false)) {
      ChipVerdict verdict = readVerdict(session, document, entry, answer.result);
      return reply.result(
          answerOf(session, now, entry.name, verdict, !isFresh(session, path, verdict)));
    }
    // A failed compilation still has the last good answer to show, marked as stale.
    if (known && !known->result.is_null())
      return reply.result(answerOf(session, now, entry.name, *known, true));
    const json error = answer.ok() ? answer.result.value("error", json::object()) : answer.error;
    reply.error({kRequestFailed, error.value("message", "the compiler has no answer")});
  };
  server.worker.ask("feasibility", std::move(question.request), "", {onAnswer, reply.onProblem()});
}

json targets(Session &session, const json &) {
  return {{"chips", session.workspace.options().machines->chips()},
          {"chosen", session.settings.targets}};
}

/// The lengths for which an entry can be examined: those of the calls in its file. Chosen lengths
/// come first.
void sizes(Server &server, const json &params, const Reply &reply) {
  Session &session = server.session;
  ide::File &file = session.file(params);
  ChipQuestion question = chipQuestion(session, file, params);
  auto onAnswer = [reply, entry = question.entry.name,
                   wanted = question.request["sizes"]](const WorkerAnswer &answer) {
    if (!answer.ok() || !answer.result.value("ok", false)) {
      const json error = answer.ok() ? answer.result.value("error", json::object()) : answer.error;
      return reply.error({kRequestFailed, error.value("message", "the compiler has no answer")});
    }
    json dims = answer.result.value("dims", json::array());
    for (json &dim : dims)
      for (const std::string &name : {entry + "." + dim.value("name", ""), dim.value("name", "")})
        if (wanted.contains(name) && !dim.contains("value"))
          dim["value"] = wanted[name];
    reply.result({{"entry", entry},
                  {"dims", std::move(dims)},
                  {"calls", answer.result.value("calls", json::array())}});
  };
  server.worker.ask("sizes", std::move(question.request), "", {onAnswer, reply.onProblem()});
}

void ledger(Server &server, const json &params, const Reply &reply) {
  askVerdict(server, params, reply, {{"options", {{"helps", true}}}}, ledgerAnswer);
}

void cost(Server &server, const json &params, const Reply &reply) {
  askVerdict(server, params, reply,
             {{"options", {{"helps", false}}},
              {"cost", true},
              {"hints", params.value("hints", true)},
              {"advice", params.value("advice", false)}},
             costAnswer);
}

} // namespace ptl::lsp
