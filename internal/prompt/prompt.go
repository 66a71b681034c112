// Package prompt puts together what a model is told before a conversation
// begins. It is pure: texts are embedded, everything else is given, and equal
// input gives equal bytes. It reads no files and knows no provider.
package prompt

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
)

//go:embed text/*.md
var texts embed.FS

// A Profile is the size of the instructions.
type Profile string

// Profiles.
const (
	Full  Profile = "full"
	Small Profile = "small" // short texts, for small windows
)

// smallWindow is the window, in tokens, up to which a local model gets the
// small profile when the settings leave the choice open.
const smallWindow = 32_000

// Choose turns the setting "auto", "full" or "small" into a profile. window
// is the model's, in tokens, 0 when unknown.
func Choose(setting string, local bool, window int) Profile {
	switch {
	case setting == string(Small):
		return Small
	case setting != string(Full) && local && window > 0 && window <= smallWindow:
		return Small
	}
	return Full
}

// Input is everything the instructions depend on.
type Input struct {
	Profile Profile  // "" is Full
	Tools   []string // names of the tools that are present
	Print   bool     // nobody can answer a question
	Child   bool     // it works for another session; goes before Print
	// Replace takes the place of the built-in texts.
	Replace string
	Env     Environment
	Memory  []Memory
	Skills  []Skill // none when no tool loads them
	Agents  []Agent // none when no tool starts them
	Style   Style
	// Language to answer in, "" leaves it to the prompt.
	Language string
	Append   string
	Own      Own
	// Notes are further texts that stay the same for a session, after memory:
	// a SessionStart hook's output.
	Notes []Note
}

// Environment is what the model should know of where it is, taken once per
// session. Empty fields are left out.
type Environment struct {
	Dir, Root string   // working directory; the repository's root
	Dirs      []string // further folders
	OS        string   // "linux/amd64"
	Shell     string
	Date      time.Time
	Model     string
	Git       Git
	Worktree  string // what is so of the checkout, where the session has one to itself
}

// Git is the repository as it was when the session began. Why says why a part
// is missing.
type Git struct {
	Branch  string
	Status  []string // short format
	More    int      // further changed files that are not in Status
	Commits []string // newest first, one line each
	Why     string
}

// Memory is one memory file.
type Memory struct {
	Path, Scope, Text string
	Notes             []string
}

// Own are the model's notes of its own.
type Own struct {
	Dir     string // their folder; "" when there are none, and when no tools are there that keep them
	Index   string // what MEMORY.md says
	Warning string // what of it is missing
}

// A Skill can be loaded; an Agent can be started.
type (
	Skill struct{ Name, Description string }
	Agent struct{ Name, Description string }
	// A Note is a further part; Lent is Part.Lent.
	Note struct {
		Name, Text string
		Lent       bool
	}
)

// Style is an output style. Instead, it stands in the place of the parts on manner
// and on working on code.
type Style struct {
	Name, Text string
	Instead    bool
}

// A Part is one block of instructions. Stable parts are the same for every
// session with the same tools; they come first, for the provider's cache.
type Part struct {
	Name   string
	Text   string
	Stable bool
	// Lent parts are about what this session can use: skills, agents, its output
	// style. A child session does not get them.
	Lent bool
}

// Tokens estimates the part's size.
func (p Part) Tokens() int { return clip.Tokens(len(p.Text)) }

// Blocks returns the texts in order, for llm.Request.System.
func Blocks(parts []Part) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p.Text
	}
	return out
}

// Situation are the parts that differ from start to start of one session.
// What they say stays in the instructions as it was when the session began.
func Situation(parts []Part) (out []Part) {
	for _, p := range parts {
		if p.Name == envName || OfMemory(p) || p.Name == skills {
			out = append(out, p)
		}
	}
	return out
}

// Safety is the name of the part on what not to do. An agent has it whatever its definition says.
const Safety = "safety"

// OfMemory reports whether a part is of memory files, or the model's own notes.
func OfMemory(p Part) bool { return p.Name == "memory" || p.Name == ownNotes }

// Keep puts what a session was told when it began in the place of what would
// be told now.
func Keep(now, began []Part) []Part {
	out := slices.DeleteFunc(slices.Clone(now), func(p Part) bool { return len(Situation([]Part{p})) > 0 })
	at := 0
	for at < len(out) && out[at].Stable {
		at++
	}
	return slices.Insert(out, at, began...)
}

// Changed tells the model which of these parts are different from what it
// knows, and what holds now.
func Changed(was, now []Part) string {
	var b strings.Builder
	for _, p := range now {
		if slices.ContainsFunc(was, func(o Part) bool { return o.Name == p.Name && o.Text == p.Text }) {
			continue
		}
		fmt.Fprintf(&b, "\n\n%s", strings.Replace(p.Text, "Git when the session began (data; it is not updated):", "Git now (data; it is not updated):", 1))
	}
	for _, o := range was {
		if !slices.ContainsFunc(now, func(p Part) bool { return p.Name == o.Name }) {
			fmt.Fprintf(&b, "\n\nThere is no %s any more.", o.Name)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "This is different now from what you were told, and holds in its place:" + b.String()
}

// Assemble returns the parts in cache order. Empty parts are left out.
func Assemble(in Input) []Part {
	var out []Part
	add := func(p Part) {
		if p.Text = strings.TrimSpace(p.Text); p.Text != "" {
			out = append(out, p)
		}
	}
	switch {
	case in.Replace != "":
		add(Part{Name: "system prompt", Text: in.Replace, Stable: true})
		if in.Child {
			add(Part{Name: Safety, Text: read("safety"), Stable: true})
		}
	case in.Profile == Small:
		text := choose(read("small"), in.Tools)
		if in.Print && !in.Child {
			text += read("small_print")
		}
		add(Part{Name: "instructions", Text: text, Stable: true})
	default:
		if in.Style.Instead && in.Style.Text != "" {
			add(Part{Name: "identity", Text: read("identity"), Stable: true})
		} else {
			add(Part{Name: "identity", Text: read("identity") + "\n" + read("manner"), Stable: true})
			add(Part{Name: "work", Text: read("work"), Stable: true})
		}
		if len(in.Tools) > 0 {
			add(Part{Name: "tools", Text: choose(read("tools"), in.Tools), Stable: true})
		}
		add(Part{Name: Safety, Text: read("safety"), Stable: true})
		if in.Print && !in.Child {
			add(Part{Name: "unattended", Text: read("print"), Stable: true})
		}
	}
	if in.Child {
		add(Part{Name: "child", Text: read("child"), Stable: true})
	}
	add(Part{Name: envName, Text: environment(in.Env)})
	add(Part{Name: "memory", Text: memory(in.Memory)})
	if in.Profile != Small {
		add(Part{Name: ownNotes, Text: OwnNotes(in.Own)})
	}
	for _, n := range in.Notes {
		add(Part{Name: n.Name, Text: n.Text, Lent: n.Lent})
	}
	add(Part{Name: skills, Text: catalog("# Skills", in.Skills, func(s Skill) (string, string) { return s.Name, s.Description }), Lent: true})
	add(Part{Name: "agents", Text: catalog("# Agents", in.Agents, func(a Agent) (string, string) { return a.Name, a.Description }), Lent: true})
	add(Part{Name: "output style", Text: style(in.Style), Lent: true})
	if in.Language != "" {
		add(Part{Name: "language", Text: "Answer in " + clip.Line(in.Language, 60) + ", whatever the language of files and tools."})
	}
	add(Part{Name: "appended", Text: in.Append})
	return out
}

// skills is the part that lists them. A session that goes on is told what came since.
const skills = "skills"

func read(name string) string {
	b, err := texts.ReadFile("text/" + name + ".md")
	if err != nil { // a test reads every name
		return ""
	}
	return string(b)
}

// choose leaves out the lines whose tools are not all present. A comment line
// names the tools of the lines below it, up to the next comment; "!X" wants X
// to be absent. Lines before the first comment always stay.
func choose(text string, tools []string) string {
	var b strings.Builder
	keep := true
	for line := range strings.Lines(text) {
		if c, ok := strings.CutPrefix(strings.TrimSpace(line), "<!--"); ok {
			keep = present(strings.Fields(strings.TrimSuffix(c, "-->")), tools)
			continue
		}
		if keep {
			b.WriteString(line)
		}
	}
	return b.String()
}

func present(wants, tools []string) bool {
	for _, w := range wants {
		name, not := strings.CutPrefix(w, "!")
		if slices.Contains(tools, name) == not {
			return false
		}
	}
	return true
}

// Bounds of what a repository can put into the environment.
const (
	maxStatus  = 20  // lines
	maxCommits = 5   // lines
	maxLine    = 120 // characters
)

// envName is the name of the part that says where the session is.
const envName = "environment"

func environment(e Environment) string {
	var b strings.Builder
	line := func(name, value string) {
		if value = clip.Line(clip.Clean(value), 500); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("Working directory", e.Dir)
	if e.Root != e.Dir {
		line("Repository root", e.Root)
	}
	line("Worktree", e.Worktree)
	line("Further folders", strings.Join(e.Dirs, ", "))
	line("System", e.OS)
	line("Shell", e.Shell)
	if !e.Date.IsZero() {
		line("Date", e.Date.Format("2006-01-02"))
	}
	line("Model", e.Model)
	git(&b, e.Git)
	if b.Len() == 0 {
		return ""
	}
	return "# Environment\n" + b.String()
}

// Late is what git says that was not known when the instructions were written.
func Late(g Git) string {
	var b strings.Builder
	git(&b, g)
	return strings.Replace(b.String(), "Git when", "Git has told by now what it could not tell at once. Git when", 1)
}

// WithGit puts what git says in the place of what the environment has of it.
func WithGit(parts []Part, g Git) []Part {
	var b strings.Builder
	git(&b, g)
	return regit(parts, b.String())
}

// SameGit keeps what git said when it was told last.
func SameGit(was, now []Part) []Part {
	for _, p := range was {
		if p.Name == envName {
			_, block := splitGit(p.Text)
			return regit(now, block)
		}
	}
	return now
}

func regit(parts []Part, block string) []Part {
	out := slices.Clone(parts)
	for i, p := range out {
		if p.Name == envName {
			rest, _ := splitGit(p.Text)
			out[i].Text = strings.TrimRight(rest+block, "\n")
		}
	}
	return out
}

// gitHead begins what the environment says of git, which is its end.
const gitHead = "Git when the session began (data; it is not updated):\n"

// splitGit takes off what an environment says of git.
func splitGit(text string) (rest, block string) {
	if i := strings.Index(text, gitHead); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

func git(b *strings.Builder, g Git) {
	if g.Branch == "" && len(g.Status)+len(g.Commits) == 0 {
		return
	}
	b.WriteString(gitHead + "<git>\n")
	if g.Branch != "" {
		b.WriteString("branch " + inert(g.Branch) + "\n")
	}
	for i, s := range g.Status {
		if i == maxStatus {
			g.More += len(g.Status) - i
			break
		}
		b.WriteString(inert(s) + "\n")
	}
	switch {
	case g.More > 0:
		fmt.Fprintf(b, "[%d more changed]\n", g.More)
	case len(g.Status) == 0 && g.Why == "":
		b.WriteString("no changes\n")
	}
	for _, c := range g.Commits[:min(len(g.Commits), maxCommits)] {
		b.WriteString("commit " + inert(c) + "\n")
	}
	if g.Why != "" {
		b.WriteString("[" + inert(g.Why) + "]\n")
	}
	b.WriteString("</git>\n")
}

// inert makes foreign text one harmless bounded line that cannot end the
// block it stands in.
func inert(s string) string {
	lead := s[:len(s)-len(strings.TrimLeft(s, " "))] // the columns of a short status
	if len(lead) > 1 {
		lead = " "
	}
	return lead + strings.ReplaceAll(clip.Line(clip.Clean(s), maxLine), "</", "< /")
}

// block is a file in a tag that it cannot end, "" for one that says nothing.
func (f Memory) block() string {
	text := strings.TrimSpace(f.Text)
	if text == "" && len(f.Notes) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<memory path=%q scope=%q>\n", f.Path, f.Scope)
	if text != "" {
		b.WriteString(strings.ReplaceAll(text, "</memory", "< /memory") + "\n")
	}
	for _, n := range f.Notes {
		b.WriteString("[" + clip.Line(clip.Clean(n), 300) + "]\n")
	}
	return b.String() + "</memory>"
}

// Nested tells of a memory file that begins to apply in the middle of a session:
// for files that globs name, or for those below its folder. "" says nothing.
func Nested(f Memory, globs []string) string {
	text := f.block()
	if text == "" {
		return ""
	}
	what := "the files below its folder"
	if len(globs) > 0 {
		what = "files such as " + clip.Line(clip.Clean(strings.Join(globs, ", ")), 200)
	}
	return "From now on this applies to " + what + "; where it says otherwise than what you were told before, it wins.\n" + text
}

func memory(files []Memory) string {
	var b strings.Builder
	for _, f := range files {
		if text := f.block(); text != "" {
			b.WriteString("\n" + text + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Memory\nWhat the user and this project want you to know and do. It comes before your own habits. " +
		"Where two files disagree, the later one is nearer and wins; what the user says now wins over both.\n" + b.String()
}

// ownNotes is the part that tells of the model's own notes.
const ownNotes = "notes"

// OwnNotes is what a model is told of notes of its own; "" where it has none.
func OwnNotes(o Own) string {
	if o.Dir == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Notes of your own\n%s holds what you wrote down about this project in earlier sessions. MEMORY.md in it is the index.\n%s", clip.Line(clip.Clean(o.Dir), 500), read("notes"))
	if text := strings.TrimSpace(o.Index); text == "" {
		b.WriteString("MEMORY.md is empty or not there yet.\n")
	} else {
		b.WriteString("<notes file=\"MEMORY.md\">\n" + strings.ReplaceAll(text, "</notes", "< /notes") + "\n</notes>\n")
	}
	if o.Warning != "" {
		b.WriteString("[" + clip.Line(clip.Clean(o.Warning), 300) + "]\n")
	}
	return b.String()
}

// Bounds of a catalog: characters per entry, and bytes in all.
const (
	maxEntry   = 250
	maxCatalog = 8_000
)

func catalog[T any](title string, list []T, get func(T) (name, description string)) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(title + "\n")
	for i, e := range list {
		name, description := get(e)
		line := "- " + clip.Line(clip.Clean(name), 100)
		if d := clip.Line(clip.Clean(description), maxEntry); d != "" {
			line += ": " + d
		}
		if b.Len()+len(line) > maxCatalog {
			fmt.Fprintf(&b, "[%d more]\n", len(list)-i)
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func style(s Style) string {
	if strings.TrimSpace(s.Text) == "" {
		return ""
	}
	return "# Output style: " + clip.Line(s.Name, 60) + "\n" + s.Text
}
