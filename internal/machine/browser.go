package machine

import (
	"context"
	"errors"
	"os/exec"
	"runtime"

	"github.com/adze-agent/adze/internal/proc"
)

// browsers are the programs that open a page in a person's browser, in the
// order in which they are tried.
func browsers() [][]string {
	switch runtime.GOOS {
	case "darwin":
		return [][]string{{"open"}}
	case "windows":
		return [][]string{{"rundll32.exe", "url.dll,FileProtocolHandler"}}
	}
	return [][]string{{"xdg-open"}, {"wslview"}}
}

// Browse opens a page in the person's browser. The program that does it sees no
// keys, is no program of this folder, and is waited for only so long.
func (m *Machine) Browse(ctx context.Context, address string) error {
	ctx, stop := context.WithTimeout(ctx, helperLimit)
	defer stop()
	if runtime.GOOS == "linux" && m.Env("DISPLAY") == "" && m.Env("WAYLAND_DISPLAY") == "" && m.Env("WSL_DISTRO_NAME") == "" {
		return errors.New("there is no screen here that a browser could be on")
	}
	for _, args := range browsers() {
		path, ok := proc.Lookup(args[0], m.Env("PATH"), []string{m.Dir})
		if !ok {
			continue
		}
		c := exec.CommandContext(ctx, path, append(args[1:], address)...)
		c.Env = proc.Scrub(m.Environ, []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*", "DBUS_SESSION_BUS_ADDRESS", "BROWSER", "WSL*"})
		if c.Run() == nil {
			return nil
		}
	}
	return errors.New("no browser can be opened from here")
}
