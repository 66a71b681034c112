package programs

import (
	"strings"
)

// nodePrograms are those of JavaScript.
func nodePrograms() []program {
	return []program{
		{names: "ava babel cypress esbuild jshint karma mocha parcel playwright rollup svelte-check swc tap vite vitest vue-tsc webpack", is: checker},
		{names: "bun", is: checker | manager | ownNames | starter, takes: "--cwd=p", reads: rows{"--version": {}}, forms: []form{{words: "run", script: true}, {words: "… publish|pm", packs: true}}},
		{names: "bunx", is: launcher | starter | takesScripts},
		{names: "cross-env env-cmd", is: launcher},
		{names: "cross-env-shell", is: launcher | takesScripts},
		{names: "del del-cli rimraf", is: bin},
		{names: "deno", is: checker | ownNames, reads: rows{"--version": {}}, forms: []form{{words: "run", script: true}, {words: "… fmt", unless: "--check", edits: "*"}, {words: "… lint", flags: "--fix", edits: "*"}}},
		{names: "gts", forms: []form{{words: "… fix", edits: "*"}}},
		{names: "http-server live-server repomix serve", forms: []form{{packs: true}}},
		{names: "jest", is: checker, runs: "--config* -c --globalSetup* --runner* --testRunner* --transform* --setupFiles* --reporters* --resolver*", takes: "--config=p -c=p"},
		{names: "lint-staged", forms: []form{{edits: "*"}}},
		{names: "next ng", forms: []form{{flags: "--fix", edits: "*"}}},
		{names: "node", is: speaker, reads: rows{"--version": {}, "-v": {}}, shows: rows{"-h": {}}},
		{names: "nodemon", is: launcher, runs: "-x* --exec*"},
		{names: "npm", is: checker | manager | speaker | starter, help: &command{check: noRC}, helped: "install ci run test publish audit init update exec uninstall pack version view link outdated dedupe prune start", runs: "--script-shell* --node-options* --prefix* -C --userconfig* --globalconfig* --shell*", takes: "--prefix=p -C=p --userconfig=r -s=a --silent=a -q=a --quiet=a --loglevel=b -w=b --workspace=b -ws=a --workspaces=a --if-present=a --no-audit=a --no-fund=a --no-progress=a --include-workspace-root=a",
			reads: rows{
				"--version": {check: noRC}, "-v": {check: noRC},
				"config get": {args: "x", min: 1, check: func(u *Invocation) string {
					if w := u.args[0]; w.Kind != Exact || strings.Contains(w.Text, "_") || strings.Contains(w.Text, ":") {
						return w.Source + " may be a secret of npm"
					}
					return noRC(u)
				}},
				"explain": npmList, "la": npmList, "list": npmList, "ll": npmList, "ls": npmList, "pkg get": {args: "x*", check: noRC}, "prefix": {flags: "-g --global", check: noRC},
				"query": {args: "x", min: 1, check: func(u *Invocation) string {
					if u.args[0].Kind != Exact || strings.ContainsAny(u.args[0].Text, ":") {
						return "npm query with a selector may ask the registry"
					}
					return noRC(u)
				}},
				"root": {flags: "-g --global", check: noRC}, "why": npmList,
			},
			shows: rows{"help": manual(noRC), "run": listOnly(noRC), "run-script": listOnly(noRC)},
			forms: []form{{words: "pkg", runs: "set delete fix"},
				{words: "config", runs: "set edit"}, {words: "edit|explore", runs: "*"}, {words: "exec|x", runs: "*", command: true}, {words: "unpublish", loses: "takes away what others may use"},
				{words: "set", sets: "~/.npmrc"}, {words: "config|c set|edit|delete|rm|fix", sets: "~/.npmrc"}, {words: "login|adduser|logout", sets: "~/.npmrc"},
				{words: "… pack|publish", packs: true}, {words: "publish", says: &prose{"", "tag otp access", ""}}, {words: "version", says: &prose{"m", "message preid", ""}},
			}},
		{names: "npx", is: launcher | starter | takesScripts, runs: "-c* --call*"},
		{names: "pnpm", is: checker | manager | starter, runs: "--script-shell* --node-options* -C --dir*", takes: "--dir=p -C=p -s=a --silent=a -r=a --recursive=a -w=a --workspace-root=a --stream=a --parallel=a --if-present=a --filter=b -F=b",
			forms: []form{
				{words: "dlx", runs: "*"}, {words: "exec", runs: "*", own: "-r --recursive --parallel", command: true}, {words: "set", sets: "~/.npmrc"}, {words: "config|c set|delete", sets: "~/.npmrc"}, {words: "… pack|publish|deploy", packs: true},
			}},
		{names: "pnpx", is: starter},
		{names: "prisma", forms: []form{{words: "migrate reset", loses: lostData}}},
		{names: "tsc", is: checker, runs: "--build*", shows: rows{"--version": {}, "-v": {}}},
		{names: "yarn", is: checker | manager | starter, runs: "--script-shell* --use-yarnrc* --cwd*", takes: "--cwd=p -s=a --silent=a",
			forms: []form{
				{words: "dlx", runs: "*"}, {words: "exec", runs: "*", command: true}, {words: "config set|unset|delete", sets: "~/.yarnrc.yml"}, {words: "set version", sets: ".yarnrc.yml"},
				{words: "plugin import|remove", sets: ".yarnrc.yml"}, {words: "… pack|publish", packs: true},
			}},
	}
}
