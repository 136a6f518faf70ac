// What is sent of files that the worker has: applied to its texts, it gives the present ones.
#include "lsp/server/worker_request.h"

#include "lsp/ide/workspace.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace ptl::lsp {
namespace worker_request_test {

/// What a worker has, by path.
class Receiver {
public:
  /// The number of bytes of text in the request.
  size_t take(const std::string &message) {
    json request = json::parse(message), forgotten = request.value("forget", json::array());
    size_t sent = 0;
    for (const json &path : forgotten)
      texts.erase(path.get<std::string>());
    for (const auto &[path, value] : request.at("files").items()) {
      if (value.is_string()) {
        texts[path] = value.get<std::string>();
        sent += texts[path].size();
        continue;
      }
      size_t from = value.at("from"), to = value.at("to");
      std::string text = value.at("text");
      texts.at(path).replace(from, to - from, text);
      sent += text.size();
    }
    return sent;
  }
  std::map<std::string, std::string> texts;
};

std::string functions(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "/// \"É\"\nfn f" + std::to_string(i) + "(x: f32) -> f32 {\n\treturn x + " +
            std::to_string(i) + ".0\n}\n\n";
  return text;
}

WorkerRequest requestOf(const std::vector<const ide::File *> &files) {
  WorkerRequest request;
  for (const ide::File *file : files)
    request.files.push_back({file->path(), std::make_shared<ide::Document>(file->document)});
  return request;
}

TEST(WorkerRequestTest, ChangesGiveThePresentText) {
  ide::Workspace workspace;
  ide::File &file = workspace.open("/a.ptl", functions(40), 1);
  SentTexts sent;
  Receiver worker;
  EXPECT_EQ(worker.take(sent.written(requestOf({&file}), "hover", 1)), file.document.size());
  EXPECT_EQ(worker.take(sent.written(requestOf({&file}), "hover", 2)), 0u);
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"", "x", "fn g() {\n}\n", "}\n", "{", "\n\n", "\"", "ß"};
  for (int i = 0; i < 500; ++i) {
    uint32_t begin = random() % (file.document.size() + 1);
    uint32_t end = std::min<uint32_t>(file.document.size(), begin + random() % 40);
    workspace.edit(file, {begin, end}, pieces[random() % pieces.size()]);
    // Several edits lie between some requests.
    if (random() % 3 == 0)
      continue;
    json whole = requestOf({&file}).whole();
    worker.take(sent.written(requestOf({&file}), "hover", i));
    // Half a letter is written as JSON can have it, in both.
    ASSERT_EQ(json(worker.texts["/a.ptl"]).dump(-1, ' ', false, json::error_handler_t::replace),
              whole["files"]["/a.ptl"].dump(-1, ' ', false, json::error_handler_t::replace))
        << "after " << i << " edits";
  }
}

TEST(WorkerRequestTest, SendsOneDeclarationForAnEditInIt) {
  ide::Workspace workspace;
  ide::File &file = workspace.open("/a.ptl", functions(200), 1);
  SentTexts sent;
  Receiver worker;
  worker.take(sent.written(requestOf({&file}), "hover", 1));
  auto at = static_cast<uint32_t>(file.document.text().find("99.0"));
  workspace.edit(file, {at, at}, "1");
  EXPECT_LT(worker.take(sent.written(requestOf({&file}), "hover", 2)), 200u);
}

TEST(WorkerRequestTest, ForgetsOldFiles) {
  ide::Workspace workspace;
  SentTexts sent;
  Receiver worker;
  for (int i = 0; i < 100; ++i) {
    ide::File &file = workspace.open("/" + std::to_string(i) + ".ptl", functions(1), 1);
    worker.take(sent.written(requestOf({&file}), "hover", i));
  }
  EXPECT_LT(worker.texts.size(), 40u);
  ide::File &first = *workspace.find("/0.ptl");
  EXPECT_FALSE(worker.texts.contains("/0.ptl"));
  EXPECT_EQ(worker.take(sent.written(requestOf({&first}), "hover", 100)), first.document.size());
}

} // namespace worker_request_test
} // namespace ptl::lsp
