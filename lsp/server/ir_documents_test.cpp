#include "lsp/server/ir_documents.h"

#include <gtest/gtest.h>

using namespace ptl::lsp;

namespace ir_documents_test {

const std::string kUri = "file:///a.mlir";

json place(int line, int character) { return {{"line", line}, {"character", character}}; }
json change(const json &start, const json &end, const std::string &text) {
  return {{"range", {{"start", start}, {"end", end}}}, {"text", text}};
}

TEST(IrDocuments, AreKnownByTheirLanguageOrTheirName) {
  EXPECT_TRUE(IrDocuments::isIr("mlir", "untitled:1"));
  EXPECT_TRUE(IrDocuments::isIr("", "file:///a.mlir"));
  EXPECT_TRUE(IrDocuments::isIr("plaintext", "ptl-ir:/a.ptl.f.tile.mlir?x"));
  EXPECT_FALSE(IrDocuments::isIr("ptl", "file:///a.ptl"));
}

TEST(IrDocuments, ChangesApplyOneAfterTheOther) {
  IrDocuments documents;
  documents.open(kUri, "one\ntwo\n");
  documents.edit(
      kUri, {change(place(1, 0), place(1, 3), "2\n3"), change(place(2, 0), place(2, 1), "three")});
  EXPECT_EQ(documents.text(kUri), "one\n2\nthree\n");
  documents.edit(kUri, json::array({{{"text", "all"}}}));
  EXPECT_EQ(documents.text(kUri), "all");
}

TEST(IrDocuments, PlacesBeyondTheTextAreItsEnd) {
  IrDocuments documents;
  documents.open(kUri, "one\n");
  documents.edit(kUri, json::array({change(place(7, 3), place(9, 0), "two")}));
  EXPECT_EQ(documents.text(kUri), "one\ntwo");
  documents.edit(kUri, json::array({change(place(0, 3), place(0, 1), "!")}));
  EXPECT_EQ(documents.text(kUri), "one!\ntwo") << "an end before the start removes nothing";
}

TEST(IrDocuments, RequestsAboutThemAreRecognised) {
  IrDocuments documents;
  json params = {{"textDocument", {{"uri", kUri}}}};
  EXPECT_FALSE(documents.isAsked(params));
  documents.open(kUri, "");
  EXPECT_TRUE(documents.isAsked(params));
  EXPECT_FALSE(documents.isAsked({{"textDocument", kUri}}));
  EXPECT_FALSE(documents.isAsked(json::object()));
  EXPECT_TRUE(documents.close(kUri));
  EXPECT_FALSE(documents.close(kUri));
  EXPECT_FALSE(documents.isAsked(params));
}

} // namespace ir_documents_test
