// Hover and definition where IR has a say: what an expression became, what a line of IR came from.

#include "lsp/server/ir_hover.h"

#include "lsp/ide/document.h"
#include "lsp/server/handlers.h"
#include "lsp/server/later.h"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace ptl::lsp {

// ---- In PTL -------------------------------------------------------------------------------------

/// The answer of the table's own handler: what is known without IR.
static json answerOf(const char *method, Session &session, const json &params) {
  RequestHandler handler = handlerOf(method);
  return handler ? handler(session, params) : json();
}

/// The stages of a worker's `hover` as Markdown.
static std::string irText(const json &result) {
  std::string text;
  for (const json &stage : result.value("stages", json::array())) {
    json lines = stage.value("lines", json::array());
    // A stage without lines may say why.
    if (lines.empty()) {
      if (std::string reason = stage.value("reason", ""); !reason.empty())
        text += "\n\n`" + stage.value("stage", "") + "`: " + reason;
      continue;
    }
    text += "\n\n`" + stage.value("stage", "") + "`\n```" + stage.value("languageId", "") + "\n";
    for (const json &line : lines)
      text += line.value("text", "") + "\n";
    text += "```";
    // Only a few lines are shown of a long result.
    int64_t more = stage.value("total", int64_t(0)) - static_cast<int64_t>(lines.size());
    if (more > 0)
      text += "\n" + std::to_string(more) + " more";
    for (const json &note : stage.value("notes", json::array()))
      text += "\n\n" + note.get<std::string>();
  }
  return text;
}

static json withIr(Session &session, json hover, const std::string &text) {
  // Without a hover there is nothing to add to.
  if (text.empty() || !hover.is_object() || !hover.contains("contents"))
    return hover;
  json addition = session.markup(text);
  std::string own = hover["contents"].value("value", "");
  hover["contents"]["value"] = own + (own.empty() ? "" : "\n\n") + addition.value("value", "");
  return hover;
}

/// The expression at a byte: of the name of what is called, the whole call.
static ide::Range expressionAt(const ide::File &file, ide::Range range) {
  const ide::Place &place = file.document.places()[file.document.placeAt(range.begin)];
  const Tree &tree = *place.chunk->tree;
  uint32_t begin = range.begin - place.begin, end = range.end - place.begin;
  NodeId node = tree.nodeAt(begin);
  // The node at the beginning may be only a part of the range.
  while (node != tree.root() && tree.span(node).end < end)
    node = tree.parent(node);
  NodeId call = kNoNode;
  // The name of a callee stands for its call, as do nodes with the same text.
  for (NodeId parent = tree.parent(node); parent != kNoNode; parent = tree.parent(node)) {
    bool isCallee = tree.is(parent, NodeKind::CallExpr) && tree.child(parent, 0) == node;
    if (!isCallee && tree.span(parent) != tree.span(node))
      break;
    node = parent;
    if (isCallee)
      call = node;
  }
  if (call == kNoNode)
    return range;
  Span span = tree.span(call);
  return {place.begin + span.begin, place.begin + span.end};
}

namespace {

/// What is asked for one expression, stage by stage.
struct IrQuestion {
  Server &server;
  WorkerRequest request; ///< of the worker, without its stages
  Callback<const std::string &> onText;
  std::string text = {};
};

} // namespace

/// Asks what the expression became at one stage, then at the next. What has no line of its own is
/// asked about as the part of another that it is.
static void askStage(std::shared_ptr<IrQuestion> question, std::vector<std::string> stages,
                     bool isPart) {
  if (stages.empty())
    return question->onText(question->text);
  WorkerRequest request = question->request;
  request["stages"] = {stages.front()};
  auto onAnswer = [question, stages, isPart](const WorkerAnswer &answer) {
    // After a failure what was found so far is the answer.
    if (!answer.ok() || !answer.result.value("ok", false))
      return question->onText(question->text);
    const json found = answer.result.value("stages", json::array());
    bool hasPart = !found.empty() && found[0].value("lines", json::array()).empty() &&
                   found[0].contains("part");
    // The range is replaced by that of the larger operation, and the same stage is asked again.
    if (hasPart && !isPart) {
      question->request["begin"] = found[0]["part"]["begin"];
      question->request["end"] = found[0]["part"]["end"];
      question->text += "\n\npart of a larger operation";
      return askStage(question, stages, true);
    }
    question->text += irText(answer.result);
    askStage(question, {stages.begin() + 1, stages.end()}, isPart);
  };
  auto onProblem = [question](const RequestError &problem) { question->onText.fail(problem); };
  // Requests have a topic, so a newer hover takes the place of this one.
  question->server.worker.ask("hover", std::move(request), "hover", {onAnswer, onProblem});
}

/// The stages that a hover shows. What is written for chips has no others than theirs.
static std::vector<std::string> hoverStages(const Session &session, const ide::File &file,
                                            uint32_t offset) {
  const ide::Place &place = file.document.places()[file.document.placeAt(offset)];
  const Tree &tree = *place.chunk->tree;
  for (NodeId item : tree.children(tree.root())) {
    Span span = tree.span(item);
    bool isManual = tree.is(item, NodeKind::KernelDecl) && tree.has(item, NodeFlag::Manual);
    if (isManual && span.begin <= offset - place.begin && offset - place.begin <= span.end)
      return {session.settings.chips().empty() ? "block" : "block@" + session.settings.chips()[0]};
  }
  return {session.settings.previewStage, "asm"};
}

/// Right after an edit nobody waits for IR: the answer about the source comes at once.
static bool isQuiet(const Server &server, const ide::File &file) {
  constexpr uint64_t pause = 250; // ms
  // Compilation after each keystroke would slow down typing.
  return uv_now(server.loop()) >= file.editedAt + pause;
}

/// The expression that a hover is about; nothing if IR has nothing to say of the place.
static std::optional<ide::Range> irRange(Session &session, const ide::File &file,
                                         const json &plain) {
  if (!plain.is_object() || !plain.contains("range"))
    return std::nullopt;
  return expressionAt(file, session.range(file, plain["range"]));
}

/// What is known already of an expression of the present text; empty while it is asked for, too.
static const std::string *knownIr(const Session &session, const ide::File &file, ide::Range range) {
  for (const KnownIr &each : session.knownIr)
    if (each.path == file.path() && each.range == range && each.edition == session.edition)
      return &each.text;
  return nullptr;
}

static void forgetIr(Session &session, const KnownIr &ir) {
  // What is about older texts is never found again.
  std::erase_if(session.knownIr, [&](const KnownIr &each) {
    return each.edition != session.edition || (each.path == ir.path && each.range == ir.range);
  });
}

static void keepIr(Session &session, KnownIr ir) {
  forgetIr(session, ir);
  constexpr size_t most = 64;
  if (session.knownIr.size() >= most)
    session.knownIr.erase(session.knownIr.begin());
  if (ir.edition == session.edition)
    session.knownIr.push_back(std::move(ir));
}

static void askIr(Server &server, const ide::File &file, ide::Range range,
                  Callback<const std::string &> onText) {
  Session &session = server.session;
  PreviewKey key;
  key.path = file.path();
  WorkerRequest request = entryRequest(session, file, key);
  request["begin"] = range.begin;
  request["end"] = range.end;
  request["offset"] = range.begin;
  // A hover has room for a few lines.
  request["limit"] = 6;
  // After three seconds the user has moved on.
  request["timeoutMs"] = 3000;
  KnownIr ir{file.path(), range, session.edition, ""};
  keepIr(session, ir); // so that nobody asks for it twice
  auto keep = [&session, onText, ir](const std::string &text) {
    KnownIr known = ir;
    known.text = text;
    keepIr(session, std::move(known));
    onText(text);
  };
  auto onProblem = [&session, onText, ir](const RequestError &problem) {
    forgetIr(session, ir);
    onText.fail(problem);
  };
  auto question = std::make_shared<IrQuestion>(server, std::move(request),
                                               Callback<const std::string &>{keep, onProblem});
  askStage(question, hoverStages(session, file, range.begin), false);
}

/// The answer comes at once. IR is in it if it is known; otherwise it is asked for, so that the next
/// hover has it, or the client asks for it with `ptl/hoverIr` while it shows this answer.
void hoverWithIr(Server &server, const json &params, const Reply &reply) {
  std::string uri = params.at("textDocument").at("uri").get<std::string>();
  if (uri.starts_with("ptl-ir:"))
    return previewHover(server, {{"uri", uri}, {"position", params.at("position")}}, reply);
  if (server.irDocuments.contains(uri))
    return irDocumentHover(server, uri, params, reply);
  Session &session = server.session;
  json plain = answerOf("textDocument/hover", session, params);
  ide::File &file = session.file(params);
  std::optional<ide::Range> range = irRange(session, file, plain);
  // What is known of buffers and times is added without asking the worker.
  if (range)
    plain = withIr(session, std::move(plain), ledgerText(session, file, *range));
  if (!range || !session.settings.hoverIr || session.client.asksHoverIr)
    return reply.result(std::move(plain));
  const std::string *known = knownIr(session, file, *range);
  reply.result(known ? withIr(session, std::move(plain), *known) : std::move(plain));
  if (!known && isQuiet(server, file))
    askIr(server, file, *range, {[](const std::string &) {}, [](const RequestError &) {}});
}

/// The part of a hover that the worker knows, when it knows it.
void hoverIr(Server &server, const json &params, const Reply &reply) {
  std::string uri = params.at("textDocument").at("uri").get<std::string>();
  Session &session = server.session;
  if (!session.settings.hoverIr || uri.starts_with("ptl-ir:") || server.irDocuments.contains(uri))
    return reply.result(nullptr);
  json plain = answerOf("textDocument/hover", session, params);
  ide::File &file = session.file(params);
  std::optional<ide::Range> range = irRange(session, file, plain);
  if (!range)
    return reply.result(nullptr);
  auto answer = [&session, reply, at = plain["range"]](const std::string &text) {
    if (text.empty())
      return reply.result(nullptr);
    reply.result(
        {{"contents", session.markup(text.substr(text.find_first_not_of('\n')))}, {"range", at}});
  };
  if (const std::string *known = knownIr(session, file, *range); known && !known->empty())
    return answer(*known);
  if (!isQuiet(server, file))
    return reply.result(nullptr);
  askIr(server, file, *range, {answer, [reply](const RequestError &) { reply.result(nullptr); }});
}

// ---- In dumped IR -------------------------------------------------------------------------------

/// Asks the worker about an open file of IR; `onOp` gets the innermost operation at the position.
static void askOpAt(Server &server, const std::string &uri, const json &params, const Reply &reply,
                    std::function<void(const json &op)> onOp) {
  int64_t line = params.at("position").at("line").get<int64_t>();
  int64_t column = params.at("position").at("character").get<int64_t>();
  auto onAnswer = [=](const WorkerAnswer &answer) {
    if (!answer.ok())
      return reply.result(nullptr);
    const json *best = nullptr;
    const json ops = answer.result.value("ops", json::array());
    for (const json &op : ops) {
      // The innermost operation begins last among those around the position.
      std::pair begin(op.value("line", int64_t(0)), op.value("col", int64_t(0)));
      std::pair end(op.value("endLine", begin.first), op.value("endCol", begin.second));
      std::pair at(line, column);
      if (begin <= at && at <= end &&
          (!best ||
           begin >= std::pair(best->value("line", int64_t(0)), best->value("col", int64_t(0)))))
        best = &op;
    }
    if (!best)
      return reply.result(nullptr);
    // Relative paths are those of where the compiler ran; the folder of the dump is the best guess.
    json op = *best;
    std::filesystem::path folder = std::filesystem::path(Session::pathOfUri(uri)).parent_path();
    for (json &place : op["sources"])
      place["path"] = (folder / place.value("path", "")).lexically_normal().string();
    onOp(op);
  };
  server.worker.ask("mlir", {{{"text", server.irDocuments.text(uri)}}, {}}, "",
                    {onAnswer, reply.onProblem()});
}

static std::string listOf(const json &types) {
  std::string text;
  for (const json &type : types)
    text += (text.empty() ? "`" : ", `") +
            (type.is_string() ? type.get<std::string>() : type.dump()) + "`";
  return text.empty() ? "nothing" : text;
}

/// The line of a source that a place names, for showing.
static std::string sourceLine(Session &session, const json &place) {
  ide::File *file = session.workspace.load(place.value("path", ""));
  if (!file)
    return "";
  return std::string(file->document.lineText(place.value("line", 0u)));
}

void irDocumentHover(Server &server, const std::string &uri, const json &params,
                     const Reply &reply) {
  Session &session = server.session;
  askOpAt(server, uri, params, reply, [&session, reply](const json &op) {
    std::string text = "**`" + op.value("name", "") +
                       "`**: " + listOf(op.value("operands", json::array())) + " → " +
                       listOf(op.value("results", json::array()));
    for (const json &place : op.value("sources", json::array()))
      text += "\n\n`" + place.value("path", "") + ":" + std::to_string(place.value("line", 0) + 1) +
              "`\n```ptl\n" + sourceLine(session, place) + "\n```";
    reply.result({{"contents", session.markup(text)}});
  });
}

/// Where a line of a preview came from.
static json previewDefinition(Server &server, const std::string &uri, const json &params) {
  auto preview = server.previews.byUri.find(uri);
  if (preview == server.previews.byUri.end() || preview->second.answer.isNone())
    return nullptr;
  // A line without an origin leads nowhere.
  auto line = params.at("position").at("line").get<uint32_t>();
  const std::string *sources = preview->second.answer.body->sourcesOf(line);
  return sources ? rawJson(*sources) : nullptr;
}

void definitionAnywhere(Server &server, const json &params, const Reply &reply) {
  std::string uri = params.at("textDocument").at("uri").get<std::string>();
  Session &session = server.session;
  if (uri.starts_with("ptl-ir:"))
    return reply.result(previewDefinition(server, uri, params));
  if (!server.irDocuments.contains(uri))
    return reply.result(answerOf("textDocument/definition", session, params));
  askOpAt(server, uri, params, reply, [&session, reply](const json &op) {
    json locations = json::array();
    for (const json &place : op.value("sources", json::array())) {
      ide::File *file = session.workspace.load(place.value("path", ""));
      if (!file)
        continue;
      uint32_t offset = file->document.offset({place.value("line", 0u), place.value("col", 0u)});
      locations.push_back(session.location({file, {offset, offset}}));
    }
    reply.result(std::move(locations));
  });
}

void previewHover(Server &server, const json &params, const Reply &reply) {
  PreviewKey key = PreviewKey::ofUri(params.at("uri").get<std::string>());
  Session &session = server.session;
  ide::File &file = session.fileOfUri(Session::uri(key.path));
  WorkerRequest request = entryRequest(session, file, key);
  request["line"] = params.at("position").at("line");
  auto onAnswer = [&session, reply](const WorkerAnswer &answer) {
    if (!answer.ok() || !answer.result.value("ok", false))
      return reply.result(nullptr);
    std::string text, notes;
    if (auto op = answer.result.find("op"); op != answer.result.end() && op->is_object())
      text = "**`" + op->value("name", "") +
             "`**: " + listOf(op->value("operands", json::array())) + " → " +
             listOf(op->value("results", json::array()));
    for (const json &place : answer.result.value("sources", json::array()))
      text += (text.empty() ? "" : "\n\n") + std::string("`") + place.value("path", "") + ":" +
              std::to_string(place.value("line", 0) + 1) + "`\n```ptl\n" + place.value("text", "") +
              "\n```";
    for (const json &note : answer.result.value("notes", json::array()))
      notes += "\n\n" + note.get<std::string>();
    text = notes.empty() ? text : text + (text.empty() ? notes.substr(2) : notes);
    text.empty() ? reply.result(nullptr) : reply.result({{"contents", session.markup(text)}});
  };
  server.worker.ask("facts", std::move(request), "", {onAnswer, reply.onProblem()});
}

} // namespace ptl::lsp
