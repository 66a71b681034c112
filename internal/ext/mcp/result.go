package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/pixels"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// filesIn is the folder of the session's own that files of servers are kept in.
const filesIn = "mcp"

// A paper is a result on its way to a model and to people.
type paper struct {
	env    tool.Env
	text   []string
	views  []view.Block
	images []llm.Image
}

// result is what a model reads of an answer, and people see.
func (r *remote) result(res *sdk.CallToolResult, env tool.Env) tool.Result {
	p := &paper{env: env}
	spoken := p.contents(res.Content)
	bad := res.IsError
	if res.StructuredContent != nil {
		if err := r.fits(res.StructuredContent); err != nil && !res.IsError {
			bad = true
			p.say(fmt.Sprintf("[The answer does not fit the schema that the MCP server %s promised for it: %s]", r.s.conf.Name, line(err.Error(), 500)))
		}
		if rest, some := untold(spoken, res.StructuredContent); some {
			if raw, err := json.MarshalIndent(rest, "", "  "); err == nil {
				p.say(string(raw))
			}
		}
	} else if r.output() != nil && !res.IsError {
		bad = true
		p.say(fmt.Sprintf("[The MCP server %s promised structured content for this tool, and sent none.]", r.s.conf.Name))
	}
	if bad {
		if lacks := r.s.missed(strings.Join(spoken, "\n")); lacks != "" {
			p.say("[" + lacks + "]")
		}
	}
	out := tool.Result{Text: strings.Join(p.text, "\n"), IsErr: bad, Images: p.images}
	if out.Text == "" {
		out.Text = "(no output)"
		if len(p.images) > 0 {
			out.Text = clip.Count(len(p.images), "image")
		}
	}
	out.Data = func() any { return append([]sdk.Content{}, res.Content...) }
	if len(p.views) > 1 || len(p.images) > 0 {
		out.View = view.Group{Blocks: p.views}
	}
	return out
}

func (r *remote) fits(structured any) error {
	if s := r.output(); s != nil {
		return s.Validate(structured)
	}
	return nil
}

// untold is what of structured content the texts do not say, and whether there is any.
// A text says a value that it is, as JSON or as a text; several texts together say the
// list of them. Servers wrap what they say in a member ({"content": …}, {"result": …}).
func untold(texts []string, v any) (rest any, some bool) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	if json.Unmarshal(raw, &v) != nil {
		return nil, false
	}
	var says, list, words []any
	for _, t := range texts {
		says, words = append(says, strings.TrimSpace(t)), append(words, t)
		var is any
		if json.Unmarshal([]byte(t), &is) != nil {
			is = t
		}
		says, list = append(says, is), append(list, is)
	}
	if len(texts) > 0 {
		says = append(says, list, words, strings.TrimSpace(strings.Join(texts, "\n")))
	}
	told := func(v any) bool {
		if s, ok := v.(string); ok {
			v = strings.TrimSpace(s)
		}
		return slices.ContainsFunc(says, func(is any) bool { return reflect.DeepEqual(is, v) })
	}
	if told(v) {
		return nil, false
	}
	members, _ := v.(map[string]any)
	left := map[string]any{}
	for name, m := range members {
		if !told(m) {
			left[name] = m
		}
	}
	if len(members) == 0 || len(left) == len(members) {
		return v, true
	}
	return left, len(left) > 0
}

// say adds text that a model reads.
func (p *paper) say(s string) {
	s = clip.Clean(s)
	p.text = append(p.text, s)
	p.views = append(p.views, view.Text{S: s})
}

// contents adds all of it, and returns the texts among it as they came.
func (p *paper) contents(list []sdk.Content) (texts []string) {
	for _, c := range list {
		switch c := c.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
			p.say(c.Text)
		case *sdk.ImageContent:
			p.image(c.Data, c.MIMEType)
		case *sdk.AudioContent:
			p.file("audio", c.Data, c.MIMEType, "")
		case *sdk.ResourceLink:
			about := strings.TrimSpace(line(c.Title, 200) + " " + line(c.Description, 500))
			p.say(strings.TrimSpace(fmt.Sprintf("[A resource of this server, which ReadMcpResource can read: %s (%s) %s]", line(c.URI, 2000), line(c.Name, 200), about)))
		case *sdk.EmbeddedResource:
			p.resource(c.Resource)
		default:
			p.say("[The server sent content of a kind that adze does not know.]")
		}
	}
	return texts
}

// resource adds the content of a resource.
func (p *paper) resource(c *sdk.ResourceContents) {
	switch {
	case c == nil:
	case c.Blob == nil:
		p.say(fmt.Sprintf("[Resource %s]\n%s", line(c.URI, 2000), c.Text))
	case pixels.Media(c.Blob) != "":
		p.image(c.Blob, c.MIMEType)
	default:
		p.file("resource", c.Blob, c.MIMEType, c.URI)
	}
}

// image adds an image, or says why there is none.
func (p *paper) image(data []byte, kind string) {
	about := fmt.Sprintf("an image (%s, %s)", line(kind, 60), clip.Size(int64(len(data))))
	if !p.env.Images {
		p.say("[The server sent " + about + ". The model in use takes no images, so it is not shown.]")
		return
	}
	img, err := pixels.Fit(data, p.env.ImageEdge)
	if err != nil {
		p.say("[The server sent " + about + " that cannot be shown: " + line(err.Error(), 200) + "]")
		return
	}
	p.images = append(p.images, img)
	p.views = append(p.views, view.Image{Media: img.Media, Data: img.Data, Alt: about})
}

// file keeps what a model cannot read as a file, and says where.
func (p *paper) file(what string, data []byte, kind, uri string) {
	about := fmt.Sprintf("%s (%s, %s)", what, line(kind, 60), clip.Size(int64(len(data))))
	if uri != "" {
		about += " " + line(uri, 2000)
	}
	if p.env.Scratch == "" {
		p.say("[The server sent " + about + ". This session keeps no files, so it is lost.]")
		return
	}
	path, err := keep(p.env.Scratch, what, data, kind)
	if err != nil {
		p.say("[The server sent " + about + " that could not be kept: " + line(err.Error(), 200) + "]")
		return
	}
	p.say("[The server sent " + about + ". It is in " + path + "]")
}

// keep writes a file that is named by its content.
func keep(scratch, what string, data []byte, kind string) (string, error) {
	dir := filepath.Join(scratch, filesIn)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	sum := sha256.Sum256(data)
	name := what + "-" + hex.EncodeToString(sum[:8]) + suffix(kind)
	err = safe.Make(root, safe.File{Name: name, Text: data, Mode: 0o600, Brief: true})
	if errors.Is(err, fs.ErrExist) {
		if is, err := root.ReadFile(name); err != nil || !bytes.Equal(is, data) {
			return "", fmt.Errorf("there is another file %s", name)
		}
		err = nil
	}
	return filepath.Join(dir, name), err
}

// suffix is how files of a media type end, "" when that is not known.
func suffix(kind string) string {
	base, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return ""
	}
	known := map[string]string{
		"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac",
		"audio/mp4": ".m4a", "audio/aac": ".aac", "audio/webm": ".webm", "application/pdf": ".pdf", "application/zip": ".zip",
		"application/gzip": ".gz", "application/json": ".json", "video/mp4": ".mp4", "image/svg+xml": ".svg", "text/plain": ".txt", "text/csv": ".csv",
	}
	return known[base]
}
