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
