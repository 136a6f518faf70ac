// The answer of `ptl/status` as YAML: what is short first, lists at the end.

export function statusText(status: unknown, indent = ""): string {
  if (!isNested(status)) return `${indent}${String(status)}\n`;
  if (Array.isArray(status))
    return status.map((each) => `${indent}- ${statusText(each, `${indent}  `).trimStart()}`).join("");
  const members = Object.entries(status);
  const short = members.filter(([, value]) => !isNested(value));
  const nested = members.filter(([, value]) => isNested(value));
  return (
    short.map(([key, value]) => `${indent}${key}: ${String(value)}\n`).join("") +
    nested.map(([key, value]) => `${indent}${key}:\n${statusText(value, `${indent}  `)}`).join("")
  );
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
