package programs

import (
	"regexp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// harmlessVariables may stand before a command: they choose how it speaks and
// draws, not what it runs or reads.
var harmlessVariables = map[string]bool{
	"LANG": true, "LANGUAGE": true, "TZ": true, "NO_COLOR": true, "FORCE_COLOR": true, "CLICOLOR": true, "CLICOLOR_FORCE": true,
	"COLUMNS": true, "LINES": true, "CI": true, "TERM": true, "COLORTERM": true, "NODE_ENV": true, "RUST_BACKTRACE": true, "RUST_LOG": true,
	"GOOS": true, "GOARCH": true, "CGO_ENABLED": true, "GOMAXPROCS": true, "DEBIAN_FRONTEND": true, "TIMEFORMAT": true,
	"PGPASSWORD": true, "MYSQL_PWD": true, "REDISCLI_AUTH": true, "PGCONNECT_TIMEOUT": true,
}

// HarmlessVariable reports a variable that may have any value which is no path: those of
// the table, and the categories of a locale (locale(7)).
func HarmlessVariable(name string) bool {
	category, ok := strings.CutPrefix(name, "LC_")
	return harmlessVariables[name] || ok && category != "" && strings.Trim(category, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// harmlessValues are variables that may stand before a command with these values, which
// are set apart by "|". An editor or pager that does nothing, or prints, is what adze pins.
var harmlessValues = map[string]string{
	"GO111MODULE": "on", "CARGO_TERM_COLOR": "never|always|auto", "TIME_STYLE": "long-iso", "LS_COLORS": "", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
	"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "GH_PAGER": "cat", "SYSTEMD_PAGER": "cat", "BAT_PAGER": "cat", "PSQL_PAGER": "cat", "AWS_PAGER": "",
	"EDITOR": "true|:", "VISUAL": "true|:", "GIT_EDITOR": "true|:", "GIT_SEQUENCE_EDITOR": "true|:", "GIT_MERGE_AUTOEDIT": "no",
	"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "DOCKER_BUILDKIT": "0|1", "COMPOSE_DOCKER_CLI_BUILD": "0|1", "BUILDKIT_PROGRESS": "plain|auto|tty", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}

// harmlessFlags are variables with flags for a program, and those that only say how it
// speaks, how much memory it takes or how the same code is compiled.
var harmlessFlags = map[string]func() *regexp.Regexp{
	"NODE_OPTIONS": pattern.Lazy(`^(--max[-_]old[-_]space[-_]size=\d+|--max-semi-space-size=\d+|--no-warnings|--no-deprecation|--trace-warnings|--trace-deprecation|--enable-source-maps|--openssl-legacy-provider|--experimental-vm-modules|--unhandled-rejections=(strict|warn|none))$`),
	"RUSTFLAGS":    pattern.Lazy(`^-[DAWF]$|^(-[DAWF])?[a-z][a-z0-9_:]*$|^-C$|^(-C)?(target-cpu=native|debuginfo=\d|opt-level=[0-3sz]|debug-assertions|overflow-checks=(on|off))$`),
	"GOFLAGS":      pattern.Lazy(`^(-count=\d+|-v|-race|-short|-trimpath|-buildvcs=false)$`),
}

// modes are how a program is told that people work on it: MIX_ENV=test, RAILS_ENV=development.
// Those in which it serves others are not: in them it acts on other data.
var modes = map[string]bool{"test": true, "testing": true, "dev": true, "develop": true, "development": true, "ci": true}

// HarmlessValue reports NAME=text that only says how a command speaks, or in which
// mode it works, or what is so anyway.
func HarmlessValue(name, text string) bool {
	if want, ok := harmlessValues[name]; ok && slices.Contains(strings.Split(want, "|"), text) {
		return true
	}
	if one, ok := harmlessFlags[name]; ok && text != "" {
		return !slices.ContainsFunc(strings.Split(text, " "), func(flag string) bool { return !one().MatchString(flag) })
	}
	if modes[text] && strings.HasSuffix(name, "_ENV") && !holdsPrograms(name) && !RiskyVariable(name) {
		return true
	}
	// A time zone: Area/City. Elsewhere TZ may name a file.
	area, city, ok := strings.Cut(text, "/")
	return name == "TZ" && ok && area != "" && city != "" && strings.Trim(area+city, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// holdsPrograms reports a variable that names an environment of programs: VIRTUAL_ENV,
// PYENV_VIRTUAL_ENV, CONDA_DEFAULT_ENV.
func holdsPrograms(name string) bool {
	return strings.HasSuffix(name, "VIRTUAL_ENV") || strings.Contains(name, "CONDA_") || strings.Contains(name, "MAMBA_")
}

// riskyNames are variables that the shell or common programs obey.
var riskyNames = map[string]bool{
	"PATH": true, "IFS": true, "ENV": true, "SHELL": true, "HOME": true, "PWD": true, "OLDPWD": true, "CDPATH": true, "FPATH": true, "MANPATH": true,
	"EDITOR": true, "VISUAL": true, "PAGER": true, "BROWSER": true, "TMPDIR": true, "TMP": true, "TEMP": true, "PS0": true, "PS1": true, "PS2": true,
	"PS3": true, "PS4": true, "PROMPT_COMMAND": true, "PROMPT": true, "RPROMPT": true, "GLOBIGNORE": true, "FIGNORE": true, "SHELLOPTS": true,
	"EXECIGNORE": true, "HISTFILE": true, "MAILCHECK": true, "MAIL": true, "MAILPATH": true, "OPTIND": true, "OPTARG": true, "REPLY": false,
	"MAKEFLAGS": true, "MFLAGS": true, "CC": true, "CXX": true, "LD": true, "AR": true, "AS": true, "CPP": true, "CFLAGS": true, "CXXFLAGS": true, "LDFLAGS": true,
	"SIMPLE_BACKUP_SUFFIX": true, "VERSION_CONTROL": true, "TAR_OPTIONS": true, "POSIXLY_CORRECT": true, "LOCPATH": true, "NLSPATH": true, "GCONV_PATH": true, "HOSTALIASES": true, "RESOLV_HOST_CONF": true,
	"TERMINFO": true, "TERMCAP": true, "INPUTRC": true, "HOSTNAME": true, "USER": true, "LOGNAME": true, "TERM": true, "RUBYOPT": true, "RUBYLIB": true,
	"ARGV0": true, "NULLCMD": true, "READNULLCMD": true, "ZDOTDIR": true, "MODULE_PATH": true, "FIGNORES": true, "DISPLAY": true, "MAGIC": true, "POSIX_ME_HARDER": true,
	"argv": true, "path": true, "fpath": true, "cdpath": true, "manpath": true, "mailpath": true, "module_path": true, "prompt": true, "psvar": true, "watch": true,
	"status": true, "pipestatus": true, "aliases": true, "functions": true, "commands": true, "builtins": true, "options": true, "parameters": true, "nameddirs": true, "userdirs": true, "galiases": true, "saliases": true,
	"fignore": true, "histchars": true, "signals": true, "zsh_eval_context": true, "dirstack": true, "reswords": true, "patchars": true,
}

var riskyPrefixes = []string{
	"LD_", "DYLD_", "GIT_", "BASH", "NODE_", "PYTHON", "PERL", "RUBY", "JAVA", "JDK", "_JAVA", "LESS", "GREP_", "RIPGREP_", "AWK", "GAWK", "GO", "CGO_",
	"CARGO", "RUST", "NPM_", "npm_", "YARN_", "PNPM_", "PIP_", "UV_", "DOCKER_", "KUBE", "GH_", "GITHUB_", "SSH_", "MAN", "CURL_", "SSL_", "XDG_", "JQ_",
	"BAT_", "FZF_", "MAKE", "CMAKE_", "MALLOC_", "LUA_", "PHP", "AWS_", "GOOGLE_", "AZURE_", "ADZE_", "CLAUDE_", "ANTHROPIC_", "OPENAI_", "OPENSSL_", "LIBC_", "GLIBC_", "ASAN_",
	"LC_", "LANG", "ZSH", "HIST", "COMP_", "FUNCNEST", "TZDIR", "GTK_", "QT_", "SUDO_", OwnVariables, "DEBUGINFOD_", "GCC_", "COMPILER_", "SOURCE_DATE", "VIM", "EMACS", "ELECTRON_", "DENO_", "BUN_",
}

// OwnVariables begin the names that adze's own lines around a script use.
const OwnVariables = "__adze_"

// integerNames are variables of bash or zsh whose value the shell evaluates as
// arithmetic when it is set, so that RANDOM='a[$(cmd)]' runs cmd.
var integerNames = map[string]bool{
	"RANDOM": true, "SRANDOM": true, "SECONDS": true, "LINENO": true, "SHLVL": true, "PPID": true, "UID": true, "EUID": true, "GID": true, "EGID": true, "OPTIND": true,
	"EPOCHSECONDS": true, "EPOCHREALTIME": true, "HISTCMD": true, "HISTSIZE": true, "SAVEHIST": true, "COLUMNS": true, "LINES": true, "TMOUT": true, "TTYIDLE": true,
	"KEYTIMEOUT": true, "MAILCHECK": true, "FUNCNEST": true, "LISTMAX": true, "LOGCHECK": true, "PERIOD": true, "BAUD": true, "DIRSTACKSIZE": true, "USERNAME": true,
	"ERRNO": true, "TRY_BLOCK_ERROR": true, "TRY_BLOCK_INTERRUPT": true, "ZSH_SUBSHELL": true, "KEYBOARD_HACK": true, "MBEGIN": true, "MEND": true, "ARGC": true,
}

// Steers reports whether NAME=text may change what programs do that only read,
// beyond how they print.
func Steers(name, text string) bool {
	if HarmlessVariable(name) && !strings.ContainsAny(text, "/$`") || HarmlessValue(name, text) {
		return false
	}
	return HarmlessVariable(name) || RiskyVariable(name)
}

// RiskyVariable reports whether setting the variable in the shell may change
// what later commands do. It is about names that are obeyed when they were
// already exported; a script's own variables are not.
func RiskyVariable(name string) bool {
	if riskyNames[name] || integerNames[name] || strings.HasSuffix(strings.ToLower(name), "_proxy") || strings.HasSuffix(name, "_PAGER") || strings.HasSuffix(name, "_EDITOR") ||
		strings.HasSuffix(name, "PATH") || strings.HasSuffix(name, "_OPTIONS") || strings.HasSuffix(name, "_OPTS") || strings.HasSuffix(name, "RC") && name != "SRC" {
		return true
	}
	for _, p := range riskyPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// NamesFile reports a variable of the shell whose value is a file that it reads or
// writes.
func NamesFile(name string) bool { return name == "HISTFILE" || name == "BASH_ENV" || name == "ENV" }
