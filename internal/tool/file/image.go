package file

import (
	"fmt"
	"io"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/pixels"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

const maxImageFile = 64 << 20 // bytes of an image that are read

func (r *reading) image(src io.Reader) (tool.Result, error) {
	if r.o.fi.Size() > maxImageFile {
		return tool.Errorf("%s is an image of %s, too large to show", clip.Pictures(r.in.FilePath), clip.Size(r.o.fi.Size())), nil
	}
	data, err := io.ReadAll(io.LimitReader(src, maxImageFile))
	if err != nil {
		return r.failed(err)
	}
	kind := pixels.Media(data)
	cfg, err := pixels.Size(kind, data)
	if err != nil {
		return tool.Errorf("%s looks like %s but cannot be decoded: %v", clip.Pictures(r.in.FilePath), kind, err), nil
	}
	about := fmt.Sprintf("%s: %s, %d×%d pixels, %s", clip.Pictures(r.in.FilePath), kind, cfg.Width, cfg.Height, clip.Size(int64(len(data))))
	if !r.env.Images {
		return tool.Result{Text: about + ". The model in use takes no images, so it is not shown."}, nil
	}
	img, err := pixels.Fit(data, r.env.ImageEdge)
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
		Data: func() any {
			return r.shape("image", map[string]any{
				"base64": img.Data, "type": img.Media, "originalSize": len(data),
				"dimensions": map[string]any{"originalWidth": cfg.Width, "originalHeight": cfg.Height},
			})
		},
	}, nil
}
