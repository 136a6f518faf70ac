"""Texts to type: all programs of the repository that have no errors, in words that nobody chose, and files of many lines of them."""
import re

from session import ROOT

FOLDERS = ["examples", "examples/models", "examples/cluster", "std", "tests/language", "tests/lanes", "tests/placement", "tests/differential",
           "tests/differential/corpus", "tests/manual", "tests/manual_text", "tests/agent/poor", "tests/chips", "tests/feasibility"]
PAGES = ["docs/language.md", "docs/tutorial.md", "docs/placement.md"]
NAME = re.compile(r"^(?:pub )?(?:manual |extern )?(?:kernel|program|fn|const|type|struct) (\w+)", re.M)
TEXT = re.compile(r'^(test|property|bench) "', re.M)
SYLLABLES = "ka lo mi ser tu ban do re pli zo ga hem ir os una vel".split()


def all_texts():
    """`(name, text)` of every program, those in pages included. Whoever imports files of its own folder is left out."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.ptl")):
            yield f"{folder}/{path.name}", path.read_text()
    pages = [ROOT / page for page in PAGES] + sorted((ROOT / "docs/ops").glob("*.md"))
    for page in pages:
        for number, block in enumerate(re.findall(r"^```ptl\n(.*?)^```", page.read_text(), re.M | re.S)):
            yield f"{page.name}:{number}", block


def without_errors(place, texts):
    """Of texts those that by themselves have no errors, by their number."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(place.folder / f"part_{number}.ptl")
        paths[-1].write_text(text)
    wrong = {each["file"] for each in place.check_files(paths) if each["severity"] == "error"}
    return {number for number, path in enumerate(paths) if str(path) not in wrong}


def sources(place, choose=None, count=None):
    """Those that can be typed, as they are and in other words. All of them, or a choice."""
    texts = [text for _, text in all_texts() if 'import "' not in text and NAME.search(text)]
    if choose:
        texts = choose.sample(texts, count)
    right = without_errors(place, texts)
    return [text for number, text in enumerate(texts) if number in right]


ITEM = re.compile(r"^(?:pub |manual |extern )*(?:kernel|program|fn|const|type|struct|schedule|import|test|property|bench)\b", re.M)


def callees_first(text):
    """The same program, with everything declared before it is used, as people type it."""
    starts = []
    for found in ITEM.finditer(text):
        start = found.start()
        # Comments in front of a declaration are its own.
        while start > 0 and text[:start - 1].rsplit("\n", 1)[-1].startswith("//"):
            start = text.rfind("\n", 0, start - 1) + 1
        starts.append(start)
    parts = [text[a:b].strip("\n") + "\n" for a, b in zip(starts, starts[1:] + [len(text)])]
    names = [(NAME.search(part) or [None, None])[1] for part in parts]
    ordered, left = [], list(range(len(parts)))
    while left:
        missing = {names[i] for i in left} - {None}
        free = [i for i in left if not missing.intersection(re.findall(r"\w+", re.sub(r"//.*", "", parts[i]))) - {names[i]}]
        chosen = (free or left)[0]
        left.remove(chosen)
        ordered.append(parts[chosen])
    return "\n".join(ordered)


def words_of_language():
    """What a name of somebody's program must not be replaced by, nor a text replace: anything that means something by itself."""
    words = set()
    for page in list((ROOT / "docs/ops").glob("*.md")) + [ROOT / "docs/language.md"]:
        for code in re.findall(r"`([^`\n]+)`", page.read_text()):
            words.update(re.findall(r"[A-Za-z_]\w*", code))
    return words


def disguised(text, choose, reserved):
    """The same program with other names of locals, parameters, dimensions and declarations, in one of several habits."""
    code = re.sub(r"//.*", "", text)
    names = set(NAME.findall(code)) | set(re.findall(r"\b(?:let|var|for|parallel) (\w+)", code)) | set(re.findall(r"[(,]\s*(\w+): ", code))
    for dims in re.findall(r"^(?:pub )?(?:kernel|program|fn|struct) \w+\[([^\]]+)\]", code, re.M):
        names |= set(re.findall(r"\b(\w+)\b(?=\s*(?:,|$|:))", dims))
    habit, taken = choose.random(), set(re.findall(r"\w+", text)) | reserved
    for name in sorted(names):
        if name in reserved or name.startswith("_") or name[0].isdigit() or choose.random() < 0.3:
            continue
        new, count = name, 1 if len(name) < 3 else choose.randint(2, 3)
        while new in taken:
            parts = [choose.choice(SYLLABLES) for _ in range(count)]
            new = "_".join(parts) if habit < 0.3 else "".join(parts) if habit < 0.6 else parts[0] + "".join(each.title() for each in parts[1:])
            new = new.title().replace("_", "") if name[0].isupper() else new
            count += choose.random() < 0.2
        taken.add(new)
        text = re.sub(rf"\b{name}\b", new, text)
    return text


def in_other_words(place, texts, choose):
    """The texts disguised, where that leaves them right."""
    reserved = words_of_language()
    others = [disguised(text, choose, reserved) for text in texts]
    right = without_errors(place, others)
    return [others[number] if number in right else text for number, text in enumerate(texts)]


def document(place, lines, choose, known):
    """A file of about so many lines: programs in any order, without errors."""
    parts, count = [], 0
    while count < lines:
        number, text = len(parts), choose.choice(known)
        for name in set(NAME.findall(text)):
            text = re.sub(rf"\b{name}\b", f"{name}_{number}", text)
        text = TEXT.sub(rf'\1 "{number} ', text)
        parts.append((re.findall(r"^import .*\n", text, re.M), re.sub(r"^import .*\n", "", text, flags=re.M)))
        count += parts[-1][1].count("\n") + 1
    # An import of one program may hide a name of another one.
    while True:
        imports = list(dict.fromkeys(line for own, _ in parts for line in own))
        text = "".join(imports) + "\n" + "\n".join(body for _, body in parts)
        wrong = {each["begin"]["line"] - 1 for each in place.check(place.folder / "whole.ptl", text) if each["severity"] == "error"}
        if not wrong:
            return text
        kept, line = [], len(imports) + 1
        for own, body in parts:
            end = line + body.count("\n") + 1
            if not wrong.intersection(range(line, end)) and not any(imports.index(each) in wrong for each in own):
                kept.append((own, body))
            line = end
        parts = kept
