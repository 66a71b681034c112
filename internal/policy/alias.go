package policy

import (
	"slices"
	"strings"
	"sync"
)

// maxSpellings bounds the spellings of one rule.
const maxSpellings = 64

// alike are, by program, words behind its name that mean the same: forms are set
// apart by "|", and "_" is no word at all.
var alike = map[string]string{
	"npm": `run|run-script|rum|urn  test|t|tst|run_test  start|run_start  stop|run_stop  restart|run_restart
		install|i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall|add  ci|clean-install|ic|install-clean|isntall-clean
		uninstall|un|unlink|remove|rm|r  update|up|upgrade|udpate  exec|x  link|ln  list|ls|la|ll  view|v|info|show
		install-test|it  install-ci-test|cit|clean-install-test|sit  rebuild|rb  dedupe|ddp  init|create|innit  config|c  version|verison
		owner|author  dist-tag|dist-tags  adduser|add-user  docs|home  bugs|issues  search|s|se|find  explain|why  org|ogr  help|hlep`,
	"pnpm":  `run|run-script|_  install|i  remove|rm|uninstall|un  update|up|upgrade  test|t|tst  link|ln  list|ls`,
	"yarn":  `run|_  upgrade|up`,
	"bun":   `run|_  install|i  add|a  remove|rm|r`,
	"cargo": `build|b  check|c  doc|d  test|t  run|r  remove|rm`,
	"docker": `run|container_run  exec|container_exec  create|container_create  start|container_start  stop|container_stop  restart|container_restart  kill|container_kill
		rm|container_rm|container_remove  cp|container_cp  commit|container_commit  attach|container_attach  export|container_export  logs|container_logs  update|container_update
		rename|container_rename  pause|container_pause  unpause|container_unpause  inspect|container_inspect  port|container_port  ps|container_ls|container_list|container_ps
		push|image_push  pull|image_pull  build|image_build|buildx_build|buildx_b|builder_build  rmi|image_rm|image_remove  tag|image_tag  save|image_save  load|image_load  import|image_import
		images|image_ls|image_list  history|image_history  events|system_events  info|system_info  volume_rm|volume_remove  network_rm|network_remove  context_rm|context_remove`,
	"git":       `add|stage  init|init-db  push|send-pack|http-push|subtree_push  stash_push|stash_save  remote_remove|remote_rm  fsck|fsck-objects`,
	"gh":        `pr_create|pr_new  issue_create|issue_new  repo_create|repo_new  release_create|release_new  pr_checkout|pr_co|co  secret_delete|secret_remove  variable_delete|variable_remove  codespace|cs  extension|extensions|ext`,
	"helm":      `uninstall|un|del|delete  list|ls  dependency|dep|dependencies`,
	"terraform": `destroy|apply_-destroy`,
	"tofu":      `destroy|apply_-destroy`,
	"brew":      `uninstall|remove|rm  install|instal  upgrade|up  list|ls`,
	"conda":     `remove|uninstall  update|upgrade`,
	"svn":       `commit|ci  checkout|co  delete|del|remove|rm  update|up  switch|sw  propset|pset|ps`,
	"hg":        `commit|ci  update|up|checkout|co  remove|rm`,
	"dnf":       `remove|rm|erase  install|in  upgrade|up|update`,
	"zypper":    `install|in  remove|rm  update|up  dist-upgrade|dup`,
	"kill":      `-9|-KILL|-SIGKILL|-s_KILL|-s_SIGKILL|-s_9|-n_9`, "pkill": "kill", "killall": "kill",
	"composer": `install|i  update|u|upgrade  remove|rm|uninstall  require|r`,
	"podman":   "docker", "nerdctl": "docker", // as docker
}

// alikePrograms are beginnings of commands that mean the same.
var alikePrograms = [][]string{
	{"docker-compose", "docker compose"}, {"npx", "npm exec"}, {"pnpx", "pnpm dlx"}, {"bunx", "bun x"}, {"uvx", "uv tool run"}, {"nodejs", "node"}, {"source", "."}, {"yarnpkg", "yarn"},
	{"gmake", "make"}, {"apt", "apt-get"}, {"pip", "pip3", "python -m pip", "python3 -m pip", "uv pip"}, {"mvnw", "mvn"}, {"gradlew", "gradle"},
}

// alikeWords is the table alike, taken apart.
var alikeWords = sync.OnceValue(func() map[string][][][]string {
	out := map[string][][][]string{}
	for program, text := range alike {
		if of, ok := alike[text]; ok {
			text = of
		}
		for class := range strings.FieldsSeq(text) {
			var forms [][]string
			for form := range strings.SplitSeq(class, "|") {
				forms = append(forms, strings.FieldsFunc(form, func(c rune) bool { return c == '_' }))
			}
			out[program] = append(out[program], forms)
		}
	}
	return out
})

// PlainSubcommand is the plainest name of a subcommand that has several, of a program for
// which rules that allow mean each of them; "" for any other.
func PlainSubcommand(program, sub string) string {
	if program != "npm" && program != "pnpm" && program != "cargo" {
		return ""
	}
	for _, class := range alikeWords()[program] {
		if slices.ContainsFunc(class, func(form []string) bool { return len(form) == 1 && form[0] == sub }) {
			return class[0][0]
		}
	}
	return ""
}

// spellings are the ways to write the beginning of a command that a rule names, the
// rule's own first.
func spellings(words []string) [][]string {
	out := [][]string{words}
	seen := map[string]bool{strings.Join(words, "\x00"): true}
	add := func(words ...[]string) {
		w := slices.Concat(words...)
		if key := strings.Join(w, "\x00"); !seen[key] && len(out) < maxSpellings {
			seen[key], out = true, append(out, w)
		}
	}
	for n := 0; n < len(out); n++ {
		words := out[n]
		for _, class := range alikePrograms {
			for _, form := range class {
				rest, ok := behind(words, strings.Fields(form))
				for _, other := range class {
					if ok {
						add(strings.Fields(other), rest)
					}
				}
			}
		}
		for _, class := range alikeWords()[words[0]] {
			for _, form := range class {
				rest, ok := behind(words[1:], form)
				if !ok || len(form) == 0 && (len(rest) == 0 || slices.ContainsFunc(class, func(f []string) bool { return len(f) > 0 && f[0] == rest[0] })) {
					continue
				}
				for _, other := range class {
					if len(other)+len(rest) > 0 {
						add(words[:1], other, rest)
					}
				}
			}
		}
	}
	return out
}

// behind is what follows a beginning of words.
func behind(words, begin []string) (rest []string, ok bool) {
	if len(words) < len(begin) || !slices.Equal(words[:len(begin)], begin) {
		return nil, false
	}
	return words[len(begin):], true
}

// abbreviating are programs that take a subcommand by what it begins with.
var abbreviating = map[string]bool{
	"npm": true, "bundle": true, "bundler": true, "gem": true, "hg": true, "rails": true, "thor": true, "composer": true, "gradle": true, "gradlew": true,
	"ip": true, "tmux": true, "fossil": true, "nmcli": true, "mysqladmin": true, "darcs": true, "symfony": true, "drush": true,
}

// listing are programs whose operands are what they do one after the other.
var listing = map[string]bool{
	"make": true, "gmake": true, "just": true, "task": true, "rake": true, "ninja": true, "gradle": true, "gradlew": true, "mvn": true, "mvnw": true, "ant": true,
	"gulp": true, "grunt": true, "invoke": true, "inv": true, "fab": true, "lein": true, "nox": true, "mage": true, "npm-run-all": true, "run-s": true, "run-p": true,
}

// flagsAlike are short flags and the long ones that mean the same, by program or
// program and subcommand.
var flagsAlike = map[string]map[string]string{
	"rm": {"r": "recursive", "R": "recursive", "f": "force", "i": "interactive"}, "cp": {"r": "recursive", "R": "recursive", "a": "archive", "f": "force"}, "mv": {"f": "force"},
	"chmod": {"R": "recursive"}, "chown": {"R": "recursive"}, "chgrp": {"R": "recursive"}, "ln": {"s": "symbolic", "f": "force"},
	"git push": {"f": "force", "d": "delete", "u": "set-upstream"}, "git commit": {"n": "no-verify", "a": "all", "m": "message"}, "git clean": {"f": "force"}, "git add": {"f": "force", "A": "all"},
	"git checkout": {"f": "force"}, "git switch": {"f": "force"}, "git branch": {"f": "force", "d": "delete"}, "git stash": {"u": "include-untracked", "a": "all"}, "git tag": {"d": "delete", "f": "force"},
	"docker run": {"v": "volume"}, "docker compose": {"v": "volumes", "f": "file", "p": "project-name"}, "docker-compose": {"v": "volumes", "f": "file", "p": "project-name"}, "kubectl": {"n": "namespace", "f": "filename"}, "npm": {"g": "global"}, "npm install": {"g": "global"}, "sed": {"i": "in-place", "n": "quiet", "e": "expression", "f": "file"}, "npx": {"y": "yes"}, "node": {"e": "eval", "p": "print", "r": "require"}, "docker rm": {"f": "force", "v": "volumes"}, "docker rmi": {"f": "force"}, "gh api": {"X": "method", "f": "raw-field", "F": "field"}, "curl": {"X": "request", "d": "data", "o": "output", "T": "upload-file"},
}

// globalFlags are programs whose subcommand stands behind flags, of which some take a value:
// aws --profile p s3 rm, and aws --debug s3 rm. A rule that forbids means each way to read
// them, because a flag's value is hardly called as a subcommand.
var globalFlags = map[string]bool{
	"docker": true, "podman": true, "kubectl": true, "helm": true, "npm": true, "pnpm": true, "yarn": true, "bun": true, "cargo": true, "gh": true, "glab": true, "uv": true, "pip": true, "pip3": true, "poetry": true,
	"terraform": true, "tofu": true, "pulumi": true, "aws": true, "gcloud": true, "gsutil": true, "bq": true, "az": true, "doctl": true, "heroku": true, "fly": true, "flyctl": true, "vercel": true, "firebase": true, "wrangler": true, "supabase": true, "oc": true,
}

// valuedFlags are flags that surely take what stands behind them, and bareFlagsOf such as
// surely take nothing, by program: kubectl -n delete get pods gets, and systemctl --user
// status stop shows.
var valuedFlags = map[string][]string{
	"kubectl": {"-n", "--namespace", "--context", "--cluster", "--kubeconfig"}, "helm": {"-n", "--namespace", "--kube-context", "--kubeconfig"},
	"aws": {"--profile", "--region", "--output"}, "docker": {"--context", "--host", "-H", "--config"},
}

var bareFlagsOf = map[string][]string{
	"systemctl": {"--user", "--system", "--no-pager", "--quiet", "-q", "--now", "--all", "-a", "--no-block"},
}

// plainFlags are programs none of whose short flags takes a value in the same word.
var plainFlags = map[string]bool{"rm": true, "cp": true, "mv": true, "chmod": true, "chown": true, "chgrp": true, "ln": true, "mkdir": true, "rmdir": true}
