package mcp

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// maxUnpassed is how many variables are named at a time.
const maxUnpassed = 3

// variableName matches names of variables in what programs say: with a "_", because
// words in capitals are many.
var variableName = pattern.Lazy(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)

// wantsKey finds what programs say that lack a key and do not name its variable.
var wantsKey = pattern.Lazy(`(?i)\b(api[ _-]?keys?|tokens?|credentials?|secrets?|environment|env|unauthori[sz]ed|authentication)\b`)

// refusesKey finds the same in what tools answer, which may speak of tokens for other reasons.
var refusesKey = pattern.Lazy(`(?i)\bunauthori[sz]ed\b|\bunauthenticated\b|\bapi[ _-]?keys?\b|\b(?:tokens?|credentials?|secrets?|authentication)\b[^.\n]{0,20}\b(?:required|missing|not (?:set|provided|found|configured))\b|\b(?:no|missing) (?:access )?(?:tokens?|credentials?)\b`)

// keyName matches what names of variables that hold a key end in.
var keyName = pattern.Lazy(`_(KEY|TOKEN|SECRET|PASSWORD|PAT|CREDENTIALS)$`)

// unpassed says which variables a server lacks that are set here: those that its failure
// names, or, where it only speaks of a key (in words that match lacksOne), those named after the server.
// given is what its program gets. It is "" or ends in "; ", and no value is in it.
func (s *server) unpassed(given []string, failure string, lacksOne *regexp.Regexp) string {
	environ, _ := s.at.Environ()
	has := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(kv string) bool { v, ok := strings.CutPrefix(kv, name+"="); return ok && v != "" })
	}
	lacks := func(name string) bool {
		private := s.at.Private
		return has(environ, name) && !has(given, name) && !(s.conf.Keyless && private != nil && private(name))
	}
	var names []string
	for _, name := range variableName().FindAllString(failure, -1) {
		if !slices.Contains(names, name) && lacks(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && lacksOne.MatchString(failure) {
		about := strings.ToLower(s.conf.Name + " " + filepath.Base(s.conf.Command) + " " + strings.Join(s.conf.Args, " "))
		for _, kv := range environ {
			name, _, _ := strings.Cut(kv, "=")
			first, _, _ := strings.Cut(name, "_")
			if len(first) > 3 && keyName().MatchString(name) && strings.Contains(about, strings.ToLower(first)) && lacks(name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	names = names[:min(len(names), maxUnpassed)]
	verb, them := "is", "it"
	if len(names) > 1 {
		verb, them = "are", "them"
	}
	return fmt.Sprintf(`%s %s set here and not passed: name %s in env, as "%s": "${%s}" (%s); `, strings.Join(names, ", "), verb, them, names[0], names[0], s.conf.Origin)
}

// missed is unpassed of a server that runs, for what a tool of it answered.
func (s *server) missed(failure string) string {
	if s.conf.Command == "" {
		return ""
	}
	c, err := s.command()
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(s.unpassed(c.Env, failure, refusesKey()), "; ")
}
