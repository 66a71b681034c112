package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// runFlags are the flags that are no settings. Flags that are settings are
// read by package config through given.
type runFlags struct {
	print      bool
	output     string
	input      string
	asker      string
	partial    bool
	replay     bool
	schema     string
	cont       bool
	resume     string
	pick       bool // --resume without a name
	fork       bool
	sessionID  string
	noPrompt   bool // none was given: the session goes on with a call that was put off
	noSession  bool
	noSocket   bool
	systemFile string
	appendFile string
	settings   string
	sources    string
	cwd        string
	skip       bool
	bare       bool
	verbose    bool
	trust      bool
	debug      string
	logFile    string
	name       string // of the session
	worktree   string // to work in, anyWorktree for a new one
	// init, initOnly and maintenance say which Setup hooks run.
	init, initOnly, maintenance bool

	clients    clientFlags
	extensions extensionFlags
	in         *within // the run that a command is given in; nil: it is the whole run
}

// anyWorktree is --worktree without a name.
const anyWorktree = "new worktree"

// settingFlags are flags whose value is a setting: the flag's name is in the
// table of package config. list marks those that take several values.
func settingFlags() map[string]config.Key {
	out := map[string]config.Key{}
	for _, k := range config.Table() {
		if k.Flag != "" {
			out[k.Flag] = k
		}
	}
	return out
}

func (f *runFlags) add(fs *pflag.FlagSet) {
	fs.BoolVarP(&f.print, "print", "p", false, "answer once and exit; stdin is appended to the prompt")
	fs.StringVar(&f.output, "output-format", "text", "with --print: text, json or stream-json")
	fs.StringVar(&f.asker, "permission-prompt-tool", "", "who answers questions: stdio (with stream-json, the program on the pipe), or a tool of an MCP server: mcp__SERVER__TOOL")
	fs.StringVar(&f.input, "input-format", "text", "with --print: text or stream-json")
	fs.BoolVar(&f.partial, "include-partial-messages", false, "with stream-json: the pieces of replies as they come")
	fs.BoolVar(&f.replay, "replay-user-messages", false, "with stream-json both ways: each prompt comes back when its turn takes it up")
	fs.StringVar(&f.schema, "json-schema", "", "the answer must fit this JSON Schema, given as text or as a file's path")
	fs.BoolVarP(&f.cont, "continue", "c", false, "go on with the newest session of this folder")
	fs.StringVarP(&f.resume, "resume", "r", "", "go on with a session: its id, title, or words from it")
	fs.BoolVar(&f.fork, "fork-session", false, "with --continue or --resume: go on in a copy")
	fs.StringVar(&f.sessionID, "session-id", "", "the id of the new session, or of the copy (a UUID)")
	fs.BoolVar(&f.noSession, "no-session", false, "keep nothing on disk")
	fs.BoolVar(&f.noSocket, "no-socket", false, "adze ps, attach, tail and send do not reach this session")
	fs.StringVar(&f.systemFile, "system-prompt-file", "", "like --system-prompt, from a file")
	fs.StringVar(&f.appendFile, "append-system-prompt-file", "", "like --append-system-prompt, from a file")
	fs.StringVar(&f.settings, "settings", "", "a settings file, or JSON, that wins over the files")
	fs.StringVar(&f.sources, "setting-sources", "", "settings files to read: user,project,local")
	fs.StringVarP(&f.cwd, "cwd", "C", "", "work in this folder")
	fs.BoolVar(&f.skip, "dangerously-skip-permissions", false, "allow everything but what is protected (mode bypassPermissions)")
	fs.BoolVar(&f.bare, "bare", false, "no memory files, no project settings, no look at git: the fastest start")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "a line on stderr for each call of a tool")
	fs.BoolVar(&f.trust, "trust", false, "use this folder's own settings, even those that run something")
	fs.BoolVar(&f.init, "init", false, "run the Setup hooks of the trigger init before the session")
	fs.BoolVar(&f.initOnly, "init-only", false, "run the Setup hooks of init and the SessionStart hooks, and exit")
	fs.BoolVar(&f.maintenance, "maintenance", false, "run the Setup hooks of the trigger maintenance before the session")
	fs.StringVarP(&f.name, "name", "n", "", "what the session is called")
	fs.StringVarP(&f.debug, "debug", "d", "", "write what happens to the log file, or to stderr; areas: session,tool,model,hooks,mcp")
	fs.Lookup("debug").NoOptDefVal = "all"
	fs.StringVarP(&f.worktree, "worktree", "w", "", "work in a git worktree of this name, or in a new one (see adze worktree)")
	fs.Lookup("worktree").NoOptDefVal = anyWorktree
	fs.StringVar(&f.logFile, "log-file", "", "where --debug writes; --debug where that is left out")
	f.clients.add(fs)
	f.extensions.add(fs)
	addPublished(fs)
	for name, k := range settingFlags() {
		if fs.Lookup(name) != nil {
			continue
		}
		usage := lowerFirst(strings.TrimSuffix(k.Doc, "."))
		if k.Kind == config.Strings {
			fs.StringArray(name, nil, usage)
		} else {
			fs.String(name, "", usage)
		}
		if k.Kind == config.Bool && name != "sandbox" { // which takes a word: on, off, strict
			fs.Lookup(name).NoOptDefVal = "true"
		}
	}
	fs.SortFlags = true
}

// lowerFirst makes a sentence the explanation of a flag.
func lowerFirst(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[0])) && !unicode.IsUpper(rune(s[1])) {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// kebab lets people write --allowedTools, as other agents spell it.
func kebab(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('-')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return pflag.NormalizedName(cmp.Or(otherNames[b.String()], b.String()))
}

// fill takes flags that were not given from the environment (ADZE_…), checks
// them, and gives the flags of clients and --resume their meaning.
func (f *runFlags) fill(sys System, fs *pflag.FlagSet) error {
	if err := fromEnvironment(sys, fs); err != nil {
		return err
	}
	f.debug = switched(f.debug, "all")
	if err := f.checkValues(fs); err != nil {
		return err
	}
	f.clients.apply(f)
	if err := f.checkStreams(); err != nil {
		return err
	}
	if err := notEmpty(fs); err != nil {
		return err
	}
	if f.pick = f.resume == whichSession; f.pick {
		f.resume = ""
		if !f.wantsUI(sys, fs) {
			return usagef("adze sessions list shows them", "--resume needs the name of a session where nobody can choose one")
		}
	}
	return f.checkSession()
}

// fromEnvironment sets flags that were not given from ADZE_…; those that are
// settings are read with the settings.
func fromEnvironment(sys System, fs *pflag.FlagSet) (err error) {
	settings := settingFlags()
	fs.VisitAll(func(fl *pflag.Flag) {
		_, isSetting := settings[fl.Name]
		if err != nil || fl.Changed || isSetting || fl.Name == "help" || fl.Name == "version" {
			return
		}
		name := config.EnvName(fl.Name)
		if v := sys.Env(name); v != "" {
			if serr := fl.Value.Set(v); serr != nil {
				err = usagef("unset it; adze help flags says what each flag takes", "%s cannot be %q: it takes %s", name, v, typeWords(fl))
			}
			fl.Changed = true
			if fl.Annotations == nil {
				fl.Annotations = map[string][]string{}
			}
			fl.Annotations[fromVariable] = []string{name}
		}
	})
	return err
}

// switched reads a flag of words as the switch that its variable is for other programs.
func switched(value, on string) string {
	switch strings.ToLower(value) {
	case "1", "true", "on", "yes":
		return on
	case "0", "false", "off", "no":
		return ""
	}
	return value
}

// checkValues finds flags that have no effect yet, and values that cannot be meant.
func (f *runFlags) checkValues(fs *pflag.FlagSet) error {
	if err := checkPublished(fs); err != nil {
		return err
	}
	if err := oneOf("output-format", f.output, []string{"text", "json", "stream-json"}); err != nil {
		return err
	}
	if err := oneOf("input-format", f.input, []string{"text", "stream-json"}); err != nil {
		return err
	}
	for _, x := range f.areas() {
		if x != "all" && !slices.Contains(app.DebugAreas, x) {
			return usagef("the areas are "+strings.Join(app.DebugAreas, ", "), "--debug: there is no area %q", x)
		}
	}
	return f.clients.check(f)
}

// areas are what --debug writes of; none without it.
func (f *runFlags) areas() []string {
	if f.debug == "" {
		return nil
	}
	return strings.Split(f.debug, ",")
}

// checkStreams finds flags that need a stream which was not asked for.
func (f *runFlags) checkStreams() error {
	switch {
	case f.partial && f.output != "stream-json":
		return usagef("add --output-format stream-json", "--include-partial-messages needs stream-json output")
	case f.replay && (f.input != "stream-json" || f.output != "stream-json"):
		return usagef("add --input-format stream-json --output-format stream-json", "--replay-user-messages needs stream-json both ways")
	case f.input == "stream-json" && f.output != "stream-json":
		return usagef("add --output-format stream-json", "--input-format stream-json needs stream-json output")
	case f.asker != "" && f.asker != "stdio" && !asksTool().MatchString(f.asker):
		return usagef("the value is stdio: the program on the pipe answers; or a tool of an MCP server: mcp__SERVER__TOOL", "--permission-prompt-tool cannot be %q", f.asker)
	case f.asker == "stdio" && f.input != "stream-json":
		return usagef("add --input-format stream-json --output-format stream-json", "--permission-prompt-tool stdio needs a program on the pipe")
	}
	return nil
}

// asksTool matches the name of a tool of an MCP server.
var asksTool = pattern.Lazy(`^mcp__[A-Za-z0-9_-]+__[A-Za-z0-9_-]+$`)

// notEmpty finds flags that were given without a value they need.
func notEmpty(fs *pflag.FlagSet) error {
	for _, name := range []string{"resume", "session-id", "cwd", "settings", "json-schema", "log-file"} {
		if fl := fs.Lookup(name); fl != nil && fl.Changed && strings.TrimSpace(fl.Value.String()) == "" {
			return usagef("give it a value, or leave it out", "--%s is empty", name)
		}
	}
	return nil
}

// checkSession finds flags that contradict each other in which session is meant.
func (f *runFlags) checkSession() error {
	goesOn := f.cont || f.resume != "" || f.pick
	switch {
	case f.cont && (f.resume != "" || f.pick):
		return usagef("leave one of them out", "--continue is the newest session, --resume names one: they exclude each other")
	case f.fork && !goesOn:
		return usagef("add --continue or --resume", "--fork-session needs a session to copy")
	case f.sessionID != "" && goesOn && !f.fork:
		return usagef("leave it out, or go on with a copy: --fork-session", "--session-id is the id of a new session, and an old one keeps its own")
	case f.noSession && goesOn:
		return usagef("leave one of them out", "--no-session and going on with a session exclude each other")
	}
	return nil
}

// oneOf checks a flag with a fixed set of values.
func oneOf(flag, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usagef("one of "+strings.Join(slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" }), ", "), "--%s cannot be %q", flag, value)
}

// given are the settings on the command line.
func given(fs *pflag.FlagSet) []config.Given {
	var out []config.Given
	settings := settingFlags()
	fs.Visit(func(fl *pflag.Flag) {
		k, ok := settings[fl.Name]
		if !ok {
			return
		}
		g := config.Given{Key: k.Name, From: "--" + fl.Name, Value: fl.Value.String()}
		if s, isList := fl.Value.(pflag.SliceValue); isList {
			list := rules(s.GetSlice())
			if k.Paths {
				list = s.GetSlice() // a path may have blanks and commas
			}
			if fl.Name == "tools" && len(list) == 0 {
				list = []string{"none"} // --tools "": an empty list would be all of them
			}
			g.Value = list
		}
		out = append(out, g)
	})
	return out
}

// rules puts "Bash(a, b)" back together where the flag library cut it at a
// comma, and cuts "Read Edit" where people write blanks.
func rules(pieces []string) []string {
	return policy.SplitList(strings.Join(pieces, ","))
}

// readText reads the file of a …-file flag.
func readText(flag, path string) (string, error) {
	b, err := regular.Given(path, 1<<20)
	switch {
	case errors.Is(err, regular.ErrLarge):
		return "", usagef("instructions are short texts", "--%s: %s is larger than 1 MB", flag, path)
	case err != nil:
		return "", usagef("give the path of a text file", "--%s: %v", flag, err)
	}
	return string(b), nil
}

func configGiven(key string, value any, from string) config.Given {
	return config.Given{Key: key, Value: value, From: from}
}

// setup is the trigger of the Setup hooks that are to run, "" for none.
func (f *runFlags) setup() string {
	switch {
	case f.init || f.initOnly:
		return "init"
	case f.maintenance:
		return "maintenance"
	}
	return ""
}
