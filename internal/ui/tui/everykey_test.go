package tui

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// A keyCase says what each key of an action does, where the action is for.
type keyCase struct {
	ready func(r *rig) // what was there before
	keys  string       // pressed after the key, one after the other
	want  string       // on the screen then; "-" before what is not there, "=" before what the prompt box has
	does  any          // an effect or an op of this type comes; nil: none has to
}

// everyKey has a case for each action. A text is shown by the "|" that is typed
// behind the key.
var everyKey = map[keymap.Action]keyCase{
	keymap.Interrupt:        {ready: typed("half"), want: "="},
	keymap.Exit:             {ready: idle, want: "again to quit"},
	keymap.Redraw:           {ready: idle, does: redraw{}},
	keymap.Suspend:          {ready: idle, does: suspend{}},
	keymap.ToggleTranscript: {ready: busy, want: "whole conversation"},
	keymap.ShowHelp:         {ready: typed("half"), want: "╭ Help"},

	keymap.Submit:         {ready: typed("send it"), does: op.Prompt{}},
	keymap.SubmitLater:    {ready: func(r *rig) { busy(r); r.keys("'and then") }, want: "when the turn is over", does: op.Prompt{}},
	keymap.Newline:        {ready: typed("one"), keys: "|", want: "=one\n|"},
	keymap.Cancel:         {ready: busy, does: op.Interrupt{}},
	keymap.Rewind:         {ready: func(r *rig) { spoken(r) }, want: "Go back to before"},
	keymap.CycleMode:      {ready: idle, does: op.SetMode{}},
	keymap.ModelPicker:    {ready: withModels, want: "╭ Model"},
	keymap.ThinkingToggle: {ready: idle, want: "no thinking", does: op.SetEffort{}},
	keymap.ToggleTodos:    {ready: busy, want: "-Running the tests\n"},
	keymap.KillAgents:     {ready: idle, want: "no agents run"},
	keymap.OpenAgent:      {ready: idle, want: "no agent works now"},
	keymap.ExternalEditor: {ready: func(r *rig) {
		r.m.host.Edit = func(_ context.Context, s string) (string, error) { return s, nil }
		r.open()
	}, does: away{}},
	keymap.Stash:         {ready: typed("half"), want: "stashed"},
	keymap.ImagePaste:    {ready: idle, want: "pictures cannot be read"},
	keymap.UnfoldPaste:   {ready: func(r *rig) { r.open().do(pasteMsg{strings.Repeat("x\n", 20)}) }, keys: "|", want: "=" + strings.Repeat("x\n", 20) + "|"},
	keymap.SearchHistory: {ready: withPast, want: "╭ Earlier prompts"},
	keymap.HistoryOlder:  {ready: withPast, want: "=newest"},
	keymap.HistoryNewer:  {ready: func(r *rig) { withPast(r); r.keys("up", "up") }, want: "=newest"},

	keymap.AutocompleteAccept:  {ready: typed("see @calc"), want: "=see @calc.go "},
	keymap.AutocompleteSubmit:  {ready: typed("/statu"), want: "anthropic/sonnet-4.6"},
	keymap.AutocompleteDismiss: {ready: typed("/cl"), want: "-begin a new session"},
	keymap.AutocompletePrev:    {ready: typed("@", "down"), want: "❯ calc.go"},
	keymap.AutocompleteNext:    {ready: typed("@"), want: "❯ a b.txt"},
	keymap.AutocompletePageUp:  {ready: typed("@", "down", "down"), want: "❯ calc.go"},
	keymap.AutocompletePageDn:  {ready: typed("@"), want: "❯ calc_test.go"},

	keymap.ConfirmYes:     {ready: permission, keys: "enter", does: op.Answer{}},
	keymap.ConfirmNo:      {ready: permission, keys: "enter 'x enter", does: op.Answer{}},
	keymap.ConfirmPrev:    {ready: func(r *rig) { permission(r); r.keys("down", "down") }, want: "❯ 2 Yes, and do not"},
	keymap.ConfirmNext:    {ready: permission, want: "❯ 2 Yes, and do not"},
	keymap.ConfirmComment: {ready: permission, keys: "'gently enter", want: "“gently”"},
	keymap.ConfirmMode:    {ready: func(r *rig) { r.open().event(askedEdit()).pass(time.Second) }, does: op.Answer{}},
	keymap.ConfirmExplain: {ready: permission, want: "shows less"},
	keymap.ConfirmEdit:    {ready: func(r *rig) { permission(r); r.keys("down") }, want: "Enter takes the rule"},

	keymap.SelectNext:       {ready: sessionMenu, want: "❯ └ A fork of it"},
	keymap.SelectPrev:       {ready: func(r *rig) { sessionMenu(r); r.keys("down") }, want: "❯ The first one"},
	keymap.SelectPageDn:     {ready: sessionMenu, want: "❯ Another"},
	keymap.SelectPageUp:     {ready: func(r *rig) { sessionMenu(r); r.keys("down", "down") }, want: "❯ The first one"},
	keymap.SelectFirst:      {ready: func(r *rig) { sessionMenu(r); r.keys("down", "down") }, want: "❯ The first one"},
	keymap.SelectLast:       {ready: sessionMenu, want: "❯ Another"},
	keymap.SelectAccept:     {ready: sessionMenu, does: open{}},
	keymap.SelectCancel:     {ready: sessionMenu, want: "-The first one"},
	keymap.SelectMore:       {ready: sessionMenu, want: "began a"},
	keymap.SelectEverywhere: {ready: sessionMenu, want: "Elsewhere"},
	keymap.SelectBranch:     {ready: sessionMenu, want: "-Another"},
	keymap.SelectRename:     {ready: sessionMenu, want: "title: "},

	keymap.TranscriptExit:     {ready: transcriptPage, want: "-whole conversation"},
	keymap.TranscriptShowAll:  {ready: func(r *rig) { busy(r); r.keys("ctrl+o") }, want: "Read   2 files, 1 search"},
	keymap.TranscriptSearch:   {ready: transcriptPage, keys: "'zzz enter", want: "not found: zzz"},
	keymap.TranscriptNext:     {ready: func(r *rig) { transcriptPage(r); r.keys("g", "/", "'question 1", "enter") }, want: "question 19\n"},
	keymap.TranscriptPrev:     {ready: func(r *rig) { transcriptPage(r); r.keys("g", "/", "'question 1", "enter") }, want: "question 19"},
	keymap.TranscriptTop:      {ready: transcriptPage, want: "question 0\n"},
	keymap.TranscriptBottom:   {ready: func(r *rig) { transcriptPage(r); r.keys("g") }, want: "question 19\n"},
	keymap.TranscriptDown:     {ready: func(r *rig) { transcriptPage(r); r.keys("g") }, want: "-question 0\n"},
	keymap.TranscriptUp:       {ready: func(r *rig) { transcriptPage(r); r.keys("g", "j") }, want: "question 0\n"},
	keymap.TranscriptPageDown: {ready: func(r *rig) { transcriptPage(r); r.keys("g") }, want: "-question 3\n"},
	keymap.TranscriptPageUp:   {ready: func(r *rig) { transcriptPage(r); r.keys("g", "pgdown") }, want: "question 0\n"},
	keymap.TranscriptEditor: {ready: func(r *rig) {
		r.m.host.Edit = func(_ context.Context, s string) (string, error) { return s, nil }
		transcriptPage(r)
	}, does: away{}},

	keymap.HistorySearchNext:    {ready: searching, want: "❯ mend the parser"},
	keymap.HistorySearchPrev:    {ready: func(r *rig) { searching(r); r.keys("ctrl+r") }, want: "❯ newest"},
	keymap.HistorySearchAccept:  {ready: searching, want: "=newest"},
	keymap.HistorySearchExecute: {ready: searching, want: "=newest"},
	keymap.HistorySearchCancel:  {ready: searching, want: "-Earlier prompts"},
	keymap.HistorySearchScope:   {ready: searching, want: "only here"},

	keymap.TaskBackground: {ready: busy, does: op.Background{}},
	keymap.HelpDismiss:    {ready: func(r *rig) { r.open().keys("f1") }, want: "-╭ Help"},

	keymap.EditLeft:          {ready: typed("one two"), keys: "|", want: "=one tw|o"},
	keymap.EditRight:         {ready: typed("one two", "ctrl+a"), keys: "|", want: "=o|ne two"},
	keymap.EditUp:            {ready: typed("one", "ctrl+j", "'two"), keys: "|", want: "=one|\ntwo"},
	keymap.EditDown:          {ready: typed("one", "ctrl+j", "'two", "ctrl+home"), keys: "|", want: "=one\n|two"},
	keymap.EditLineStart:     {ready: typed("one", "ctrl+j", "'two"), keys: "|", want: "=one\n|two"},
	keymap.EditLineEnd:       {ready: typed("one", "ctrl+j", "'two", "ctrl+home"), keys: "|", want: "=one|\ntwo"},
	keymap.EditTextStart:     {ready: typed("one", "ctrl+j", "'two"), keys: "|", want: "=|one\ntwo"},
	keymap.EditTextEnd:       {ready: typed("one", "ctrl+j", "'two", "ctrl+home"), keys: "|", want: "=one\ntwo|"},
	keymap.EditWordLeft:      {ready: typed("one two"), keys: "|", want: "=one |two"},
	keymap.EditWordRight:     {ready: typed("one two", "ctrl+a"), keys: "|", want: "=one| two"},
	keymap.EditSelectLeft:    {ready: typed("one two"), keys: "|", want: "=one tw|"},
	keymap.EditSelectRight:   {ready: typed("one two", "ctrl+a"), keys: "|", want: "=|ne two"},
	keymap.EditSelectUp:      {ready: typed("one", "ctrl+j", "'two"), keys: "|", want: "=one|"},
	keymap.EditSelectDown:    {ready: typed("one", "ctrl+j", "'two", "ctrl+home"), keys: "|", want: "=|two"},
	keymap.EditSelectWordL:   {ready: typed("one two"), keys: "|", want: "=one |"},
	keymap.EditSelectWordR:   {ready: typed("one two", "ctrl+a"), keys: "|", want: "=| two"},
	keymap.EditSelectStart:   {ready: typed("one", "ctrl+j", "'two"), keys: "|", want: "=one\n|"},
	keymap.EditSelectEnd:     {ready: typed("one", "ctrl+j", "'two", "ctrl+home"), keys: "|", want: "=|\ntwo"},
	keymap.EditSelectAll:     {ready: typed("one", "ctrl+j", "'two"), keys: "|", want: "=|"},
	keymap.EditBackspace:     {ready: typed("one two"), keys: "|", want: "=one tw|"},
	keymap.EditDelete:        {ready: typed("one two", "ctrl+a"), keys: "|", want: "=|ne two"},
	keymap.EditKillLineEnd:   {ready: typed("one", "ctrl+j", "'two", "ctrl+home"), keys: "|", want: "=|\ntwo"},
	keymap.EditKillLineStart: {ready: typed("one", "ctrl+j", "'two"), keys: "|", want: "=one\n|"},
	keymap.EditKillWordLeft:  {ready: typed("see a/b.c"), keys: "|", want: "=see a/b.|"},
	keymap.EditKillSpaceLeft: {ready: typed("see a/b.c"), keys: "|", want: "=see |"},
	keymap.EditKillWordRight: {ready: typed("one two", "ctrl+a"), keys: "|", want: "=| two"},
	keymap.EditYank:          {ready: typed("one two", "ctrl+w", "ctrl+a"), keys: "|", want: "=two|one "},
	keymap.EditYankPop:       {ready: typed("one two", "ctrl+w", "left", "ctrl+k", "ctrl+y"), keys: "|", want: "=onetwo|"},
	keymap.EditTranspose:     {ready: typed("ab"), keys: "|", want: "=ba|"},
	keymap.EditUpperWord:     {ready: typed("one two", "ctrl+a"), keys: "|", want: "=ONE| two"},
	keymap.EditLowerWord:     {ready: typed("ONE TWO", "ctrl+a"), keys: "|", want: "=one| TWO"},
	keymap.EditCapitalWord:   {ready: typed("oNE two", "ctrl+a"), keys: "|", want: "=One| two"},
	keymap.EditUndo:          {ready: typed("one two", "ctrl+w"), want: "=one two"},
	keymap.EditRedo:          {ready: typed("one two", "ctrl+w", "ctrl+_"), want: "=one "},
}

func idle(r *rig) { r.open() }

func typed(text string, keys ...string) func(*rig) {
	return func(r *rig) { r.open().keys(append([]string{"'" + text}, keys...)...) }
}

func permission(r *rig) {
	busy(r)
	r.event(asked("7", "go test ./... && git push origin main", verdict())).pass(time.Second)
}

func withModels(r *rig) {
	r.desk.Models = func(context.Context) ([]Choice, error) { return []Choice{{ID: "a/b", Name: "a/b"}}, nil }
	r.open()
}

func withPast(r *rig) {
	r.m.host.Everyone, r.m.host.Past = prompts{"newest", "mend the parser"}, prompts{"newest", "only here"}
	r.m.box = edit.New(edit.Options{Keys: r.m.keys, Past: r.m.host.Past})
	r.open()
}

func searching(r *rig) { withPast(r); r.keys("ctrl+r") }

func sessionMenu(r *rig) { r.open().keys("'/resume", "enter") }

func transcriptPage(r *rig) {
	r.open()
	for i := range 20 {
		r.event(event.InputAccepted{ID: fmt.Sprint(i), Text: fmt.Sprint("question ", i)})
	}
	r.keys("ctrl+o")
}

// Each key of each action does in its place what the action says. An action without
// a case here fails, and so does one that nobody carries out.
func TestEveryKey(t *testing.T) {
	for _, term := range []keymap.Terminal{{}, {Windows: true}, {Enhanced: true}} {
		for _, row := range keymap.Default(term).Help() {
			c, ok := everyKey[row.Action]
			if !ok {
				t.Errorf("%s: no case", row.Action)
			}
			for _, label := range row.Keys {
				t.Run(fmt.Sprintf("%s %s %+v", row.Action, label, term), func(t *testing.T) { c.run(t, term, label) })
			}
		}
	}
}

func (c keyCase) run(t *testing.T, term keymap.Terminal, label string) {
	r := newRig(t, 100, 24)
	r.m.keys = keymap.Default(term)
	r.m.box.SetKeys(r.m.keys)
	c.ready(r)
	n, m := len(r.effects), len(r.ops)
	if ok, _ := c.holds(r); ok && c.want != "" {
		t.Fatalf("%q is so without the key", c.want)
	}
	r.keys(namesOf(label)...)
	for k := range strings.FieldsSeq(c.keys) {
		if k == "|" {
			k = "'|"
		}
		r.keys(k)
	}
	if c.does != nil && !slices.ContainsFunc(r.effects[n:], func(e effect) bool { return reflect.TypeOf(e) == reflect.TypeOf(c.does) }) &&
		!slices.ContainsFunc(r.ops[m:], func(o op.Op) bool { return reflect.TypeOf(o) == reflect.TypeOf(c.does) }) {
		t.Errorf("no %T comes, but %T and %T", c.does, r.effects[n:], r.ops[m:])
	}
	if ok, what := c.holds(r); !ok {
		t.Error(what)
	}
}

// holds reports whether the case is as it wants it, and what is not.
func (c keyCase) holds(r *rig) (ok bool, what string) {
	seen := r.live()
	switch {
	case strings.HasPrefix(c.want, "="):
		got := r.m.box.Text()
		return got == c.want[1:], fmt.Sprintf("the box has %q, not %q", got, c.want[1:])
	case strings.HasPrefix(c.want, "-"):
		return !strings.Contains(seen, c.want[1:]), fmt.Sprintf("%q is still there:\n%s", c.want[1:], seen)
	}
	if r.m.pager == nil {
		seen = draw.TextOf(r.printed) + seen
	}
	return strings.Contains(seen, c.want), fmt.Sprintf("%q is missing:\n%s", c.want, seen)
}

// namesOf are the names of the keys that a label shows.
func namesOf(label string) []string {
	signs := strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right", "pgdn", "pgdown")
	keys := strings.Fields(label)
	for i, k := range keys {
		if len(k) > 1 {
			keys[i] = signs.Replace(strings.ToLower(k))
		}
	}
	return keys
}
