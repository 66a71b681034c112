package file

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of an image for a model.
const (
	maxEdge      = 1568      // pixels of the long edge
	maxImage     = 3_750_000 // bytes; 5 MB as base64
	maxImageFile = 64 << 20  // bytes read
	maxPixels    = 100 << 20 // pixels decoded
)

// media tells an image by its first bytes.
func media(b []byte) string {
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

func (r *reading) image(src io.Reader) (tool.Result, error) {
	if r.o.fi.Size() > maxImageFile {
		return tool.Errorf("%s is an image of %s, too large to show", visible(r.in.FilePath), clip.Size(r.o.fi.Size())), nil
	}
	data, err := io.ReadAll(io.LimitReader(src, maxImageFile))
	if err != nil {
		return r.failed(err)
	}
	kind := media(data)
	cfg, err := dimensions(kind, data)
	if err != nil {
		return tool.Errorf("%s looks like %s but cannot be decoded: %v", visible(r.in.FilePath), kind, err), nil
	}
	about := fmt.Sprintf("%s: %s, %d×%d pixels, %s", visible(r.in.FilePath), kind, cfg.Width, cfg.Height, clip.Size(int64(len(data))))
	if !r.env.Images {
		return tool.Result{Text: about + ". The model in use takes no images, so it is not shown."}, nil
	}
	img, err := fitImage(kind, data, cfg)
	if err != nil {
		return tool.Errorf("%s: %v", about, err), nil
	}
	f := entry(r.path, r.o.fi, data)
	r.t.Ledger.put(f)
	return tool.Result{
		Text:    about,
		View:    view.Image{Media: img.Media, Data: img.Data, Alt: short(r.path, r.env)},
		Images:  []llm.Image{img},
		Effects: []tool.Effect{effect.Saw{Files: []effect.File{f}}},
	}, nil
}

func dimensions(kind string, data []byte) (image.Config, error) {
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

func pixels(kind string, data []byte) (image.Image, error) {
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

// fitImage returns the image within the bounds of a model. One that fits is
// passed on as it is, except a GIF, of which only the first frame is shown.
func fitImage(kind string, data []byte, cfg image.Config) (img llm.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the image cannot be decoded: %v", p)
		}
	}()
	edge := max(cfg.Width, cfg.Height)
	if edge <= maxEdge && len(data) <= maxImage && kind != "image/gif" {
		return llm.Image{Media: kind, Data: data}, nil
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || int64(cfg.Width)*int64(cfg.Height) > maxPixels {
		return img, fmt.Errorf("the image has too many pixels")
	}
	src, err := pixels(kind, data)
	if err != nil {
		return img, err
	}
	for edge = min(edge, maxEdge); edge > 0; edge = edge * 3 / 4 {
		small := scale(src, edge)
		var b bytes.Buffer
		if kind != "image/jpeg" {
			if err := png.Encode(&b, small); err != nil {
				return img, err
			}
			if b.Len() <= maxImage {
				return llm.Image{Media: "image/png", Data: b.Bytes()}, nil
			}
			b.Reset()
		}
		if err := jpeg.Encode(&b, onWhite(small), &jpeg.Options{Quality: 85}); err != nil {
			return img, err
		}
		if b.Len() <= maxImage {
			return llm.Image{Media: "image/jpeg", Data: b.Bytes()}, nil
		}
	}
	return img, fmt.Errorf("the image cannot be made small enough")
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
