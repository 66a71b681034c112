package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/trust"
)

func newSkills(sys System, f *runFlags) *cobra.Command {
	return group("skills", "List, check and begin skills and slash commands", skillsList(sys, f), skillsCheck(sys, f), skillsNew(sys, f))
}

func newAgents(sys System, f *runFlags) *cobra.Command {
	return group("agents", "List the definitions of agents", agentsList(sys, f))
}

// library reads what there is here, and says on stderr what of it cannot be used,
// and what is not read because nobody trusts it.
func (f *runFlags) library(sys System, cmd *cobra.Command, kinds ...trust.Kind) (skill.Library, error) {
	o, live, err := f.opened(sys, cmd)
	if err != nil {
		return skill.Library{}, err
	}
	lib, problems := ext.Library(o.Offered(live))
	for _, s := range ext.Plugins(o.Offered(live)).Problems {
		fmt.Fprintln(sys.Stderr, "adze: "+clip.Visible(s))
	}
	for _, p := range problems {
		fmt.Fprintln(sys.Stderr, "adze: "+clip.Visible(p.String()))
	}
	tellUntrusted(sys, live, kinds...)
	return lib, nil
}

// tellUntrusted says on stderr what of these kinds the folder brings that does not
// count.
func tellUntrusted(sys System, live *settings.Live, kinds ...trust.Kind) {
	n := 0
	for _, file := range live.Untrusted() {
		if slices.Contains(kinds, file.Kind) {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(sys.Stderr, "adze: this folder's own are not read, because nobody trusts them: %s (adze trust shows them)\n", clip.Count(n, "file"))
	}
}

// A skillRow is a skill or a command in a list.
type skillRow struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Description string   `json:"description,omitempty"`
	Hint        string   `json:"argument_hint,omitempty"`
	Model       bool     `json:"for_model"`
	Person      bool     `json:"for_people"`
	Paths       []string `json:"paths,omitempty"`
	File        string   `json:"file,omitempty"`
	From        string   `json:"from"`
	Scope       string   `json:"scope"`
	HiddenBy    string   `json:"hidden_by,omitempty"`
	As          string   `json:"called,omitempty"` // of a hidden one, its name all the same
	// What its author says of it, for whoever passes it on (agentskills.io).
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`
}

func skillsList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List skills and slash commands, where they are from, and what hides others", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		lib, err := f.library(sys, cmd, trust.Skill, trust.Command)
		if err != nil {
			return nil, err
		}
		var rows []skillRow
		for _, s := range lib.Skills() {
			kind := skill.Skills
			if s.Command {
				kind = skill.Commands
			}
			rows = append(rows, skillRow{s.Name, string(kind), s.Description, s.Hint, !s.NoModel, !s.NoPerson, s.Paths, s.File, s.From, s.Scope, "", "", s.License, s.Compatible, s.Metadata})
		}
		for _, h := range lib.Hidden() {
			if h.Kind == skill.Skills || h.Kind == skill.Commands {
				rows = append(rows, skillRow{Name: h.Name, Kind: string(h.Kind), Description: h.Description, File: h.File, From: h.From, Scope: h.Scope, HiddenBy: h.By, As: h.As})
			}
		}
		return listing[skillRow]{rows: rows, row: func(t *table, r skillRow) {
			about := clip.Line(r.Description, 60)
			switch {
			case r.As != "":
				about = fmt.Sprintf("hidden by %s; call it as /%s", r.HiddenBy, r.As)
			case r.HiddenBy != "":
				about = "hidden by " + r.HiddenBy
			case !r.Model:
				about = strings.TrimSpace("(people only) " + about)
			case !r.Person:
				about = strings.TrimSpace("(model only) " + about)
			}
			t.row("/"+r.Name, about, cmp.Or(r.File, r.From))
		}}, nil
	})
}

// An agentRow is a definition in a list.
type agentRow struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tools       []string `json:"tools,omitempty"`
	Model       string   `json:"model,omitempty"`
	File        string   `json:"file,omitempty"`
	From        string   `json:"from"`
	Scope       string   `json:"scope"`
	HiddenBy    string   `json:"hidden_by,omitempty"`
	Problems    []string `json:"problems,omitempty"`
}

func agentsList(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "list", Short: "List the definitions of agents, and where they are from", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		lib, err := f.library(sys, cmd, trust.Agent)
		if err != nil {
			return nil, err
		}
		rows := []agentRow{}
		for _, a := range lib.Agents() {
			rows = append(rows, agentRow{a.Name, a.Description, a.Tools, a.Model, a.File, a.From, a.Scope, "", a.Unknown()})
		}
		for _, h := range lib.Hidden() {
			if h.Kind == skill.Agents {
				rows = append(rows, agentRow{Name: h.Name, Description: h.Description, File: h.File, From: h.From, Scope: h.Scope, HiddenBy: h.By})
			}
		}
		list := listing[agentRow]{rows: rows, none: "no agents are defined", row: func(t *table, r agentRow) {
			about := clip.Line(r.Description, 60)
			if r.HiddenBy != "" {
				about = "hidden by " + r.HiddenBy
			}
			t.row(r.Name, about, cmp.Or(r.File, r.From))
		}}
		return both{rows, func() error {
			if err := list.print(sys, false); err != nil {
				return err
			}
			for _, r := range rows {
				for _, x := range r.Problems {
					fmt.Fprintln(sys.Stderr, "adze: "+x)
				}
			}
			return nil
		}}, nil
	})
}

// A checkRow is one thing that Check says.
type checkRow struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Text   string `json:"text"`
	Advice bool   `json:"advice,omitempty"`
}

func skillsCheck(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "check [DIR]", Short: "Hold skills and commands to their specification", Args: cobra.MaximumNArgs(1),
		Long: `check reads the skill in a folder, or every skill in the folders of a folder, and
says with its line what is not as agentskills.io wants it. Where there are none, it
reads the folder's Markdown files as slash commands, and says what of them is not used.
Without a folder it checks the skills and commands of this project and your own.
Advice alone is no failure.`,
	}, func(cmd *cobra.Command, args []string) (answer, error) {
		var places []skill.Place
		if len(args) == 1 {
			dir, err := filepath.Abs(args[0])
			if err == nil {
				var info os.FileInfo
				if info, err = os.Stat(dir); err == nil && !info.IsDir() {
					dir = filepath.Dir(dir)
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil, usagef("name the folder of a skill, or one that holds such folders", "there is no folder %s", clip.Visible(args[0]))
			}
			if err != nil {
				return nil, failf("name the folder of a skill, or one that holds such folders", "%s: %v", clip.Visible(args[0]), hint.Cause(err))
			}
			places = []skill.Place{{Dir: dir, Kind: skill.Skills}}
			if n, _ := skill.Check(places[0]); n == 0 {
				of := skill.Place{Dir: dir, Kind: skill.Commands}
				if n, _ := skill.Check(of); n > 0 {
					places[0] = of
				}
			}
		} else {
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return nil, err
			}
			g := skill.Ground{Config: p.Folders.Config, Home: p.Home, Claude: p.Folders.Claude, Homes: skill.Homes(sys.Env), Root: p.Root, Dir: p.Dir, Trusted: func(string, []byte) bool { return true }}
			places = slices.DeleteFunc(append(g.Places(skill.Skills), g.Places(skill.Commands)...), func(p skill.Place) bool { return p.Text != nil })
		}
		rows, n, wrong := []checkRow{}, map[skill.Kind]int{}, 0
		for _, p := range places {
			k, problems := skill.Check(p)
			if k > 0 {
				n[p.Kind] += k
			}
			for _, p := range problems {
				rows = append(rows, checkRow{p.File, p.Line, p.Text, p.Used})
				if !p.Used {
					wrong++
				}
			}
		}
		said := both{rows, func() error {
			for _, r := range rows {
				text := skill.Problem{File: r.File, Line: r.Line, Text: r.Text}.String()
				if r.Advice {
					text += " (advice)"
				}
				fmt.Fprintln(sys.Stdout, clip.Visible(text))
			}
			if wrong == 0 && (len(n) > 0 || len(args) == 0) {
				fmt.Fprintf(sys.Stdout, "%s, nothing wrong\n", checked(n))
			}
			return nil
		}}
		switch {
		case wrong > 0:
			return failing{said, failf("mend them, and look again with: adze skills check", "%s to mend in %s", clip.Count(wrong, "thing"), checked(n))}, nil
		case len(n) == 0 && len(args) == 1:
			return failing{said, failf("a skill is a folder with a file SKILL.md; adze skills new NAME begins one", "there is no skill in %s", clip.Visible(args[0]))}, nil
		}
		return said, nil
	})
}

// checked is what was looked at.
func checked(n map[skill.Kind]int) string {
	switch skills, commands := clip.Count(n[skill.Skills], "skill"), clip.Count(n[skill.Commands], "command"); {
	case n[skill.Commands] == 0:
		return skills
	case n[skill.Skills] == 0:
		return commands
	default:
		return skills + " and " + commands
	}
}

func skillsNew(sys System, f *runFlags) *cobra.Command {
	about := ""
	c := scoped("", "user", "user (all folders) or project (this repository)", &cobra.Command{
		Use: "new NAME", Short: "Begin a skill: a folder with a SKILL.md to fill in", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if why := skill.BadName(name); why != "" {
				return usagef("a name like release-notes: a-z, 0-9 and -", "the name %q %s", clip.Visible(clip.Line(name, 80)), why)
			}
			p, _, err := loadSettings(sys, f, cmd)
			if err != nil {
				return err
			}
			base, scope := p.Folders.Config, scopeOf(cmd)
			switch scope {
			case "user":
			case "project":
				base = filepath.Join(p.Root, ".adze")
			default:
				return usagef("one of user, project", "there is no scope %q", clip.Visible(scope))
			}
			dir := filepath.Join(base, "skills", name)
			file, err := beginSkill(base, p.Root, scope == "project", name, about)
			switch {
			case errors.Is(err, fs.ErrExist):
				return failf("choose another name, or change that one", "there is a skill %s already: %s", name, clip.Visible(dir))
			case err != nil:
				return failf("make the folder writable", "begin %s: %v", clip.Visible(dir), err)
			}
			fmt.Fprintf(sys.Stdout, "began %s\n", clip.Visible(file))
			fmt.Fprintf(sys.Stdout, "write what it is for and what to do, then: adze skills check %s\n", hint.Shell(dir))
			if scope == "project" {
				fmt.Fprintln(sys.Stdout, "it counts once this folder is trusted with it: adze trust")
			}
			return nil
		},
	})
	c.Flags().StringVar(&about, "description", "", "what it does and when to use it")
	return c
}

// beginSkill makes the folder and the file of a new skill. Of a project, no link
// leads out of its root.
func beginSkill(base, root string, project bool, name, about string) (file string, err error) {
	top, below := base, filepath.Join("skills", name)
	if project {
		top, below = root, filepath.Join(".adze", "skills", name)
	} else if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	r, err := os.OpenRoot(top)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := r.MkdirAll(below, 0o755); err != nil {
		return "", err
	}
	at := filepath.Join(below, "SKILL.md")
	return filepath.Join(top, at), safe.Make(r, safe.File{Name: at, Mode: 0o644, Text: []byte(skill.Template(name, about))})
}
