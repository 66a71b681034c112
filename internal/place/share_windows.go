package place

import (
	"fmt"
	"path/filepath"
	"strings"
)

// refuseShare rejects UNC, device and NT namespace paths, and the device
// names that Windows finds in every folder.
func refuseShare(p string) error {
	s := filepath.ToSlash(p)
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/??/") {
		return fmt.Errorf("resolving %q: a network share or device is not opened", p)
	}
	for _, c := range components(s) {
		name, _, _ := strings.Cut(strings.ToUpper(strings.TrimRight(c, ". ")), ".")
		switch {
		case name == "CON", name == "PRN", name == "AUX", name == "NUL", name == "CONIN$", name == "CONOUT$",
			len(name) == 4 && (strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")) && name[3] >= '0' && name[3] <= '9':
			return fmt.Errorf("resolving %q: %s is a device", p, c)
		case strings.Contains(c, ":") && c != s[:min(2, len(s))]:
			return fmt.Errorf("resolving %q: alternate streams are not opened", p)
		}
	}
	return nil
}
