package draw

import "math"

// luminance returns the relative luminance of a color (WCAG 2).
func luminance(c Color) float64 {
	r, g, b, ok := c.RGB()
	if n, palette := c.index(); palette && !ok {
		if n < 16 {
			p := palette16[n]
			r, g, b = uint8(p[0]), uint8(p[1]), uint8(p[2])
		} else {
			r, g, b, _ = cubeRGB(n).RGB()
		}
	}
	lin := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}
