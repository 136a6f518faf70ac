"""Checks what the compiler says to programs against docs/schemas."""
import json
import pathlib
import re

import jsonschema


class Schemas:
    def __init__(self, root):
        self.folder = pathlib.Path(root) / "docs" / "schemas"
        self.schemas = {path.stem: json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))}
        for schema in self.schemas.values():
            jsonschema.Draft202012Validator.check_schema(schema)
        self.seen = set()

    def check(self, name, document):
        """A document of the kind that docs/schemas/NAME.json describes."""
        if name == "cost" and "costs" in document:  # the command and the tool print several
            return [self.check(name, each) for each in document["costs"]]
        self.seen.add(name)
        problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(self.schemas[name]).iter_errors(document))
        assert problem is None, f"{name}: {problem.message} at /{'/'.join(map(str, problem.absolute_path))}"

    def watch(self, client):
        """The client, whose answers are checked from now on, with the documents that they name."""
        outputs = {tool["name"]: tool["outputSchema"] for tool in client.request("tools/list")["tools"]}
        for schema in outputs.values():
            jsonschema.Draft202012Validator.check_schema(schema)
        call = client.call

        def checked(tool, arguments, timeout=300):
            result = call(tool, arguments, timeout)
            answer = result["structuredContent"]
            jsonschema.validate(answer, outputs[tool], cls=jsonschema.Draft202012Validator)
            assert json.loads(result["content"][0]["text"]) == answer
            for document in answer["more"]:
                text = client.request("resources/read", {"uri": document["uri"]})["contents"][0]["text"]
                assert len(text.encode()) == document["bytes"], document
                if name := re.search(r"docs/schemas/(\w+)\.json", document["what"]):
                    self.check(name[1], json.loads(text))
            if tool == "explain" and not result["isError"]:
                self.check("explain", {key: value for key, value in answer.items() if key not in ("summary", "next", "more")})
            return result

        client.call = checked
        return client
