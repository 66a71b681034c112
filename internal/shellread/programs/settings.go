package programs

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
)

// A settingWriter is a form of a program that writes a protected file which none of
// its words names: the verbs in order, and the file ("~/" is the home folder; a path
// without it counts from the folder the command runs in).
type settingWriter struct{ verbs, file string }

// settingWriters are by program. "a|b" is either of two verbs; "*" is any form.
var settingWriters = sync.OnceValue(func() map[string][]settingWriter {
	const (
		npmrc, pip, hooks, gh, bashrc = "~/.npmrc", "~/.config/pip/pip.conf", ".git/hooks/pre-commit", "~/.config/gh/config.yml", "~/.bashrc"
		claude, codex, gemini         = "~/.claude.json", "~/.codex/config.toml", "~/.gemini/settings.json"
	)
	out := map[string][]settingWriter{
		"npm":        {{"set", npmrc}, {"config|c set|edit|delete|rm|fix", npmrc}, {"login|adduser|logout", npmrc}},
		"pnpm":       {{"set", npmrc}, {"config|c set|delete", npmrc}},
		"yarn":       {{"config set|unset|delete", "~/.yarnrc.yml"}, {"set version", ".yarnrc.yml"}, {"plugin import|remove", ".yarnrc.yml"}},
		"pip":        {{"config set|unset|edit", pip}},
		"conda":      {{"init", bashrc}, {"config", "~/.condarc"}},
		"micromamba": {{"shell init|deinit", bashrc}, {"config set|append|prepend|remove", "~/.condarc"}},
		"poetry":     {{"config", "~/.config/pypoetry/config.toml"}},
		"bundle":     {{"config set|unset", "~/.bundle/config"}},
		"pre-commit": {{"install|uninstall|init-templatedir|install-hooks", hooks}},
		"prek":       {{"install|uninstall|init-templatedir", hooks}},
		"husky":      {{"*", ".git/config"}},
		"lefthook":   {{"install|uninstall|add", hooks}},
		"overcommit": {{"*", hooks}},
		"git":        {{"lfs install|uninstall|update", hooks}},
		"git-lfs":    {{"install|uninstall|update", hooks}},
		"gh":         {{"alias set|import|delete", gh}, {"config set", gh}, {"extension|ext install|upgrade|create", "~/.config/gh/extensions"}, {"auth login|logout|setup-git|switch|refresh", gh}},
		"kubectl":    {{"config set|set-credentials|set-cluster", "~/.kube/config"}},
		"aws":        {{"configure set|sso|import", "~/.aws/config"}},
		"jj":         {{"config set|unset|edit", "~/.config/jj/config.toml"}},
		"mise":       {{"trust|use|set|unset", ".mise.toml"}, {"settings|config|alias set|unset|add", "~/.config/mise/config.toml"}},
		"crontab":    {{"*", "/var/spool/cron/crontabs"}},
		"chsh":       {{"*", "/etc/passwd"}},
		"code":       {{"*--install-extension", "~/.vscode/extensions"}, {"*--add-mcp", "~/.config/Code/User/mcp.json"}},
		"systemctl":  {{"enable|edit|link|mask|set-environment|import-environment", "/etc/systemd/system"}},
		"claude":     {{"mcp add|add-json|add-from-claude-desktop|remove|reset-project-choices", claude}, {"config set|add|remove", claude}, {"plugin install|enable|uninstall|update|marketplace", claude}},
		"codex":      {{"mcp add|remove", codex}},
		"gemini":     {{"mcp add|remove", gemini}, {"extensions install|link|update|enable", gemini}},
	}
	for other, same := range map[string]string{"pip3": "pip", "mamba": "conda", "cursor": "code", "codium": "code", "pre_commit": "pre-commit", "bundler": "bundle"} {
		out[other] = out[same]
	}
	return out
})

// readForms are forms of programs, which else write settings in every form, that only
// show something.
var readForms = map[string][]string{
	"crontab":    {"-l"},
	"husky":      {"-v", "--version", "-h", "--help"},
	"overcommit": {"-v", "--version", "-h", "--help", "-l", "--list-hooks"},
	"chsh":       {"-l", "--list-shells", "-h", "--help", "-v", "--version"},
	"conda":      {"--show", "--show-sources", "--get", "--help", "-h", "--describe", "--validate"},
	"poetry":     {"--list", "--help", "-h"},
}

// adzeReads are the commands of adze that change nothing of its settings, and start no
// session and no tool of a server: any other may.
var adzeReads = map[string]string{
	"version": "*", "--version": "*", "help": "*", "--help": "*", "-h": "*", "doctor": "*", "models": "*", "stats": "*", "context": "*", "prompt": "*", "completion": "*", "search": "*", "diff": "*",
	"config": "list get schema path check", "permissions": "check list", "mcp": "list ls get tools resources info", "sessions": "list show", "skills": "list check", "agents": "list check",
	"hooks": "list check", "sandbox": "explain check run", "plugin": "list validate",
}

// adzeReadsOnly reports whether a command of adze is one of these. A flag before its
// name may have a value that looks like one.
func adzeReadsOnly(ws []Word) bool {
	if len(ws) < 2 || ws[1].Kind != Exact {
		return false
	}
	subs, known := adzeReads[ws[1].Text]
	if !known || subs == "*" {
		return known
	}
	return len(ws) == 2 || ws[2].Kind == Exact && (slices.Contains(strings.Fields(subs), ws[2].Text) || ws[2].Text == "--help" || ws[2].Text == "-h")
}

// settings adds the protected files that a program writes because that is what it was
// told to do, wherever it lies itself. It reports whether there are any.
func (u *Invocation) settings(ws []Word) bool {
	name := Base(ws[0].Text)
	var files []string
	if name == "adze" && !adzeReadsOnly(ws) {
		files = append(files, "~/.adze/settings.json")
	}
	if len(ws) < 500 && !slices.ContainsFunc(ws[1:], func(w Word) bool { return slices.Contains(readForms[name], w.Text) }) {
		for _, f := range settingWriters()[name] {
			if f.fits(ws[1:]) {
				files = append(files, f.file)
			}
		}
	}
	for _, file := range files {
		switch at, home := strings.CutPrefix(file, "~/"); {
		case !home:
			u.put(Lit(file), policy.Write{})
		case u.r.World.Home != "":
			full := path.Join(u.r.World.Home, at) // it may be elsewhere, and is settings all the same
			u.Actions = append(u.Actions, policy.Write{Path: full, Named: full, Asked: file})
		}
	}
	if at := slices.IndexFunc(ws, func(w Word) bool { return w.Is("-m") }); strings.HasPrefix(name, "python") && at > 0 && at+1 < len(ws) && ws[at+1].Kind == Exact {
		return u.settings(ws[at+1:]) || len(files) > 0 // a module is a program, too
	}
	return len(files) > 0
}

// fits reports whether words may be this form: its verbs stand one behind the other,
// the first at the beginning or behind flags and their values.
func (f settingWriter) fits(ws []Word) bool {
	if flag, ok := strings.CutPrefix(f.verbs, "*"); ok {
		return flag == "" || slices.ContainsFunc(ws, func(w Word) bool { return strings.HasPrefix(w.Text, flag) })
	}
	verbs := strings.Fields(f.verbs)
	at := 0
	for i, w := range ws {
		switch {
		case w.Kind == Exact && slices.Contains(strings.Split(verbs[at], "|"), w.Text):
			if at++; at == len(verbs) {
				return true
			}
		case w.Kind == Exact && !strings.HasPrefix(w.Text, "-") && (i == 0 || !strings.HasPrefix(ws[i-1].Text, "-")):
			return false
		}
	}
	return false
}
