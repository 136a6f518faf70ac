// The answer of `ptl/status` as indented text.

export function statusText(status: unknown, indent = ""): string {
  if (typeof status !== "object" || status === null) return `${indent}${String(status)}\n`;
  let text = "";
  for (const [key, value] of Object.entries(status)) {
    if (typeof value === "object" && value !== null) text += `${indent}${key}\n${statusText(value, indent + "  ")}`;
    else text += `${indent}${key}: ${String(value)}\n`;
  }
  return text;
}
