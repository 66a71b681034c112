// Drives adze mcp serve with the protocol's published client for TypeScript.
//
//   node serve.mjs ADZE NODE_MODULES FOLDER
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

const [adze, modules, folder] = process.argv.slice(2);
const load = (name) => import(path.join(modules, "@modelcontextprotocol/sdk/dist/esm", name));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { ElicitRequestSchema } = await load("types.js");

const home = path.join(folder, "home"), work = path.join(folder, "work");
for (const d of [home, work]) fs.mkdirSync(d, { recursive: true });
fs.writeFileSync(path.join(work, "here.txt"), "from the file\n");

// with runs a case with a client; decision is what a person says, none cannot be asked.
async function withClient(decision, run) {
  const client = new Client({ name: "case", version: "1" }, { capabilities: decision ? { elicitation: {} } : {} });
  const asked = [];
  if (decision) {
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      asked.push(request.params.message);
      return { action: "accept", content: { decision } };
    });
  }
  await client.connect(new StdioClientTransport({ command: adze, args: ["mcp", "serve", "--sandbox", "off"], cwd: work, env: { HOME: home, PATH: process.env.PATH } }));
  try {
    await run(client, asked);
  } finally {
    await client.close();
  }
}
const text = (result) => result.content.map((c) => c.text).join("");
const write = { name: "Write", arguments: { file_path: "made.txt", content: "made" } };
const made = path.join(work, "made.txt");

await withClient(undefined, async (client) => {
  const names = (await client.listTools()).tools.map((t) => t.name);
  for (const want of ["Read", "Grep", "Glob", "Edit", "Write", "Bash"]) assert(names.includes(want), `no ${want} in ${names}`);
  assert.match(text(await client.callTool({ name: "Read", arguments: { file_path: "here.txt" } })), /from the file/);
  const many = await Promise.all(Array.from({ length: 50 }, (_, i) => client.callTool({ name: "Bash", arguments: { command: `echo number ${i}` } })));
  many.forEach((r, i) => assert.equal(text(r).trim(), `number ${i}`));
  const refused = await client.callTool(write);
  assert(refused.isError && !fs.existsSync(made), "written without a yes");
});
await withClient("refuse", async (client, asked) => {
  const refused = await client.callTool(write);
  assert(refused.isError && asked.length === 1 && !fs.existsSync(made), "written against a no");
});
await withClient("allow", async (client, asked) => {
  const done = await client.callTool(write);
  assert(!done.isError && asked.length === 1, text(done));
  assert.equal(fs.readFileSync(made, "utf8"), "made");
});
console.log("ok  	adze mcp serve with the published client");
