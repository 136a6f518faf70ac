// Connects with the client of the public SDK, lists everything, and calls tools: `node list.mjs MODULES PTLC FOLDER [URL TOKEN]`.
// Prints what it found as JSON. The SDK checks each answer against the schema of its tool.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, ptlc, folder, url, token] = process.argv.slice(2);
const require = createRequire(modules + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");

const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
  : new StdioClientTransport({ command: ptlc, args: ["mcp", "--root", folder] });
const client = new Client({ name: "sdk-test", version: "1.0.0" });
await client.connect(transport);

const tools = (await client.listTools()).tools.map((tool) => tool.name);
const resources = [];
let cursor;
do {
  const page = await client.listResources({ cursor });
  resources.push(...page.resources.map((resource) => resource.uri));
  cursor = page.nextCursor;
} while (cursor);
const templates = (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate);
const prompts = (await client.listPrompts()).prompts;
const texts = [];
for (const uri of resources) texts.push((await client.readResource({ uri })).contents[0].text.length);
const messages = [];
for (const prompt of prompts) {
  const values = Object.fromEntries(prompt.arguments.map((argument) => [argument.name, "k.ptl"]));
  messages.push((await client.getPrompt({ name: prompt.name, arguments: values })).messages[0].content.text);
}
const progress = [];
const tuned = await client.callTool({ name: "tune", arguments: { file: "k.ptl" } }, undefined, { onprogress: (each) => progress.push(each) });
const wrong = await client.callTool({ name: "cost", arguments: { file: "missing.ptl" } });
let cancelled = false;
const stop = new AbortController();
const endless = client.callTool({ name: "run", arguments: { file: "endless.ptl", inputs: { n: 1 } } }, undefined, { signal: stop.signal });
setTimeout(() => stop.abort(), 300);
try { await endless; } catch { cancelled = true; }
const after = await client.callTool({ name: "check", arguments: { file: "k.ptl" } });
const found = { server: client.getServerVersion(), capabilities: client.getServerCapabilities(), tools, resources, templates, prompts: prompts.map((each) => each.name), texts, messages,
  tuned: tuned.structuredContent, progress: progress.length, wrong: wrong.isError, cancelled, ok: after.structuredContent.ok };
await client.close();
console.log(JSON.stringify(found));
