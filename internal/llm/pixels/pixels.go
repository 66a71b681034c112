// Package pixels owns images as models take them: it tells their format by
// their first bytes, and makes them small enough for a model. It opens no file
// and knows no model.
package pixels

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/adze-agent/adze/internal/llm"
)

// Bounds of an image for a model.
const (
	// edge is how many pixels the long edge may have where nothing else is known.
	edge = 1568
	// MaxBytes are the most bytes: 5 MB as base64.
	MaxBytes  = 3_750_000
	maxPixels = 100 << 20 // pixels decoded
)

// Media tells the format of an image by its first bytes, as image/png,
// image/jpeg, image/gif or image/webp; "" is none of them.
func Media(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif"
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Size reads the width and height of an image of the format kind.
func Size(kind string, data []byte) (image.Config, error) {
	r := bytes.NewReader(data)
	switch kind {
	case "image/png":
		return png.DecodeConfig(r)
	case "image/jpeg":
		return jpeg.DecodeConfig(r)
	case "image/gif":
		return gif.DecodeConfig(r)
	}
	return webp.DecodeConfig(r)
}

func decode(kind string, data []byte) (image.Image, error) {
	r := bytes.NewReader(data)
	switch kind {
	case "image/png":
		return png.Decode(r)
	case "image/jpeg":
		return jpeg.Decode(r)
	case "image/gif":
		return gif.Decode(r) // the first frame
	}
	return webp.Decode(r)
}

// Fit returns the image with a long edge of at most longest pixels (0: Edge)
// and at most MaxBytes. One that fits is passed on as it is, except a GIF, of
// which only the first frame is shown. It may take a second for a large one.
func Fit(data []byte, longest int) (img llm.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the image cannot be decoded: %v", p)
		}
	}()
	if longest <= 0 {
		longest = edge
	}
	kind := Media(data)
	cfg, err := Size(kind, data)
	if err != nil {
		return img, err
	}
	edge := max(cfg.Width, cfg.Height)
	if edge <= longest && len(data) <= MaxBytes && kind != "image/gif" {
		return llm.Image{Media: kind, Data: data}, nil
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || int64(cfg.Width)*int64(cfg.Height) > maxPixels {
		return img, errors.New("the image has too many pixels")
	}
	src, err := decode(kind, data)
	if err != nil {
		return img, err
	}
	for edge = min(edge, longest); edge > 0; edge = edge * 3 / 4 {
		small := scale(src, edge)
		var b bytes.Buffer
		if kind != "image/jpeg" {
			if err := png.Encode(&b, small); err != nil {
				return img, err
			}
			if b.Len() <= MaxBytes {
				return llm.Image{Media: "image/png", Data: b.Bytes()}, nil
			}
			b.Reset()
		}
		if err := jpeg.Encode(&b, onWhite(small), &jpeg.Options{Quality: 85}); err != nil {
			return img, err
		}
		if b.Len() <= MaxBytes {
			return llm.Image{Media: "image/jpeg", Data: b.Bytes()}, nil
		}
	}
	return img, errors.New("the image cannot be made small enough")
}

// scale returns src with a long edge of at most edge pixels.
func scale(src image.Image, edge int) image.Image {
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	if max(w, h) <= edge {
		return src
	}
	if w >= h {
		w, h = edge, max(1, h*edge/w)
	} else {
		w, h = max(1, w*edge/h), edge
	}
	dst := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	return dst
}

// onWhite flattens transparency, which JPEG does not have.
func onWhite(src image.Image) image.Image {
	if o, ok := src.(interface{ Opaque() bool }); ok && o.Opaque() {
		return src
	}
	dst := image.NewRGBA(src.Bounds())
	draw.Draw(dst, dst.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min, draw.Over)
	return dst
}
