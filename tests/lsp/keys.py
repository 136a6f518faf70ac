"""Text as people type it: letter by letter, with brackets that close themselves, completed words, slips that are taken back, pauses.
What is typed, activity by activity, is in `activities.py`. The same seed gives the same keys."""
import random
import re

PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"'}
DECLARATION = re.compile(r"^(?:pub )?(?:manual )?(kernel|program|fn|test|property|bench)\b", re.M)
NEIGHBOURS = {"a": "s", "e": "r", "i": "o", "n": "m", "o": "p", "r": "t", "s": "d", "t": "y", "x": "c", "l": "k"}


class Key:
    """One edit: what it replaces, the seconds before it, and where the cursor is then."""

    def __init__(self, begin, end, text, pause, cursor=None):
        self.begin, self.end, self.text, self.pause = begin, end, text, pause
        self.cursor = begin + len(text) if cursor is None else cursor


def declarations(text):
    """The ranges of the declarations of a text, with the comments before them left out."""
    starts = [found.start() for found in DECLARATION.finditer(text)]
    found = []
    for number, begin in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        body = text[begin:end]
        # What stands between this and the next is not of this.
        lines = body.rstrip().split("\n")
        while lines and (lines[-1].startswith(("//", "import", "const", "pub const", "type", "struct", "schedule", "}  //")) or not lines[-1].strip()):
            lines.pop()
        whole = "\n".join(lines)
        if whole.count("{") == whole.count("}") and whole.rstrip().endswith("}"):
            found.append((begin, begin + len(whole)))
    return found


class Typist:
    """Makes keys and keeps the text as the editor has it."""

    def __init__(self, seed, text):
        self.random, self.text, self.cursor = random.Random(seed), text, 0

    def pause(self, letter="a"):
        # Six keys a second within a word, slower between words; once in a while somebody thinks.
        seconds = self.random.lognormvariate(-1.8, 0.4)
        if not letter.isalnum():
            seconds += 0.1
        if self.random.random() < 0.015:
            seconds += self.random.uniform(0.9, 4)
        return seconds

    def edit(self, begin, end, text, after=None):
        key = Key(begin, end, text, self.pause(text[-1:] or "x"), after)
        self.text = self.text[:begin] + text + self.text[end:]
        self.cursor = key.cursor
        return key

    def insert(self, text, after=None):
        return self.edit(self.cursor, self.cursor, text, after)

    def backspace(self):
        return self.edit(self.cursor - 1, self.cursor, "")

    def write(self, block):
        """Types a text at the cursor."""
        i, closers = 0, []
        while i < len(block):
            c = block[i]
            rest = self.text[self.cursor:]
            if closers and c == closers[-1] and rest.startswith(c):
                # The editor has closed it already, and the key only goes past it.
                closers.pop()
                self.cursor += 1
                i += 1
                continue
            if c == "\n":
                indent = re.match(r"\n+[ ]*", block[i:]).group()
                closing = re.match(r"\n[ ]*(?=[})\]])", rest)
                i += len(indent)
                if closers and closing and block[i] == closers[-1] and rest[len(closing.group())] == closers[-1]:
                    self.cursor += len(closing.group())
                elif closers and closers[-1] in "})]" and rest.startswith(closers[-1]) and block[i - len(indent) - 1] in "{([":
                    outer = re.match(r"[ ]*", self.text[: self.cursor].rsplit("\n", 1)[-1]).group()
                    yield self.insert(indent + "\n" + outer, self.cursor + len(indent))
                else:
                    yield self.insert(indent)
                continue
            word = re.match(r"[A-Za-z_]\w*", block[i:]) if not block[i - 1 : i].isalnum() else None
            if word and len(word.group()) >= 6 and self.random.random() < 0.35:
                # Three letters, and the completion.
                for letter in word.group()[:3]:
                    yield self.insert(letter)
                yield self.edit(self.cursor - 3, self.cursor, word.group())
                i += len(word.group())
                continue
            if c in NEIGHBOURS and self.random.random() < 0.02:
                yield from self.slip(c, block[i + 1 : i + 3])
            closes = c in PAIRS and (c != '"' or not (closers and closers[-1] == '"')) and (rest[:1] in ("", "\n", " ") or rest[:1] in closers)
            if closes and "//" not in self.text[: self.cursor].rsplit("\n", 1)[-1]:
                closers.append(PAIRS[c])
                yield self.insert(c + PAIRS[c], self.cursor + 1)
            else:
                yield self.insert(c)
            i += 1

    def slip(self, letter, following):
        """The key beside the one that was meant, and up to two more until it is seen and taken back."""
        more = following[: self.random.randint(0, 2)]
        more = more if more.isalnum() else ""
        for wrong in NEIGHBOURS[letter] + more:
            yield self.insert(wrong)
        for _ in range(1 + len(more)):
            yield self.backspace()

    def erase(self, begin, end):
        """Deletes a text: marked and deleted, by letters from its end, or by words."""
        way = self.random.random()
        if way < 0.5 or "\n" in self.text[begin:end]:
            yield self.edit(begin, end, "")
        elif way < 0.8 and end - begin < 30:
            self.cursor = end
            for _ in range(end - begin):
                yield self.backspace()
        else:
            while end > begin:
                word = re.search(r"(?:\w+|[^\w\s]+)\s*$", self.text[begin:end])
                start = begin + word.start() if word else begin
                yield self.edit(start, end, "")
                end = start

    def again(self, begin, end):
        """A declaration that is not there is typed where it stood: the text has no other difference."""
        block = self.text[begin:end]
        self.text = self.text[:begin] + self.text[end:]
        start = self.text
        self.cursor = begin
        return start, self.write(block)
