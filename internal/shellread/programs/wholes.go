package programs

import (
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
)

// A whole is a form of a program that works on all of the folders it is given, or of
// the one it runs in when it is given none.
type whole struct {
	verbs []string // one of these is the first operand; none means any
	flags []string // one of these is given; none means any
	// unless holds flags with which nothing is touched.
	unless []string
	// short: the flags of one letter stand among others, too.
	short  bool
	writes bool     // files are changed; otherwise they are copied or packed
	names  []string // patterns of base names: those that are changed; none means all
	// git packs what is tracked: the folders are the repository's, not the operands.
	git bool
}

// wholes are such programs. Of what they copy or change a rule may deny some.
var wholes = sync.OnceValue(func() map[string][]whole {
	packed := []whole{{flags: []string{"-r", "--recursive"}, short: true, writes: true}}
	return map[string][]whole{
		"git": {{verbs: gitPacking, git: true}},
		"npm": {{verbs: []string{"pack", "publish"}}}, "yarn": {{verbs: []string{"pack", "publish"}}}, "pnpm": {{verbs: []string{"pack", "publish", "deploy"}}}, "bun": {{verbs: []string{"publish", "pm"}}},
		"cargo": {
			{verbs: []string{"package", "publish"}}, {verbs: []string{"fmt"}, unless: []string{"--check"}, writes: true, names: []string{"*.rs"}},
			{verbs: []string{"fix", "clippy"}, flags: []string{"--fix", "--allow-dirty", "--allow-staged"}, writes: true, names: []string{"*.rs"}},
		},
		"poetry": {{verbs: []string{"build", "publish"}}}, "hatch": {{verbs: []string{"build", "publish"}}, {verbs: []string{"fmt"}, writes: true, names: pyNames}}, "flit": {{verbs: []string{"build", "publish"}}}, "pdm": {{verbs: []string{"build", "publish"}}},
		"uv": {{verbs: []string{"build", "publish"}}, {verbs: []string{"format"}, writes: true, names: pyNames}}, "twine": {{}}, "gem": {{verbs: []string{"build"}}}, "helm": {{verbs: []string{"package"}}},
		"docker": {{verbs: []string{"build", "buildx", "cp"}}}, "podman": {{verbs: []string{"build", "cp"}}}, "buildah": {{verbs: []string{"build", "bud", "copy", "add"}}}, "kaniko": {{}}, "kubectl": {{verbs: []string{"cp"}}},
		"star": {{}}, "mksquashfs": {{}}, "genisoimage": {{}}, "mkisofs": {{}}, "xorriso": {{}}, "jar": {{}}, "ditto": {{}}, "lha": {{}}, "arj": {{}}, "zpaq": {{}}, "dar": {{}}, "shar": {{}}, "makeself": {{}}, "unison": {{}}, "lsyncd": {{}},
		"restic": {{verbs: []string{"backup"}}}, "borg": {{verbs: []string{"create"}}}, "duplicity": {{}}, "rclone": {{}}, "s3cmd": {{}}, "gsutil": {{}}, "azcopy": {{}}, "mc": {{}}, "kopia": {{}}, "rdiff-backup": {{}}, "croc": {{}}, "wormhole": {{}}, "lftp": {{}},
		"aws": {{verbs: []string{"s3", "deploy", "cloudformation"}}}, "gcloud": {{verbs: []string{"app", "functions", "run", "builds", "storage", "compute"}}}, "az": {{verbs: []string{"storage", "webapp", "functionapp"}}},
		"vercel": {{}}, "netlify": {{verbs: []string{"deploy"}}}, "firebase": {{verbs: []string{"deploy"}}}, "flyctl": {{verbs: []string{"deploy", "launch"}}}, "fly": {{verbs: []string{"deploy", "launch"}}}, "wrangler": {{verbs: []string{"deploy", "publish", "pages"}}},
		"surge": {{}}, "eb": {{verbs: []string{"deploy"}}}, "serverless": {{verbs: []string{"deploy"}}}, "sam": {{verbs: []string{"build", "package", "deploy"}}}, "cf": {{verbs: []string{"push"}}}, "railway": {{verbs: []string{"up"}}}, "modal": {{verbs: []string{"deploy", "run"}}},
		"repomix": {{}}, "gitingest": {{}}, "code2prompt": {{}}, "files-to-prompt": {{}}, "serve": {{}}, "http-server": {{}}, "live-server": {{}}, "hg": {{verbs: []string{"clone", "archive", "bundle", "cat"}}}, "svn": {{verbs: []string{"export", "import"}}},
		"gzip": packed, "gunzip": packed, "pigz": packed, "unpigz": packed, "zstd": packed, "pzstd": packed, "lz4": packed, "compress": packed,
		"http.server": {{}}, "zipfile": {{}}, "tarfile": {{}}, "build": {{}},

		"prettier": {{flags: []string{"--write", "-w"}, writes: true}}, "eslint": {{flags: []string{"--fix"}, writes: true}}, "stylelint": {{flags: []string{"--fix"}, writes: true}}, "standard": {{flags: []string{"--fix"}, writes: true}}, "xo": {{flags: []string{"--fix"}, writes: true}},
		"biome": {{flags: []string{"--write", "--apply", "--apply-unsafe", "--fix"}, writes: true}}, "dprint": {{verbs: []string{"fmt"}, writes: true}}, "deno": {{verbs: []string{"fmt"}, unless: []string{"--check"}, writes: true}, {verbs: []string{"lint"}, flags: []string{"--fix"}, writes: true}},
		"oxlint": {{flags: []string{"--fix"}, writes: true}}, "tslint": {{flags: []string{"--fix"}, writes: true}}, "gts": {{verbs: []string{"fix"}, writes: true}}, "next": {{flags: []string{"--fix"}, writes: true}}, "ng": {{flags: []string{"--fix"}, writes: true}}, "jscodeshift": {{writes: true}},
		"black": {{unless: []string{"--check", "--diff"}, writes: true, names: pyNames}}, "isort": {{unless: []string{"-c", "--check", "--check-only", "--diff"}, writes: true, names: pyNames}}, "autopep8": {{flags: []string{"-i", "--in-place", "-ir", "-ri"}, writes: true, names: pyNames}},
		"ruff": {{verbs: []string{"format"}, unless: []string{"--check", "--diff"}, writes: true, names: pyNames}, {flags: []string{"--fix", "--fix-only", "--unsafe-fixes"}, writes: true, names: pyNames}}, "yapf": {{flags: []string{"-i", "--in-place", "-ri", "-ir"}, writes: true, names: pyNames}},
		"autoflake": {{flags: []string{"-i", "--in-place", "-ri", "-ir"}, writes: true, names: pyNames}}, "pyupgrade": {{writes: true, names: pyNames}}, "docformatter": {{flags: []string{"-i", "--in-place", "-ri"}, writes: true, names: pyNames}},
		"gofumpt": {{flags: []string{"-w", "-extra"}, writes: true, names: goNames}}, "golines": {{flags: []string{"-w"}, writes: true, names: goNames}}, "gci": {{verbs: []string{"write"}, writes: true, names: goNames}}, "golangci-lint": {{flags: []string{"--fix"}, writes: true}, {verbs: []string{"fmt"}, writes: true}},
		"go":      {{verbs: []string{"fmt", "fix"}, unless: []string{"-n"}, writes: true, names: goNames}},
		"rustfmt": {{unless: []string{"--check"}, writes: true, names: []string{"*.rs"}}}, "clang-format": {{flags: []string{"-i"}, writes: true}}, "clang-tidy": {{flags: []string{"-fix", "--fix", "--fix-errors"}, writes: true}}, "astyle": {{writes: true}}, "uncrustify": {{writes: true}},
		"shfmt": {{flags: []string{"-w", "--write"}, writes: true}}, "stylua": {{unless: []string{"--check"}, writes: true, names: []string{"*.lua"}}}, "terraform": {{verbs: []string{"fmt"}, unless: []string{"-check"}, writes: true, names: tfNames}}, "tofu": {{verbs: []string{"fmt"}, unless: []string{"-check"}, writes: true, names: tfNames}},
		"buf": {{verbs: []string{"format"}, flags: []string{"-w", "--write"}, writes: true}}, "buildifier": {{writes: true}}, "ktlint": {{flags: []string{"-F", "--format"}, writes: true}}, "google-java-format": {{flags: []string{"-i", "--replace"}, writes: true}}, "scalafmt": {{writes: true}},
		"php-cs-fixer": {{verbs: []string{"fix"}, writes: true}}, "phpcbf": {{writes: true}}, "pint": {{writes: true}}, "rector": {{writes: true}}, "rubocop": {{flags: []string{"-a", "-A", "--autocorrect", "--autocorrect-all", "--auto-correct"}, writes: true}}, "standardrb": {{flags: []string{"--fix"}, writes: true}},
		"mix": {{verbs: []string{"format"}, writes: true}}, "dart": {{verbs: []string{"format", "fix"}, writes: true}}, "flutter": {{verbs: []string{"format"}, writes: true}}, "swiftformat": {{writes: true}}, "swiftlint": {{flags: []string{"--fix", "--autocorrect"}, writes: true}}, "swift-format": {{flags: []string{"-i", "--in-place"}, writes: true}},
		"ormolu": {{flags: []string{"-i", "--inplace"}, writes: true}}, "fourmolu": {{flags: []string{"-i", "--inplace"}, writes: true}}, "zig": {{verbs: []string{"fmt"}, writes: true, names: []string{"*.zig", "*.zon"}}}, "nixfmt": {{writes: true}}, "alejandra": {{writes: true}}, "taplo": {{verbs: []string{"fmt", "format"}, writes: true}},
		"sqlfluff": {{verbs: []string{"fix", "format"}, writes: true}}, "markdownlint": {{flags: []string{"--fix", "-f"}, writes: true}}, "markdownlint-cli2": {{flags: []string{"--fix"}, writes: true}}, "mdformat": {{writes: true}}, "codespell": {{flags: []string{"-w", "--write-changes"}, writes: true}}, "typos": {{flags: []string{"-w", "--write-changes"}, writes: true}},
		"pre-commit": {{verbs: []string{"run"}, writes: true}}, "lint-staged": {{writes: true}}, "treefmt": {{writes: true}}, "sad": {{writes: true}}, "fastmod": {{writes: true}}, "codemod": {{writes: true}}, "comby": {{flags: []string{"-i", "-in-place"}, writes: true}}, "ast-grep": {{flags: []string{"-U", "--update-all"}, writes: true}},
		"sg": {{flags: []string{"-U", "--update-all"}, writes: true}}, "sd": {{writes: true}}, "rpl": {{writes: true}}, "rename": {{writes: true}}, "prename": {{writes: true}}, "rnm": {{writes: true}}, "mmv": {{writes: true}}, "detox": {{writes: true}}, "dos2unix": {{writes: true}}, "unix2dos": {{writes: true}}, "strip": {{writes: true}}, "exiftool": {{writes: true}}, "setfacl": {{writes: true}}, "chattr": {{writes: true}}, "xattr": {{writes: true}}, "restorecon": {{writes: true}},
	}
})

// gitPacking are the subcommands of git that copy, pack or serve a repository.
var gitPacking = []string{"clone", "bundle", "fast-export", "worktree", "daemon", "upload-pack", "upload-archive", "instaweb", "http-backend", "shell"}

var (
	pyNames = []string{"*.py", "*.pyi", "*.ipynb", "*.pyw"}
	goNames = []string{"*.go"}
	tfNames = []string{"*.tf", "*.tfvars", "*.hcl"}
)

// Wholes adds what a command copies or changes of whole folders, also when a runner
// starts it (npx prettier --write .): for rules that forbid.
func (u *Invocation) Wholes(ws []Word) {
	runs := policy.Runner(u.name) || Launches(u.name) || launchesPrograms[u.name]
	for i, w := range ws[:min(len(ws), 20)] {
		if i > 0 && !runs && !slices.ContainsFunc(ws[1:i], func(w Word) bool { return w.Is("run") || w.Is("exec") || w.Is("x") || w.Is("dlx") || w.Is("tool") }) {
			continue
		}
		if w.Kind != Exact {
			continue
		}
		name, _, _ := strings.Cut(Base(w.Text), "@") // npx prettier@3
		if i > 0 && (modules[name] && !ws[i-1].Is("-m") || managers[u.name] && ws[i-1].Is("run")) {
			continue // the name of a script
		}
		for _, form := range wholes()[name] {
			if form.fits(ws[i+1:]) && (i == 0 || form.writes || !managers[u.name]) {
				u.whole(form, ws[i+1:])
			}
		}
	}
}

// modules are names that count behind python -m alone, managers start programs and
// scripts of a project alike.
var (
	modules  = map[string]bool{"http.server": true, "zipfile": true, "tarfile": true, "build": true}
	managers = map[string]bool{"npm": true, "pnpm": true, "yarn": true, "bun": true}
)

// launchesPrograms are further programs that start the one named behind them.
var launchesPrograms = map[string]bool{"npx": true, "npm": true, "pnpm": true, "yarn": true, "bun": true, "bunx": true, "pnpx": true, "uvx": true, "pipx": true, "sudo": true, "doas": true, "xvfb-run": true, "dotnet": true, "rye": true, "composer": true, "mise": true, "direnv": true, "nix-shell": true}

// fits reports whether the words behind a program make it this form.
func (f whole) fits(ws []Word) bool {
	given := func(flags []string) bool {
		return slices.ContainsFunc(ws, func(w Word) bool {
			name, _, _ := strings.Cut(w.Text, "=")
			return slices.Contains(flags, name) || f.short && slices.ContainsFunc(flags, func(flag string) bool { return len(flag) == 2 && clustered(w.Text, flag[1]) })
		})
	}
	if len(f.verbs) > 0 && !slices.ContainsFunc(ws[:min(len(ws), 4)], func(w Word) bool { return slices.Contains(f.verbs, w.Text) }) {
		return false
	}
	return (len(f.flags) == 0 || given(f.flags)) && !given(f.unless)
}

// whole adds the files of the folders among the words, or of the current one.
func (u *Invocation) whole(f whole, ws []Word) {
	if f.git {
		u.gitPacks(ws)
		return
	}
	named := false
	for _, w := range ws {
		if w.Kind != Exact && w.Kind != Pattern || w.Kind == Exact && strings.HasPrefix(w.Text, "-") {
			continue
		}
		if w.Kind == Exact {
			w.Text = strings.TrimSuffix(strings.TrimSuffix(w.Text, "..."), "/**") // go fmt ./...
			if w.Text == "" {
				w.Text = "."
			}
		}
		if !u.r.there(w, u.dirs) {
			continue
		}
		named = true
		u.wholeFolder(f, w)
	}
	if !named {
		u.wholeFolder(f, Lit("."))
	}
}

// gitPacks adds what git copies or packs of a repository here: the files it tracks.
func (u *Invocation) gitPacks(ws []Word) {
	verb := slices.IndexFunc(ws, func(w Word) bool {
		return slices.Contains(gitPacking, w.Text)
	})
	if verb < 0 {
		return
	}
	rest := ws[verb+1:]
	has := func(word string) bool { return slices.ContainsFunc(rest, func(w Word) bool { return w.Is(word) }) }
	if ws[verb].Is("bundle") && !has("create") || ws[verb].Is("worktree") && !has("add") {
		return
	}
	dirs := u.dirs
	if ws[verb].Is("clone") {
		dirs = nil
		for _, w := range rest {
			if w.Kind == Exact && !strings.HasPrefix(w.Text, "-") {
				w.Text = strings.TrimPrefix(strings.TrimPrefix(w.Text, "file://"), "localhost")
				for _, t := range u.r.Resolve(w, u.dirs) {
					if u.r.IsFolder(t.Real) {
						dirs = append(dirs, t.Real)
					}
				}
			}
		}
	}
	from := len(u.Actions)
	for _, d := range dirs {
		u.gitTracked("clone", strings.TrimSuffix(d, "/.git"), nil)
	}
	for i, a := range u.Actions[from:] {
		if a, ok := a.(policy.Read); ok {
			a.Mention = true
			u.Actions[from+i] = a
		}
	}
}

func (u *Invocation) wholeFolder(f whole, w Word) {
	for _, t := range u.r.Resolve(w, u.dirs) {
		if !u.r.IsFolder(t.Real) {
			if f.writes {
				u.Actions = append(u.Actions, policy.Write{Path: t.Real, Named: t.Named, Asked: t.Asked, Maybe: true})
			}
			continue
		}
		below := u.r.below(t.Real, t.Named, pick{names: f.names})
		switch {
		case below == nil:
		case f.writes:
			u.Actions = append(u.Actions, policy.Write{Path: t.Real, Named: t.Named, Asked: t.Asked, Within: true, Maybe: true, Mention: true, Below: below})
		default:
			u.Actions = append(u.Actions, policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked, Tree: true, Mention: true, Below: below})
		}
	}
}
