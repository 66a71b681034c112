package draw

// A Theme gives each role its colours.
type Theme struct {
	Name  string
	Dark  bool // made for a dark background
	faces [nRoles]Face
}

// A Face is how a role looks. A Color of none is the terminal's own.
type Face struct {
	Fg, Bg Color
	Attr   Attr
}

// Face returns how t shows r.
func (t *Theme) Face(r Role) Face {
	if r >= nRoles {
		return Face{}
	}
	return t.faces[r]
}

// ThemeNames lists the themes that Named knows, for a menu.
func ThemeNames() []string {
	return []string{"dark", "light", "ansi", "dark-high-contrast", "light-high-contrast", "dark-colorblind", "light-colorblind"}
}

// Named returns the built-in theme of that name. "" and "auto" are dark or
// light as the background is.
func Named(name string, dark bool) (*Theme, bool) {
	switch name {
	case "", "auto":
		if dark {
			return darkTheme(), true
		}
		return lightTheme(), true
	case "dark":
		return darkTheme(), true
	case "light":
		return lightTheme(), true
	case "ansi":
		return ansiTheme(), true
	case "dark-high-contrast":
		return darkContrast(), true
	case "light-high-contrast":
		return lightContrast(), true
	case "dark-colorblind":
		return darkBlind(), true
	case "light-colorblind":
		return lightBlind(), true
	}
	return darkTheme(), false
}

func hex(n uint32) Color { return direct | Color(n&0xffffff) }

// with returns a copy of t under another name, in which faces replace some.
func (t *Theme) with(name string, faces map[Role]Face) *Theme {
	out := *t
	out.Name = name
	for r, f := range faces {
		out.faces[r] = f
	}
	return &out
}

func darkTheme() *Theme {
	fg := func(n uint32) Face { return Face{Fg: hex(n)} }
	t := Theme{Name: "dark", Dark: true, faces: [nRoles]Face{
		Quiet: fg(0x8b929c), Accent: fg(0xe0a458), OK: fg(0x7fbf7f), Attention: fg(0xe5c07b), Wrong: fg(0xf0807f),
		Heading: {Attr: Bold, Fg: hex(0xe8c79a)}, Link: {Fg: hex(0x7eb6ea), Attr: Underline}, Code: fg(0x9fc7d9),
		Quote: {Fg: hex(0xa7adb6), Attr: Italic}, Thinking: {Fg: hex(0x8b929c), Attr: Italic}, User: {Attr: Bold},
		Border: fg(0xe0a458), BorderQuiet: fg(0x848a94), Selected: {Fg: hex(0xe0a458), Attr: Bold}, Match: {Fg: hex(0x15181c), Bg: hex(0xe5c07b)},
		Shell: fg(0xe08ab0), Plan: fg(0x6fc3c8), AcceptEdits: fg(0xb49cf0), Danger: {Fg: hex(0xf0807f), Attr: Bold},
		Added: {Fg: hex(0x8fcf8f), Bg: hex(0x14261a)}, Removed: {Fg: hex(0xf09a98), Bg: hex(0x2e1a1c)},
		AddedWord: {Fg: hex(0xd6f5d6), Bg: hex(0x1f4a2a)}, RemovedWord: {Fg: hex(0xffdad8), Bg: hex(0x5a2426)}, Hunk: fg(0x8b929c),
		Keyword: fg(0xc99be0), TypeName: fg(0xe5c07b), Function: fg(0x7eb6ea), StringLit: fg(0x98c379), Number: fg(0xdba06b),
		Comment: {Fg: hex(0x8b929c), Attr: Italic}, Operator: fg(0xa9b2bd), Variable: {}, Constant: fg(0xdba06b), Tag: fg(0xe88388),
		Attribute: fg(0xdba06b), Escape: fg(0x6fc3c8), SyntaxError: fg(0xf0807f),
	}}
	return &t
}

func lightTheme() *Theme {
	fg := func(n uint32) Face { return Face{Fg: hex(n)} }
	t := Theme{Name: "light", faces: [nRoles]Face{
		Quiet: fg(0x626973), Accent: fg(0x9a5700), OK: fg(0x1f7034), Attention: fg(0x855f00), Wrong: fg(0xb3261e),
		Heading: {Attr: Bold, Fg: hex(0x7a4500)}, Link: {Fg: hex(0x0b5cad), Attr: Underline}, Code: fg(0x0e5a73),
		Quote: {Fg: hex(0x555c66), Attr: Italic}, Thinking: {Fg: hex(0x626973), Attr: Italic}, User: {Attr: Bold},
		Border: fg(0x9a5700), BorderQuiet: fg(0x6a7079), Selected: {Fg: hex(0x9a5700), Attr: Bold}, Match: {Fg: hex(0x1a1a1a), Bg: hex(0xf7d774)},
		Shell: fg(0xa02565), Plan: fg(0x006a70), AcceptEdits: fg(0x6239b8), Danger: {Fg: hex(0xb3261e), Attr: Bold},
		Added: {Fg: hex(0x1b6a30), Bg: hex(0xeaf8ed)}, Removed: {Fg: hex(0xa8211a), Bg: hex(0xfdf0ee)},
		AddedWord: {Fg: hex(0x0d3d1a), Bg: hex(0xb9e8c3)}, RemovedWord: {Fg: hex(0x5c0f0b), Bg: hex(0xffcfca)}, Hunk: fg(0x626973),
		Keyword: fg(0x7b2c9e), TypeName: fg(0x855f00), Function: fg(0x0b5cad), StringLit: fg(0x1f7034), Number: fg(0x9a4600),
		Comment: {Fg: hex(0x626973), Attr: Italic}, Operator: fg(0x4f5660), Variable: {}, Constant: fg(0x9a4600), Tag: fg(0xa8233a),
		Attribute: fg(0x9a4600), Escape: fg(0x006a70), SyntaxError: fg(0xb3261e),
	}}
	return &t
}

// ansiTheme uses the terminal's 16 colours only. Any theme looks like this
// where a terminal has no more.
func ansiTheme() *Theme {
	fg := func(n uint8) Face { return Face{Fg: Index(n)} }
	t := Theme{Name: "ansi", Dark: true, faces: [nRoles]Face{
		Quiet: {Attr: Dim}, Accent: fg(3), OK: fg(2), Attention: fg(3), Wrong: fg(1),
		Heading: {Attr: Bold}, Link: {Fg: Index(4), Attr: Underline}, Code: fg(6),
		Quote: {Attr: Italic}, Thinking: {Attr: Dim | Italic}, User: {Attr: Bold},
		Border: fg(3), BorderQuiet: {Attr: Dim}, Selected: {Fg: Index(3), Attr: Bold}, Match: {Attr: Reverse},
		Shell: fg(5), Plan: fg(6), AcceptEdits: fg(5), Danger: {Fg: Index(1), Attr: Bold},
		Added: fg(2), Removed: fg(1), AddedWord: {Fg: Index(2), Attr: Reverse}, RemovedWord: {Fg: Index(1), Attr: Reverse}, Hunk: {Attr: Dim},
		Keyword: fg(5), TypeName: fg(3), Function: fg(4), StringLit: fg(2), Number: fg(3), Comment: {Attr: Dim | Italic},
		Constant: fg(3), Tag: fg(1), Attribute: fg(3), Escape: fg(6), SyntaxError: fg(1),
	}}
	return &t
}

func darkContrast() *Theme {
	fg := func(n uint32) Face { return Face{Fg: hex(n)} }
	return darkTheme().with("dark-high-contrast", map[Role]Face{
		Quiet: fg(0xc8ccd2), Accent: fg(0xffc46b), OK: fg(0x8df08d), Attention: fg(0xffe08a), Wrong: fg(0xffa3a0), Heading: {Fg: hex(0xffffff), Attr: Bold | Underline},
		Link: {Fg: hex(0xa6d4ff), Attr: Underline}, Code: fg(0xc2e9fa), Quote: fg(0xd8dce2), Thinking: fg(0xc8ccd2), Border: fg(0xffc46b), BorderQuiet: fg(0xc8ccd2),
		Selected: {Fg: hex(0x000000), Bg: hex(0xffc46b), Attr: Bold}, Added: fg(0xa8f5a8), Removed: fg(0xffb7b4), Hunk: fg(0xc8ccd2),
		AddedWord: {Fg: hex(0x000000), Bg: hex(0x8df08d), Attr: Bold}, RemovedWord: {Fg: hex(0x000000), Bg: hex(0xffa3a0), Attr: Bold},
		Comment: fg(0xc8ccd2), Keyword: fg(0xe6c2ff), Operator: fg(0xe3e6ea), Shell: fg(0xf5b5d0), Tag: fg(0xffa9ae), SyntaxError: fg(0xffa3a0), Danger: {Fg: hex(0xffa3a0), Attr: Bold | Underline},
	})
}

func lightContrast() *Theme {
	fg := func(n uint32) Face { return Face{Fg: hex(n)} }
	return lightTheme().with("light-high-contrast", map[Role]Face{
		Quiet: fg(0x3a3f46), Accent: fg(0x6b3a00), OK: fg(0x0d4a1d), Attention: fg(0x5a4000), Wrong: fg(0x8a0f0a), Heading: {Fg: hex(0x000000), Attr: Bold | Underline},
		Link: {Fg: hex(0x003c7a), Attr: Underline}, Code: fg(0x063d50), Quote: fg(0x2f343a), Thinking: fg(0x3a3f46), Border: fg(0x6b3a00), BorderQuiet: fg(0x3a3f46),
		Selected: {Fg: hex(0xffffff), Bg: hex(0x6b3a00), Attr: Bold}, Added: fg(0x0d4a1d), Removed: fg(0x8a0f0a), Hunk: fg(0x3a3f46),
		AddedWord: {Fg: hex(0xffffff), Bg: hex(0x0d4a1d), Attr: Bold}, RemovedWord: {Fg: hex(0xffffff), Bg: hex(0x8a0f0a), Attr: Bold},
		Comment: fg(0x3a3f46), Keyword: fg(0x551675), TypeName: fg(0x5a4000), Function: fg(0x003c7a), StringLit: fg(0x0d4a1d), Number: fg(0x6b3000),
		Operator: fg(0x2a2f35), Constant: fg(0x6b3000), Tag: fg(0x7a1226), Attribute: fg(0x6b3000), Escape: fg(0x00474b), SyntaxError: fg(0x8a0f0a),
		Shell: fg(0x741446), Plan: fg(0x00474b), AcceptEdits: fg(0x42218a), Danger: {Fg: hex(0x8a0f0a), Attr: Bold | Underline},
	})
}

// darkBlind tells added from removed, and right from wrong, by blue and
// orange, which eyes without red or green tell apart.
func darkBlind() *Theme {
	fg := func(n uint32) Face { return Face{Fg: hex(n)} }
	return darkTheme().with("dark-colorblind", map[Role]Face{
		OK: fg(0x79b8ff), Wrong: fg(0xff9e4a), Attention: fg(0xf0d34a), Danger: {Fg: hex(0xff9e4a), Attr: Bold},
		Added: {Fg: hex(0x8cc4ff), Bg: hex(0x122338)}, Removed: {Fg: hex(0xffb273), Bg: hex(0x2e2013)}, AddedWord: {Fg: hex(0xe3f1ff), Bg: hex(0x17406b)}, RemovedWord: {Fg: hex(0xffeedd), Bg: hex(0x66390a)},
		StringLit: fg(0x8cc4ff), Tag: fg(0xffb273), SyntaxError: fg(0xff9e4a),
	})
}

func lightBlind() *Theme {
	fg := func(n uint32) Face { return Face{Fg: hex(n)} }
	return lightTheme().with("light-colorblind", map[Role]Face{
		OK: fg(0x0b56a8), Wrong: fg(0x9c4a00), Attention: fg(0x6e5a00), Danger: {Fg: hex(0x9c4a00), Attr: Bold},
		Added: {Fg: hex(0x0b56a8), Bg: hex(0xeaf3fd)}, Removed: {Fg: hex(0x8f4400), Bg: hex(0xfdf2e6)}, AddedWord: {Fg: hex(0x06294f), Bg: hex(0xbfdcff)}, RemovedWord: {Fg: hex(0x4d2500), Bg: hex(0xffd9b3)},
		StringLit: fg(0x0b56a8), Tag: fg(0x9c4a00), SyntaxError: fg(0x9c4a00),
	})
}
