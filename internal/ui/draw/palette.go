package draw

// Palette returns the number of c, or of the color nearest to it, among a
// terminal's 256, and false for none.
func (c Color) Palette() (uint8, bool) { return c.to256().index() }

// Value returns the parts of c, with the usual values for the palette's; false
// for none.
func (c Color) Value() (r, g, b uint8, ok bool) {
	n, palette := c.index()
	switch {
	case !palette:
		return c.RGB()
	case n < 16:
		p := palette16[n]
		return uint8(p[0]), uint8(p[1]), uint8(p[2]), true
	}
	return cubeRGB(n).RGB()
}

// ColorOf is the color of the terminal's palette that the definition of an agent names: red,
// blue, green, yellow, purple, orange, pink or cyan. Any other word is none.
func ColorOf(name string) Color {
	switch name {
	case "red":
		return Index(1)
	case "green":
		return Index(2)
	case "yellow":
		return Index(3)
	case "blue":
		return Index(4)
	case "purple":
		return Index(5)
	case "cyan":
		return Index(6)
	case "pink":
		return Index(13)
	case "orange":
		return Index(208)
	}
	return 0
}
