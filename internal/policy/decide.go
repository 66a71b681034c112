package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Decide returns the strictest verdict over all actions. A request that
// names no action is Ask.
//
// The order, per action: the first step that settles it counts (go test -update writes it).
//  1. in a worktree of its own, a session is denied what is of another checkout
//  2. a path that code or a flag only names: protected paths, deny rules, secrets; nothing else counts
//  3. a deny rule denies
//  4. a deny or ask rule that may mean the command, of which not all words are known, asks
//  5. a deny or ask rule that means a command which stands in this one decides
//  6. a deny rule for a path that the command may change asks
//  7. a path with a NUL character is denied
//  8. the mode plan denies what does more than read
//  9. a deny rule for something below a folder of which not all is known asks
//  10. settings that could not be read ask about everything
//  11. an ask rule asks
//  12. what needs a person asks
//  13. protected paths, devices and what would be lost for good ask
//  14. what a command only may mean is allowed: nothing forbids it
//  15. the mode bypassPermissions asks, where a rule denies commands, about one that nobody could read
//  16. the mode allows: bypassPermissions everything, acceptEdits changes inside the folders
//  17. where a rule denies commands, one that nobody could read asks
//  18. allow rules, what provably only reads, and the sandbox allow
//  19. nothing matched: it asks, and the mode dontAsk denies
//
// end of the order
func Decide(r Rules, m Mode, q Request) Verdict {
	v, _ := Judge(r, m, q)
	return v
}

// A Judged is an action with the verdict on it by itself. Of is the command that touches it,
// nil for what none does.
type Judged struct {
	Action Action
	Verdict
	Of *Exec
}

// Judge is Decide that also returns the verdict on every action by itself, in the order of All.
func Judge(r Rules, m Mode, q Request) (Verdict, []Judged) {
	if len(q.Actions) == 0 {
		return UnlessDontAsk(m, Verdict{Effect: Ask, Reason: "the tool did not say what it would do", Check: CheckNoAction}), nil
	}
	all := each(r, m, q)
	out := all[0].Verdict
	for _, j := range all[1:] {
		out = graver(out, j.Verdict)
	}
	if out.Effect == Ask {
		out.Suggest, out.Parts = suggestAll(all), thin(Account(all))
		out.Loses = slices.ContainsFunc(all, func(j Judged) bool { return j.loses(r) })
		if r.ManagedOnly { // no rule that somebody adds would count
			out.Suggest = nil
		}
	}
	out.Needs = needs(r, q, all, out.Effect)
	out.Needs.keep(r, hiding(r, m, q), all)
	return out, all
}

// loses reports whether an action takes away what is nowhere else, also where a rule or
// another check settled it.
func (j Judged) loses(r Rules) bool {
	switch a := j.Action.(type) {
	case Exec:
		return a.Loses != ""
	case Write:
		takes := a.Remove && a.Tree && !a.Moved && (filepath.Base(a.Path) == ".git" || a.repository() != "")
		return j.Check == CheckRemoval || takes || vital(r, a) != "" || device(a.Path) != ""
	case Read, Opaque, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
	}
	return false
}

// graver is strictest; of two questions it takes the one that the fewest may
// settle, so that the classifier of auto mode never rules on a call of which
// one part is a person's to decide. Of two parts that are allowed, the one speaks
// for both that took more than reading.
func graver(a, b Verdict) Verdict {
	switch {
	case a.Effect == Ask && b.Effect == Ask && gravity(b) > gravity(a),
		a.Effect == Allow && b.Effect == Allow && license(b) > license(a):
		return b
	}
	return strictest(a, b)
}

// each decides every action by itself.
func each(r Rules, m Mode, q Request) []Judged {
	if m == Bypass && r.NoBypass {
		m = Default
	}
	if m == Auto {
		r = WithoutAside(r)
	}
	rules := compileRules(r)
	c := call{rules: &rules, mode: m, req: q, mixed: !readOrEdits(q.Actions), hide: hiding(r, m, q), steps: settlings()}
	out := make([]Judged, 0, len(q.Actions))
	seen := map[memoKey]Verdict{}
	for i, a := range q.Actions {
		c.at = i
		out = append(out, Judged{Action: a, Verdict: c.memo(seen, a)})
		e, ok := a.(Exec)
		if !ok || len(e.Touches) == 0 {
			continue
		}
		of, within := e, c.within(e)
		for _, t := range e.Touches {
			out = append(out, Judged{Action: t, Verdict: within.memo(seen, t), Of: &of})
		}
	}
	if q.Sandboxed && unasked(out, CheckSandbox, CheckMode) { // it would have the folder open, too
		for i, j := range out {
			if w, ok := j.Action.(Write); ok && w.Opens && j.Effect == Allow {
				out[i].Verdict = UnlessDontAsk(m, c.opening(w, suggestOf(j.Of)))
			}
		}
	}
	return out
}

// opening is the question whether a folder may be opened for a command.
func (c *call) opening(w Write, suggest []string) Verdict {
	at := c.show("", w.Path)
	v := Verdict{Effect: Ask, Check: CheckRemoval, Part: w.Path, Suggest: suggest,
		Reason: "git would change files in all of " + at + ", and commands may write only a part of it; a yes lets this command write all of it, --add-dir " + at + " every command"}
	if w.Remove {
		v.Reason = "git would take the folder " + at + " away, of which the sandbox keeps some files in their places; a yes lets this command do it"
	}
	return v
}

// A memoKey is everything that the verdict on a path depends on.
type memoKey struct {
	a        Action
	of       owner
	suggests string
}

// memo is judge of a path once: a long script touches the same files over and over.
func (c *call) memo(seen map[memoKey]Verdict, a Action) Verdict {
	switch a.(type) {
	case Exec, Opaque, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
		return c.judge(a)
	case Read, Write:
	}
	key := memoKey{a, c.owner, strings.Join(c.suggests, "\x00")}
	v, ok := seen[key]
	if !ok {
		v = c.judge(a)
		seen[key] = v
	}
	return v
}

// suggestAll unites the suggestions of all asking parts; one part that no
// rule can cover makes them useless.
func suggestAll(all []Judged) []string {
	var out []string
	seen := map[string]bool{}
	for _, v := range all {
		if v.Effect != Ask {
			continue
		}
		if len(v.Suggest) == 0 {
			return nil
		}
		for _, s := range v.Suggest {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// A call is one request being judged.
type call struct {
	rules *compiled
	mode  Mode
	req   Request
	mixed bool // not all commands only read or edit, so nothing is pinned
	hide  Hide // what the sandbox hides from it
	at    int  // the index of the action that is judged, or touched by it
	steps []settling

	// The command whose variants were last worked out, and these.
	lastExec     *string
	lastDir      string
	lastVariants *variants

	owner             // of what is judged
	suggests []string // rules that allow its owner
}

func (c *call) judge(a Action) Verdict {
	if v, ok := c.tree(a); ok {
		return v
	}
	return c.one(a)
}

// denies is what a rule says of an action: of a folder with all below it, what stands there.
func (c *call) denies(rule *compiledRule, a Action) string {
	if w, ok := a.(Write); ok && w.Tree && !c.matchFile(rule, w.Path, w.Named, w.Asked) {
		if found, _ := c.stands(rule, w); found != "" {
			return "a rule denies to change " + found
		}
	}
	return "a rule denies it"
}

// mayHold asks about a folder of which not all is known, and a rule denies to change some.
func (c *call) mayHold(a Action) (Verdict, bool) {
	w, ok := a.(Write)
	if !ok || !w.Tree {
		return Verdict{}, false
	}
	for i := range c.rules.by[Deny] {
		rule := &c.rules.by[Deny][i]
		if rule.family() != "Edit" {
			continue
		}
		if _, sure := c.stands(rule, w); sure == maybeIs {
			return c.unlessDontAsk(byRule(Ask, rule, w, "what stands below "+c.show(w.Asked, w.Path)+" is not all known, and a rule denies to change some of it")), true
		}
	}
	return Verdict{}, false
}

// mayBeDenied asks about a command that may turn out to be one which a rule denies or
// asks about, because some word of it is not known before it runs, or stands behind
// a flag.
func (c *call) mayBeDenied(a Action) (Verdict, bool) {
	e, ok := a.(Exec)
	if !ok {
		return Verdict{}, false
	}
	rule := c.mayMatch(Deny, e)
	does := "denies"
	if rule == nil {
		if c.find(Ask, e) != nil { // it is one, and the rule says so in its turn
			return Verdict{}, false
		}
		rule, does = c.mayMatch(Ask, e), "asks about"
	}
	if rule == nil {
		return Verdict{}, false
	}
	why := "not all words of this command are known before it runs"
	switch {
	case rule.namesHost(e.Argv) && e.hostUnknown():
		why = "which host this command reaches is not known before it runs"
	case rule.Tool == "WebFetch":
		why = "a word of this command may be the address of a host"
	case len(e.Open) == 0:
		why = "what stands for a subcommand here depends on its flags"
	}
	return c.unlessDontAsk(byRule(Ask, rule, a, why+", and it may be one that a rule "+does)), true
}

// unseen asks, where a rule denies commands, about what may run one that nobody
// could read. The mode that allows everything lets pass what names no command that
// is not known, and scripts in files, which run as well when they are programs.
func (c *call) unseen(a Action) (Verdict, bool) {
	why := ""
	switch a := a.(type) {
	case Opaque:
		if (!a.Listed || c.mode != Bypass) && !c.spelledOut(a) && !(a.Listed && c.namedPart(a)) {
			why = a.Why
		}
	case Exec:
		if a.FromFile && c.mode == Bypass {
			break
		}
		if !c.spelledOut(a) {
			why = a.Unseen
		}
	case Read, Write, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
	}
	if why == "" {
		return Verdict{}, false
	}
	for i := range c.rules.by[Deny] {
		if rule := &c.rules.by[Deny][i]; shellTool(rule.Tool) && !rule.cmd.any {
			return c.classifiable(Verdict{Effect: Ask, Reason: "a rule denies commands (" + rule.Text() + "), and which ones this runs could not be read: " + why, Check: CheckOpaque, Part: part(a)}), true
		}
	}
	return Verdict{}, false
}

// maybe reports whether an action is only a possible meaning of another one.
func maybe(a Action) bool {
	switch a := a.(type) {
	case Exec:
		return a.Sure >= Possible
	case Write:
		return a.Sure >= Possible
	case Read:
		return a.Sure >= Possible
	case Opaque, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
	}
	return false
}

// An owner is what is known of the command whose touches are judged; the zero value is for
// what no command touches.
type owner struct {
	owned   bool
	covered *compiledRule // the allow rule that covers the command
	flagged bool          // only because it names a flag that writes
	pure    bool          // the command changes nothing by itself
}

// within is the call while it looks at what a command touches.
func (c *call) within(e Exec) *call {
	in := *c
	in.owner, in.suggests = owner{owned: true, pure: e.ReadOnly || e.Edits || e.Sure >= Possible}, c.suggestExec(e)
	if rule := c.find(Allow, e); rule != nil {
		in.covered, in.flagged = rule, len(e.Outputs) > 0 && !c.spelledOut(e)
	}
	return &in
}

// ruled reports whether a rule allows each command of the call.
func (c *call) ruled() bool {
	commands := false
	for a := range All(c.req.Actions) {
		switch a := a.(type) {
		case Exec:
			if a.Sure < Possible && c.find(Allow, a) == nil {
				return false
			}
			commands = true
		case Opaque:
			return false
		case Read, Write, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
		}
	}
	return commands
}

// malformed is what no rule and no person can allow.
func (c *call) malformed(a Action) (Verdict, bool) {
	p := ""
	switch a := a.(type) {
	case Read:
		p = a.Path
	case Write:
		p = a.Path
	case Exec, Opaque, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
	}
	if strings.ContainsRune(p, 0) {
		return Verdict{Effect: Deny, Reason: "a path cannot hold a NUL character", Check: CheckPath}, true
	}
	return Verdict{}, false
}

// immune are the checks that hold in every mode.
func (c *call) immune(a Action) (Verdict, bool) {
	switch a := a.(type) {
	case Exec:
		if a.Loses != "" && !c.spokenOf(a) {
			return Verdict{Effect: Ask, Reason: a.Loses, Check: CheckRemoval, Part: part(a)}, true
		}
	case Read:
		if why := foreign(a.Asked); why != "" && a.Sure == Certain {
			return Verdict{Effect: Ask, Reason: a.Asked + " is not plain: " + why, Check: CheckPath, Part: a.Path}, true
		}
		if a.MayWrite && !c.req.Sandboxed { // the sandbox keeps it from that
			return c.protectedMention(a)
		}
	case Write:
		if why := foreign(a.Asked); why != "" && a.Sure == Certain {
			return Verdict{Effect: Ask, Reason: a.Asked + " is not plain: " + why, Check: CheckPath, Part: a.Path}, true
		}
		if a.Opens && c.req.Sandboxed && c.mode != Bypass && c.covered == nil {
			return c.opening(a, c.suggests), true
		}
		if lost := vital(c.rules.Rules, a); lost != "" {
			if a.Content && !strings.HasPrefix(lost, "everything") {
				lost = "all that is in " + lost
			}
			return Verdict{Effect: Ask, Reason: "this would remove " + lost, Check: CheckRemoval, Part: a.Path}, true
		}
		if at := c.repository(a); at != "" {
			return Verdict{Effect: Ask, Reason: "this would remove the git repository in " + c.show("", at) + ", with commits and stashes that may be nowhere else", Check: CheckRemoval, Part: a.Path}, true
		}
		if name := device(a.Path); name != "" {
			return Verdict{Effect: Ask, Reason: "this would write to the device " + name + ", and what is on it would be lost", Check: CheckRemoval, Part: a.Path}, true
		}
		return c.protectedWrite(a)
	case Opaque, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
	}
	return Verdict{}, false
}

// deniedMention asks about a path that a rule denies and that is named in code, or
// behind a flag: whether it is read or written there is not known. In the sandbox
// it can be neither.
func (c *call) deniedMention(r Read) (Verdict, bool) {
	if c.req.Sandboxed {
		return Verdict{}, false
	}
	read := Read{Path: r.Path, Named: r.Named, Asked: r.Asked}
	rule := c.find(Deny, read)
	for i := range c.rules.by[Deny] {
		if one := &c.rules.by[Deny][i]; rule == nil && one.family() == "Read" && one.matchAll(c.rules.Rules, r.Path) {
			rule = one
		}
	}
	if rule == nil {
		rule = c.deniedEdit(r)
	}
	if rule == nil {
		return Verdict{}, false
	}
	return byRule(Ask, rule, read, "the command names "+c.show(r.Asked, r.Path)+", which a rule denies"), true
}

// deniedEdit is the rule that denies to edit a path, or whatever stands in it; nil
// when there is none.
func (c *call) deniedEdit(r Read) *compiledRule {
	if rule := c.find(Deny, Write{Path: r.Path, Named: r.Named, Asked: r.Asked}); rule != nil {
		return rule
	}
	for i := range c.rules.by[Deny] {
		if rule := &c.rules.by[Deny][i]; rule.family() == "Edit" && rule.matchAll(c.rules.Rules, r.Path) {
			return rule
		}
	}
	return nil
}

// protectedMention asks about a protected path that is given to a program which may
// write it.
func (c *call) protectedMention(a Read) (Verdict, bool) {
	if firstAbove(programPlaces, filepath.ToSlash(a.Path)) != "" {
		return Verdict{}, false
	}
	v, ok := c.protectedPath(Write{Path: a.Path, Named: a.Named, Asked: a.Asked})
	if ok {
		v.Reason += ", and whether this command changes it is not known"
	}
	return v, ok
}

func (c *call) protectedWrite(w Write) (Verdict, bool) {
	if c.note(w) {
		return Verdict{}, false
	}
	return c.protectedPath(w)
}

func (c *call) protectedPath(w Write) (Verdict, bool) {
	for _, d := range c.rules.Writable {
		if Within(d, w.Path, c.rules.FoldCase) {
			return Verdict{}, false
		}
	}
	for _, p := range []string{w.Path, c.named(w.Named, w.Asked)} {
		if w.Makes && Mixed(filepath.Base(p)) && !ofHome(c.rules.Home, strings.Split(strings.Trim(strings.ToLower(filepath.ToSlash(filepath.Dir(p))), "/"), "/")) {
			continue // what is put into it says more
		}
		why, ci := protected(c.rules.Rules, p)
		if why == "" {
			continue
		}
		if ci {
			if c.granted(w) {
				continue
			}
		}
		if w.Own && (c.mode == Bypass && !w.Steers || c.covered != nil && !(w.Steers && c.covered.cmd.any)) {
			continue // what allows the command allows what it is for
		}
		if w.Routine && c.req.Sandboxed {
			continue // what it comes to is judged when the command ends
		}
		v := Verdict{Effect: Ask, Reason: fmt.Sprintf("%s is protected: %s", c.show(w.Asked, w.Path), why), Check: CheckProtected, Part: w.Path}
		if w.Own {
			v.Suggest = c.suggests
		}
		if ci {
			v.Suggest = []string{"Edit(/" + filepath.ToSlash(w.Path) + ")"}
		}
		return v, true
	}
	return Verdict{}, false
}

// unlessDontAsk turns a question into a refusal in the mode that never asks.
func (c *call) unlessDontAsk(v Verdict) Verdict { return UnlessDontAsk(c.mode, v) }

// UnlessDontAsk turns a question into a refusal in the mode that never asks.
func UnlessDontAsk(m Mode, v Verdict) Verdict {
	if m == DontAsk && v.Effect == Ask {
		v.Effect = Deny
		v.Reason = "the mode is dontAsk, and this would need a question: " + v.Reason
		v.Suggest = nil
	}
	return v
}

func (c *call) inDirs(p string) bool {
	return Within(c.rules.Dir, p, c.rules.FoldCase) || c.inAny(c.rules.Dirs, p)
}

// note reports whether w writes a note of the model's own: a Markdown file in
// their folder, resolved, by a tool that says itself what it writes. No link
// leads there, and no command.
func (c *call) note(w Write) bool {
	return !c.owned && !w.Blind && !w.Remove && !w.Tree && strings.HasSuffix(w.Path, ".md") && c.inAny(c.rules.Notes, w.Path)
}

func (c *call) inAny(dirs []string, p string) bool {
	for _, d := range dirs {
		if Within(d, p, c.rules.FoldCase) {
			return true
		}
	}
	return false
}

// named is the absolute spelling of what was asked for.
func (c *call) named(named, asked string) string {
	switch {
	case named != "":
		return named
	case asked == "":
		return ""
	case filepath.IsAbs(asked):
		return filepath.Clean(asked)
	}
	return filepath.Join(c.rules.Dir, asked)
}
