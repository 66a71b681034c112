// The cases of ./run: node cases.mjs ADZE SDK FOLDER [NAME…].
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [adze, sdk, folder, ...wanted] = process.argv.slice(2)
const { query, AbortError, HOOK_EVENTS, InMemorySessionStore, createSdkMcpServer, tool, ...functions } = await import(pathToFileURL(sdk).href)
const { z } = await import(pathToFileURL(path.join(path.dirname(sdk), '../../zod/index.js')).href)
const cases = []
const test = (name, run) => cases.push({ name, run })

// A Place is a home and a folder to work in, with scripts for the model.
class Place {
  constructor(n) {
    this.home = path.join(folder, 'case' + n, 'home')
    this.dir = path.join(folder, 'case' + n, 'work')
    fs.mkdirSync(this.home, { recursive: true })
    fs.mkdirSync(this.dir, { recursive: true })
  }
  put(name, text) {
    const to = path.join(this.dir, name)
    fs.mkdirSync(path.dirname(to), { recursive: true })
    fs.writeFileSync(to, text)
    return to
  }
  script(text) {
    this.put('model.txt', text)
    return this
  }
  // plugin is a small plugin's folder.
  plugin() {
    this.put('plug/.claude-plugin/plugin.json', '{"name": "demo", "version": "1.0.0"}')
    this.put('plug/commands/lint.md', '---\ndescription: lints a file\n---\nLint $ARGUMENTS now.\n')
    return path.join(this.dir, 'plug')
  }
  // server is a small MCP server's program.
  server() {
    return this.put('server.mjs', smallServer)
  }
  env(more) {
    return { PATH: process.env.PATH, HOME: this.home, ...more }
  }
  query(prompt, options = {}) {
    const { env, ...rest } = options
    return query({
      prompt,
      options: { pathToClaudeCodeExecutable: adze, cwd: this.dir, env: this.env(env), model: 'script/model.txt', settingSources: [], ...rest },
    })
  }
  // all is every message of a run, the last result, and why it failed.
  async all(prompt, options) {
    const out = { messages: [], error: undefined }
    try {
      for await (const m of this.query(prompt, options)) out.messages.push(m)
    } catch (err) {
      out.error = err
    }
    out.result = out.messages.findLast((m) => m.type === 'result')
    out.init = out.messages.find((m) => m.type === 'system' && m.subtype === 'init')
    return out
  }
  // says runs a prompt and wants it to succeed.
  async says(prompt, options) {
    const out = await this.all(prompt, options)
    assert.ifError(out.error)
    assert.equal(out.result?.subtype, 'success', JSON.stringify(out.result))
    return out
  }
}

// smallServer is an MCP server on stdio with one tool.
const smallServer = `
import readline from 'node:readline'
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line)
  if (m.method === 'initialize') say(m.id, { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'small', version: '1' } })
  else if (m.method === 'tools/list') say(m.id, { tools: [{ name: 'hello', inputSchema: { type: 'object', properties: { who: { type: 'string' } } } }] })
  else if (m.method === 'tools/call') say(m.id, { content: [{ type: 'text', text: 'hello ' + m.params.arguments.who }] })
  else if (m.id !== undefined) say(m.id, {})
}).on('close', () => process.exit(0))
`

// asksServer asks the person for a colour when its tool is called.
const asksServer = `
import readline from 'node:readline'
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n')
const fields = { type: 'object', properties: { colour: { type: 'string', enum: ['red', 'blue'] } }, required: ['colour'] }
let asked
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line)
  if (m.id === 'q') send({ id: asked, result: { content: [{ type: 'text', text: 'chose ' + m.result.action + ' ' + m.result.content?.colour }] } })
  else if (m.method === 'initialize') send({ id: m.id, result: { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asks', version: '1' } } })
  else if (m.method === 'tools/list') send({ id: m.id, result: { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] } })
  else if (m.method === 'tools/call') { asked = m.id; send({ id: 'q', method: 'elicitation/create', params: { message: 'Which colour?', requestedSchema: fields } }) }
  else if (m.id !== undefined) send({ id: m.id, result: {} })
}).on('close', () => process.exit(0))
`

// An Input is a stream of prompts that stays open until it is closed.
class Input {
  waiting = []
  closed = false
  wake = () => {}
  say(text, more) {
    this.waiting.push({ type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null, session_id: '', ...more })
    this.wake()
  }
  close() {
    this.closed = true
    this.wake()
  }
  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.waiting.length > 0) yield this.waiting.shift()
      if (this.closed) return
      await new Promise((r) => (this.wake = r))
    }
  }
}

// talk gives a streaming run to steps, which read its messages with next.
async function talk(place, options, steps) {
  const input = new Input()
  const q = place.query(input, options)
  const messages = q[Symbol.asyncIterator]()
  const next = async (fits) => {
    for (;;) {
      const { value, done } = await messages.next()
      assert.ok(!done, 'the run ended')
      if (fits(value)) return value
    }
  }
  const result = () => next((m) => m.type === 'result')
  try {
    await steps({ q, input, next, result })
  } finally {
    input.close()
    await q.return?.()
  }
}

// refused wants a run to fail with these words, and nothing to be answered.
async function refused(place, options, words) {
  const heard = []
  const out = await place.script('> done\n').all('hi', { stderr: (s) => heard.push(s), ...options })
  assert.equal(out.result?.result, undefined, 'it ran: ' + JSON.stringify(out.result))
  assert.match(String(out.error) + heard.join(''), words)
}

const results = (out) =>
  out.messages.filter((m) => m.type === 'user').flatMap((m) => (Array.isArray(m.message.content) ? m.message.content : [])).filter((c) => c.type === 'tool_result')

const write = '@ Write {"file_path":"new.txt","content":"as asked\\n"}\n---\n> done\n'

// A provider answers Chat Completions requests with one call of Read each, or
// with words when it is told to.
async function provider(steps) {
  const bodies = []
  const server = http.createServer((req, res) => {
    let body = ''
    req.on('data', (d) => (body += d))
    req.on('end', () => {
      if (!req.url.endsWith('/chat/completions')) return res.writeHead(404).end()
      bodies.push(JSON.parse(body))
      const delta = steps[Math.min(bodies.length, steps.length) - 1]
      const line = (x) => 'data: ' + JSON.stringify({ id: 'r', model: 'm', ...x }) + '\n\n'
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.end(
        line({ choices: [{ index: 0, delta }] }) + line({ choices: [{ index: 0, delta: {}, finish_reason: delta.tool_calls ? 'tool_calls' : 'stop' }] }) +
          line({ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 1000 } }) + 'data: [DONE]\n\n',
      )
    })
  })
  await new Promise((r) => server.listen(0, '127.0.0.1', r))
  const settings = JSON.stringify({
    providers: { local: { base_url: `http://127.0.0.1:${server.address().port}/v1`, wire: 'compat', effort: 'reasoning_effort' } },
    models: { 'local/m': { window: 100000, output: 4000, price: { in: 100, out: 100 } } },
  })
  return { bodies, options: { model: 'local/m', settings }, [Symbol.asyncDispose]: () => new Promise((r) => server.close(r)), close: () => server.close() }
}

// ---- prompts and what comes back

test('prompt: a string', async (p) => {
  const out = await p.script('> hello there\n').says('hi')
  assert.equal(out.result.result, 'hello there')
  assert.equal(out.init.cwd, fs.realpathSync(p.dir))
  assert.ok(out.init.tools.includes('Bash'))
  assert.ok(out.messages.some((m) => m.type === 'assistant' && m.message.content[0].text === 'hello there'))
})

test('prompt: a stream', async (p) => {
  p.script('? prompt contains "one"\n> first\n---\n> second\n')
  await talk(p, {}, async ({ input, result }) => {
    input.say('one')
    assert.equal((await result()).result, 'first')
    input.say('two')
    assert.equal((await result()).result, 'second')
  })
})

test('includePartialMessages', async (p) => {
  const out = await p.script('> some words to stream\n').says('hi', { includePartialMessages: true })
  const text = out.messages.filter((m) => m.type === 'stream_event' && m.event.delta?.type === 'text_delta').map((m) => m.event.delta.text)
  assert.equal(text.join(''), 'some words to stream')
})

test('outputFormat: json_schema', async (p) => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const out = await p.script('@ StructuredOutput {"n": 3}\n').says('how many?', { outputFormat: { type: 'json_schema', schema } })
  assert.deepEqual(out.result.structured_output, { n: 3 })
})

test('maxTurns', async (p) => {
  p.put('f.txt', 'x')
  const out = await p.script('@ Read {"file_path":"f.txt"}\n---\n@ Read {"file_path":"f.txt"}\n---\n> done\n').all('go', { maxTurns: 1 })
  assert.equal(out.result.subtype, 'error_max_turns')
})

test('maxBudgetUsd', async (p) => {
  p.put('f.txt', 'x')
  const call = { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'Read', arguments: '{"file_path":"f.txt"}' } }] }
  const there = await provider([call, { content: 'done' }])
  try {
    const out = await p.all('go', { ...there.options, maxBudgetUsd: 0.01 })
    assert.equal(out.result.subtype, 'error_max_budget_usd', JSON.stringify(out.result))
    assert.equal(there.bodies.length, 0) // what does not fit the budget is not asked
    assert.equal(out.result.total_cost_usd, 0)
  } finally {
    there.close()
  }
})

// ---- the model

test('model and setModel', async (p) => {
  p.script('> from the first\n')
  p.put('other.txt', '> from the other\n')
  await talk(p, {}, async ({ q, input, next, result }) => {
    input.say('one')
    assert.equal((await next((m) => m.subtype === 'init')).model, 'model.txt')
    assert.equal((await result()).result, 'from the first')
    await q.setModel('script/other.txt')
    input.say('two')
    assert.equal((await result()).result, 'from the other')
    await assert.rejects(q.setModel('no-such-model'), /no model/)
  })
})

test('fallbackModel', async (p) => {
  p.put('other.txt', '> from the other\n')
  const out = await p.script('!529\n---\n!529\n---\n!529\n---\n!529\n---\n> late\n').says('hi', { fallbackModel: 'script/other.txt' })
  assert.equal(out.result.result, 'from the other')
})

test('thinking, effort and maxThinkingTokens', async (p) => {
  for (const [options, effort] of [
    [{ thinking: { type: 'disabled' } }, 'none'], [{ effort: 'high' }, 'high'], [{ maxThinkingTokens: 20000 }, 'high'],
    [{ maxThinkingTokens: 0 }, 'none'], [{ thinking: { type: 'adaptive' } }, undefined],
  ]) {
    const there = await provider([{ content: 'done' }])
    try {
      await p.says('hi', { ...there.options, ...options })
      assert.equal(there.bodies[0].reasoning_effort, effort, JSON.stringify(options))
    } finally {
      there.close()
    }
  }
})

test('setMaxThinkingTokens', async (p) => {
  const there = await provider([{ content: 'done' }])
  try {
    await talk(p, there.options, async ({ q, input, result }) => {
      for (const [tokens, effort] of [[20000, 'high'], [0, 'none'], [null, undefined]]) {
        await q.setMaxThinkingTokens(tokens)
        input.say('hi')
        await result()
        assert.equal(there.bodies.at(-1).reasoning_effort, effort)
      }
    })
  } finally {
    there.close()
  }
})

// ---- permissions

test('canUseTool: allow', async (p) => {
  const asked = []
  await p.script(write).says('write', { canUseTool: async (name, input) => (asked.push([name, input.file_path]), { behavior: 'allow', updatedInput: input }) })
  assert.deepEqual(asked, [['Write', 'new.txt']])
  assert.equal(fs.readFileSync(path.join(p.dir, 'new.txt'), 'utf8'), 'as asked\n')
})

test('canUseTool: deny', async (p) => {
  const out = await p.script(write).says('write', { canUseTool: async () => ({ behavior: 'deny', message: 'not on a Sunday' }) })
  assert.match(JSON.stringify(results(out)), /not on a Sunday/)
  assert.equal(out.result.permission_denials[0].tool_name, 'Write')
  assert.ok(!fs.existsSync(path.join(p.dir, 'new.txt')))
})

test('canUseTool: rewrite', async (p) => {
  await p.script(write).says('write', { canUseTool: async (name, input) => ({ behavior: 'allow', updatedInput: { ...input, content: 'rewritten\n' } }) })
  assert.equal(fs.readFileSync(path.join(p.dir, 'new.txt'), 'utf8'), 'rewritten\n')
})

test('canUseTool: a rule for the session', async (p) => {
  let asked = 0
  p.script('@ Bash {"command":"touch a"}\n---\n@ Bash {"command":"touch b"}\n---\n> done\n')
  await p.says('go', {
    settings: JSON.stringify({ sandbox: { enabled: false } }),
    canUseTool: async (name, input) => {
      asked++
      const rules = [{ toolName: 'Bash', ruleContent: 'touch *' }]
      return { behavior: 'allow', updatedInput: input, updatedPermissions: [{ type: 'addRules', behavior: 'allow', destination: 'session', rules }] }
    },
  })
  assert.equal(asked, 1)
  assert.ok(fs.existsSync(path.join(p.dir, 'b')))
})

// touches makes two files, asking for each, without a sandbox.
const touches = '@ Bash {"command":"touch a"}\n---\n@ Bash {"command":"touch b"}\n---\n> done\n'
const unconfined = { settings: JSON.stringify({ sandbox: { enabled: false } }) }

// granting answers each question with a yes and these updates of permissions.
async function granting(p, updates) {
  let asked = 0
  const out = await p.script(touches).says('go', {
    ...unconfined, canUseTool: async (name, input) => (asked++, { behavior: 'allow', updatedInput: input, updatedPermissions: updates }),
  })
  return { out, asked, b: fs.existsSync(path.join(p.dir, 'b')) }
}
const touching = [{ toolName: 'Bash', ruleContent: 'touch *' }]

// It holds for the call that was asked about, too: a deny wins over the yes beside it.
test('canUseTool: a rule that denies, for the session', async (p) => {
  const { out, asked, b } = await granting(p, [{ type: 'addRules', behavior: 'deny', destination: 'session', rules: touching }])
  assert.deepEqual([asked, b, out.result.permission_denials.length], [1, false, 2])
})
test('canUseTool: rules that are replaced, and removed', async (p) => {
  assert.equal((await granting(p, [{ type: 'replaceRules', behavior: 'allow', destination: 'session', rules: touching }])).asked, 1)
  const both = ['addRules', 'removeRules'].map((type) => ({ type, behavior: 'ask', destination: 'session', rules: touching }))
  assert.deepEqual((await granting(p, both)).asked, 2)
})
test('canUseTool: a rule for the folder is kept', async (p) => {
  const update = [{ type: 'addRules', behavior: 'allow', destination: 'localSettings', rules: touching }]
  assert.equal((await granting(p, update)).asked, 1)
  assert.match(fs.readFileSync(path.join(p.dir, '.adze/settings.local.json'), 'utf8'), /Bash\(touch \*\)/)
})
test('canUseTool: a mode', async (p) => {
  assert.equal((await granting(p, [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }])).asked, 1)
  const { out, b } = await granting(p, [{ type: 'setMode', mode: 'bypassPermissions', destination: 'session' }])
  assert.equal(out.result.permission_denials.length, 2, 'it was not allowed at the start')
  assert.match(JSON.stringify(out.messages), /bypassPermissions: it needs/)
})
test('canUseTool: updates that there are not are said', async (p) => {
  const { out, asked } = await granting(p, [{ type: 'removeDirectories', directories: [p.home], destination: 'userSettings' }, { type: 'addRules', behavior: 'deny', destination: 'userSettings', rules: touching }])
  assert.equal(asked, 2)
  const said = out.messages.filter((m) => m.subtype === 'informational').map((m) => m.content).join('\n')
  assert.match(said, /removeDirectories was left out: folders that settings files name/)
  assert.match(said, /addRules deny to "userSettings" is not supported/)
})
test('canUseTool: a no that ends the turn', async (p) => {
  const out = await p.script(touches).all('go', { ...unconfined, canUseTool: async () => ({ behavior: 'deny', message: 'enough', interrupt: true }) })
  assert.equal(out.result.subtype, 'error_during_execution')
  assert.ok(!fs.existsSync(path.join(p.dir, 'a')))
})
test('canUseTool: what throws, and what is no answer, is a no', async (p) => {
  for (const canUseTool of [async () => { throw new Error('boom') }, async () => ({})]) {
    const out = await p.script(touches).says('go', { ...unconfined, canUseTool })
    assert.equal(out.result.permission_denials.length, 2)
  }
  assert.ok(!fs.existsSync(path.join(p.dir, 'a')))
})
test('canUseTool: what is told of the question', async (p) => {
  let told
  await p.script('@ Write {"file_path":"../out.txt","content":"x"}\n---\n> done\n').says('go', { canUseTool: async (name, input, options) => ((told = options), { behavior: 'deny', message: 'no' }) })
  assert.ok(told.toolUseID && told.requestId && told.title && told.decisionReason, JSON.stringify(told))
  assert.equal(told.blockedPath, path.join(path.dirname(p.dir), 'out.txt'))
  assert.ok(told.signal instanceof AbortSignal && Array.isArray(told.suggestions))
})

test('permissionMode', async (p) => {
  const out = await p.script(write).says('write', { permissionMode: 'acceptEdits' })
  assert.equal(out.init.permissionMode, 'acceptEdits')
  assert.ok(fs.existsSync(path.join(p.dir, 'new.txt')))
})

test('permissionMode: bypassPermissions', async (p) => {
  const out = await p.script(write).says('write', { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true })
  assert.equal(out.init.permissionMode, 'bypassPermissions')
})

test('setPermissionMode', async (p) => {
  p.script('> one\n---\n' + write)
  await talk(p, {}, async ({ q, input, next, result }) => {
    input.say('one')
    await result()
    await q.setPermissionMode('acceptEdits')
    input.say('two')
    assert.equal((await next((m) => m.subtype === 'init')).permissionMode, 'acceptEdits')
    await result()
    assert.ok(fs.existsSync(path.join(p.dir, 'new.txt')))
    await assert.rejects(q.setPermissionMode('yolo'), /no permission mode/)
  })
})

test('allowedTools', async (p) => {
  await p.script(write).says('write', { allowedTools: ['Write'] })
  assert.ok(fs.existsSync(path.join(p.dir, 'new.txt')))
})

test('disallowedTools', async (p) => {
  const out = await p.script(write).says('write', { disallowedTools: ['Write', 'Edit'], permissionMode: 'acceptEdits' })
  assert.ok(!out.init.tools.includes('Write'))
  assert.ok(!fs.existsSync(path.join(p.dir, 'new.txt')))
})

test('tools', async (p) => {
  assert.deepEqual((await p.script('> hi\n').says('hi', { tools: ['Read', 'Grep'] })).init.tools, ['Grep', 'Read'])
  assert.deepEqual((await p.says('hi', { tools: [] })).init.tools, [])
})

test('additionalDirectories', async (p) => {
  const other = path.join(path.dirname(p.dir), 'other')
  fs.mkdirSync(other)
  fs.writeFileSync(path.join(other, 'f.txt'), 'from over there\n')
  p.script(`@ Read {"file_path":"${other}/f.txt"}\n---\n> done\n`)
  assert.doesNotMatch(JSON.stringify(results(await p.says('read'))), /from over there/)
  assert.match(JSON.stringify(results(await p.says('read', { additionalDirectories: [other] }))), /from over there/)
})

// ---- where and how it runs

test('cwd and env', async (p) => {
  p.script('> wrong\n')
  fs.mkdirSync(path.join(p.dir, 'below'))
  p.put('below/other.txt', '> by the variable\n')
  const out = await p.says('hi', { cwd: path.join(p.dir, 'below'), model: undefined, env: { ADZE_MODEL: 'script/other.txt' } })
  assert.equal(out.result.result, 'by the variable')
  assert.equal(out.init.cwd, fs.realpathSync(path.join(p.dir, 'below')))
})

test('systemPrompt: a string', async (p) => {
  p.script('? system contains "PIRATE" && !(system contains "coding")\n> aye\n---\n? else\n> no\n')
  assert.equal((await p.says('hi', { systemPrompt: 'You are a PIRATE.' })).result.result, 'aye')
})

test('systemPrompt: append', async (p) => {
  p.script('? system contains "PIRATE" && system contains "You are"\n> aye\n---\n? else\n> no\n')
  assert.equal((await p.says('hi', { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Talk like a PIRATE.' } })).result.result, 'aye')
})

test('settingSources', async (p) => {
  p.script('> hi\n')
  fs.mkdirSync(path.join(p.home, '.adze'))
  fs.writeFileSync(path.join(p.home, '.adze/settings.json'), '{"permissions":{"defaultMode":"plan"}}')
  assert.equal((await p.says('hi', { settingSources: ['user'] })).init.permissionMode, 'plan')
  assert.equal((await p.says('hi', { settingSources: [] })).init.permissionMode, 'default')
})

test('settings', async (p) => {
  p.script(write)
  assert.match(JSON.stringify(results(await p.says('go', { permissionMode: 'acceptEdits', settings: JSON.stringify({ permissions: { deny: ['Edit(new.txt)'] } }) }))), /deny|refused|denied/i)
  assert.ok(!fs.existsSync(path.join(p.dir, 'new.txt')))
})

test('stderr and debug', async (p) => {
  let heard = ''
  await p.script('> hi\n').says('hi', { debug: true, stderr: (s) => (heard += s) })
  assert.match(heard, /session|turn|reply/i)
})

test('debugFile', async (p) => {
  await p.script('> hi\n').says('hi', { debugFile: path.join(p.dir, 'debug.log') })
  assert.ok(fs.statSync(path.join(p.dir, 'debug.log')).size > 0)
})

// ---- stopping

const sleeps = '@ Bash {"command":"touch started; sleep 60"}\n---\n> done\n'
const begun = async (p) => {
  while (!fs.existsSync(path.join(p.dir, 'started'))) await new Promise((r) => setTimeout(r, 20))
}

test('interrupt', async (p) => {
  p.script(sleeps + '---\n> after it\n')
  await talk(p, { allowedTools: ['Bash'] }, async ({ q, input, result }) => {
    input.say('sleep')
    const over = result()
    await begun(p)
    await q.interrupt()
    assert.equal((await over).subtype, 'error_during_execution')
    input.say('go on')
    await result()
    await q.interrupt() // when nothing runs it is fine
  })
})

test('abortController', async (p) => {
  const abortController = new AbortController()
  const all = p.script(sleeps).all('sleep', { allowedTools: ['Bash'], abortController })
  await begun(p)
  const at = Date.now()
  abortController.abort()
  const out = await all
  assert.ok(out.error instanceof AbortError, String(out.error))
  assert.ok(Date.now() - at < 10_000)
})

test('close', async (p) => {
  const q = p.script(sleeps).query('sleep', { allowedTools: ['Bash'] })
  const heard = (async () => { for await (const m of q) m })().catch(() => {})
  await begun(p)
  q.close()
  await heard
})

// ---- sessions

const counts = '? prompt contains "again"\n> I know\n---\n? else\n> hi\n'

test('resume, continue and forkSession', async (p) => {
  const first = (await p.script(counts).says('one')).result.session_id
  assert.equal((await p.says('again', { resume: first })).result.session_id, first)
  assert.equal((await p.says('again', { continue: true })).result.session_id, first)
  const fork = (await p.says('again', { resume: first, forkSession: true })).result.session_id
  assert.notEqual(fork, first)
})

test('resumeSessionAt', async (p) => {
  const one = await p.script(counts).says('one')
  const at = one.messages.find((m) => m.type === 'assistant').uuid
  await p.says('again', { resume: one.result.session_id })
  assert.notEqual((await p.says('again', { resume: one.result.session_id, resumeSessionAt: at })).result.session_id, undefined)
})

test('sessionId and persistSession', async (p) => {
  const id = '0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b57'
  assert.equal((await p.script('> hi\n').says('hi', { sessionId: id })).result.session_id, id)
  const unkept = (await p.says('hi', { persistSession: false })).result.session_id
  assert.ok((await p.all('again', { resume: unkept })).error)
})

test('title', async (p) => {
  const id = (await p.script('> hi\n').says('hi', { title: 'the name of it' })).result.session_id
  const listed = spawnSync(adze, ['sessions', 'list'], { cwd: p.dir, env: p.env(), encoding: 'utf8' }).stdout
  assert.match(listed, /the name of it/, listed + id)
})

// ---- questions to the session

test('what is supported', async (p) => {
  await talk(p.script('> hi\n'), {}, async ({ q, input, result }) => {
    assert.ok((await q.supportedModels()).some((m) => m.value === 'default' && m.resolvedModel === 'model.txt'))
    assert.ok((await q.supportedCommands()).some((c) => c.name === 'review' && c.description))
    assert.deepEqual((await q.supportedAgents()).map((a) => a.name), ['coordinator', 'explore', 'general', 'guide', 'plan', 'statusline', 'verify'])
    assert.equal((await q.accountInfo()).apiKeySource, 'none')
    assert.deepEqual(await q.mcpServerStatus(), [])
    assert.ok((await q.initializationResult()).output_style)
    const usage = await q.getContextUsage()
    assert.equal(usage.maxTokens, 200000)
    await q.applyFlagSettings({ effortLevel: 'high' })
    await assert.rejects(q.applyFlagSettings({ permissions: {} }), /cannot be changed|cannot be/)
    await assert.rejects(q.reconnectMcpServer('x'), /no MCP server/)
    await assert.rejects(q.toggleMcpServer('x', true), /no MCP server/)
    await assert.rejects(q.stopTask('x'), /no background task/)
    assert.match((await q.rewindFiles('x')).error, /no prompt/)
    assert.deepEqual((await q.setMcpServers({})).added, [])
    input.say('hi')
    await result()
  })
})

test('rewindFiles and enableFileCheckpointing', async (p) => {
  p.put('a.txt', 'one\n')
  const uuid = '0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b58'
  const script = '@ Bash {"command": "echo two > a.txt; echo n > new.txt"}\n---\n> done\n'
  const options = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true, enableFileCheckpointing: true }
  await talk(p.script(script), options, async ({ q, input, result }) => {
    input.say('go', { uuid })
    await result()
    const content = () => fs.readFileSync(path.join(p.dir, 'a.txt'), 'utf8')
    assert.equal(content(), 'two\n')
    const would = await q.rewindFiles(uuid, { dryRun: true })
    assert.deepEqual(would.filesChanged.map((f) => path.basename(f)).sort(), ['a.txt', 'new.txt'])
    assert.equal(would.insertions + would.deletions, 3)
    assert.equal(content(), 'two\n')
    assert.ok((await q.rewindFiles(uuid)).canRewind)
    assert.equal(content(), 'one\n')
    assert.ok(!fs.existsSync(path.join(p.dir, 'new.txt')))
    assert.deepEqual((await q.rewindFiles(uuid)).filesChanged, [])
  })
})

test('hooks: PreToolUse refuses, by a matcher', async (p) => {
  const seen = []
  const no = async (input, id) => {
    seen.push([input.hook_event_name, input.tool_name, input.tool_input.command, id])
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'not today' } }
  }
  const other = async () => assert.fail('it is about another tool')
  const options = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true, hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [no] }, { matcher: 'Read|Edit', hooks: [other] }] } }
  const out = await p.script('@ Bash {"command": "touch x"}\n---\n? is_error == true\n> refused\n---\n? else\n> done\n').says('go', options)
  assert.equal(out.result.result, 'refused')
  assert.equal(seen.length, 1)
  assert.deepEqual(seen[0].slice(0, 3), ['PreToolUse', 'Bash', 'touch x'])
  assert.ok(seen[0][3], 'the ID of the call')
  assert.ok(!fs.existsSync(path.join(p.dir, 'x')))
})
test('hooks: PreToolUse allows, and rewrites', async (p) => {
  const yes = async () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { command: 'touch y' } } })
  await p.script('@ Bash {"command": "touch x"}\n---\n> done\n').says('go', { hooks: { PreToolUse: [{ hooks: [yes] }] } })
  assert.ok(fs.existsSync(path.join(p.dir, 'y')) && !fs.existsSync(path.join(p.dir, 'x')))
})
test('hooks: every event of a simple run, and what they add', async (p) => {
  const seen = []
  const note = (event, more) => async (input) => {
    assert.equal(input.hook_event_name, event)
    assert.ok(input.session_id && input.cwd)
    seen.push(event)
    return more ? { hookSpecificOutput: { hookEventName: event, additionalContext: more } } : {}
  }
  const hooks = {}
  for (const [event, more] of [['SessionStart', 'from the start'], ['UserPromptSubmit', 'with the prompt'], ['PreToolUse'], ['PostToolUse', 'behind the call'], ['PostToolBatch'], ['Stop']]) hooks[event] = [{ hooks: [note(event, more)] }]
  hooks.SubagentStop = [{ hooks: [async () => assert.fail('there is none')] }]
  const script = '@ Bash {"command": "ls"}\n---\n? prompt contains "behind the call"\n> told\n---\n? else\n> not told\n'
  const out = await p.script(script).says('go', { hooks })
  assert.equal(out.result.result, 'told')
  assert.deepEqual(seen, ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop'])
})
test('hooks: Stop has the turn go on', async (p) => {
  const active = []
  const stop = async (input) => {
    active.push(input.stop_hook_active)
    return input.stop_hook_active ? {} : { decision: 'block', reason: 'one more' }
  }
  const out = await p.script('> first\n---\n> second\n').says('go', { hooks: { Stop: [{ hooks: [stop] }] } })
  assert.equal(out.result.result, 'second')
  assert.deepEqual(active, [false, true])
})
test('hooks: one that throws, and one that takes too long, stop nothing', async (p) => {
  const heard = []
  const throws = async () => {
    throw new Error('oh no')
  }
  const hangs = () => new Promise(() => {})
  const hooks = { PreToolUse: [{ hooks: [throws] }, { hooks: [hangs], timeout: 1 }] }
  const out = await p.script('@ Bash {"command": "ls"}\n---\n> done\n').says('go', { hooks, includeHookEvents: true, stderr: (s) => heard.push(s) })
  assert.equal(out.result.result, 'done')
  const ended = out.messages.filter((m) => m.type === 'system' && m.subtype === 'hook_response')
  assert.ok(ended.some((m) => m.outcome === 'error' && /oh no/.test(m.stderr)), JSON.stringify(ended))
  assert.ok(ended.some((m) => m.outcome === 'error' && /within 1/.test(m.stderr)), JSON.stringify(ended))
})
test('hooks: every published event can be asked for', async (p) => {
  const hooks = Object.fromEntries(HOOK_EVENTS.map((e) => [e, [{ hooks: [async () => ({})] }]]))
  assert.equal((await p.script('> hi\n').says('hi', { hooks })).result.result, 'hi')
})
test('hooks: of a failure, a question, a no, a command and the end', async (p) => {
  const seen = []
  const see = (event) => [{ hooks: [async (input) => (seen.push([event, input]), {})] }]
  const events = ['PostToolUseFailure', 'PermissionRequest', 'UserPromptExpansion', 'SessionEnd', 'InstructionsLoaded', 'MessageDisplay', 'Notification']
  p.put('CLAUDE.md', 'Be brief.\n')
  const script = '@ Read {"file_path":"nowhere"}\n---\n@ Bash {"command":"touch a"}\n---\n> done\n'
  await p.script(script).says('/demo:lint main.go', {
    ...unconfined, hooks: Object.fromEntries(events.map((e) => [e, see(e)])), plugins: [{ type: 'local', path: p.plugin() }],
    canUseTool: async () => ({ behavior: 'deny', message: 'no' }),
  })
  const of = (event) => seen.find(([e]) => e === event)?.[1]
  assert.equal(of('PostToolUseFailure')?.tool_name, 'Read')
  assert.equal(of('PermissionRequest')?.tool_input.command, 'touch a')
  assert.equal(of('UserPromptExpansion')?.command_name, 'demo:lint')
  assert.ok(of('InstructionsLoaded')?.file_path.endsWith('CLAUDE.md'))
  assert.equal(of('SessionEnd'), undefined, 'the host hung up before: ' + JSON.stringify(of('SessionEnd')))
})
test('hooks: PermissionRequest answers', async (p) => {
  const yes = async () => ({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } } })
  await p.script(touches).says('go', { ...unconfined, hooks: { PermissionRequest: [{ hooks: [yes] }] }, canUseTool: async () => assert.fail('it was answered') })
  assert.ok(fs.existsSync(path.join(p.dir, 'b')))
})
test('hooks: UserPromptSubmit refuses', async (p) => {
  const no = async () => ({ decision: 'block', reason: 'not that' })
  const out = await p.script('> hi\n').all('hi', { hooks: { UserPromptSubmit: [{ hooks: [no] }] } })
  assert.notEqual(out.result?.result, 'hi')
  assert.match(JSON.stringify(out.messages), /not that/)
})
test('hooks: an event that there is not is a line', async (p) => {
  const out = await p.script('> hi\n').says('hi', { hooks: { PreTool: [{ hooks: [async () => ({})] }] } })
  assert.ok(out.messages.some((m) => m.subtype === 'informational' && /did you mean PreToolUse/.test(m.content)))
})

// ---- what people bring along

const inProcess = () => createSdkMcpServer({
  name: 'calc', version: '1.0.0',
  tools: [
    tool('add', 'adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => ({ content: [{ type: 'text', text: `sum ${a + b}` }] })),
    tool('fail', 'fails', {}, async () => { throw new Error('broken on purpose') }),
  ],
})

test('mcpServers: in the host itself', async (p) => {
  const out = await p.script('@ mcp__calc__add {"a": 2, "b": 40}\n---\n@ mcp__calc__fail {}\n---\n> done\n').says('go',
    { mcpServers: { calc: inProcess() }, allowedTools: ['mcp__calc__add', 'mcp__calc__fail'] })
  assert.equal(out.result.result, 'done')
  const text = JSON.stringify(out.messages)
  assert.match(text, /sum 42/)
  assert.match(text, /broken on purpose/)
  const init = out.messages.find((m) => m.type === 'system' && m.subtype === 'init')
  assert.deepEqual(init.mcp_servers, [{ name: 'calc', status: 'connected', source: 'sdk' }])
  assert.ok(init.tools.includes('mcp__calc__add'), JSON.stringify(init.tools))
})

test('mcpServers: a program', async (p) => {
  const out = await p.script('@ mcp__files__hello {"who": "Ann"}\n---\n> done\n').says('go',
    { mcpServers: { files: { command: process.execPath, args: [p.server()] } }, allowedTools: ['mcp__files'] })
  assert.match(JSON.stringify(out.messages), /hello Ann/)
})

test('agents, plugins, skills and slash commands', async (p) => {
  const plugin = p.plugin()
  await talk(p.script('> linted\n'), {
    agents: { reviewer: { description: 'reviews', prompt: 'You review.' } }, plugins: [{ type: 'local', path: plugin }], settingSources: [],
  }, async ({ q, input, result }) => {
    assert.ok((await q.supportedAgents()).some((a) => a.name === 'reviewer'))
    assert.ok((await q.supportedCommands()).some((c) => c.name === 'demo:lint'))
    input.say('/demo:lint main.go')
    const out = await result()
    assert.equal(out.result, 'linted')
  })
  const out = await p.script('> hi\n').says('hi', { plugins: [{ type: 'local', path: plugin }], agents: { reviewer: { description: 'reviews', prompt: 'x' } } })
  const init = out.messages.find((m) => m.type === 'system' && m.subtype === 'init')
  assert.deepEqual(init.plugins, [{ name: 'demo', path: plugin, version: '1.0.0' }])
  assert.ok(init.agents.includes('reviewer') && init.slash_commands.includes('demo:lint') && init.skills.includes('demo:lint'), JSON.stringify(init))
  assert.equal(init.output_style, 'default')
})

test('skills: only those that are named', async (p) => {
  const out = await p.script('> hi\n').says('hi', { skills: ['review'] })
  const init = out.messages.find((m) => m.type === 'system' && m.subtype === 'init')
  assert.deepEqual(init.skills, ['review'])
})

test('setMcpServers, status, toggle and reconnect', async (p) => {
  await talk(p.script('> hi\n'), {}, async ({ q }) => {
    const set = await q.setMcpServers({ files: { command: process.execPath, args: [p.server()] } })
    assert.deepEqual(set.added, ['files'])
    const state = async (want) => {
      for (let i = 0; i < 200; i++) {
        const s = (await q.mcpServerStatus()).find((s) => s.name === 'files')
        if (s?.status === want) return s
        await new Promise((r) => setTimeout(r, 50))
      }
      assert.fail('never ' + want + ': ' + JSON.stringify(await q.mcpServerStatus()))
    }
    const s = await state('connected')
    assert.deepEqual(s.tools.map((t) => t.name), ['mcp__files__hello'])
    assert.equal(s.serverInfo.name, 'small')
    await q.toggleMcpServer('files', false)
    await state('disabled')
    await q.toggleMcpServer('files', true)
    await state('connected')
    await q.reconnectMcpServer('files')
    await state('connected')
    assert.deepEqual((await q.setMcpServers({})).removed, ['files'])
    assert.deepEqual(await q.mcpServerStatus(), [])
  })
})

// ---- the session as an agent, and what a host changes of tools and modes

test('agent', async (p) => {
  p.script('? system contains "You are a PIRATE." && !(system contains "coding")\n> aye\n---\n? else\n> no\n')
  const agents = { pirate: { description: 'talks', prompt: 'You are a PIRATE.', tools: ['Read', 'Glob'], disallowedTools: ['Glob'], permissionMode: 'acceptEdits' } }
  const out = await p.says('hi', { agent: 'pirate', agents })
  assert.equal(out.result.result, 'aye')
  assert.deepEqual(out.init.tools, ['Read'])
  assert.equal(out.init.permissionMode, 'acceptEdits')
  assert.ok(out.init.agents.includes('pirate'))
  await refused(p, { agent: 'pirat', agents }, /there is no agent "pirat" .did you mean pirate/)
})

test('agent: model, initialPrompt, skills, mcpServers, maxTurns', async (p) => {
  p.put('other.txt', '? prompt contains "Begin so." && prompt contains "go on" && system contains "Lint  now."\n@ mcp__files__hello {"who": "Ann"}\n---\n> met\n')
  const agent = {
    description: 'd', prompt: 'x', model: 'script/other.txt', initialPrompt: 'Begin so.', skills: ['demo:lint'], maxTurns: 5,
    mcpServers: [{ files: { command: process.execPath, args: [p.server()] } }],
  }
  const options = { agent: 'a', agents: { a: agent }, model: undefined, plugins: [{ type: 'local', path: p.plugin() }], allowedTools: ['mcp__files'] }
  const met = await p.says('go on', options)
  assert.equal(met.result.result, 'met')
  assert.match(JSON.stringify(results(met)), /hello Ann/)
  const out = await p.all('go on', { ...options, agents: { a: { ...agent, maxTurns: 1 } } })
  assert.equal(out.result.subtype, 'error_max_turns')
})

test('agents: what they do is told, with their tasks', async (p) => {
  p.put('a.txt', 'a')
  p.script('@ Agent {"description": "find it", "prompt": "Find the text.", "subagent_type": "finder", "run_in_background": false}\n---\n> told\n' +
    '=== prompt contains "Find the text." && system contains "You find."\n@ Glob {"pattern": "*.txt"}\n---\n> It is a.txt.\n')
  const agents = { finder: { description: 'finds', prompt: 'You find.', tools: ['Glob'] } }
  const out = await p.says('go', { agents })
  const of = (m, type) => m.filter((x) => x.type === type && x.parent_tool_use_id !== null && x.parent_tool_use_id !== undefined)
  const started = out.messages.find((m) => m.subtype === 'task_started')
  assert.equal(started.subagent_type, 'finder')
  assert.equal(started.spawn_depth, 1)
  assert.equal(started.is_backgrounded, false)
  assert.ok(started.run_id && !started.parent_task_id)
  const does = of(out.messages, 'assistant')
  assert.deepEqual(does.map((m) => m.message.content.map((b) => b.type + ':' + (b.name ?? ''))), [['tool_use:Glob']])
  assert.equal(does[0].parent_tool_use_id, started.tool_use_id)
  assert.equal(does[0].agent_id, started.task_id)
  assert.equal(does[0].subagent_type, 'finder')
  assert.equal(does[0].task_description, 'find it')
  assert.match(JSON.stringify(of(out.messages, 'user')), /a\.txt/)
  const progress = out.messages.filter((m) => m.subtype === 'task_progress')
  assert.ok(progress.some((m) => m.last_tool_name === 'Glob' && m.run_id === started.run_id))
  const ended = out.messages.find((m) => m.subtype === 'task_notification')
  assert.equal(ended.status, 'completed')
  assert.equal(ended.run_id, started.run_id)
  assert.ok(ended.usage.tool_uses === 1 && ended.usage.total_tokens > 0)
  assert.ok(out.messages.some((m) => m.subtype === 'task_updated' && m.patch.status === 'completed' && m.run_id === started.run_id))
  const whole = await p.says('go', { agents, forwardSubagentText: true })
  assert.deepEqual(of(whole.messages, 'assistant').flatMap((m) => m.message.content.map((b) => b.text ?? b.name)), ['Glob', 'It is a.txt.'])
  assert.ok(of(whole.messages, 'user').some((m) => m.message.content === 'Find the text.'))
})

test('agents: of agents', async (p) => {
  p.script('@ Agent {"description": "one", "prompt": "Level one.", "run_in_background": false}\n---\n> told\n' +
    '=== prompt contains "Level one"\n@ Agent {"description": "two", "prompt": "Level two.", "run_in_background": false}\n---\n> one\n' +
    '=== prompt contains "Level two"\n@ Glob {"pattern": "*"}\n---\n> two\n')
  const out = await p.says('go')
  const [one, two] = out.messages.filter((m) => m.subtype === 'task_started')
  assert.ok(one.spawn_depth === 1 && two.spawn_depth === 2 && two.parent_task_id === one.task_id, JSON.stringify([one, two]))
  const by = (id) => out.messages.filter((m) => m.type === 'assistant' && m.agent_id === id).flatMap((m) => m.message.content.map((b) => b.name))
  assert.deepEqual([by(one.task_id), by(two.task_id)], [['Agent'], ['Glob']])
  assert.equal(out.messages.filter((m) => m.subtype === 'task_notification').length, 2)
})

test('agents: a fan-out is one question', async (p) => {
  const call = (i) => `@ Agent {"description": "part ${i}", "prompt": "Part ${i}."}\n`
  p.script([1, 2, 3, 4].map(call).join('') + '---\n> started\n---\n> one\n---\n> two\n' + [1, 2, 3, 4].map((i) => `=== prompt contains "Part ${i}."\n> done ${i}\n`).join(''))
  const asked = []
  const out = await p.says('go', {
    canUseTool: async (name, input) => {
      asked.push(name)
      const q = input.questions[0]
      assert.match(q.question, /Start 4 agents/)
      return { behavior: 'allow', updatedInput: { ...input, answers: { [q.question]: q.options.find((o) => o.label.startsWith('Start only')).label } } }
    },
  })
  assert.deepEqual(asked, ['AskUserQuestion'])
  assert.equal(out.messages.filter((m) => m.subtype === 'task_started').length, 2)
  assert.match(JSON.stringify(results(out)), /wants only the first 2 of these 4 agents/)
  const none = await p.all('go', { canUseTool: async () => ({ behavior: 'deny', message: 'not now' }) })
  assert.equal(none.messages.filter((m) => m.subtype === 'task_started').length, 0)
  assert.match(JSON.stringify(results(none)), /wants none of these agents, and says: not now/)
})

test('agents: a definition has at most four observers', (p) => refused(p, { agents: { a: { description: 'd', prompt: 'x', observer: ['b', 'c', 'd', 'e', 'f'] } } }, /the agent a: observer names at most 4/))

test('toolAliases', async (p) => {
  p.put('f.txt', 'the file\n')
  const script = '@ Bash {"who": "Ann"}\n---\n@ Show {"file_path": "f.txt"}\n---\n> done\n'
  const out = await p.script(script).says('go', {
    mcpServers: { files: { command: process.execPath, args: [p.server()] } }, allowedTools: ['mcp__files'],
    toolAliases: { Bash: 'mcp__files__hello', Show: 'Read', Read: 'Bash' },
  })
  const text = JSON.stringify(results(out))
  assert.match(text, /hello Ann/)
  assert.match(text, /the file/)
  const gone = await p.script('@ Bash {"command": "ls"}\n---\n> done\n').says('go', { toolAliases: { Bash: 'mcp__gone__bash' } })
  assert.match(JSON.stringify(results(gone)), /Bash stands for the tool mcp__gone__bash here, which is not there/)
})

test('planModeInstructions', async (p) => {
  p.script('? prompt contains "Write a HAIKU." && prompt contains "ExitPlanMode" && prompt contains "do not change"\n> aye\n---\n? else\n> no\n')
  assert.equal((await p.says('hi', { permissionMode: 'plan', planModeInstructions: 'Write a HAIKU.' })).result.result, 'aye')
})

// ---- how the host's things come, and who answers

test('mcpServersDelivery and pluginDelivery: initialize', async (p) => {
  const plugin = p.plugin()
  const mcpServers = { files: { command: process.execPath, args: [p.server()] } }
  await talk(p.script('@ mcp__files__hello {"who": "Ann"}\n---\n> done\n'), {
    mcpServers, mcpServersDelivery: 'initialize', plugins: [{ type: 'local', path: plugin }], pluginDelivery: 'initialize', allowedTools: ['mcp__files'],
  }, async ({ q, input, next, result }) => {
    const said = await q.initializationResult()
    assert.ok(said.mcp_servers_applied && said.plugins_applied && said.hooks_applied, JSON.stringify(said))
    assert.ok(said.commands.some((c) => c.name === 'demo:lint'))
    input.say('go')
    assert.match(JSON.stringify(await next((m) => m.type === 'user')), /hello Ann/)
    await result()
  })
})

test('strictMcpConfig', async (p) => {
  fs.mkdirSync(path.join(p.home, '.adze'))
  fs.writeFileSync(path.join(p.home, '.adze/settings.json'), JSON.stringify({ mcpServers: { mine: { command: 'false' } } }))
  const names = async (options) => (await p.script('> hi\n').says('hi', { settingSources: ['user'], ...options })).init.mcp_servers.map((s) => s.name)
  assert.deepEqual(await names({}), ['mine'])
  assert.deepEqual(await names({ strictMcpConfig: true }), [])
})

test('permissionPrompts: none', async (p) => {
  const canUseTool = async () => assert.fail('nobody is to be asked')
  const out = await p.script(write).says('write', { permissionPrompts: 'none', canUseTool })
  assert.equal(out.result.permission_denials[0].tool_name, 'Write')
  assert.ok(!fs.existsSync(path.join(p.dir, 'new.txt')))
})

test('onElicitation', async (p) => {
  const server = p.put('asks.mjs', asksServer)
  const seen = []
  const run = (answer) => p.script('@ mcp__asks__hello {"who": "x"}\n---\n> done\n').says('go', {
    mcpServers: { asks: { command: process.execPath, args: [server] } }, allowedTools: ['mcp__asks'], canUseTool: async (name) => assert.fail('asked about ' + name),
    onElicitation: async (r) => (seen.push(r), answer),
  })
  assert.match(JSON.stringify(results(await run({ action: 'accept', content: { colour: 'blue' } }))), /chose accept blue/)
  assert.equal(seen[0].message, 'Which colour?')
  assert.equal(seen[0].serverName, 'asks')
  assert.match(JSON.stringify(results(await run({ action: 'decline' }))), /chose decline/)
})

test('sandbox', async (p) => {
  const script = '@ Bash {"command": "touch /var/tmp/adze-sdk-case 2>&1; echo ended"}\n---\n> done\n'
  const out = await p.script(script).says('go', { sandbox: { enabled: false }, permissionPrompts: 'none' })
  assert.equal(out.result.permission_denials.length, 1) // nothing confines it, so nobody's yes is needed for
  let heard = ''
  await p.script('> hi\n').says('hi', { sandbox: { enabled: 'perhaps' }, stderr: (s) => (heard += s) })
  assert.match(heard, /sandbox.enabled: value not used/)
})

test('verbatimPrompts', async (p) => {
  p.put('secret.txt', 'the content\n')
  const script = '? prompt contains "the content"\n> read\n---\n? prompt contains "/demo:lint @secret.txt"\n> as it is\n---\n? else\n> no\n'
  const options = { plugins: [{ type: 'local', path: p.plugin() }] }
  assert.equal((await p.script(script).says('see @secret.txt', options)).result.result, 'read')
  assert.equal((await p.script(script).says('/demo:lint @secret.txt', { ...options, verbatimPrompts: true })).result.result, 'as it is')
})

test('extraArgs', async (p) => {
  const out = await p.script('> hi\n').says('hi', { extraArgs: { 'append-system-prompt': 'x', verbose: null } })
  assert.equal(out.result.result, 'hi')
})

test('systemPrompt: an array with a boundary', async (p) => {
  p.script('? system contains "FIRST" && system contains "SECOND"\n> aye\n---\n? else\n> no\n')
  assert.equal((await p.says('hi', { systemPrompt: ['FIRST', 'SECOND'] })).result.result, 'aye')
})

test('settings: an object and a file', async (p) => {
  assert.equal((await p.script('> hi\n').says('hi', { settings: { permissions: { defaultMode: 'plan' } } })).init.permissionMode, 'plan')
  const file = p.put('own.json', '{"permissions":{"defaultMode":"acceptEdits"}}')
  assert.equal((await p.says('hi', { settings: file })).init.permissionMode, 'acceptEdits')
})

test('commands that change are told', async (p) => {
  const file = path.join(p.home, '.adze/commands/late.md')
  await talk(p.script('> one\n'), { settingSources: ['user'] }, async ({ input, next, result }) => {
    input.say('hi')
    await result()
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, 'Late.')
    const m = await next((m) => m.subtype === 'commands_changed')
    assert.ok(m.commands.some((c) => c.name === 'late'), JSON.stringify(m))
  })
})

test('spawnClaudeCodeProcess', async (p) => {
  let spawned
  const spawnClaudeCodeProcess = ({ command, args, cwd, env, signal }) => ((spawned = args), spawn(command, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'ignore'] }))
  assert.equal((await p.script('> hi\n').says('hi', { spawnClaudeCodeProcess })).result.result, 'hi')
  assert.ok(spawned.includes('--input-format'))
})

test('streamInput', async (p) => {
  await talk(p.script('> one\n---\n> two\n'), {}, async ({ q, input, result }) => {
    input.say('first')
    assert.equal((await result()).result, 'one')
    await q.streamInput((async function* () {
      yield { type: 'user', message: { role: 'user', content: 'second' }, parent_tool_use_id: null, session_id: '' }
    })())
    assert.equal((await result()).result, 'two')
  })
})

test('reinitialize', async (p) => {
  const here = inProcess()
  await talk(p.script('> one\n'), { agents: { reviewer: { description: 'reviews', prompt: 'x' } }, mcpServers: { here } }, async ({ q, input, next, result }) => {
    input.say('first')
    await result()
    for (const before of [() => {}, () => q.setMcpServers({})]) {
      await before()
      const again = await q.reinitialize()
      assert.ok(again.agents.some((a) => a.name === 'reviewer') && again.commands.length > 0)
      assert.deepEqual((await next((m) => m.subtype === 'background_tasks_changed')).tasks, [])
    }
  })
})

test('backgroundTasks, and what is told of tasks', async (p) => {
  await talk(p.script('@ Bash {"command": "while [ ! -e go ]; do sleep 0.05; done; echo gone"}\n---\n> moved\n'), {}, async ({ q, input, next, result }) => {
    assert.equal(await q.backgroundTasks('nothing'), false)
    input.say('go')
    const call = (await next((m) => m.type === 'assistant')).message.content[0].id
    while (!(await q.backgroundTasks(call))) await new Promise((r) => setTimeout(r, 20)) // until the command runs
    const started = await next((m) => m.subtype === 'task_started')
    assert.deepEqual([started.task_id, started.tool_use_id, started.is_backgrounded, started.task_type], ['b1', call, true, 'local_bash'])
    assert.equal((await next((m) => m.subtype === 'background_tasks_changed')).tasks.length, 1)
    await result()
    p.put('go', '')
    const ended = await next((m) => m.subtype === 'task_notification')
    assert.deepEqual([ended.task_id, ended.status, ended.tool_use_id], ['b1', 'completed', call])
    assert.equal(fs.readFileSync(ended.output_file, 'utf8'), 'gone\n')
    assert.deepEqual((await next((m) => m.subtype === 'background_tasks_changed')).tasks, [])
  })
})

test('stopTask', async (p) => {
  const ended = path.join(p.dir, 'ended')
  await talk(p.script('@ Bash {"command": "trap \': > ended; exit\' TERM; touch begun; sleep 60 & wait", "run_in_background": true}\n---\n> runs\n'), {}, async ({ q, input, next, result }) => {
    input.say('go')
    assert.equal((await result()).result, 'runs')
    const begun = path.join(p.dir, 'begun')
    for (let i = 0; i < 200 && !fs.existsSync(begun); i++) await new Promise((r) => setTimeout(r, 50)) // until the trap is set
    await assert.rejects(() => q.stopTask('b9'), /there is no background task "b9"; there are b1/)
    const notified = next((m) => m.subtype === 'task_notification')
    await q.stopTask('b1')
    const n = await notified
    assert.deepEqual([n.task_id, n.status, fs.existsSync(n.output_file)], ['b1', 'stopped', true])
    for (let i = 0; i < 200 && !fs.existsSync(ended); i++) await new Promise((r) => setTimeout(r, 50))
    assert.ok(fs.existsSync(ended), 'it runs on')
  })
})

test('permissionPromptToolName: a tool of a server answers', async (p) => {
  const server = p.put('approves.mjs', smallServer.replace("text: 'hello ' + m.params.arguments.who", "text: JSON.stringify({ behavior: m.params.arguments.input.command === 'touch a' ? 'allow' : 'deny', message: 'not that' })"))
  const out = await p.script('@ Bash {"command":"touch a"}\n---\n@ Bash {"command":"touch b"}\n---\n@ Bash {"command":"touch a"}\n---\n> done\n').says('go', {
    ...unconfined, permissionPromptToolName: 'mcp__perm__hello', mcpServers: { perm: { command: process.execPath, args: [server] } },
  })
  assert.ok(fs.existsSync(path.join(p.dir, 'a')) && !fs.existsSync(path.join(p.dir, 'b')))
  assert.match(JSON.stringify(out.messages), /not that/)
})

// An option that cannot be used ends the run before anything is asked of a model.
for (const [name, options, words] of [
  ['agent', { agent: 'nobody' }, /there is no agent "nobody"/],
  ['model', { model: 'nobody/m' }, /no model provider "nobody"/],
  ['plugins', { plugins: [{ type: 'local', path: '/nowhere' }] }, /nowhere is no folder/],
  ['additionalDirectories', { additionalDirectories: ['/nowhere'] }, /nowhere .*does not exist/],
  ['effort', { effort: 'huge' }, /--effort: found the string "huge"/],
  ['settings', { settings: '{' }, /reading --settings/],
  ['settingSources', { settingSources: ['moon'] }, /there is no source "moon"/],
  ['outputFormat', { outputFormat: { type: 'json_schema', schema: { type: 'nonsense' } } }, /type "nonsense" is none of/],
  ['resume', { resume: 'nobody' }, /there is no session "nobody"/],
  ['allowedTools', { allowedTools: ['Bash('] }, /Bash\(/],
]) test('cannot be used: ' + name, (p) => refused(p, options, words))

// What means nothing here is accepted, and said where --debug writes.
for (const [name, options, member] of [
  ['supportedDialogKinds and onUserDialog', { supportedDialogKinds: ['x'], onUserDialog: async () => ({ behavior: 'cancelled' }) }, 'supportedDialogKinds'],
  ['perTaskStopAffordance', { perTaskStopAffordance: true }, 'perTaskStopAffordance'],
  ['excludeDynamicSections', { systemPrompt: { type: 'preset', preset: 'claude_code', excludeDynamicSections: true } }, 'excludeDynamicSections'],
  ['systemPrompt: snapshot', { systemPrompt: { type: 'preset', preset: 'claude_code', snapshot: false } }, 'systemPromptSnapshot'],
  ['betas, with a model that has none', { betas: ['context-1m-2025-08-07'] }, ''],
  ['taskBudget', { taskBudget: { total: 100000 } }, '--task-budget'],
  ['toolConfig', { toolConfig: { askUserQuestion: { previewFormat: 'html' } } }, ''],
  ['executable and executableArgs', { executable: 'node', executableArgs: [] }, ''],
]) {
  test('without a meaning: ' + name, async (p) => {
    let heard = ''
    await p.script('> hi\n').says('hi', { ...options, debug: true, stderr: (s) => (heard += s) })
    if (member) assert.match(heard, new RegExp('ignored .*' + member))
  })
}

test('requests that there are not are refused at once', async (p) => {
  await talk(p.script('> hi\n'), {}, async ({ q, input, result }) => {
    await assert.rejects(() => q.setMcpPermissionModeOverride('x', 'auto'), /is not supported/)
    await assert.rejects(() => q.seedReadState('/nowhere/x', 1), /cannot be read/)
    await assert.rejects(() => q.readMcpResource('x', 'ui://y'), /no MCP server/)
    await assert.rejects(() => q.updateSettings('userSettings', { permissions: 'x' }), /only effortLevel can be written/)
    await q.updateSettings('userSettings', { effortLevel: 'low' })
    assert.match(fs.readFileSync(path.join(p.home, '.adze', 'settings.json'), 'utf8'), /"effort": "low"/)
    assert.ok((await q.reloadPlugins()).plugins)
    assert.ok((await q.reloadSkills()).skills.length > 0)
    assert.ok((await q.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET()).session)
    assert.match((await q.readFile('model.txt')).contents, /hi/)
    input.say('hi')
    await result()
  })
})

// inHome runs a function of the SDK, which reads files, on a place's home.
async function inHome(place, name, ...args) {
  const was = process.env.CLAUDE_CONFIG_DIR
  process.env.CLAUDE_CONFIG_DIR = path.join(place.home, '.claude')
  try {
    return await functions[name](...args)
  } finally {
    if (was === undefined) delete process.env.CLAUDE_CONFIG_DIR
    else process.env.CLAUDE_CONFIG_DIR = was
  }
}
const spoken = (list) => list.map((m) => m.type + ' ' + (typeof m.message.content === 'string' ? m.message.content : m.message.content[0].text ?? m.message.content[0].type))

test('session functions: list, messages, rename, fork, delete', async (p) => {
  const at = { dir: p.dir } // the functions read the home at each call, and no other case uses them
  const first = await p.script('@ Write {"file_path": "z.txt", "content": "q"}\n---\n> done\n').says('write it', { permissionMode: 'acceptEdits' })
  const id = first.result.session_id
  const said = ['user write it', 'assistant tool_use', 'user tool_result', 'assistant done']
  assert.deepEqual((await inHome(p, 'listSessions', at)).map((s) => [s.sessionId, s.firstPrompt]), [[id, 'write it']])
  const messages = await inHome(p, 'getSessionMessages', id, at)
  assert.deepEqual(spoken(messages), said)
  assert.deepEqual(messages.filter((m) => m.type === 'assistant').map((m) => m.uuid), first.messages.filter((m) => m.type === 'assistant').map((m) => m.uuid))
  await inHome(p, 'renameSession', id, 'a name', at)
  await inHome(p, 'tagSession', id, 'a tag', at)
  await p.script('> again\n').says('more', { resume: id })
  const info = await inHome(p, 'getSessionInfo', id, at)
  assert.deepEqual([info.customTitle, info.tag], ['a name', 'a tag'])
  assert.match(spawnSync(adze, ['sessions', 'list'], { cwd: p.dir, env: p.env(), encoding: 'utf8' }).stdout, /a name/)
  const fork = (await inHome(p, 'forkSession', id, { ...at, upToMessageId: messages[3].uuid })).sessionId
  const forked = await p.script('> forked\n').says('in the fork', { resume: fork })
  assert.equal(forked.result.session_id, fork)
  assert.deepEqual(spoken(await inHome(p, 'getSessionMessages', fork, at)), [...said, 'user in the fork', 'assistant forked'])
  await inHome(p, 'deleteSession', id, at)
  await p.script('> still\n').says('after', { resume: id })
  assert.deepEqual(spoken(await inHome(p, 'getSessionMessages', id, at)), [...said, 'user more', 'assistant again', 'user after', 'assistant still'])
})

// ---- what there is not, in plain words

test('not there: managedSettings', (p) => refused(p, { managedSettings: { permissions: {} } }, /no flag --managed-settings/))
test('not there: projectConfigRoot', (p) => refused(p, { projectConfigRoot: '/tmp' }, /no flag --project-config-root/))
test('not there: resumeDropsTurn', (p) => refused(p, { resume: 'x', resumeDropsTurn: 'y' }, /no flag --resume-drops-turn/))
test('not there: permissionPromptToolName', (p) => refused(p, { permissionPromptToolName: 'ask' }, /--permission-prompt-tool cannot be/))
test('not there: sessionStore', (p) => refused(p, { sessionStore: new InMemorySessionStore() }, /no flag --session-mirror/))
test('not there: an unknown tool', (p) => refused(p, { tools: ['NoSuchTool'] }, /no tool "NoSuchTool"/))
test('not there: an unknown flag', (p) => refused(p, { extraArgs: { 'no-such-flag': null } }, /no flag --no-such-flag/))

const limit = 60_000
let failed = 0
const chosen = cases.filter((c) => wanted.length === 0 || wanted.some((w) => c.name.includes(w)))
const queue = chosen.map((c, n) => ({ ...c, n }))
const worker = async () => {
  for (let c = queue.shift(); c; c = queue.shift()) {
    let late
    try {
      await Promise.race([c.run(new Place(c.n)), new Promise((_, no) => (late = setTimeout(() => no(new Error('it takes more than a minute')), limit)))])
    } catch (err) {
      failed++
      console.error(`FAIL ${c.name}\n${err?.stack ?? err}`)
    } finally {
      clearTimeout(late)
    }
  }
}
await Promise.all(Array.from({ length: 4 }, worker))
console.log(`${chosen.length - failed} of ${chosen.length} cases of the agent SDK hold`)
process.exit(failed > 0 ? 1 : 0)
