#include "agent/server/handlers.h"

#include "agent/server/library.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/explain.h"

#include <algorithm>

namespace ptl::agent {

Json refusal(const std::string &why) {
  return {{"summary", why}, {"next", Json::array()}, {"more", Json::array()}};
}

Json answerOnServer(const ToolInfo &tool, const ServerCall &call, bool &isError) {
  switch (tool.id) {
#define PTL_CASE_Worker(ID)
#define PTL_CASE_Server(ID)                                                                        \
  case ToolId::ID:                                                                                 \
    return answer##ID(call, isError);
#define TOOL(ID, NAME, TITLE, WHERE, HINTS, NEEDED, ALLOWED, WHAT) PTL_CASE_##WHERE(ID)
#include "agent/tools.def"
#undef PTL_CASE_Worker
#undef PTL_CASE_Server
  default:
    isError = true;
    return refusal("a worker answers this tool");
  }
}

static Json stepOf(const char *tool, Json arguments, const std::string &why,
                   const std::string &gain) {
  return {{"tool", tool}, {"arguments", std::move(arguments)}, {"why", why}, {"gain", gain}};
}

Json answerExplain(const ServerCall &call, bool &isError) {
  std::string code = call.arguments.text(ArgumentId::Code);
  std::optional<std::string_view> page = explainPage(code);
  if (!page) {
    isError = true;
    Json answer = refusal("there is no diagnostic `" + code.substr(0, 40) + "`");
    for (std::string_view similar : similarCodes(code, 3))
      answer["next"].push_back(
          stepOf("explain", {{"code", similar}}, "a similar code", "its page"));
    return answer;
  }
  Json answer = {{"version", 1},
                 {"code", code},
                 {"page", *page},
                 {"next", Json::array()},
                 {"more", Json::array()}};
  for (const DiagInfo &info : allDiagInfos())
    if (code == info.code) {
      answer["name"] = info.name;
      answer["severity"] = info.severity == Severity::Error     ? "error"
                           : info.severity == Severity::Warning ? "warning"
                                                                : "note";
      answer["message"] = info.message;
      answer["summary"] = code + ": " + info.message;
    }
  answer["next"].push_back(stepOf("search_docs", {{"query", answer["name"]}},
                                  "the sections of the documents about it", "the rules behind it"));
  return answer;
}

static Json searchAnswer(const ServerCall &call, const std::vector<std::string> &where,
                         bool &isError) {
  std::string query = call.arguments.text(ArgumentId::Query);
  size_t most =
      std::min<size_t>(50, static_cast<size_t>(call.arguments.whole(ArgumentId::Most, 5)));
  std::vector<FoundPart> found = searchLibrary(query, where, most);
  Json answer = {{"results", Json::array()}, {"next", Json::array()}, {"more", Json::array()}};
  for (const FoundPart &part : found) {
    answer["results"].push_back({{"uri", part.page->uri},
                                 {"title", part.title},
                                 {"line", part.line},
                                 {"excerpt", part.excerpt},
                                 {"from_byte", part.byte},
                                 {"byte_count", part.bytes}});
    if (answer["next"].size() < 3)
      answer["next"].push_back(stepOf("more",
                                      {{"uri", part.page->uri},
                                       {"from_byte", part.byte},
                                       {"byte_count", std::min<size_t>(part.bytes, 8000)}},
                                      part.title, std::to_string(part.bytes) + " bytes to read"));
  }
  answer["summary"] = found.empty() ? "no document contains these words: " + query.substr(0, 100)
                                    : std::to_string(found.size()) +
                                          " parts, the best: " + found.front().title + " in " +
                                          found.front().page->uri;
  isError = found.empty();
  return answer;
}

Json answerSearchDocs(const ServerCall &call, bool &isError) {
  return searchAnswer(call, {"ptl://docs/", "ptl://diagnostics/"}, isError);
}

Json answerSearchExamples(const ServerCall &call, bool &isError) {
  return searchAnswer(call, {"ptl://examples/", "ptl://std/"}, isError);
}

Json answerApplyFix(const ServerCall &call, bool &isError) {
  std::string id = call.arguments.text(ArgumentId::Fix), problem;
  const Json *fix = call.store.fix(id);
  isError = true;
  if (!fix)
    return refusal("there is no fix `" + id.substr(0, 40) +
                   "`: the answers of check, format, cost and tune list the fixes");
  std::optional<Json> done = applyFix(*fix, call.roots, problem);
  Json again = (*fix)["again"];
  if (!done) {
    Json answer = refusal(problem);
    answer["next"].push_back(stepOf(again["tool"].get_ref<const std::string &>().c_str(),
                                    again["arguments"], "calls the tool again for the current file",
                                    "a fix for the current file"));
    return answer;
  }
  isError = false;
  Json answer = std::move(*done);
  // A text that was given in the place of a file has to be given again as it is now.
  if (answer.contains("text") && again["arguments"].contains("text"))
    again["arguments"]["text"] = answer["text"];
  answer["summary"] = "done: " + answer["title"].get<std::string>();
  answer["next"] =
      Json::array({stepOf(again["tool"].get_ref<const std::string &>().c_str(), again["arguments"],
                          "reports what is left to do", "the new time, and the next change")});
  answer["more"] = Json::array();
  return answer;
}

/// Bytes of a text from a place on, cut between characters.
static std::string bytesOf(std::string_view text, size_t from, size_t count) {
  auto isInside = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  from = std::min(from, text.size());
  size_t end = from + std::min(count, text.size() - from);
  // Both ends move in the same way, so that pieces that follow each other give the whole text.
  while (isInside(from))
    ++from;
  while (isInside(end))
    ++end;
  return std::string(text.substr(from, std::max(end, from) - from));
}

Json answerMore(const ServerCall &call, bool &isError) {
  std::string uri = call.arguments.text(ArgumentId::Uri), type;
  std::string_view text;
  if (const StoredDocument *document = call.store.document(uri)) {
    text = document->text;
    type = document->type;
  } else if (const LibraryPage *page = libraryPage(uri)) {
    text = page->text;
    type = page->type;
  } else {
    isError = true;
    return refusal("there is no document `" + uri.substr(0, 100) +
                   "`: only the documents of the latest answers are kept; call the tool again");
  }
  std::string part;
  if (call.arguments.has(ArgumentId::Part)) {
    std::string pointer = call.arguments.text(ArgumentId::Part);
    Json whole = Json::parse(text, nullptr, false);
    bool isPointer = pointer.empty() || pointer.front() == '/';
    try {
      if (whole.is_discarded() || !isPointer)
        throw std::invalid_argument("");
      part = whole.at(Json::json_pointer(pointer)).dump(1);
    } catch (const std::exception &) {
      isError = true;
      return refusal("the document has no part `" + pointer.substr(0, 100) +
                     "`: write a JSON pointer such as /costs/0/statements");
    }
    text = part;
  }
  auto from = static_cast<size_t>(call.arguments.whole(ArgumentId::FromByte, 0));
  auto count = std::min<size_t>(
      static_cast<size_t>(call.arguments.whole(ArgumentId::ByteCount, 4000)), 1 << 20);
  std::string shown = bytesOf(text, from, count);
  Json answer = {{"uri", uri},           {"type", type},  {"bytes", text.size()},
                 {"from_byte", from},    {"text", shown}, {"next", Json::array()},
                 {"more", Json::array()}};
  answer["summary"] =
      std::to_string(shown.size()) + " of " + std::to_string(text.size()) + " bytes of " + uri;
  if (from + count < text.size()) {
    Json rest = call.arguments.json();
    rest["from_byte"] = from + count;
    answer["next"].push_back(
        stepOf("more", rest, "the next bytes",
               std::to_string(text.size() - from - count) + " bytes are left"));
  }
  return answer;
}

} // namespace ptl::agent
