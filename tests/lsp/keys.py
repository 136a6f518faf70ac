"""Text as people type it: letter by letter, with brackets that close themselves, completed words, slips that are taken back,
pauses, renaming by hand, and states that stay broken for a while. The same seed gives the same keys."""
import random
import re

PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"'}
DECLARATION = re.compile(r"^(?:pub )?(?:manual )?(kernel|program|fn|test|property|bench)\b", re.M)
NEIGHBOURS = {"a": "s", "e": "r", "i": "o", "n": "m", "o": "p", "r": "t", "s": "d", "t": "y", "x": "c", "l": "k"}


class Key:
    """One edit: what it replaces, the seconds before it, and where the cursor is then."""

    def __init__(self, begin, end, text, pause):
        self.begin, self.end, self.text, self.pause = begin, end, text, pause

    @property
    def cursor(self):
        return self.begin + len(self.text)


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
    """Yields keys and keeps the text as the editor has it."""

    def __init__(self, seed, text):
        self.random, self.text, self.cursor = random.Random(seed), text, 0

    def pause(self, letter="a"):
        # Three keys a second within a word, slower between words; once in a while somebody thinks.
        seconds = self.random.lognormvariate(-1.8, 0.4)
        if not letter.isalnum():
            seconds += 0.1
        if self.random.random() < 0.015:
            seconds += self.random.uniform(0.9, 4)
        return seconds

    def edit(self, begin, end, text, after=None):
        key = Key(begin, end, text, self.pause(text[-1:] or "x"))
        self.text = self.text[:begin] + text + self.text[end:]
        self.cursor = begin + len(text) if after is None else after
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
                closing = re.match(r"\n[ ]*(?=\})", rest)
                if closers and closers[-1] == "}" and block[i + len(indent):].startswith("}") and closing:
                    self.cursor += len(closing.group())
                    i += len(indent)
                    continue
                if closers and closers[-1] == "}" and rest.startswith("}") and block[i - 1] == "{":
                    outer = re.match(r"[ ]*", self.text[: self.cursor].rsplit("\n", 1)[-1]).group()
                    yield self.insert(indent + "\n" + outer, self.cursor + len(indent))
                else:
                    yield self.insert(indent)
                i += len(indent)
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
                more = block[i + 1 : i + 1 + self.random.randint(0, 2)]
                more = more if more.isalnum() else ""
                for letter in NEIGHBOURS[c] + more:
                    yield self.insert(letter)
                for _ in range(1 + len(more)):
                    yield self.backspace()
            closes = c in PAIRS and (c != '"' or not (closers and closers[-1] == '"')) and (rest[:1] in ("", "\n", " ") or rest[:1] in closers)
            if closes and "//" not in self.text[: self.cursor].rsplit("\n", 1)[-1]:
                closers.append(PAIRS[c])
                yield self.insert(c + PAIRS[c], self.cursor + 1)
            else:
                yield self.insert(c)
            i += 1

    def again(self, begin, end):
        """A declaration that is not there is typed where it stood: the text has no other difference."""
        block = self.text[begin:end]
        self.text = self.text[:begin] + self.text[end:]
        start = self.text
        self.cursor = begin
        return start, self.write(block)

    def rename(self, begin, end):
        """A name that is declared in a range by `let` or `var` gets another one, place by place. Nothing if there is none."""
        body = self.text[begin:end]
        names = sorted({n for n in re.findall(r"\b(?:let|var) ([a-z]\w*)", body) if f"{n}:" not in body and f".{n}" not in body})
        if not names:
            return None, iter(())
        old = self.random.choice(names)

        def keys():
            places = [begin + found.start() for found in re.finditer(rf"\b{old}\b", body)]
            for number, place in enumerate(places):
                self.cursor = place + len(old) + 2 * number
                for letter in "_b":
                    yield self.insert(letter)

        return old, keys()

    def broken(self, begin, end):
        """A bracket is deleted, something else is done, and the bracket is put back."""
        places = [begin + found.start() for found in re.finditer(r"[)\]]", self.text[begin:end])]
        if not places:
            return
        place = self.random.choice(places)
        bracket = self.text[place]
        yield self.edit(place, place + 1, "")
        line = self.text.rfind("\n", 0, end - 2)
        if line > place:
            self.cursor = line
            for letter in "  ":
                yield self.insert(letter)
            for _ in range(2):
                yield self.backspace()
        self.cursor = place
        yield self.insert(bracket)
