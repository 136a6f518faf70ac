#include "frontend/lex/lexer.h"

#include "frontend/lex/literal.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

struct Lexed {
  SourceFile file;
  DiagnosticSink sink;
  TokenList list;

  explicit Lexed(std::string text) : file(0, "<test>", std::move(text)), list(lex(file, sink)) {}

  /// Texts of the tokens, joined by spaces, without the end of file.
  std::string words() const {
    std::string result;
    for (const Token &t : list.tokens)
      if (t.kind != TokenKind::EndOfFile)
        result +=
            (result.empty() ? "" : " ") + std::string(file.text().substr(t.begin, t.end - t.begin));
    return result;
  }
  std::string codes() const {
    std::string result;
    for (const Diagnostic &d : sink.all())
      result += (result.empty() ? "" : " ") + std::string(diagInfo(d.id).code);
    return result;
  }
};

TEST(Lexer, SplitsOperatorsByLongestMatch) {
  EXPECT_EQ(Lexed("a<<=b**c..d->e@=f").words(), "a <<= b ** c .. d -> e @= f");
  EXPECT_EQ(Lexed("x[0..N, 1:2:3]").words(), "x [ 0 .. N , 1 : 2 : 3 ]");
}

TEST(Lexer, TellsNumbersApart) {
  Lexed lexed("42 0xff 0b101 1_000 1.5 1e-6 2E+3 192KiB 0..4 1.T");
  ASSERT_EQ(lexed.codes(), "");
  const auto &t = lexed.list.tokens;
  for (int i : {0, 1, 2, 3})
    EXPECT_EQ(t[i].kind, TokenKind::IntLiteral);
  for (int i : {4, 5, 6})
    EXPECT_EQ(t[i].kind, TokenKind::FloatLiteral);
  EXPECT_EQ(t[7].kind, TokenKind::SizeLiteral);
  EXPECT_EQ(t[9].kind, TokenKind::DotDot);
  EXPECT_EQ(t[12].kind, TokenKind::Dot);
}

TEST(Lexer, ReportsMalformedNumbers) {
  for (const char *text :
       {"1__0", "1_", "0x", "0xg", "1.5f", "12abc", "3KB", "1.5KiB", "0b2", "1e5x"})
    EXPECT_EQ(Lexed(text).codes(), "E0105") << text;
}

TEST(Lexer, KnowsReservedWordsAndElementTypes) {
  EXPECT_EQ(wordKind("kernel"), TokenKind::Kernel);
  EXPECT_EQ(wordKind("property"), TokenKind::Property);
  EXPECT_EQ(wordKind("f8e4m3"), TokenKind::TF8E4M3);
  EXPECT_EQ(wordKind("tiles"), TokenKind::Identifier);
  EXPECT_EQ(wordKind("axis"), TokenKind::Identifier);
  EXPECT_EQ(wordKind(""), TokenKind::Identifier);
}

TEST(Lexer, KeepsTriviaInPlace) {
  Lexed lexed("a // one\n/// two\n/* three /* four */ */ b\n");
  ASSERT_EQ(lexed.codes(), "");
  std::vector<TriviaKind> comments;
  for (const Trivia &t : lexed.list.trivia)
    if (t.kind >= TriviaKind::LineComment)
      comments.push_back(t.kind);
  EXPECT_EQ(comments, (std::vector{TriviaKind::LineComment, TriviaKind::DocComment,
                                   TriviaKind::BlockComment}));
  EXPECT_TRUE(lexed.list.tokens[1].newlineBefore);
}

TEST(Lexer, SaysWhatIsWrongWithForeignText) {
  EXPECT_EQ(Lexed("größe = 1").codes(), "E0102");
  EXPECT_EQ(Lexed("a × b").codes(), "E0101");
  EXPECT_EQ(Lexed("a $ b").codes(), "E0101");
  EXPECT_EQ(Lexed("// größe × \"\n\"größe\"").codes(), "");
  // Once per line: a file in another encoding is wrong nearly everywhere.
  EXPECT_EQ(Lexed("// \xff\xfe \"\xff\"").codes(), "E0003");
  EXPECT_EQ(Lexed("// \xff\xfe \n \"\xff\"").codes(), "E0003 E0003");
  EXPECT_EQ(Lexed("a \xff b").codes(), "E0003");
  EXPECT_EQ(Lexed("\xEF\xBB\xBF x").codes(), "");
  EXPECT_EQ(Lexed(std::string("a\0\0\0b", 5)).codes(), "E0101");
}

TEST(Lexer, EndsTextAndCommentsThatDoNotEnd) {
  Lexed text("\"abc\nd");
  EXPECT_EQ(text.codes(), "E0103");
  EXPECT_EQ(text.words(), "\"abc d");
  EXPECT_EQ(Lexed("test \"abc {\n}").words(), "test \"abc { }");
  EXPECT_EQ(Lexed("/* a /* b */").codes(), "E0104");
  EXPECT_EQ(Lexed("\"a\\d\"").codes(), "E0106");
  EXPECT_EQ(Lexed("\"\\u{1F600}\\n\\\\\"").codes(), "");
}

TEST(Lexer, StopsReportingAfterManyErrors) {
  EXPECT_LE(Lexed(std::string(10000, '$')).sink.all().size(), 100u);
}

TEST(Literal, HasExactValues) {
  EXPECT_EQ(intLiteralValue("1_000"), 1000u);
  EXPECT_EQ(intLiteralValue("0xff"), 255u);
  EXPECT_EQ(intLiteralValue("0b101"), 5u);
  EXPECT_EQ(intLiteralValue("18446744073709551615"), ~uint64_t(0));
  EXPECT_EQ(intLiteralValue("18446744073709551616"), std::nullopt);
  EXPECT_EQ(sizeLiteralValue("192KiB"), 192u * 1024);
  EXPECT_EQ(sizeLiteralValue("99999999TiB"), std::nullopt);
  EXPECT_EQ(floatLiteralValue("1_0.5e-1"), 1.05);
  DecimalLiteral d = decimalLiteralValue("0.00150e3");
  EXPECT_EQ(d.digits, "150");
  EXPECT_EQ(d.exponent, -2);
  EXPECT_EQ(decimalLiteralValue("0.0").digits, "0");
  EXPECT_EQ(stringLiteralValue("\"a\\n\\\"\\u{e9}\""), "a\n\"\xC3\xA9");
}

} // namespace
} // namespace ptl
