package runs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// programsOf are the files that a command executes: its program, where that is named by a
// path, and the script of an interpreter, also behind programs that start others. What
// these are given to work on is not among them.
func programsOf(argv []string) []string { return programsIn(argv, map[int]bool{}) }

// programsIn is programsOf of what is left of a command. seen are the lengths of the rests
// that were looked at: each word may begin one, behind several programs.
func programsIn(argv []string, seen map[int]bool) (out []string) {
	if len(argv) == 0 || seen[len(argv)] {
		return nil
	}
	seen[len(argv)] = true
	if strings.Contains(argv[0], "/") {
		out = append(out, argv[0])
	}
	name, args := strings.TrimRight(filepath.Base(argv[0]), "0123456789."), argv[1:]
	switch {
	case slices.Contains(interpreters, name):
		return append(out, scriptsOf(name, args)...)
	case slices.Contains(launchers, name):
		return append(out, launched(name, args, seen)...)
	case name == "make" || name == "just" || !programs.RunsHere(name):
		return out
	case policy.Runner(name) || programs.Launches(name):
		out = append(out, started(args, seen)...)
	}
	if policy.Interpreter(name) && !strings.HasSuffix(name, "awk") { // whose operand is the text of a program
		out = append(out, scriptsOf(strings.TrimSuffix(name, "js"), args)...)
	}
	if _, rest := operands(args, valuedFlags...); len(rest) > 1 && programs.RunsBehind(name, rest[0]) {
		out = append(out, started(rest[1:], seen)...)
		if _, rest = operands(rest[1:], valuedFlags...); filepath.Ext(first(rest)) == ".py" {
			out = append(out, rest[0])
		}
	}
	return out
}

// placesOf are the folders that a command tells a launcher to work in.
func placesOf(argv []string) (out []string) {
	for i, w := range argv[:min(len(argv), 100)] {
		flag, value, glued := strings.Cut(w, "=")
		if !glued && i+1 < len(argv) {
			value = argv[i+1]
		}
		if slices.Contains(placeFlags, flag) && value != "" && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// onlyData reports a folder that no interpreter executes.
func onlyData(at string) bool {
	info, err := os.Stat(at)
	if err != nil || !info.IsDir() {
		return false
	}
	for _, entry := range []string{"__main__.py", "index.*js", "index.*ts", "package.json", "*.go"} {
		if found, _ := filepath.Glob(filepath.Join(escapeGlob(at), entry)); len(found) > 0 {
			return false
		}
	}
	return true
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// started are the files that a program executes which runs the words behind it (sudo,
// cross-env). A word behind a flag may be the flag's value.
func started(args []string, seen map[int]bool) (out []string) {
	for i, w := range args {
		name, _, set := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") || set && !strings.Contains(name, "/") || strings.Trim(w, "0123456789.smhd") == "" {
			continue
		}
		out = append(out, programsIn(args[i:], seen)...)
		if i == 0 || !strings.HasPrefix(args[i-1], "-") || args[i-1] == "--" {
			break
		}
	}
	return out
}

// placeFlags are flags of launchers that name the folder in which they work.
var placeFlags = []string{"--prefix", "-C", "--dir", "--cwd", "--directory", "--project"}

// valuedFlags are flags of launchers that take the next word.
var valuedFlags = append(slices.Clone(placeFlags), "-w", "--workspace", "--filter", "-F", "-p", "--package", "--with", "--python", "--extra", "--group", "--env-file", "--from", "--spec", "-s", "--script", "--manifest-path", "-m", "--module", "-jar", "-cp", "-classpath", "--class-path")

// launched are the files that something executes which runs what a package, a project or
// a path names.
func launched(name string, args []string, seen map[int]bool) (out []string) {
	flags, rest := operands(args, valuedFlags...)
	switch name {
	case "java":
		out = append(out, flags["-jar"])
		for _, f := range []string{"-cp", "-classpath", "--class-path"} {
			out = append(out, filepath.SplitList(flags[f])...)
		}
		if f := first(rest); filepath.Ext(f) == ".java" {
			out = append(out, f)
		}
	case "dotnet":
		if first(rest) == "run" || first(rest) == "exec" {
			if flags, rest = operands(rest[1:], valuedFlags...); flags["--project"] != "" {
				return []string{flags["--project"]}
			}
		}
		if f := first(rest); filepath.Ext(f) != "" {
			out = append(out, f)
		}
	case "go":
		if slices.Contains([]string{"run", "build", "install"}, first(rest)) { // what is built is run later
			_, rest = operands(rest[1:], "-C", "-exec", "-ldflags", "-tags", "-mod", "-modfile")
			if f := first(rest); strings.HasPrefix(f, ".") || strings.HasPrefix(f, "/") || strings.HasSuffix(f, ".go") {
				out = append(out, f) // anything else is the path of an import
			}
		}
	case "cargo":
		for i, w := range rest { // behind the subcommand
			if flag, file, _ := strings.Cut(w, "="); flag == "--manifest-path" {
				out = append(out, file, first(rest[i+1:]))
			}
		}
		out = append(out, flags["--manifest-path"])
	default:
		fetches := slices.Contains([]string{"npx", "bunx", "uvx", "pipx"}, name)
		for len(rest) > 0 && slices.Contains([]string{"run", "exec", "x", "dlx", "tool"}, rest[0]) {
			fetches = fetches || rest[0] == "x" || rest[0] == "dlx" || rest[0] == "tool" || name == "npm"
			if js := name == "npm" || name == "pnpm" || name == "yarn"; js && rest[0] == "run" {
				return nil // a script of package.json, by its name
			}
			flags, rest = operands(rest[1:], valuedFlags...)
			out = append(out, flags["-s"], flags["--script"])
		}
		if flags["-m"]+flags["--module"] != "" {
			break
		}
		if f := first(rest); filepath.Ext(f) == ".py" && !strings.Contains(f, "/") {
			out = append(out, f)
		}
		if fetches && isPackage().MatchString(first(rest)) {
			break
		}
		if first(rest) != "" && (name != "npm" || slices.ContainsFunc(args, func(w string) bool { return w == "exec" || w == "x" })) {
			out = append(out, programsIn(rest, seen)...)
		}
	}
	return slices.DeleteFunc(out, func(f string) bool { return f == "" || strings.HasSuffix(f, "...") })
}

// isPackage matches how registries and addresses of packages are written, which no
// launcher takes for a file: "@scope/name", "git+https://…", "github:a/b", "npm:a".
var isPackage = pattern.Lazy(`^(@[^/]+/[^/]+$|[A-Za-z][A-Za-z0-9+.-]+:)`)

// scriptsOf are the files that an interpreter executes: what it loads first, and the
// script that is its first operand.
func scriptsOf(name string, args []string) (out []string) {
	data, began := false, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		flag, value, glued := strings.Cut(a, "=")
		switch {
		case glued && slices.Contains(preloads, flag):
			out = append(out, value)
		case slices.Contains(preloads, a) && i+1 < len(args):
			i++
			out = append(out, args[i])
		case saysItself(name, a):
			return out
		case slices.Contains(onlyLooks[name], a):
			data = true
		case slices.Contains(valued[name], a):
			i++
		case strings.HasPrefix(a, "-"), data:
		case !began && (name == "bun" || name == "deno") && slices.Contains([]string{"run", "x", "exec", "serve"}, a):
			began = true
		case !began && (name == "bun" || name == "deno") && !strings.ContainsAny(a, "./"): // another subcommand
			return out
		case (name == "deno" || name == "bun") && isPackage().MatchString(a): // "https://…", "jsr:@a/b"
			return out
		default:
			out = append(out, a)
			if i == 0 || !strings.HasPrefix(args[i-1], "-") || strings.ContainsAny(a, "./") {
				return out
			}
			// it may be the value of the flag before it
		}
	}
	return out
}

// saysItself reports whether a flag of an interpreter has it run what stands in the
// next argument, or a module, and no file.
func saysItself(name, flag string) bool {
	if slices.Contains(shells, name) {
		return strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.HasSuffix(flag, "c")
	}
	switch name {
	case "python", "pypy", "py":
		return flag == "-c" || flag == "-m"
	case "node", "bun", "tsx", "ts-node":
		return slices.Contains([]string{"-e", "--eval", "-p", "--print", "-pe"}, flag)
	case "ruby", "perl", "lua", "Rscript":
		return flag == "-e"
	case "php":
		return flag == "-r"
	}
	return !slices.Contains(interpreters, name) && (flag == "-e" || flag == "-c")
}

// onlyLooks are flags behind which the operands of an interpreter are what is tested or
// checked.
var onlyLooks = map[string][]string{"node": {"--test", "--check", "-c", "--run"}, "tsx": {"--test"}, "php": {"-l"}, "bash": {"-n"}, "sh": {"-n"}, "zsh": {"-n"}}

// valued are flags of interpreters that take the next word as their value.
var valued = map[string][]string{
	"python": {"-W", "-X", "--check-hash-based-pycs"}, "pypy": {"-W", "-X"}, "bash": {"-o", "-O", "+O", "+o"}, "sh": {"-o", "+o"}, "zsh": {"-o", "+o"},
	"node": {"-C", "--conditions", "--env-file", "--input-type", "--test-name-pattern", "--test-concurrency"}, "ruby": {"-I", "-C", "-E"}, "perl": {"-I"}, "php": {"-d", "-c"},
	"deno": {"-c", "--config", "--import-map", "--env-file", "-L"}, "bun": {"--cwd", "--config", "-c", "--filter"},
}

// preloads are flags of interpreters that name a file which runs before the operand.
var preloads = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "--preload", "--rcfile", "--init-file", "--test-reporter", "--import-map"}

// launchers run what a package or a path names.
var launchers = []string{"npx", "bunx", "uv", "uvx", "pipx", "poetry", "pdm", "pipenv", "pnpm", "yarn", "npm", "dotnet", "java", "go", "cargo"}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "fish"}

// interpreters run the file that their first operand names.
var interpreters = append(slices.Clone(shells),
	"source", "", // "" is the dot of the shell
	"python", "pypy", "py", "node", "deno", "bun", "ts-node", "tsx", "ruby", "perl", "php", "lua", "Rscript", "pwsh",
)
