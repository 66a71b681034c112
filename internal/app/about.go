package app

import (
	"crypto/rand"
	"fmt"

	"github.com/adze-agent/adze/internal/ui/print"
)

// About is what a print run says of itself.
func (a *App) About() print.About {
	return print.About{
		SessionID: a.ID, Cwd: a.Paths.Dir, Tools: a.Tools.Names(), Model: a.Target.ID(), Mode: string(a.Mode),
		KeySource: a.Key, Version: a.version, NewID: NewUUID,
		Facts: func(model string) (window, cap int) {
			if model == a.Target.ID() {
				return a.Target.Window, a.Target.Cap
			}
			return 0, 0
		},
	}
}

// NewUUID is a random UUID (RFC 9562, version 4).
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
