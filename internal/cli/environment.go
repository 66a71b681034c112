package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm/choose"
)

// A variable is one that adze reads besides those of its flags.
type variable struct{ name, what string }

// variables are in the order in which help shows them.
var variables = []variable{
	{"ADZE_HOME", "the folder of settings, sessions and keys, instead of ~/.adze"},
	{"XDG_CONFIG_HOME", "where settings are (in adze/); ~/.adze while nothing is there, and its settings.json counts, too"},
	{"XDG_STATE_HOME", "where sessions are (in adze/); ~/.adze while nothing is there"},
	{"XDG_CACHE_HOME", "where what may be lost is (in adze/)"},
	{"HOME", "your folder, with ~/.adze and ~/.claude"},
	{"CLAUDE_CONFIG_DIR", "your folder of Claude Code, instead of ~/.claude; adze import looks there, and where CODEX_HOME, GEMINI_CLI_HOME, XDG_DATA_HOME and CRUSH_GLOBAL_DATA say"},
	{"CLAUDE_AGENT_SDK_VERSION", "says that an agent SDK started adze, as CLAUDE_CODE_ENTRYPOINT does; see the setting compat.transcripts"},
	{columnsVariable, "how many characters a line of a table should have where stdout is no terminal; names that are needed whole may pass it"},
	{"ADZE_KEYRING", "off: keys are saved in a file, not in the system's keyring"},
	{"ADZE_BYPASS_AS_ROOT", "1: bypassPermissions may be used as root outside a container"},
	{"ADZE_MCP_TOKEN", "the token that clients of adze mcp serve --http know"},
	{"DISPLAY", "says that a browser can open here, as WAYLAND_DISPLAY and WSL_DISTRO_NAME do"},
	{"OLLAMA_HOST", "where Ollama listens"},
	{"HTTPS_PROXY", "proxy for providers, with HTTP_PROXY, ALL_PROXY and NO_PROXY"},
	{"GOENV", "where sandbox.network.registries looks, with PIP_CONFIG_FILE, CARGO_HOME and the variables of go, npm, pip and uv"},
	{"MCP_TIMEOUT", "how long one attempt to connect to an MCP server may take, in milliseconds; 30000. Lists and print mode wait as long, else 5 s"},
	{"MCP_TOOL_TIMEOUT", "how long a call of an MCP server's tool may take, in milliseconds; 600000"},
	{"VISUAL", "the editor of adze config edit; else EDITOR, else vi"},
	{"EDITOR", "the editor where VISUAL is not set"},
	{"GIT_SSH_COMMAND", "how git reaches plugins by ssh; else without asking for anything"},
	{"PATH", "where git, bash and other programs are"},
	{"GOGC", "how often garbage is collected, with GOMEMLIMIT as for every program in Go; else first at 8 MB"},
	{"TMPDIR", "where temporary files go, unless it is in the folder that is worked on"},
	{"NO_COLOR", "any value: no colour"},
	{"TERM", "the terminal; dumb has no colour"},
	{"COLORTERM", "what adze doctor says of the terminal's colours"},
	{"TERM_PROGRAM", "what the terminal can do, with TMUX, STY, WT_SESSION, VTE_VERSION and XTERM_VERSION"},
	{"SSH_CONNECTION", "says that no keyring of a desktop is there, and as SSH_TTY that the terminal is far away"},
	{"DBUS_SESSION_BUS_ADDRESS", "how the system's keyring is reached"},
}

// codes are the exit codes.
var codes = [][2]string{
	{fmt.Sprint(exitDone), "done"},
	{fmt.Sprint(exitFailed), "failed, or what was to be undone, revoked or recorded is not there; a list without entries is done"},
	{fmt.Sprint(exitUsage), "wrong use: a name, a value or a flag that is not there"},
	{fmt.Sprint(exitRefused), "refused: a hook ended the run, or nobody was there to say yes; with --strict-exit also when a call was refused and there is an answer"},
	{fmt.Sprint(exitAuth), "no key, or a key that the provider refuses"},
	{fmt.Sprint(exitBudget), "turns, money or tokens ended"},
	{fmt.Sprint(exitInterrupted), "interrupted"},
	{fmt.Sprint(exitTerminated), "terminated"},
	{"129, 131", "ended by SIGHUP (its terminal is gone) or SIGQUIT"},
}

// helpEnvironment is "adze help environment".
func helpEnvironment(sys System, f *runFlags, root *cobra.Command) error {
	w := sys.Stdout
	o, err := f.options(sys, root.PersistentFlags())
	if err != nil {
		return err
	}
	fmt.Fprint(w, "Variables. Every flag has one, too: --max-turns 3 is ADZE_MAX_TURNS=3. So have those of\nsingle commands: ADZE_YES=1 answers what trust, import and mcp ask, ADZE_JSON=1 makes lists JSON.\nSet them for one command, not for a shell.\n\n")
	var rows [][2]string
	for _, v := range variables {
		rows = append(rows, [2]string{v.name, v.what})
	}
	ch, err := choose.New(choose.Config{Env: o.Env})
	if err != nil {
		return err
	}
	for _, k := range ch.Keyed() {
		if len(k.Vars) > 0 {
			rows = append(rows, [2]string{k.Vars[0], "a key of " + k.Name})
		}
		for _, v := range k.Vars[min(1, len(k.Vars)):] {
			rows = append(rows, [2]string{v, "the same"})
		}
		if k.BaseURL != "" {
			rows = append(rows, [2]string{k.BaseURL, "where " + k.Name + " is, instead of its own address"})
		}
	}
	rows = append(rows, choose.VariableHelp()...)
	for _, v := range config.ForeignVars() {
		rows = append(rows, [2]string{v.Name, "the setting " + v.Key + ", below your own settings"})
	}
	writeRows(w, rows)
	fmt.Fprint(w, "\nFiles, as they are for you now. adze config path says which are there.\n\n")
	folders, err := config.FindFolders(o.Home, o.Env, exists)
	if err != nil {
		fmt.Fprintf(w, "  %s\n", oneLine(err.Error()))
		folders.Config, folders.State, folders.Cache = "~/.adze", "~/.adze", "~/.adze/cache"
	}
	managed, other := config.ManagedDirs(runtime.GOOS, sys.Env)
	writeRows(w, [][2]string{
		{"settings", filepath.Join(folders.Config, "settings.json")},
		{"of a project", ".adze/settings.json, .adze/settings.local.json"},
		{"of the machine", filepath.Join(managed, "managed.json")},
		{"also read", filepath.Join(cmp.Or(folders.ClaudeDir(o.Home), "~/.claude"), "settings.json") + ", .claude/settings.json, .claude/settings.local.json, " + filepath.Join(other, "managed-settings.json")},
		{"sessions", filepath.Join(folders.State, "projects")},
		{"what may be lost", folders.Cache},
	})
	fmt.Fprint(w, "\nExit codes.\n\n")
	writeRows(w, codes)
	return nil
}
