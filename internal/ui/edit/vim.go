package edit

import "github.com/adze-agent/adze/internal/ui/keymap"

// vim is the state of vim mode.
type vim struct{}

// SetVim turns vim mode on, in insert mode, or off.
func (e *Editor) SetVim(on bool) {}

// Grabs reports whether vim mode takes a key before any binding does.
func (e *Editor) Grabs(k keymap.Key) bool { return false }

func (v *vim) visual() bool                       { return false }
func (v *vim) span(e *Editor) (int, int)          { return 0, 0 }
func (v *vim) forPaste(e *Editor)                 {}
func (v *vim) reset()                             {}
func (v *vim) submitted()                         {}
func (v *vim) inserting() bool                    { return true }
func (v *vim) interrupted(e *Editor)              {}
func (v *vim) typed(s string)                     {}
func (v *vim) erased()                            {}
func (v *vim) key(e *Editor, k keymap.Key) Result { return Ignored }
