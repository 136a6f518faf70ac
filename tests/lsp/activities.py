"""What people do with a text: they type declarations from nothing, rename, retype, tear brackets apart, move lines, paste, undo.

Each activity is a function of a `Typist` that yields keys. It begins and ends with a text that means something, and says nothing (`None`)
where the text has no place for it. Only `slip_left` ends with an error, which `slip_mended` takes away."""
import re

from keys import declarations

STATEMENT = re.compile(r"^ +(?:(?:let|var) .+? = |[\w\[\]:, .]+ [-+*/]?= |return |expect\w*\()(?P<value>[^{}]+?)\)?$", re.M)
WORDS = ["total", "part", "scaled", "inner", "left", "shifted", "grown", "q2", "w", "outer", "mixed"]


def count_of(text, name):
    return len(re.findall(rf"\b{name}\b", text))


def one_declaration(typist, least=0):
    found = [each for each in declarations(typist.text) if each[1] - each[0] >= least]
    return typist.random.choice(found) if found else None


def statements(typist, begin, end):
    """Ranges of lines of a declaration that are a whole statement each, and of what they compute."""
    for each in STATEMENT.finditer(typist.text, begin, end):
        line = each.group()
        if all(line.count(a) == line.count(b) for a, b in ("()", "[]")) and "//" not in line and "*/" not in line:
            yield each.start(), each.end(), each.start("value"), each.end("value")


def one_statement(typist):
    for _ in range(8):
        place = one_declaration(typist)
        found = list(statements(typist, *place)) if place else []
        if found:
            return place, typist.random.choice(found)
    return None, None


# ---- Whole declarations ----


def retyped_declaration(typist):
    """A declaration that nothing else uses is cut and typed again."""
    for _ in range(12):
        place = one_declaration(typist)
        if not place:
            return None
        begin, end = place
        name = re.match(r"(?:pub |manual )*\w+ (\w+)", typist.text[begin:end])
        if not name or count_of(typist.text[:begin] + typist.text[end:], name.group(1)) == 0:
            break
    else:
        return None

    def keys():
        block = typist.text[begin:end]
        yield typist.edit(begin, end, "")
        yield from typist.write(block)
    return keys()


def pasted_declaration(typist):
    """A declaration is copied behind itself and gets another name."""
    place = one_declaration(typist)
    if not place:
        return None
    begin, end = place
    block = typist.text[begin:end]
    name = re.match(r"(?:pub |manual )*(?:kernel|program|fn) (\w+)", block) or re.match(r'(?:test|bench|property) "([^"]+)"', block)
    if not name:
        return None

    def keys():
        yield typist.edit(end, end, "\n\n" + block)
        typist.cursor = end + 2 + name.end(1)
        for letter in "_two":
            yield typist.insert(letter)
        # It is not wanted after all.
        yield typist.edit(end, end + 2 + len(block) + 4, "")
    return keys()


def moved_declaration(typist):
    """A declaration is cut and pasted behind another one."""
    found = declarations(typist.text)
    if len(found) < 2:
        return None
    begin, end = typist.random.choice(found)

    def keys():
        block = typist.text[begin:end]
        yield typist.edit(begin, end, "")
        others = declarations(typist.text)
        at = typist.random.choice(others)[1] if others else len(typist.text)
        yield typist.edit(at, at, "\n\n" + block)
        yield typist.edit(at, at + 2 + len(block), "")
        yield typist.edit(begin, begin, block)
    return keys()


# ---- Renaming ----


def renamed(typist, begin, end, old):
    """A name gets another one by hand, place by place, and the old one again."""
    new = old + "_b" if typist.random.random() < 0.4 else typist.random.choice(WORDS) + "_n"

    def replace(begin, end, old, new):
        shift = 0
        for found in re.finditer(rf"\b{old}\b", typist.text[begin:end]):
            at = begin + found.start() + shift
            if new.startswith(old):
                typist.cursor = at + len(old)
                for letter in new[len(old):]:
                    yield typist.insert(letter)
            else:
                # Marked by a double click, and overwritten by the first letter.
                yield typist.edit(at, at + len(old), new[0])
                for letter in new[1:]:
                    yield typist.insert(letter)
            shift += len(new) - len(old)

    def keys():
        count = count_of(typist.text[begin:end], old)
        if count_of(typist.text[begin:end], new):
            return
        yield from replace(begin, end, old, new)
        yield from replace(begin, end + count * (len(new) - len(old)), new, old)
    return keys()


def renamed_local(typist):
    place = one_declaration(typist)
    if not place:
        return None
    body = typist.text[slice(*place)]
    # A word of a clause, which a local may be named after, stays what it is.
    names = sorted({n for n in re.findall(r"\b(?:let|var|in|parallel|for) ([a-z]\w*)", body) if f"{n}:" not in body and f".{n}" not in body
                    and f"{n}(" not in body and f'"{n}' not in body and f" {n} " not in body.split("{")[0]})
    return renamed(typist, *place, typist.random.choice(names)) if names else None


def renamed_parameter(typist):
    place = one_declaration(typist)
    if not place:
        return None
    header = typist.text[slice(*place)].split("{")[0]
    body = typist.text[slice(*place)]
    names = [n for n in re.findall(r"[(,]\s*(\w+): ", header) if len(re.findall(rf"\b{n}:", body)) == 1 and f".{n}" not in body and f"{n}(" not in body]
    # Calls may name it.
    names = [n for n in names if count_of(typist.text, n) == count_of(body, n) or f"{n}:" not in typist.text.replace(body, "")]
    return renamed(typist, *place, typist.random.choice(names)) if names else None


def renamed_declaration(typist):
    """With all its uses; the file is small enough for that to be done by hand."""
    place = one_declaration(typist)
    if not place:
        return None
    name = re.match(r"(?:pub |manual )*(?:kernel|program|fn) (\w+)", typist.text[place[0]:])
    if not name or not 1 < count_of(typist.text, name.group(1)) < 9 or f'"{name.group(1)}' in typist.text:
        return None
    return renamed(typist, 0, len(typist.text), name.group(1))


# ---- Statements ----


def retyped_value(typist):
    _, found = one_statement(typist)
    if not found:
        return None

    def keys():
        block = typist.text[found[2]:found[3]]
        yield from typist.erase(found[2], found[3])
        yield from typist.write(block)
    return keys()


def retyped_lines(typist):
    """One to three statements are deleted and written again."""
    place, first = one_statement(typist)
    if not place:
        return None
    all_of = list(statements(typist, *place))
    last = first
    for each in all_of[all_of.index(first) + 1 : all_of.index(first) + typist.random.randint(1, 3)]:
        if typist.text[last[1]:each[0]] != "\n":
            break
        last = each

    def keys():
        begin, end = first[0] - 1, last[1]
        block = typist.text[begin:end]
        yield typist.edit(begin, end, "")
        typist.cursor = begin
        yield from typist.write(block)
    return keys()


def retyped_letters(typist):
    """A few letters within a line are taken back and typed again; a number becomes another one."""
    _, found = one_statement(typist)
    if not found:
        return None

    def keys():
        at = typist.random.randint(found[2] + 1, found[3])
        count = min(typist.random.randint(1, 6), at - found[2])
        letters = typist.text[at - count:at]
        typist.cursor = at
        for _ in range(count):
            yield typist.backspace()
        for letter in letters:
            yield typist.insert(letter)
    return keys()


def copied_line(typist):
    """A statement is copied, gets another name, and goes away again."""
    place, found = one_statement(typist)
    let = found and re.match(r" +let (\w+) = ", typist.text[found[0]:found[1]])
    if not let:
        return None

    def keys():
        line = typist.text[found[0]:found[1]]
        yield typist.edit(found[1], found[1], "\n" + line)
        at = found[1] + 1 + let.end(1)
        typist.cursor = at
        for letter in "_2":
            yield typist.insert(letter)
        yield typist.edit(found[1], found[1] + 1 + len(line) + 2, "")
    return keys()


def new_line(typist):
    """A statement that uses what is there is typed below another one, and deleted later."""
    place, found = one_statement(typist)
    let = found and re.match(r" +(?:let|var) (\w+) = ", typist.text[found[0]:found[1]])
    if not let:
        return None

    def keys():
        indent = re.match(r" *", typist.text[found[0]:]).group()
        name = typist.random.choice(WORDS) + "_t"
        typist.cursor = found[1]
        block = f"\n{indent}let _{name} = {let.group(1)}"
        yield from typist.write(block)
        yield typist.edit(found[1], typist.cursor, "")
    return keys()


def moved_line(typist):
    """A line is cut, pasted one further down, and both are taken back."""
    place, found = one_statement(typist)
    if not found:
        return None
    below = typist.text.find("\n", found[1] + 1)
    if below < 0 or below > place[1]:
        return None

    def keys():
        line = typist.text[found[0]:found[1]] + "\n"
        yield typist.edit(found[0], found[0] + len(line), "")
        at = below + 1 - len(line)
        yield typist.edit(at, at, line)
        yield typist.edit(at, at + len(line), "")
        yield typist.edit(found[0], found[0], line)
    return keys()


def commented_line(typist):
    """`//` goes before a line and away again, with something done on another line meanwhile."""
    place, found = one_statement(typist)
    if not found:
        return None

    def keys():
        at = found[0] + len(re.match(r" *", typist.text[found[0]:]).group())
        typist.cursor = at
        for letter in "// ":
            yield typist.insert(letter)
        for _ in range(3):
            yield typist.backspace()
    return keys()


def wrapped(typist):
    """A function goes around a value by hand, and away again."""
    _, found = one_statement(typist)
    if not found:
        return None

    def keys():
        value = typist.text[found[2]:found[3]]
        name = typist.random.choice(["exp", "abs", "max", "f32"])
        typist.cursor = found[2]
        for letter in name + "(":
            yield typist.insert(letter)
        typist.cursor += len(value)
        yield typist.insert(")")
        yield typist.backspace()
        yield from typist.erase(found[2], found[2] + len(name) + 1)
    return keys()


def split_line(typist):
    """A line is broken behind a comma or an operator, and joined again."""
    _, found = one_statement(typist)
    places = found and [found[2] + each.end() for each in re.finditer(r"[-+*,] ", typist.text[found[2]:found[3]])]
    if not places:
        return None

    def keys():
        typist.cursor = typist.random.choice(places) - 1
        yield typist.insert("\n            ")
        for _ in range(2):
            yield typist.edit(typist.cursor - 4, typist.cursor, "")
        for _ in range(5):
            yield typist.backspace()
    return keys()


# ---- Brackets and headers ----


def torn_bracket(typist):
    """A bracket is deleted, something else is done, and the bracket is put back."""
    place = one_declaration(typist)
    if not place:
        return None
    begin, end = place
    places = [begin + found.start() for found in re.finditer(r"[()\[\]{}]", typist.text[begin:end])]
    if not places:
        return None
    at = typist.random.choice(places)

    def keys():
        bracket = typist.text[at]
        yield typist.edit(at, at + 1, "")
        others = [each for each in statements(typist, begin, end - 1) if each[1] < at or each[0] > at + 80]
        if others and typist.random.random() < 0.7:
            _, _, first, last = typist.random.choice(others)
            last = min(last, first + 6)
            letters = typist.text[first:last]
            typist.cursor = last
            for _ in letters:
                yield typist.backspace()
            for letter in letters:
                yield typist.insert(letter)
        typist.cursor = at
        yield typist.insert(bracket)
    return keys()


def retyped_parameter(typist):
    """A parameter of a header is taken out and written again."""
    place = one_declaration(typist)
    header = place and typist.text[slice(*place)].split("\n{")[0]
    found = header and re.search(r"(?:, |,\n +)\w+: [\w.]+(?:\[[^\]]*\])?(?= over|[,)\n])(?: over \w+ by \w+)?", header)
    if not found:
        return None

    def keys():
        begin, end = place[0] + found.start(), place[0] + found.end()
        block = typist.text[begin:end]
        yield from typist.erase(begin, end)
        yield from typist.write(block)
    return keys()


def retyped_header(typist):
    """All of a header but its first word is written again."""
    place = one_declaration(typist)
    found = place and re.match(r"(?:pub |manual )*(?:kernel|program) ([^{]+?)(?=\s*\{)", typist.text[slice(*place)])
    if not found:
        return None

    def keys():
        begin, end = place[0] + found.start(1), place[0] + found.end(1)
        begin = typist.text.index("(", begin)
        block = typist.text[begin:end]
        yield typist.edit(begin, end, "")
        yield from typist.write(block)
    return keys()


# ---- Undo, and slips that stay ----


def undone(typist):
    """A value is replaced by the beginning of another one, and all of it is taken back word by word."""
    _, found = one_statement(typist)
    if not found:
        return None

    def keys():
        begin, end = found[2], found[3]
        old = typist.text[begin:end]
        yield typist.edit(begin, end, "")
        typist.cursor = begin
        for letter in typist.random.choice(["exp(x", "sum(", "1.0 +", "zeros(f32["]):
            yield typist.insert(letter)
        yield typist.edit(begin, typist.cursor, "")
        yield typist.edit(begin, begin, old, begin)
    return keys()


class Slip:
    """A wrong letter that stays until somebody comes back to it."""

    def __init__(self, typist):
        self.typist, self.at = typist, None

    def left(self):
        """A name of a statement is spelt wrong, and the typing goes on one or more lines further down."""
        typist = self.typist
        for _ in range(30):
            place, found = one_statement(typist)
            names = found and [each for each in re.finditer(r"(?<![.\w])[a-z]\w*(?![\w:(])", typist.text[found[2]:found[3]])]
            others = found and [each for each in statements(typist, *place) if each[0] > found[1]]
            if names and others:
                break
        else:
            return None

        def keys():
            self.at = found[2] + typist.random.choice(names).end()
            typist.cursor = self.at
            yield typist.insert("q")
            _, _, first, last = typist.random.choice(others)
            letters = typist.text[first + 1:last + 1]
            typist.cursor = last + 1
            for _ in letters:
                yield typist.backspace()
            for letter in letters:
                yield typist.insert(letter)
        return keys()

    def mended(self):
        typist = self.typist
        typist.cursor = self.at + 1
        yield typist.backspace()


# How often each is done, of all.
ACTIVITIES = [
    (retyped_declaration, 12), (pasted_declaration, 2), (moved_declaration, 1), (renamed_local, 6), (renamed_parameter, 3),
    (renamed_declaration, 3), (retyped_value, 10), (retyped_lines, 10), (retyped_letters, 10), (copied_line, 4), (new_line, 6),
    (moved_line, 3), (commented_line, 3), (wrapped, 5), (split_line, 3), (torn_bracket, 8), (retyped_parameter, 5), (retyped_header, 3),
    (undone, 4),
]


def next_activity(typist):
    """Its name and its keys."""
    functions, weights = zip(*ACTIVITIES)
    while True:
        function = typist.random.choices(functions, weights)[0]
        keys = function(typist)
        if keys is not None:
            return function.__name__, keys
