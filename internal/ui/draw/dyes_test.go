package draw

import (
	"testing"
)

func TestParsePalette(t *testing.T) {
	nested, problems := ParsePalette([]byte(`{"name": "neon", "type": "custom", "background": {"primary": "#000011", "diff": {"added": "#001100"}},
 "text": {"primary": "#eeeeee", "secondary": "#999999", "link": "#00ffff", "accent": "#ff00ff"}, "border": {"focused": "#0000ff"},
 "status": {"success": "#00ff00", "error": "red", "warning": "#ff0"}, "ui": {"gradient": ["#111111"]}, "AccentRed": "#123456"}`))
	if len(problems) > 0 || nested.Name != "neon" || !nested.Dark {
		t.Fatal(nested.Name, nested.Dark, problems)
	}
	for r, want := range map[Role]Face{
		Plain: {Fg: hex(0xeeeeee)}, Quiet: {Fg: hex(0x999999)}, Link: {Fg: hex(0x00ffff), Attr: Underline}, Accent: {Fg: hex(0xff00ff)}, Border: {Fg: hex(0x0000ff)},
		OK: {Fg: hex(0x00ff00)}, Wrong: {Fg: Index(1)}, Attention: {Fg: hex(0xffff00)}, Added: {Fg: hex(0x00ff00), Bg: hex(0x001100)}, TypeName: darkTheme().Face(TypeName),
	} {
		if got := nested.Face(r); got != want {
			t.Errorf("%s: %+v, want %+v", roleNames[r], got, want)
		}
	}
	flat, problems := ParsePalette([]byte(`{"name": "day", "Background": "#fafafa", "Foreground": "#111111", "AccentPurple": "#550055", "DiffRemoved": "#ffdddd"}`))
	if len(problems) > 0 || flat.Dark || flat.Face(Plain).Fg != hex(0x111111) || flat.Face(Accent).Fg != hex(0x550055) || flat.Face(Removed).Bg != hex(0xffdddd) || flat.Face(OK) != lightTheme().Face(OK) {
		t.Errorf("%+v %v", flat, problems)
	}
	for _, bad := range []string{`{"text": {"primary": "coral"}}`, `[]`, `{`} {
		if _, problems := ParsePalette([]byte(bad)); len(problems) != 1 {
			t.Error(bad, problems)
		}
	}
	if got, problems := ParsePalette([]byte(`{"text": "x", "status": {"error": 5}}`)); len(problems) > 0 || got.Face(Wrong) != darkTheme().Face(Wrong) {
		t.Error(problems)
	}
}
