package draw

import "math"

// luminance returns the relative luminance of a color (WCAG 2).
func luminance(c Color) float64 {
	r, g, b, _ := c.Value()
	lin := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}
