package cli

import "github.com/adze-agent/adze/internal/desk"

// deskOf answers for the sessions of the terminal UI.
func (h *uiHost) deskOf() *desk.Desk {
	return desk.New(desk.Config{Surroundings: h.o.Surroundings, Sources: h.o.Sources, Front: h.o.Front, Report: h.report, Pick: h.choices, Logout: h.mcpLogout})
}
