"""Random edits of a text, such as typing, deleting, pasting and tearing apart."""
import random
import re

WORDS = ["fn ", "kernel ", "let ", "return ", "for i in 0 .. 4 {", "}", "{", "(", ")", "[", "]", ";", ":", ",", "\n",
         " ", "->", "where ", "import std.nn\n", "f32", "f16[M, N]", "x", "a @ b", "+ 1", "\"", "// ", "/*", "*/",
         "@vec", "exp(", "tiles(", "0x", "1e9", "é", "名前", "𝄞", "\t", "\r\n", "test \"t\" {", "1..2", "==", "."]


class RandomEdits:
    """Edits of one text. Each gives `(begin, end, replacement)`; the text stays about as long as it was."""

    def __init__(self, seed, text):
        self.random = random.Random(seed)
        self.whole = text
        self.undo = []

    def choose(self, text):
        roll = self.random.random()
        # What tore the text apart is taken back, so that most states are near to a good text.
        if self.undo and (roll < 0.45 or len(self.undo) > 6):
            begin, end, replacement = self.undo.pop()
            return begin, end, replacement, False
        size = len(text)
        begin = self.random.randint(0, size)
        if roll < 0.7:
            return begin, begin, self.random.choice(WORDS), True
        if roll < 0.8:
            return begin, min(size, begin + self.random.randint(1, 12)), "", True
        if roll < 0.9:
            words = list(re.finditer(r"\w+", text)) or [None]
            word, other = self.random.choice(words), self.random.choice(words)
            if word:
                return word.start(), word.end(), other.group(), True
        if roll < 0.94:
            start = text.rfind("\n", 0, begin) + 1
            end = text.find("\n", begin) + 1
            return start, max(start, end), "", True
        if roll < 0.97:
            end = min(size, begin + self.random.randint(1, 200))
            return begin, end, text[end:begin:-1] if self.random.random() < 0.2 else text[begin:end] * 2, True
        if roll < 0.98:
            return size, size, self.random.choice(WORDS), True
        start = self.random.randint(0, len(self.whole))
        return begin, begin, self.whole[start:start + 120], True

    def next(self, text):
        begin, end, replacement, keeps = self.choose(text)
        # A range never lies inside a line end of two characters: editors do not ask for that.
        if 0 < begin < len(text) and text[begin - 1:begin + 1] == "\r\n":
            begin -= 1
        if 0 < end < len(text) and text[end - 1:end + 1] == "\r\n":
            end += 1
        if keeps:
            self.undo.append((begin, begin + len(replacement), text[begin:end]))
        return begin, end, replacement
