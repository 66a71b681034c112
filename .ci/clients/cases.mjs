// The cases of ./run: node cases.mjs ADZE NODE_MODULES FOLDER [NAME…]. Each starts one
// published program as its own documentation says, with adze as its `claude`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import readline from 'node:readline'

const [adze, modules, folder, ...wanted] = process.argv.slice(2)
const limit = 60_000 // milliseconds for one case
const cases = []
const places = new Set()
const test = (name, run) => cases.push({ name, run })

// A Model is the Messages API on loopback. It answers with one step after the other
// of what it was given, and with "ok" what has no tools (titles, for example).
class Model {
  asked = []
  async start(steps = []) {
    this.steps = steps
    this.server = http.createServer((req, res) => this.answer(req, res))
    await new Promise((r) => this.server.listen(0, '127.0.0.1', r))
    this.url = `http://127.0.0.1:${this.server.address().port}`
    return this
  }
  async answer(req, res) {
    let text = ''
    for await (const piece of req) text += piece
    if (req.method !== 'POST' || !req.url.startsWith('/v1/messages')) return res.writeHead(404).end()
    const body = JSON.parse(text)
    this.asked.push({ url: req.url, headers: req.headers, body })
    if (req.url.includes('count_tokens')) return res.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens": 10}')
    const step = (body.tools?.length && this.steps.shift()) || { text: 'ok' }
    const block = step.tool ? { type: 'tool_use', id: 'toolu_' + step.tool, name: step.tool, input: {} } : { type: 'text', text: '' }
    const delta = step.tool ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) } : { type: 'text_delta', text: step.text }
    const message = { id: 'msg_' + this.asked.length, type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of [
      { type: 'message_start', message: { ...message, usage: { input_tokens: 10, output_tokens: 1, ...step.usage } } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: step.tool ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ]) res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    res.end()
  }
  // result is what the model was told of a call, as JSON.
  result(id) {
    const blocks = this.asked.flatMap((a) => a.body.messages).flatMap((m) => (Array.isArray(m.content) ? m.content : []))
    return JSON.stringify(blocks.find((b) => b.type === 'tool_result' && b.tool_use_id === id)?.content ?? null)
  }
}

// A Place is a home, a folder to work in, and what was started there.
class Place {
  started = []
  models = []
  constructor(n) {
    for (const name of ['home', 'work', 'tmp', 'bin']) fs.mkdirSync((this[name] = path.join(folder, 'case' + n, name)), { recursive: true })
    places.add(this)
    this.claude = path.join(this.bin, 'claude')
    fs.symlinkSync(adze, this.claude)
  }
  async model(steps) {
    this.models.push(await new Model().start(steps))
    return this.models.at(-1)
  }
  put(name, text) {
    const to = path.join(this.work, name)
    fs.mkdirSync(path.dirname(to), { recursive: true })
    fs.writeFileSync(to, text)
    return to
  }
  read(name) {
    return fs.readFileSync(path.join(this.work, name), 'utf8')
  }
  env(model) {
    return {
      PATH: this.bin + path.delimiter + path.dirname(process.execPath) + path.delimiter + process.env.PATH,
      HOME: this.home, TMPDIR: this.tmp, CLAUDE_CODE_EXECUTABLE: this.claude,
      ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-the-environment',
    }
  }
  // start runs a program, one of node unless it is named, in a process group of its own;
  // what it says on stderr is shown when the case fails.
  start(args, env, program = process.execPath) {
    const child = spawn(program, args, { cwd: this.work, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    child.said = ''
    child.stderr.on('data', (d) => (child.said += d))
    child.stdin.on('error', () => {})
    child.ended = new Promise((r) => child.on('close', (code, signal) => r(code ?? signal)))
    this.started.push(child)
    return child
  }
  // output is what a program printed that ended well.
  async output(args, env, program) {
    const child = this.start(args, env, program)
    child.stdin.end()
    let out = ''
    child.stdout.on('data', (d) => (out += d))
    const code = await child.ended
    assert.equal(code, 0, out)
    return out
  }
  kill() {
    for (const child of this.started) {
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {} // all of it has ended
    }
  }
  async close() {
    places.delete(this)
    this.kill()
    await Promise.all(this.started.map((child) => child.ended))
    for (const model of this.models) {
      model.server.closeAllConnections()
      model.server.close()
    }
  }
}

// An Editor speaks the Agent Client Protocol with an agent: lines of JSON-RPC.
class Editor {
  updates = []
  asked = []
  waiting = new Map()
  constructor(agent, choose) {
    this.agent = agent
    this.choose = choose
    readline.createInterface({ input: agent.stdout }).on('line', (line) => {
      try {
        this.take(JSON.parse(line))
      } catch (err) {
        this.fail(new Error(line, { cause: err }))
      }
    })
    agent.ended.then((code) => this.fail(new Error(`the agent ended (${code})`)))
  }
  fail(err) {
    for (const w of this.waiting.values()) w.no(err)
  }
  take(m) {
    if (m.method === 'session/update') this.updates.push(m.params.update)
    else if (m.method === 'session/request_permission') {
      this.asked.push(m.params)
      const { optionId } = m.params.options.find((o) => o.kind === this.choose)
      this.send({ id: m.id, result: { outcome: { outcome: 'selected', optionId } } })
    } else if (m.method && m.id !== undefined) this.send({ id: m.id, error: { code: -32601, message: 'not here' } })
    else if (!m.method) {
      const w = this.waiting.get(m.id)
      if (m.error) w.no(new Error(JSON.stringify(m.error)))
      else w.yes(m.result)
    }
  }
  send(m) {
    this.agent.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n')
  }
  ask(method, params) {
    const id = this.waiting.size
    return new Promise((yes, no) => {
      this.waiting.set(id, { yes, no })
      this.send({ id, method, params })
    })
  }
}

// acp: an editor has a file read and changed, is asked for the change, and hears the
// end. What it says no to does not happen.
for (const [name, main, no] of [
  ['claude-agent-acp', '@agentclientprotocol/claude-agent-acp/dist/index.js', { interrupts: false }],
  ['claude-code-acp', '@zed-industries/claude-code-acp/dist/index.js', { interrupts: true }],
]) {
  for (const choose of ['allow_once', 'reject_once']) {
    test(`${name}: ${choose}`, async (p) => {
      const file = p.put('colours.txt', 'red\ngreen\n')
      const model = await p.model([
        { tool: 'Read', input: { file_path: file } },
        { tool: 'Edit', input: { file_path: file, old_string: 'green', new_string: 'blue' } },
        { text: 'It is blue now.' },
      ])
      const editor = new Editor(p.start([path.join(modules, main)], p.env(model)), choose)
      const started = await editor.ask('initialize', { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false } })
      assert.equal(started.protocolVersion, 1)
      const { sessionId } = await editor.ask('session/new', { cwd: p.work, mcpServers: [] })
      const prompt = editor.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Make the green one blue.' }] })
      // A no from claude-code-acp ends the turn, which it tells as an error: docs/print-protocol.md.
      if (no.interrupts && choose === 'reject_once') await assert.rejects(prompt, /interrupted/)
      else assert.equal((await prompt).stopReason, 'end_turn')
      assert.equal(editor.asked.length, 1, 'one question, for the change')
      assert.equal(editor.asked[0].toolCall.rawInput.file_path, file)
      assert.equal(p.read('colours.txt'), choose === 'allow_once' ? 'red\nblue\n' : 'red\ngreen\n')
      assert.match(model.result('toolu_Read'), /red.*green/)
      const said = editor.updates.filter((u) => u.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text)
      const ended = (tool) => editor.updates.findLast((u) => u.toolCallId === 'toolu_' + tool && u.status)?.status
      assert.equal(ended('Read'), 'completed')
      if (choose === 'allow_once') {
        assert.equal(ended('Edit'), 'completed')
        assert.match(said.join(''), /It is blue now\./)
      }
    })
  }
}

test('ai-sdk-provider-claude-code: generateText', async (p) => {
  const model = await p.model([{ text: 'hello from the model' }])
  fs.symlinkSync(modules, path.join(p.work, 'node_modules'))
  const program = p.put('ask.mjs', `
    import { generateText } from 'ai'
    import { createClaudeCode } from 'ai-sdk-provider-claude-code'
    const claudeCode = createClaudeCode({ defaultSettings: { pathToClaudeCodeExecutable: process.env.CLAUDE_CODE_EXECUTABLE } })
    const { text, finishReason, usage } = await generateText({ model: claudeCode('sonnet'), prompt: 'Say hello.' })
    console.log(JSON.stringify({ text, finishReason, usage }))
  `)
  const got = JSON.parse(await p.output([program], p.env(model)))
  assert.equal(got.text, 'hello from the model')
  assert.equal(got.finishReason, 'stop')
  assert.deepEqual([got.usage.inputTokens, got.usage.outputTokens], [10, 5])
  assert.ok(model.asked.some((a) => JSON.stringify(a.body.messages).includes('Say hello.')))
})

// A port that is free now: the router cannot be told to take any.
async function freePort() {
  const server = http.createServer()
  await new Promise((r) => server.listen(0, '127.0.0.1', r))
  const { port } = server.address()
  await new Promise((r) => server.close(r))
  return port
}

test('claude-code-router: ccr code -p hi', async (p) => {
  const behind = await p.model([{ text: 'hello through the router' }])
  const environment = await p.model([{ text: 'hello past the router' }])
  const config = {
    LOG: false, HOST: '127.0.0.1', PORT: await freePort(), NON_INTERACTIVE_MODE: true,
    Providers: [{ name: 'behind', api_base_url: behind.url + '/v1/messages', api_key: 'key-of-the-router', models: ['some-model'], transformer: { use: ['Anthropic'] } }],
    Router: { default: 'behind,some-model' },
  }
  const home = path.join(p.home, '.claude-code-router')
  fs.mkdirSync(home)
  fs.writeFileSync(path.join(home, 'config.json'), JSON.stringify(config))
  const ccr = path.join(modules, '@musistudio/claude-code-router/dist/cli.js')
  const router = p.start([ccr, 'start'], p.env(environment))
  router.stdout.resume()
  for (let up = false; !up; ) {
    assert.equal(router.exitCode, null, 'the router has ended')
    up = await fetch(`http://127.0.0.1:${config.PORT}/`).then((r) => r.ok, () => new Promise((r) => setTimeout(r, 100, false)))
  }
  assert.match(await p.output([ccr, 'code', '-p', 'hi'], p.env(environment)), /hello through the router/)
  assert.equal(environment.asked.length, 0, 'nothing goes to the address of the environment')
  assert.ok(behind.asked.length > 0)
  for (const a of behind.asked) assert.equal(a.body.model, 'some-model')
})

// Each reply counts once: those of a session that was resumed, and of its copy, which
// has the replies from before it was made as well.
test('ccusage: daily', async (p) => {
  const model = await p.model([
    { tool: 'Read', input: { file_path: 'a.txt' }, usage: { input_tokens: 100, cache_creation_input_tokens: 20, cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 }, cache_read_input_tokens: 300 } },
    { text: 'read', usage: { cache_read_input_tokens: 400 } },
    { text: 'resumed', usage: { input_tokens: 1000 } },
    { text: 'copied', usage: { input_tokens: 7 } },
  ])
  p.put('a.txt', 'a')
  const claude = async (...args) =>
    JSON.parse(await p.output(['-p', ...args, '--output-format', 'json', '--settings', '{"compat": {"transcripts": "on"}}'], p.env(model), p.claude))
  const results = [await claude('Read it.')]
  results.push(await claude('And?', '--resume', results[0].session_id))
  results.push(await claude('And here?', '--resume', results[0].session_id, '--fork-session'))
  const { totals } = JSON.parse(await p.output([path.join(modules, '../ccusage/node_modules/ccusage/src/cli.js'), 'daily', '--json', '--offline'], p.env(model)))
  const sum = (of) => results.reduce((n, r) => n + of(r), 0)
  assert.deepEqual([totals.inputTokens, totals.outputTokens, totals.cacheCreationTokens, totals.cacheReadTokens], [1117, 20, 20, 700])
  assert.deepEqual([totals.inputTokens, totals.outputTokens], [sum((r) => r.usage.input_tokens), sum((r) => r.usage.output_tokens)])
  assert.ok(Math.abs(totals.totalCost - sum((r) => r.total_cost_usd)) < 1e-9, `it costs ${totals.totalCost}`)
})

let failed = 0
const chosen = cases.filter((c) => wanted.length === 0 || wanted.some((w) => c.name.includes(w)))
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const place of places) place.kill()
    process.exit(1)
  })
}
const run = async ({ name, run, n }) => {
  const place = new Place(n)
  const began = Date.now()
  let late
  try {
    await Promise.race([run(place), new Promise((_, no) => (late = setTimeout(() => no(new Error(`it takes more than ${limit / 1000} s`)), limit)))])
    console.log(`ok  	${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
  } catch (err) {
    failed++
    console.error(`FAIL	${name}\n${err?.stack ?? err}`)
    for (const child of place.started) if (child.said) console.error(child.said.slice(-4000))
  } finally {
    clearTimeout(late)
    await place.close()
  }
}
const queue = chosen.map((c, n) => ({ ...c, n }))
await Promise.all(Array.from({ length: 2 }, async () => {
  for (let c = queue.shift(); c; c = queue.shift()) await run(c)
}))
console.log(`${chosen.length - failed} of ${chosen.length} cases of published clients hold`)
process.exit(failed > 0 ? 1 : 0)
