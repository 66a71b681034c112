// What scripts of workflows have beside the language. host(op, JSON) is answered by
// engine.go with {"value": …} or {"error": "…"}, at once; what takes time is answered later by
// settle().
(() => {
  "use strict";
  const host = globalThis.host;
  delete globalThis.host;
  const most = 4096;

  const ask = (op, value) => {
    const answer = JSON.parse(host(op, JSON.stringify(value) ?? "null"));
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  };

  const open = new Map();
  let opened = 0;
  const later = (op, value) => new Promise((resolve, reject) => {
    const id = ++opened;
    ask(op, { ...value, id });
    open.set(id, { resolve, reject });
  });
  const settle = (id, how, json) => {
    const promise = open.get(+id);
    open.delete(+id);
    if (how === "throw") promise.reject(new Error(JSON.parse(json)));
    else promise.resolve(JSON.parse(json));
  };

  const said = (thrown) => thrown instanceof Error ? (thrown.name === "Error" ? "" : `${thrown.name}: `) + thrown.message : String(thrown);
  const listed = (what, list) => {
    if (!Array.isArray(list)) throw new TypeError(`${what} takes a list`);
    if (list.length > most) throw new RangeError(`${what} takes at most ${most} items, and this list has ${list.length}: split it`);
  };
  const dropped = async (what, index, run) => {
    try {
      return await run();
    } catch (thrown) {
      ask("dropped", { text: `${what}: item ${index} is null: ${said(thrown)}` });
      return null;
    }
  };
  const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);

  // api is what one script has: that of the run, or one that it runs within.
  const api = (script, total) => ({
    async agent(prompt, options = {}) {
      if (typeof prompt !== "string" || prompt.trim() === "") throw new TypeError("agent() takes a prompt: a text that is not empty");
      if (!isObject(options)) throw new TypeError("agent(prompt, options): options is an object");
      return later("agent", { ...options, prompt, script });
    },
    async parallel(thunks) {
      listed("parallel()", thunks);
      if (!thunks.every((thunk) => typeof thunk === "function")) throw new TypeError("parallel() takes a list of functions: parallel([() => agent(…), …])");
      return Promise.all(thunks.map((thunk, index) => dropped("parallel()", index, thunk)));
    },
    async pipeline(items, ...stages) {
      listed("pipeline()", items);
      if (!stages.every((stage) => typeof stage === "function")) throw new TypeError("pipeline(items, ...stages): each stage is a function");
      return Promise.all(items.map((item, index) => dropped("pipeline()", index, async () => {
        let result = item;
        for (const stage of stages) result = await stage(result, item, index);
        return result;
      })));
    },
    phase(title) {
      ask("phase", { title: String(title), script });
    },
    log(...words) {
      ask("log", { text: words.map((word) => typeof word === "string" ? word : JSON.stringify(word) ?? String(word)).join(" ") });
    },
    budget: Object.freeze({
      total,
      spent: () => ask("spent"),
      remaining: () => total === null ? Infinity : Math.max(0, total - ask("spent")),
    }),
    async workflow(which, args) {
      const wanted = typeof which === "string" ? { name: which } : isObject(which) && typeof which.scriptPath === "string" ? { scriptPath: which.scriptPath } : null;
      if (wanted === null) throw new TypeError("workflow() takes the name of a workflow, or {scriptPath: '…'}");
      return later("workflow", { ...wanted, args, script });
    },
  });

  // run calls the function that a script is, and tells what it came to.
  const run = (script, total, args, main) => {
    const has = api(script, total);
    const tell = (how, value) => host("done", JSON.stringify({ script, how, value }));
    main(has.agent, has.parallel, has.pipeline, has.phase, has.log, has.budget, has.workflow, args).then(
      (value) => {
        let json;
        try {
          json = JSON.stringify(value) ?? "null";
        } catch (thrown) {
          return tell("throw", `what the script returned cannot be written as JSON: ${said(thrown)}`);
        }
        host("done", `{"script":${script},"how":"return","value":${json}}`);
      },
      (thrown) => tell("throw", said(thrown) + where(thrown)),
    );
  };
  // where is the line of the script that threw.
  const where = (thrown) => {
    const at = thrown instanceof Error && /\(([\w-]+\.js:\d+)(?::\d+)?\)/.exec(thrown.stack);
    return at ? ` (${at[1]})` : "";
  };

  // The same script with the same args does the same, so that a run can go on later.
  const never = (what) => () => {
    throw new Error(`${what} is not there, because a run that goes on later has to come to the same: hand in what it needs as args`);
  };
  const Real = Date;
  const Fixed = function Date(...given) {
    if (new.target === undefined) never("Date()")();
    if (given.length === 0) never("new Date()")();
    return Reflect.construct(Real, given, new.target);
  };
  Fixed.prototype = Real.prototype;
  Fixed.prototype.constructor = Fixed;
  Fixed.UTC = Real.UTC;
  Fixed.parse = Real.parse;
  Fixed.now = never("Date.now()");
  globalThis.Date = Fixed;
  Math.random = never("Math.random()");

  Object.defineProperty(globalThis, "__workflow", { value: Object.freeze({ settle, run }) });
  Object.defineProperty(globalThis, "__settle", { value: settle });
})();
