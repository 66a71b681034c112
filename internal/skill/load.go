package skill

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/adze-agent/adze/internal/text/clip"
)

// Read reads places, and returns what each of them has. Problems say in a line each
// what cannot be used, or not as it was meant; everything else can.
func Read(places []Place) ([]Part, []Problem) {
	var bad problems
	var all []reading
	onDisk := 0 // of them
	disk := look{}
	for i := range places {
		if places[i].Text == nil && !disk.there(places[i].Dir) {
			continue
		}
		files, wrong := places[i].files()
		bad.tell(wrong...)
		for _, f := range files {
			all = append(all, reading{p: &places[i], at: i, f: f})
		}
		if places[i].Text == nil {
			onDisk += len(files)
		}
	}
	// Reading waits for the disk, and a start waits for this.
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(readers, onDisk) {
		wait.Go(func() { // ends with the list
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				if all[i].p.Text == nil {
					all[i].read()
				}
			}
		})
	}
	for i := range all {
		if all[i].p.Text != nil {
			all[i].read()
		}
	}
	wait.Wait()
	out := make([]Part, len(places))
	for _, r := range all {
		bad.tell(r.notes...)
		if r.bad != nil {
			bad.tell(*r.bad)
			continue
		}
		part := &out[r.at]
		switch d := r.out.(type) {
		case Skill:
			part.Skills = append(part.Skills, d)
		case Agent:
			part.Agents = append(part.Agents, d)
		case Style:
			part.Styles = append(part.Styles, d)
		}
	}
	return out, bad.list
}

// readers is how many files are read at once.
const readers = 4

// A reading is a file and what it came to.
type reading struct {
	p     *Place
	at    int // its number
	f     found
	out   any // a Skill, an Agent or a Style
	notes []Problem
	bad   *Problem
}

func (r *reading) read() {
	text, bad := r.p.read(r.f.path, r.f.straight)
	if r.bad = bad; bad != nil {
		return
	}
	if r.out, r.notes, r.bad = parse(*r.p, r.f, text); r.bad != nil {
		r.bad.File = shown(*r.p, r.f)
		r.bad.Used = r.bad.Used || r.p.Kind == Agents && r.p.Of != "" // it works for its program
	}
	for i := range r.notes {
		r.notes[i].File = shown(*r.p, r.f)
	}
}

// problems are bounded.
type problems struct{ list []Problem }

func (b *problems) tell(ps ...Problem) {
	for _, p := range ps {
		if len(b.list) == maxProblems {
			b.list = append(b.list, Problem{Text: "and more"})
		}
		if len(b.list) < maxProblems {
			b.list = append(b.list, p)
		}
	}
}

// shown is where a file is, for people.
func shown(p Place, f found) string {
	if p.Text != nil {
		return ""
	}
	return f.path
}

// parse makes of a file what it defines: a Skill, an Agent or a Style. bad is that
// it defines nothing.
func parse(p Place, f found, text []byte) (out any, notes []Problem, bad *Problem) {
	if p.Kind == Agents {
		return parseAgent(p, f, text)
	}
	if strings.HasSuffix(strings.ToLower(f.path), ".toml") {
		return parseTOML(p, f, text)
	}
	if p.Kind == Workflows {
		return workflowOf(p, f, text)
	}
	h, body, first, bad := readHead(string(text))
	switch p.Kind {
	case Agents: // see above
	case Styles:
		s := styleOf(p, f, &h, body)
		if bad == nil && s.Text == "" {
			bad = &Problem{Text: "an output style without a text"}
		}
		return s, h.notes, bad
	case Skills, Commands, Workflows:
	}
	s := skillOf(p, f, &h, body)
	if p.Kind == Commands && p.Of != "" {
		s = s.in(p.Of, &h)
	}
	if bad != nil {
		// What it may do, and for whom it is, is not known then.
		return nil, nil, bad
	}
	if utf8.RuneCountInString(body) > maxBody {
		h.note(first, "the text has more than %s characters; the rest is not used", clip.Thousands(maxBody))
	}
	s.sum = sha256.Sum256(text)
	return s, h.notes, nil
}

// parseAgent makes of a file the agent that it defines.
func parseAgent(p Place, f found, text []byte) (out any, notes []Problem, bad *Problem) {
	h, body, said, bad := agentHead(p.Of, f, text)
	if bad != nil {
		return nil, nil, bad
	}
	a, bad := agentOf(p, f, &h, body)
	return a, append(h.notes, said...), bad
}

// agentHead reads the fields of a definition as adze's. said is what of them has no effect.
func agentHead(of Dialect, f found, text []byte) (h head, body string, said []Problem, bad *Problem) {
	if of == Codex {
		h, body, bad = tomlHead(text)
	} else {
		h, body, _, bad = readHead(string(text))
	}
	if bad == nil && of != "" {
		said, bad = translate(of, f, &h, body)
	}
	return h, body, said, bad
}

// thing is what all kinds have in common, without a description.
func thing(p Place, f found, name string) Thing {
	t := Thing{Name: name, File: shown(p, f), From: p.From, Scope: p.Scope, BuiltIn: p.BuiltIn}
	if t.From == "" {
		t.From = cmp.Or(t.File, "adze")
	}
	if p.Plugin != "" {
		t.Name = p.Plugin + ":" + t.Name
	}
	return t
}

// efforts are those that a skill or an agent can name.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

func skillOf(p Place, f found, h *head, body string) Skill {
	name := f.name
	if own := h.text("name"); own != "" && p.Kind == Skills && own != name {
		if validName(own) == "" {
			name = own
			h.note(h.line["name"], "the name %s is not that of its folder, %s", own, f.name)
		} else {
			h.note(h.line["name"], "the name %q %s; it is called %s, as its folder is", clip.Line(clip.Visible(own), 80), validName(own), f.name)
		}
	}
	name = callable(name)
	s := Skill{
		Thing: thing(p, f, name), Command: p.Kind == Commands,
		When: h.oneLine("when_to_use", MaxDescription), Hint: h.written("argument-hint", 200),
		NoModel: h.flag("disable-model-invocation", false), NoPerson: !h.flag("user-invocable", true),
		Allowed: h.list("allowed-tools"), Denied: h.list("disallowed-tools"),
		Model: h.oneLine("model", 200), Effort: h.choice("effort", efforts...),
		Fork: h.choice("context", "fork") == "fork", Agent: h.oneLine("agent", 100), Background: h.flag("background", false),
		Paths: h.globs("paths"), Shell: h.choice("shell", "bash", "powershell"), Hooks: h.json("hooks"),
		License: h.oneLine("license", 500), Compatible: h.oneLine("compatibility", 500), Metadata: h.dict("metadata"),
		Dir: f.dir, Root: p.Root, Data: p.Data,
		place: p, path: f.path,
	}
	names, hint := h.arguments()
	s.Arguments, s.Hint = names, cmp.Or(s.Hint, hint)
	if s.Model == "inherit" {
		s.Model = ""
	}
	if s.Fork && s.Background {
		h.note(h.line["background"], "background: this version waits for the agent of a skill")
	}
	if s.Shell == "powershell" && len(Runs(commandsIn(body))) > 0 {
		h.note(h.line["shell"], "its commands are for PowerShell and are not run: this version runs commands of skills with bash alone")
	}
	s.Description = h.oneLine("description", MaxDescription)
	if s.Description == "" {
		s.Description = opening(body)
		if p.Kind == Skills {
			s.NoModel = true
			h.note(0, "it has no description: people can use it, the model is not told of it")
		}
	}
	return s
}

// opening is the first line of a text, without its marks, as a description.
func opening(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# \t>*-")); line != "" {
			return clip.Line(clip.Visible(line), 120)
		}
	}
	return ""
}

// callable is a name that can stand behind "/": without spaces and what
// separates.
func callable(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '-'
		case unicode.IsControl(r) || !unicode.IsPrint(r) || strings.ContainsRune("/\\\"'`$(),", r):
			return -1
		}
		return r
	}, clip.Line(name, 120))
}

// validName says what is wrong with a skill's name (agentskills.io), "" when
// nothing is.
func validName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > 64:
		return "has more than 64 characters"
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return "has other characters than a-z, 0-9 and -"
	case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		return "begins or ends with -"
	case strings.Contains(name, "--"):
		return "has two - in a row"
	}
	return ""
}

// parseTOML reads a command of Gemini: https://geminicli.com/docs/cli/custom-commands/
func parseTOML(p Place, f found, text []byte) (any, []Problem, *Problem) {
	var v struct {
		Prompt      any `toml:"prompt"`
		Description any `toml:"description"`
	}
	if _, err := toml.Decode(string(text), &v); err != nil {
		return nil, nil, tomlProblem(err)
	}
	prompt, ok := v.Prompt.(string)
	if !ok || strings.TrimSpace(prompt) == "" {
		return nil, nil, &Problem{Text: "a command without a prompt"}
	}
	about, _ := v.Description.(string)
	s := Skill{
		Thing: thing(p, f, callable(f.name)), Command: true, toml: true, Dir: f.dir, Root: p.Root, Data: p.Data,
		place: p, path: f.path, sum: sha256.Sum256(text),
	}
	s.Description = clip.Line(clip.Visible(about), MaxDescription)
	if s.Description == "" {
		s.Description = opening(prompt)
	}
	return s, nil, nil
}

// tomlProblem is an error of the parser with the line of the file.
func tomlProblem(err error) *Problem {
	bad := &Problem{Text: "it is no TOML: " + clip.Line(clip.Visible(err.Error()), 200)}
	if e, ok := err.(toml.ParseError); ok {
		bad.Line, bad.Text = e.Position.Line, "it is no TOML: "+clip.Line(clip.Visible(e.Message), 200)
	}
	return bad
}

// Body reads the text of a skill, as it is now; what of its front matter changed
// since it was loaded does not count. A file that is not what a person trusted is
// an error, and so is one that changed of a library that is Held.
func (s Skill) Body() (string, error) {
	text, err := s.text()
	if err != nil {
		return "", err
	}
	body := ""
	if s.Workflow {
		return s.asked(), nil
	} else if s.toml {
		var v struct {
			Prompt string `toml:"prompt"`
		}
		if _, err := toml.Decode(string(text), &v); err != nil {
			return "", fmt.Errorf("%s: it is no TOML any more: %w", s.path, err)
		}
		body = v.Prompt
	} else {
		var bad *Problem
		if _, body, _, bad = readHead(string(text)); bad != nil {
			bad.File = s.path
			return "", problemError{*bad}
		}
	}
	if s.BuiltIn {
		return strings.TrimSpace(body), nil
	}
	body = strings.TrimSpace(clip.Clean(body))
	if r := []rune(body); len(r) > maxBody {
		body = string(r[:maxBody]) + "\n[the text is longer; the rest is in " + s.path + "]"
	}
	return body, nil
}

// text is what stands in the file now.
func (s Skill) text() ([]byte, error) {
	text, bad := s.place.read(s.path, false)
	if bad != nil {
		return nil, problemError{*bad}
	}
	if s.held && sha256.Sum256(text) != s.sum {
		return nil, fmt.Errorf("%s changed, and a hook of ConfigChange refused the change: the skill can be used when the file is what it was", s.path)
	}
	return text, nil
}

type problemError struct{ p Problem }

func (e problemError) Error() string { return e.p.String() }
