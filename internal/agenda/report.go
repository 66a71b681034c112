package agenda

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// Report answers a person who asks about schedules (/schedules), those of the session and of
// its folder: nothing lists them, "delete ID" deletes one. The text is Markdown. a may be nil.
func (a *Agenda) Report(ctx context.Context, args string) (string, error) {
	if a == nil {
		return "This session has no schedules.", nil
	}
	words := strings.Fields(args)
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == "list":
		return a.report(), nil
	case len(words) == 2 && words[0] == "delete":
		return a.deleted(ctx, words[1])
	}
	return "", errors.New("/schedules lists them, /schedules delete ID deletes one")
}

// deleted deletes a schedule, and says so.
func (a *Agenda) deleted(ctx context.Context, id string) (string, error) {
	e, err := a.Delete(id, "it was deleted")
	left := ""
	if errors.Is(err, ErrNone) {
		e, left, err = a.DeleteFromFolder(ctx, id)
	}
	switch {
	case errors.Is(err, ErrNone):
		return "", &op.Refusal{Code: op.NoTask, Text: fmt.Sprintf("there is no schedule %s", clip.Line(clip.Visible(id), 60)), Advice: "/schedules lists them"}
	case err != nil:
		return "", err
	case left != "":
		return fmt.Sprintf("The schedule %s comes no more here. It still stands in %s.", e.ID, left), nil
	}
	return fmt.Sprintf("The schedule %s (%s) is deleted.", e.ID, e.Human(a.Now().Location())), nil
}

// report lists the schedules.
func (a *Agenda) report() string {
	var b strings.Builder
	code := func(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }
	now := a.Now()
	for _, l := range a.List() {
		fmt.Fprintf(&b, "- **%s** %s, next at %s: %s\n", l.ID, l.Human, clock(l.Next, now), code(clip.Line(clip.Visible(l.Prompt), 300)))
	}
	if a.Folder != nil {
		list, err := a.Folder.List()
		for _, s := range list {
			state := "next at " + clock(s.Next, now)
			switch {
			case s.Bad != "":
				state = s.Bad
			case !s.Allowed:
				state = "not allowed: adze schedule allow " + hint.Shell(s.ID)
			}
			fmt.Fprintf(&b, "- **%s** %s, of this folder (%s), %s: %s\n", clip.Visible(s.ID), s.Human, s.File, state, code(clip.Line(clip.Visible(s.Prompt), 300)))
		}
		if err != nil {
			fmt.Fprintf(&b, "\n%s\n", clip.VisibleText(err.Error()))
		}
		if len(list) > 0 && !a.Folder.Trusted() {
			b.WriteString("\nThose of the folder do not come, because it is not trusted as it is now (adze trust).\n")
		}
	}
	if b.Len() == 0 {
		return "There are no schedules. `/loop 5m look at CI` sets one for this session, `adze schedule add` one for the folder."
	}
	return b.String() + "\n`/schedules delete ID` deletes one."
}
