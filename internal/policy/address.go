package policy

import (
	"net/url"
	"slices"
	"strings"
)

// fetchers are programs whose operands are addresses, with a scheme before them or without.
var fetchers = map[string]bool{"curl": true, "wget": true, "http": true, "https": true, "xh": true}

// bareFlags are flags of curl and wget that take no value, bareLetters those of one letter.
var bareFlags = []string{"--silent", "--show-error", "--fail", "--fail-with-body", "--include", "--head", "--verbose", "--insecure", "--location", "--get", "--no-buffer", "--compressed"}

const bareLetters = "sSfiIvkLGN"

// fetchesFrom reports a command whose words may be addresses, and whether it needs no scheme.
func fetchesFrom(argv []string) (fetches, plain bool) {
	if len(argv) == 0 {
		return false, false
	}
	plain = fetchers[programName(argv[0])]
	return plain || programName(argv[0]) == "git" && slices.ContainsFunc(argv, func(w string) bool {
		return slices.Contains([]string{"clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive"}, w)
	}), plain
}

// mayReach reports a command one of whose words, read in some way, is an address of a host that
// a rule names: behind any flag, glued to it, as host:port or user@host:path, or with a pattern.
func mayReach(rule Rule, e Effect, argv []string) bool {
	fetches, plain := fetchesFrom(argv)
	if !fetches || rule.Tool != "WebFetch" {
		return false
	}
	names := func(text string) bool {
		if scheme, rest, ok := strings.Cut(text, ":/"); ok && !strings.ContainsAny(scheme, "/@:") {
			text = rest
		} else if !plain && !strings.Contains(text, ":") {
			return false // a branch or a folder
		}
		text = strings.TrimLeft(text, "/")
		text = text[:strings.IndexAny(text+"/", `/?#\`)]
		text = text[strings.LastIndexByte(text, '@')+1:]
		if inside := strings.Trim(text, "[]:0123456789abcdefABCDEF."); inside != "" && strings.ContainsAny(text, "{[*") {
			return true // curl puts names for it
		}
		if plainText, err := url.PathUnescape(text); err == nil {
			text = plainText
		}
		text = strings.NewReplacer("。", ".", "．", ".", "｡", ".").Replace(text)
		parts := strings.Split(text, ":")
		if !plain {
			parts = parts[:1] // what follows is a port or a path
		}
		return slices.ContainsFunc(append(parts, strings.Trim(text, "[]")), func(host string) bool {
			return host != "" && matchNet(rule, e, Net{Host: host})
		})
	}
	for _, w := range argv[1:] {
		for i := range w {
			glued := len(w) > 1 && w[0] == '-' && w[1] != '-' && i > 1 && i < 8 // -sxHOST
			value := i > 0 && w[i-1] == '=' && !strings.ContainsAny(w[:i], "?/") || !plain && strings.HasSuffix(w[:i], "://")
			if (i == 0 && !isFlag(w) || glued || value) && names(w[i:]) {
				return true
			}
		}
	}
	return false
}

// takesNext reports a flag of curl or wget behind which its value may stand.
func takesNext(w string) bool {
	return isFlag(w) && !slices.Contains(bareFlags, w) && !strings.HasSuffix(w, "-") && strings.Trim(w[1:], bareLetters+"q") != ""
}

// namesHost reports a rule that speaks of hosts: WebFetch(domain:x), and one for a program
// that fetches with an address behind it.
func (rule *compiledRule) namesHost(argv []string) bool {
	if rule.Tool == "WebFetch" {
		return rule.Spec != ""
	}
	words := strings.FieldsFunc(rule.Spec, func(c rune) bool { return strings.ContainsRune(" *:", c) })
	return len(argv) > 0 && len(words) > 1 && fetchers[words[0]] && programName(argv[0]) == words[0] && slices.ContainsFunc(words[1:], func(w string) bool {
		return w[0] != '-' && (strings.Contains(w, "localhost") || strings.Contains(strings.Trim(w, "./"), ".") || strings.HasPrefix(w, "//"))
	})
}

// hostUnknown reports a command that fetches or sends, and whose words do not say from which
// host: they stand in a file, come from elsewhere, or are worked out when it runs.
func (a Exec) hostUnknown() bool {
	fetches, plain := fetchesFrom(a.Argv)
	if !fetches {
		return false
	}
	verb := 0
	if !plain {
		verb = slices.IndexFunc(a.Argv, func(w string) bool { _, is := gitAddress[w]; return is })
	}
	if verb < 0 {
		return false
	}
	operand := 0
	for i, w := range a.Argv[verb+1:] {
		before := a.Argv[verb+i]
		if plain && listsHosts(programName(a.Argv[0]), before, w) {
			return true
		}
		if !isFlag(w) {
			operand++
		}
		at := slices.IndexFunc(a.Open, func(o Open) bool { return o.Source == w })
		if at < 0 && a.Sure >= Possible && strings.ContainsAny(w, "$`") { // it stands in a text, which nobody worked out
			if head := w[:strings.IndexAny(w, "$`")]; !saysHost(head) && !isFlag(head) && !(i > 0 && takesNext(before)) {
				return true
			}
		}
		switch {
		case at < 0, isFlag(a.Open[at].Head) && !strings.HasPrefix(a.Open[at].Head, "--url"), saysHost(a.Open[at].Head):
		case !plain && operand > gitAddress[a.Argv[verb]]:
		case plain && i > 0 && takesNext(before) && !a.Open[at].Many && !slices.Contains([]string{"--url", "-x", "--proxy", "--preproxy", "--connect-to", "--resolve"}, before):
		default:
			return true
		}
	}
	return false
}

// gitAddress are the subcommands of git that take an address, and how many of their operands
// it may be one of.
var gitAddress = map[string]int{"clone": 1, "fetch": 1, "pull": 1, "push": 1, "ls-remote": 1, "archive": 1, "remote": 9, "submodule": 9}

// saysHost reports the beginning of an address that goes on behind its host: only a slash ends
// that for sure, as a name and a number may stand before an @.
func saysHost(head string) bool {
	scheme, rest, ok := strings.Cut(head, "://")
	if !ok {
		scheme, rest = "", head
	}
	end := strings.IndexAny(rest, "/?#")
	if at := strings.IndexByte(rest, '@'); !ok && at > 0 && end < 0 { // git@host:path
		end = at + strings.IndexByte(rest[at:], ':')
	}
	return end > 0 && !strings.ContainsAny(scheme, "/ ")
}

// listsHosts reports a word of a program by which addresses come from a file, or another one
// may be reached than the words say.
func listsHosts(program, before, w string) bool {
	letters := ""
	if isFlag(w) && w[1] != '-' {
		letters = w[1:]
	}
	lead := func(valued string) string { // the flags before what is glued to one of them
		return letters[:min(len(letters), strings.IndexAny(letters+valued, valued)+1)]
	}
	switch program {
	case "curl":
		return strings.HasPrefix(w, "--conf") || strings.HasPrefix(w, "--url=@") || before == "--url" && strings.HasPrefix(w, "@") || strings.Contains(lead("XHduAbeFmrxyYzECwQPtUoTcDK"), "K")
	case "wget":
		return strings.HasPrefix(w, "--input") || strings.HasPrefix(w, "--conf") || strings.HasPrefix(w, "--exec") || strings.ContainsAny(lead("aBtTQUwRAIDlXoOPie"), "ie")
	}
	return false
}

// reached are the hosts of the addresses that a command surely names to fetch from.
func reached(argv []string) (hosts []string) {
	some, fetches := fetchesFrom(argv)
	if !some {
		return nil
	}
	for i, w := range argv[1:] {
		if flag, val, glued := strings.Cut(w, "="); glued && isFlag(flag) { // --url=
			w = val
		}
		scheme, rest, ok := strings.Cut(w, "://")
		switch {
		case ok && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz") == "":
		case !ok && fetches && !isFlag(w) && (i == 0 || !takesNext(argv[i])):
			rest = w
		default:
			continue
		}
		rest = strings.TrimLeft(rest, "/")
		rest = rest[:strings.IndexAny(rest+"/", `/?#\`)]
		rest = rest[strings.LastIndexByte(rest, '@')+1:]
		if at := strings.LastIndexByte(rest, ':'); at >= 0 && !strings.HasSuffix(rest, "]") {
			rest = rest[:at]
		}
		hosts = append(hosts, strings.Trim(rest, "[]"))
	}
	return hosts
}

// hostWord reports whether the last word of a command that a rule allows, before :*, is an
// address as far as its host: http://localhost. Any port and path of that are meant.
func hostWord(words []string) bool {
	if len(words) < 2 || strings.ContainsAny(strings.Join(words, " "), string(star)+string(within)) {
		return false
	}
	scheme, host, ok := strings.Cut(words[len(words)-1], "://")
	switch {
	case !ok && fetchers[words[0]] && (scheme == "localhost" || strings.Contains(scheme, ".")):
		host = scheme
	case !ok || scheme == "" || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") != "":
		return false
	}
	return host != "" && strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == ""
}

// matchHost compares a command with a pattern that ends so: flags may stand before the
// address and behind it. A name or a number with a sign behind it would be somebody's who
// signs in elsewhere: http://localhost:3000@x.example.
func (p commandPattern) matchHost(argv []string) bool {
	n, host := len(p.tokens)-1, p.tokens[len(p.tokens)-1]
	if len(argv) <= n || !slices.Equal(argv[:n], p.tokens[:n]) {
		return false
	}
	if fetchers[argv[0]] {
		n += plainFlagsOf(argv[0], argv[n:])
		if n == len(argv) || plainFlagsOf(argv[0], argv[n+1:]) < len(argv)-n-1 {
			return false
		}
	}
	address := argv[n]
	if bare, ok := strings.CutPrefix(host, "http://"); ok && argv[0] == "curl" && bare == "localhost" && !strings.Contains(address, "://") {
		host = bare // curl reads it so
	}
	rest, ok := strings.CutPrefix(address, host)
	if port, has := strings.CutPrefix(rest, ":"); has {
		if rest = strings.TrimLeft(port, "0123456789"); rest == port {
			return false
		}
	}
	return ok && (rest == "" || rest[0] == '/')
}

// plainFlagsOf is how many of the first words are flags of curl with what they take, and none
// that leads to another host. Of another program none is taken to have a value, which would be
// an address if it had none.
func plainFlagsOf(program string, words []string) int {
	letters, valued := bareLetters, "HXdwmubAo"
	if program != "curl" {
		letters, valued = "qSv", ""
	}
	for i := 0; i < len(words); i++ {
		w, at := words[i], i
		if i+1 < len(words) && sendsOutside(w, words[i+1]) {
			return at
		}
		last := ""
		if len(w) > 1 && w[0] == '-' && w[1] != '-' {
			last = strings.TrimLeft(w[1:], letters)
		}
		switch {
		case slices.Contains(bareFlags, w), len(w) > 1 && w[0] == '-' && w[1] != '-' && last == "":
			continue
		case valued != "" && slices.Contains([]string{"--header", "--request", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "--write-out", "--max-time", "--connect-timeout", "--user", "--cookie", "--user-agent", "--output", "--retry", "--retry-delay", "--form"}, w), len(last) == 1 && strings.Contains(valued, last):
			i++
		case len(last) > 1 && strings.Contains(valued, last[:1]) && !sendsOutside("-"+last[:1], last[1:]): // -XPOST
		default:
			return at
		}
		if i >= len(words) {
			return at
		}
	}
	return len(words)
}

// sendsOutside reports a value of a flag of curl that may name a file outside of the folder:
// @FILE, the file of --cookie, and what stands behind a sign in a form.
func sendsOutside(flag, val string) bool {
	file, ok := strings.CutPrefix(val, "@")
	switch {
	case ok:
	case flag == "--form" || flag == "--data-urlencode":
		i := strings.IndexAny(val, "@<")
		file, ok = val[i+1:], i >= 0
	case flag == "--cookie" || !strings.HasPrefix(flag, "--") && strings.HasSuffix(flag, "b"):
		ok = !strings.Contains(val, "=")
	}
	file = strings.TrimLeft(file, `"`)
	return ok && (strings.HasPrefix(file, "/") || strings.HasPrefix(file, "~") || strings.Contains(file, "..") || strings.Contains(file, ",/") || strings.Contains(file, ":/"))
}

// addresses are, of a rule that forbids or asks and ends so, the readings in which a port or
// a path follows, each with its scheme and, where curl adds it, without.
func (r reading) addresses() (out []reading) {
	n := len(r.steps) - 1
	if n < 0 || !r.steps[n].prefix || !hostWord(r.steps[n].tokens) {
		return nil
	}
	words := r.steps[n].tokens
	last := words[len(words)-1]
	for _, host := range []string{last, strings.TrimPrefix(last, "http://")} {
		for _, behind := range []string{":" + string(star), "/" + string(star)} {
			one := reading{steps: slices.Clone(r.steps), bad: r.bad}
			one.steps[n].tokens, one.steps[n].wild = nil, strings.Join(append(slices.Clone(words[:len(words)-1]), host+behind), "\x00")
			out = append(out, one)
		}
	}
	return out
}
