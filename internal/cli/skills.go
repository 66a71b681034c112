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
		all := ""
		if len(n) > 0 || len(args) == 0 {
			all = checked(n)
		}
		said := checks(sys, rows, wrong, all)
		switch {
		case wrong > 0:
			return failing{said, failf("mend them, and look again with: adze skills check", "%s to mend in %s", clip.Count(wrong, "thing"), checked(n))}, nil
		case len(n) == 0 && len(args) == 1:
			return failing{said, failf("a skill is a folder with a file SKILL.md; adze skills new NAME begins one", "there is no skill in %s", clip.Visible(args[0]))}, nil
		}
		return said, nil
	})
}

// checks prints what was found; all is what was looked at, "" for nothing.
func checks(sys System, rows []checkRow, wrong int, all string) both {
	return both{rows, func() error {
		for _, r := range rows {
			text := skill.Problem{File: r.File, Line: r.Line, Text: r.Text}.String()
			if r.Advice {
				text += " (advice)"
			}
			fmt.Fprintln(sys.Stdout, clip.Visible(text))
		}
		if wrong == 0 && all != "" {
			fmt.Fprintf(sys.Stdout, "%s, nothing wrong\n", all)
		}
		return nil
	}}
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
	return begins(sys, f, skill.Skills, &cobra.Command{Use: "new NAME", Short: "Begin a skill: a folder with a SKILL.md to fill in", Args: cobra.ExactArgs(1)})
}

// begins has a command begin a file of a kind, for a person to fill in.
func begins(sys System, f *runFlags, k skill.Kind, cmd *cobra.Command) *cobra.Command {
	about := ""
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name := args[0]
		if why := skill.BadName(name); why != "" {
			return usagef("a name like release-notes: a-z, 0-9 and -", "the name %q %s", clip.Visible(clip.Line(name, 80)), why)
		}
		p, _, err := loadSettings(sys, f, cmd)
		if err != nil {
			return err
		}
		scope := scopeOf(cmd)
		d, err := skill.DraftOf(k, scope, p.Folders.Config, p.Root, name, about)
		if err != nil {
			return usagef("one of user, project", "%v", err)
		}
		file := d.File()
		what, look := file, "adze agents check "+hint.Shell(file)
		if k == skill.Skills {
			what, look = filepath.Dir(file), "adze skills check "+hint.Shell(filepath.Dir(file))
		}
		switch err := d.Begin(); {
		case errors.Is(err, fs.ErrExist):
			return failf("choose another name, or change that one", "there is %s %s already: %s", article(k), name, clip.Visible(what))
		case err != nil:
			return failf("make the folder writable", "begin %s: %v", clip.Visible(what), err)
		}
		fmt.Fprintf(sys.Stdout, "began %s\n", clip.Visible(file))
		fmt.Fprintf(sys.Stdout, "write what it is for and what to do, then: %s\n", look)
		if scope == "project" {
			fmt.Fprintln(sys.Stdout, "it counts once this folder is trusted with it: adze trust")
		}
		return nil
	}
	c := scoped("", "user", "user (all folders) or project (this repository)", cmd)
	c.Flags().StringVar(&about, "description", "", "what it does and when to use it")
	return c
}

func article(k skill.Kind) string {
	if k == skill.Agents {
		return "an agent"
	}
	return "a " + string(k)
}
