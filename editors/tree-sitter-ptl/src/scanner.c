// All tokens of PTL. Whether a line end ends a statement depends on what stands on both sides of it
// and on the brackets around it, so the scanner counts brackets and chooses among tokens that are
// spelled alike; `tokens.def` lists them.
#include "tree_sitter/parser.h"

#include <stdlib.h>
#include <string.h>

enum Token {
#define NAMED(NAME) T_##NAME,
#define HIDDEN(NAME) T_##NAME,
#define PUNCT(NAME, SPELLING) T_##NAME,
#define INFIX(NAME, SPELLING) T_##NAME,
#define SOFT(NAME, SPELLING, RULE) T_##NAME,
#define INFIX_WORD(NAME, SPELLING, RULE) T_##NAME,
#define SECOND(NAME, SPELLING) T_##NAME,
#include "tokens.def"
#define RESERVED(WORD) T_word_##WORD,
#include "words.def"
  T_none
};

// What must follow a word for it to be special.
enum Rule { Always, BeforeParen, BeforeName, NotBeforeBracket, NotBeforeColon, InItem };

typedef struct {
  const char *spelling;
  uint16_t token;
  uint8_t infix;
  uint8_t rule;
} Row;

static const Row kPuncts[] = {
#define PUNCT(NAME, SPELLING) {SPELLING, T_##NAME, 0, Always},
#define INFIX(NAME, SPELLING) {SPELLING, T_##NAME, 1, Always},
#include "tokens.def"
};

static const Row kSoftWords[] = {
#define SOFT(NAME, SPELLING, RULE) {SPELLING, T_##NAME, 0, RULE},
#define ALIKE(NAME, SPELLING, RULE) {SPELLING, T_##NAME, 0, RULE},
#define INFIX_WORD(NAME, SPELLING, RULE) {SPELLING, T_##NAME, 1, RULE},
#include "tokens.def"
};

// Sorted by spelling.
static const Row kReserved[] = {
#define RESERVED(WORD) {#WORD, T_word_##WORD, 0, Always},
#define ELEMENT(WORD) {#WORD, T_element_type, 0, Always},
#include "words.def"
};

#define COUNT(TABLE) (sizeof(TABLE) / sizeof(TABLE[0]))
#define MAX_DEPTH 8000
#define MAX_WORD 16

typedef struct {
  bool newline;  // a line end lies in the comments behind the last token
  bool inText;   // between the quotes
  uint8_t empty; // empty tokens since the last real one, so that the state changes with each
  uint16_t depth;
  uint8_t brackets[MAX_DEPTH / 8]; // a bit per open bracket: 1 for `(` and `[`, 0 for `{`
} State;

static void push(State *state, bool bracket) {
  if (state->depth >= MAX_DEPTH)
    return;
  uint8_t bit = (uint8_t)(1u << (state->depth % 8));
  uint8_t *byte = &state->brackets[state->depth / 8];
  *byte = bracket ? (uint8_t)(*byte | bit) : (uint8_t)(*byte & ~bit);
  ++state->depth;
}

static bool inBrackets(const State *state) {
  if (state->depth == 0)
    return false;
  unsigned top = state->depth - 1u;
  return state->brackets[top / 8] >> (top % 8) & 1;
}

static void popBrackets(State *state) {
  while (inBrackets(state))
    --state->depth;
}

static void pop(State *state, bool bracket) {
  if (!bracket)
    popBrackets(state);
  if (state->depth > 0 && inBrackets(state) == bracket)
    --state->depth;
}

static bool isDigit(int32_t c) { return c >= '0' && c <= '9'; }
static bool isHexDigit(int32_t c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool isNameStart(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool isNamePart(int32_t c) { return isNameStart(c) || isDigit(c); }
static bool isSpace(int32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

// ---- Parts of tokens ----------------------------------------------------------------------------

typedef struct {
  char text[MAX_WORD];
  unsigned length; // of the whole word, also if it does not fit
} Word;

static bool is(const Word *word, const char *spelling) {
  size_t length = strlen(spelling);
  return word->length == length && memcmp(word->text, spelling, length) == 0;
}

static void readWord(TSLexer *lexer, Word *word) {
  word->length = 0;
  for (; isNamePart(lexer->lookahead); advance(lexer))
    if (word->length++ < MAX_WORD)
      word->text[word->length - 1] = (char)lexer->lookahead;
}

static const Row *reserved(const Word *word) {
  size_t low = 0, high = COUNT(kReserved);
  while (low < high && word->length < MAX_WORD) {
    size_t middle = (low + high) / 2;
    const char *spelling = kReserved[middle].spelling;
    int order = strncmp(word->text, spelling, word->length);
    if (order == 0)
      order = spelling[word->length] ? -1 : 0;
    if (order == 0)
      return &kReserved[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

static bool readDigits(TSLexer *lexer, bool (*isOne)(int32_t), bool last) {
  bool good = true;
  for (; isOne(lexer->lookahead) || lexer->lookahead == '_'; advance(lexer)) {
    if (lexer->lookahead == '_')
      good &= last;
    last = lexer->lookahead != '_';
  }
  return good && last;
}

static bool isBinaryDigit(int32_t c) { return c == '0' || c == '1'; }

// Digits, fraction and exponent of a decimal number; the first digit may be read already. `*behind`
// becomes true if the number ended one character ago, before a dot that is not part of it.
static enum Token readDecimal(TSLexer *lexer, bool begun, bool mark, bool *behind) {
  enum Token kind = T_integer;
  bool good = readDigits(lexer, isDigit, begun);
  if (mark)
    lexer->mark_end(lexer);
  if (lexer->lookahead == '.') {
    advance(lexer);
    *behind = !isDigit(lexer->lookahead);
    if (*behind)
      return good ? kind : T_none;
    kind = T_float;
    good &= readDigits(lexer, isDigit, false);
  }
  if (lexer->lookahead == 'e' || lexer->lookahead == 'E') {
    kind = T_float;
    advance(lexer);
    if (lexer->lookahead == '+' || lexer->lookahead == '-')
      advance(lexer);
    good &= isDigit(lexer->lookahead) && readDigits(lexer, isDigit, false);
  }
  if (mark && kind == T_float)
    lexer->mark_end(lexer);
  return good ? kind : T_none;
}

// A number with its unit; `T_none` if it is malformed. Marks its end if asked to.
static enum Token readNumber(TSLexer *lexer, bool mark) {
  enum Token kind = T_integer;
  bool behind = false;
  bool zero = lexer->lookahead == '0';
  if (zero)
    advance(lexer);
  if (zero && (lexer->lookahead == 'x' || lexer->lookahead == 'b')) {
    bool hex = lexer->lookahead == 'x';
    advance(lexer);
    if (!readDigits(lexer, hex ? isHexDigit : isBinaryDigit, false))
      kind = T_none;
    if (mark)
      lexer->mark_end(lexer);
  } else {
    kind = readDecimal(lexer, zero, mark, &behind);
  }
  if (behind || !isNamePart(lexer->lookahead))
    return kind;
  Word unit;
  readWord(lexer, &unit);
  if (mark)
    lexer->mark_end(lexer);
  bool known = is(&unit, "KiB") || is(&unit, "MiB") || is(&unit, "GiB") || is(&unit, "TiB");
  return kind == T_integer && known ? T_size : T_none;
}

// Stands behind `//`. The comment ends before the line end, also before `\r\n`.
static enum Token readLineComment(TSLexer *lexer, bool mark) {
  unsigned slashes = 2;
  bool onlySlashes = true;
  while (!lexer->eof(lexer) && lexer->lookahead != '\n') {
    if (lexer->lookahead < 0)
      return T_none; // not UTF-8
    onlySlashes &= lexer->lookahead == '/';
    slashes += onlySlashes;
    if (mark && lexer->lookahead == '\r')
      lexer->mark_end(lexer);
    bool carriageReturn = lexer->lookahead == '\r';
    advance(lexer);
    if (mark && !(carriageReturn && (lexer->eof(lexer) || lexer->lookahead == '\n')))
      lexer->mark_end(lexer);
  }
  return slashes == 3 ? T_doc_comment : T_line_comment;
}

// Stands behind `/*`; such comments nest.
static enum Token readBlockComment(TSLexer *lexer, bool *newline) {
  for (unsigned depth = 1; depth > 0;) {
    if (lexer->eof(lexer) || lexer->lookahead < 0)
      return T_none;
    int32_t c = lexer->lookahead;
    advance(lexer);
    if (c == '/' && lexer->lookahead == '*') {
      ++depth;
      advance(lexer);
    } else if (c == '*' && lexer->lookahead == '/') {
      --depth;
      advance(lexer);
    } else if (c == '\n') {
      *newline = true;
    }
  }
  return T_block_comment;
}

// ---- Looking at the tokens that follow ----------------------------------------------------------

typedef struct {
  enum { AtEnd, AtName, AtReserved, AtInteger, AtOther } kind;
  bool newline; // a line end lies before it
  int32_t sign; // its first character, 0 for `=` that begins a longer operator
  Word word;
} Next;

// Takes the next token if it is a word or a number, else stands behind its first character.
static Next peek(TSLexer *lexer) {
  Next next = {AtOther, false, 0, {{0}, 0}};
  while (true) {
    if (lexer->eof(lexer)) {
      next.kind = AtEnd;
      return next;
    }
    if (isSpace(lexer->lookahead)) {
      next.newline |= lexer->lookahead == '\n';
      advance(lexer);
    } else if (lexer->lookahead == '/') {
      advance(lexer);
      if (lexer->lookahead == '/')
        readLineComment(lexer, false);
      else if (lexer->lookahead == '*')
        advance(lexer), readBlockComment(lexer, &next.newline);
      else
        return next;
    } else {
      break;
    }
  }
  next.sign = lexer->lookahead;
  if (isNameStart(next.sign)) {
    readWord(lexer, &next.word);
    next.kind = reserved(&next.word) ? AtReserved : AtName;
  } else if (isDigit(next.sign)) {
    next.kind = readNumber(lexer, false) == T_integer ? AtInteger : AtOther;
  } else {
    advance(lexer);
    if (next.sign == '=' && lexer->lookahead == '=')
      next.sign = 0;
  }
  return next;
}

// Words that no bracket can contain when they are first on their line.
static bool isBarrierWord(const Word *word) {
  static const char *const kWords[] = {
      "import", "pub",   "fn",    "kernel",   "manual",   "extern", "program",  "schedule",
      "test",   "bench", "type",  "struct",   "property", "const",  "let",      "var",
      "for",    "while", "break", "parallel", "return",   "assert", "continue", "atomic",
      "task",   "pipe",  "on",    "buffer",   "event"};
  for (size_t i = 0; i < COUNT(kWords); ++i)
    if (is(word, kWords[i]))
      return true;
  return false;
}

static bool holds(enum Rule rule, TSLexer *lexer) {
  if (rule == Always)
    return true;
  Next next = peek(lexer);
  switch (rule) {
  case BeforeParen:
    return next.sign == '(';
  case BeforeName:
    return next.kind == AtName && !next.newline;
  case NotBeforeBracket:
    return next.sign != '[';
  case NotBeforeColon:
    return next.sign != ':';
  default:
    return next.sign != '=' && next.sign != '{';
  }
}

// A comma in a list of labels also separates items: the next word is a label if no item can start
// with it.
static bool isLabel(const Next *name, TSLexer *lexer) {
  if (name->kind != AtName)
    return false;
  Next after = peek(lexer);
  return after.kind == AtEnd || after.newline || after.sign == ',' || after.sign == ';' ||
         after.sign == '}';
}

static enum Token commaKind(TSLexer *lexer, const bool *valid) {
  if (valid[T_tile_comma]) {
    if (peek(lexer).kind == AtName) {
      Next by = peek(lexer);
      if (by.kind == AtName && is(&by.word, "by"))
        return T_tile_comma;
    }
  } else if (valid[T_label_comma]) {
    Next next = peek(lexer);
    if (isLabel(&next, lexer))
      return T_label_comma;
  } else if (valid[T_l0_comma]) {
    Next next = peek(lexer);
    if (next.kind == AtInteger || isLabel(&next, lexer))
      return T_l0_comma;
  } else if (valid[T_last_comma]) {
    Next next = peek(lexer);
    bool barrier = next.kind == AtEnd || next.sign == '{' || next.sign == '}' || next.sign == ';' ||
                   (next.newline && isBarrierWord(&next.word));
    if (barrier)
      return T_last_comma;
  }
  return T_comma;
}

// ---- Tokens -------------------------------------------------------------------------------------

typedef struct {
  State *state;
  TSLexer *lexer;
  const bool *valid;
  bool newline;    // a line end lies before the token
  bool recovering; // every token is welcome; what was refused before must not come now
  bool wrong;      // here is a mistake, no empty token either
} Scan;

static bool accept(Scan *scan, enum Token token) {
  if (token == T_none || (!scan->recovering && !scan->valid[token]))
    return false;
  scan->lexer->result_symbol = (TSSymbol)token;
  scan->state->newline = false;
  scan->state->empty = 0;
  return true;
}

static bool acceptEmpty(Scan *scan, enum Token token) {
  scan->lexer->result_symbol = (TSSymbol)token;
  scan->state->empty = (scan->state->empty + 1) % 32;
  return true;
}

static bool goesOn(const Scan *scan) { return !scan->newline || inBrackets(scan->state); }

// What stands here may not be part of what came before it.
static bool atEnd(const Scan *scan) {
  TSLexer *lexer = scan->lexer;
  return scan->newline || lexer->eof(lexer) || lexer->lookahead == ';' || lexer->lookahead == '}';
}

static bool scanText(Scan *scan) {
  TSLexer *lexer = scan->lexer;
  if (lexer->lookahead == '"') {
    advance(lexer);
    lexer->mark_end(lexer);
    scan->state->inText = false;
    return accept(scan, T_text_close);
  }
  if (lexer->lookahead == '\\') {
    advance(lexer);
    int32_t c = lexer->lookahead;
    if (lexer->eof(lexer) || c <= 0 || c > 127 || !strchr("ntr0\\\"u", (char)c))
      return false;
    advance(lexer);
    unsigned digits = 0;
    if (c == 'u') {
      if (lexer->lookahead != '{')
        return false;
      for (advance(lexer); isHexDigit(lexer->lookahead); ++digits)
        advance(lexer);
      if (lexer->lookahead != '}' || digits == 0 || digits > 6)
        return false;
      advance(lexer);
    }
    lexer->mark_end(lexer);
    return accept(scan, T_escape_sequence);
  }
  bool any = false;
  while (!lexer->eof(lexer) && lexer->lookahead >= 0 && lexer->lookahead != '"' &&
         lexer->lookahead != '\\' && lexer->lookahead != '\n') {
    any = true;
    advance(lexer);
  }
  lexer->mark_end(lexer);
  return any && accept(scan, T_text_content);
}

static bool scanComment(Scan *scan) {
  TSLexer *lexer = scan->lexer;
  bool isLine = lexer->lookahead == '/';
  bool inFront = scan->newline || isLine;
  // A comment behind the end of a statement is not part of it.
  if (scan->valid[T_close] && inFront && !scan->recovering && !scan->valid[T_word_else] &&
      !inBrackets(scan->state))
    return acceptEmpty(scan, T_close);
  advance(lexer);
  lexer->mark_end(lexer);
  bool newline = scan->newline;
  enum Token kind = isLine ? readLineComment(lexer, true) : readBlockComment(lexer, &newline);
  if (kind == T_none)
    return false;
  if (!isLine)
    lexer->mark_end(lexer);
  scan->state->newline = newline;
  lexer->result_symbol = (TSSymbol)kind;
  return true;
}

// `at chip 0` is where an array lies, `at host` behind results is who orchestrates. What does not begin a
// placement is looked at no further than its next two tokens, and is never an infix word of another kind.
static bool beginsPlacement(const Word *word, TSLexer *lexer) {
  if (is(word, "partial"))
    return peek(lexer).sign == '(';
  return is(word, "at") && peek(lexer).kind == AtName && peek(lexer).kind == AtInteger;
}

static bool scanWord(Scan *scan) {
  TSLexer *lexer = scan->lexer;
  Word word;
  readWord(lexer, &word);
  // The count of a loop's `unroll` is anything but the next part of the head.
  bool part = is(&word, "as") || is(&word, "pipeline") || is(&word, "checkpoint");
  if (scan->valid[T_unroll_count] && !scan->recovering && !part)
    return acceptEmpty(scan, T_unroll_count);
  if (scan->valid[T_placed_mark] && !scan->recovering && goesOn(scan) &&
      beginsPlacement(&word, lexer))
    return acceptEmpty(scan, T_placed_mark);
  const Row *row = reserved(&word);
  if (row) {
    bool infix = row->token == T_word_and || row->token == T_word_or;
    if (infix && !goesOn(scan))
      return false;
    // Inside brackets it is an error, and the brackets were meant to end before it.
    if (scan->newline && isBarrierWord(&word))
      popBrackets(scan->state);
    enum Token token = (enum Token)row->token;
    if (token == T_word_true || token == T_word_false)
      token = T_boolean;
    if (token == T_word_inf || token == T_word_nan)
      token = T_float;
    if (token == T_word_if && scan->valid[T_if_statement])
      token = T_if_statement;
    if (token == T_element_type && scan->valid[T_tune_element] && !scan->recovering)
      token = T_tune_element;
    return accept(scan, token) && (lexer->mark_end(lexer), true);
  }
  for (size_t i = 0; i < COUNT(kSoftWords) && !scan->recovering; ++i) {
    const Row *soft = &kSoftWords[i];
    if (!scan->valid[soft->token] || !is(&word, soft->spelling) || (soft->infix && !goesOn(scan)))
      continue;
    lexer->mark_end(lexer);
    if (holds((enum Rule)soft->rule, lexer))
      return accept(scan, (enum Token)soft->token);
    return accept(scan, T_identifier);
  }
  scan->wrong = scan->valid[T_word_else] && !scan->recovering && is(&word, "elif");
  return !scan->wrong && accept(scan, T_identifier) && (lexer->mark_end(lexer), true);
}

static bool startsWith(const char *spelling, const char *text, unsigned length) {
  for (unsigned i = 0; i < length; ++i)
    if (spelling[i] != text[i])
      return false;
  return true;
}

// The first row of the longest spelling that stands here; a `/` may be read already.
static const Row *longestPunct(TSLexer *lexer, bool slash) {
  char text[4] = {0};
  unsigned length = 0;
  const Row *found = NULL;
  for (bool longer = true; longer && length < 3;) {
    bool isSlash = slash && length == 0;
    if (!isSlash && (lexer->lookahead <= 0 || lexer->lookahead > 127))
      break;
    text[length] = isSlash ? '/' : (char)lexer->lookahead;
    longer = false;
    const Row *exact = NULL;
    for (const Row *row = kPuncts; row < kPuncts + COUNT(kPuncts) && !exact; ++row)
      if (startsWith(row->spelling, text, length + 1)) {
        longer = true;
        exact = row->spelling[length + 1] ? NULL : row;
      }
    if (!longer)
      break;
    found = exact;
    ++length;
    if (!isSlash)
      advance(lexer);
  }
  return found;
}

// `x--` at the end of a line is a mistake, not a negation on the next line.
static bool isDecrement(TSLexer *lexer) {
  if (lexer->lookahead != '-')
    return false;
  advance(lexer);
  if (lexer->lookahead == '-' || lexer->lookahead == '=' || lexer->lookahead == '>')
    return false;
  return peek(lexer).newline;
}

static bool scanPunct(Scan *scan, bool slash) {
  TSLexer *lexer = scan->lexer;
  State *state = scan->state;
  const Row *row = longestPunct(lexer, slash);
  if (!row)
    return false;
  // Rows that are spelled alike stand together, the infix one last.
  size_t index = (size_t)(row - kPuncts);
  enum Token token = T_none;
  for (; index < COUNT(kPuncts) && strcmp(kPuncts[index].spelling, row->spelling) == 0; ++index) {
    bool allowed = !kPuncts[index].infix || goesOn(scan);
    if (allowed && (scan->recovering || scan->valid[kPuncts[index].token]))
      token = (enum Token)kPuncts[index].token;
  }
  if (token == T_comma || (row->token == T_comma && scan->valid[T_last_comma])) {
    lexer->mark_end(lexer);
    return accept(scan, scan->recovering ? T_comma : commaKind(lexer, scan->valid));
  }
  // `.name` is a value, but no statement can begin with it.
  scan->wrong = token == T_first_dot && scan->valid[T_if_statement];
  if (scan->wrong || !accept(scan, token))
    return false;
  lexer->mark_end(lexer);
  char first = row->spelling[0];
  if (first == '(' || first == '[' || first == '{')
    push(state, first != '{');
  else if (first == ')' || first == ']' || first == '}')
    pop(state, first != '}');
  scan->wrong = (token == T_minus || scan->recovering) && first == '-' && isDecrement(lexer);
  return !scan->wrong;
}

// Stands before a comma, behind which a placement may go on or the next parameter follow.
static bool scanPlacementComma(Scan *scan) {
  TSLexer *lexer = scan->lexer;
  advance(lexer);
  if (peek(lexer).kind == AtName) {
    Next after = peek(lexer);
    bool cuts = after.sign == ',' || (after.kind == AtName && is(&after.word, "by"));
    if (scan->valid[T_cut_mark] && cuts)
      return acceptEmpty(scan, T_cut_mark);
    if (scan->valid[T_partial_mark] && after.sign != ':')
      return acceptEmpty(scan, T_partial_mark);
  }
  return scan->valid[T_close] && acceptEmpty(scan, T_close);
}

// Tokens that only say how the next one is meant.
static bool scanMark(Scan *scan) {
  TSLexer *lexer = scan->lexer;
  if (scan->valid[T_return_value] && !atEnd(scan))
    return acceptEmpty(scan, T_return_value);
  if (scan->valid[T_item_count] && !atEnd(scan) && lexer->lookahead != ',')
    return acceptEmpty(scan, T_item_count);
  if (scan->valid[T_unroll_count] && lexer->lookahead != '{' && !isNameStart(lexer->lookahead))
    return acceptEmpty(scan, T_unroll_count);
  return false;
}

static bool scanToken(Scan *scan) {
  TSLexer *lexer = scan->lexer;
  lexer->mark_end(lexer);
  for (; isSpace(lexer->lookahead); lexer->advance(lexer, true))
    scan->newline |= lexer->lookahead == '\n';
  bool ends = atEnd(scan);
  bool slash = lexer->lookahead == '/';
  if (slash) {
    advance(lexer);
    if (lexer->lookahead == '/' || lexer->lookahead == '*')
      return scanComment(scan);
  }
  if (!scan->recovering && scanMark(scan))
    return true;
  bool placement = scan->valid[T_cut_mark] || scan->valid[T_partial_mark];
  if (!scan->recovering && placement && lexer->lookahead == ',')
    return scanPlacementComma(scan);
  bool found = false;
  if (slash || lexer->eof(lexer)) {
    found = slash && scanPunct(scan, true);
  } else if (isNameStart(lexer->lookahead)) {
    found = scanWord(scan);
  } else if (isDigit(lexer->lookahead)) {
    bool wanted = scan->recovering || scan->valid[T_integer];
    found = wanted && accept(scan, readNumber(lexer, true));
  } else if (lexer->lookahead == '"') {
    advance(lexer);
    found = accept(scan, T_text_open);
    if (found)
      lexer->mark_end(lexer);
    scan->state->inText = found;
  } else {
    found = scanPunct(scan, false);
  }
  if (found || scan->recovering || scan->wrong)
    return found;
  if (scan->valid[T_close])
    return acceptEmpty(scan, T_close);
  return scan->valid[T_end] && ends && acceptEmpty(scan, T_end);
}

// ---- What tree-sitter calls ---------------------------------------------------------------------

void *tree_sitter_ptl_external_scanner_create(void) { return calloc(1, sizeof(State)); }

void tree_sitter_ptl_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_ptl_external_scanner_serialize(void *payload, char *buffer) {
  const State *state = payload;
  unsigned bytes = (state->depth + 7u) / 8u;
  buffer[0] = (char)(state->newline | state->inText << 1 | state->empty << 2);
  buffer[1] = (char)(state->depth & 0xFF);
  buffer[2] = (char)(state->depth >> 8);
  memcpy(buffer + 3, state->brackets, bytes);
  // Bits above the depth are left over from brackets that are closed.
  if (state->depth % 8)
    buffer[2 + bytes] = (char)(buffer[2 + bytes] & ((1 << state->depth % 8) - 1));
  return 3 + bytes;
}

void tree_sitter_ptl_external_scanner_deserialize(void *payload, const char *buffer,
                                                  unsigned length) {
  State *state = payload;
  state->newline = state->inText = false;
  state->empty = 0;
  state->depth = 0;
  if (length < 3)
    return;
  const uint8_t *bytes = (const uint8_t *)buffer;
  state->newline = bytes[0] & 1;
  state->inText = bytes[0] >> 1 & 1;
  state->empty = bytes[0] >> 2;
  state->depth = (uint16_t)(bytes[1] | bytes[2] << 8);
  memcpy(state->brackets, bytes + 3, length - 3);
}

bool tree_sitter_ptl_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  State *state = payload;
  Scan scan = {state, lexer, valid, state->newline, valid[T_recovering], false};
  if (state->inText) {
    if (!lexer->eof(lexer) && lexer->lookahead != '\n')
      return scanText(&scan);
    state->inText = false;
    if (!scan.recovering)
      return false;
  }
  return scanToken(&scan);
}
