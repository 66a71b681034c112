package importer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Bounds of what is read, in bytes.
const (
	maxLine  = 32 << 20
	maxWhole = 256 << 20 // of a file that is held in memory
	maxImage = 5 << 20
)

// glob lists files below a folder by a pattern with "/". What is a link on the
// way out of the folder is not followed.
func glob(dir, pattern string) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), pattern)
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(n))
	}
	return names, nil
}

// sources are the sessions of files that have one each, named after it.
func sources(from string, paths []string) (out []Source) {
	for _, p := range paths {
		name := filepath.Base(p)
		out = append(out, Source{from, p, strings.TrimSuffix(name, filepath.Ext(name))})
	}
	return out
}

// each yields the lines of a file with their numbers, from 1, each valid until the
// next. Lines that are too long are counted, and left out.
func (s *Session) each(ctx context.Context, path string, yield func(n int, line []byte)) error {
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 256<<10)
	var room []byte
	for n := 1; ; n++ {
		line, long, err := readLine(r, room[:0])
		if room = line; cap(room) > 4<<20 {
			room = nil
		}
		if long {
			s.leave(fmt.Sprintf("lines of more than %d MB", maxLine>>20))
		} else if len(bytes.TrimSpace(line)) > 0 {
			yield(n, line)
		}
		if errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
}

// readLine appends a line with its end.
func readLine(r *bufio.Reader, line []byte) (_ []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// whole reads a file that is held in memory.
func whole(path string) ([]byte, error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxWhole {
		return nil, fmt.Errorf("%s has %d MB; at most %d MB are read", path, info.Size()>>20, maxWhole>>20)
	}
	return io.ReadAll(io.LimitReader(f, maxWhole))
}

// A block is a piece of a message's content, of any API.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	ImageURL  json.RawMessage `json:"image_url"`
	Source    struct {
		Media string `json:"media_type"`
		Data  string `json:"data"`
	} `json:"source"`
}

// blocks reads a content, which may be a text alone.
func blocks(raw json.RawMessage) []block {
	raw = bytes.TrimSpace(raw)
	var s string
	var out []block
	switch {
	case bytes.HasPrefix(raw, []byte(`"`)) && fastjson.Unmarshal(raw, &s) == nil:
		return []block{{Type: "text", Text: s}}
	case bytes.HasPrefix(raw, []byte("[")) && fastjson.Unmarshal(raw, &out) == nil:
		return out
	}
	return nil
}

// text is what a content says; what is neither text nor blocks is said as it is.
func text(raw json.RawMessage) string {
	bs := blocks(raw)
	if bs == nil {
		if s := strings.TrimSpace(string(raw)); s != "null" && s != "[]" {
			return s
		}
		return ""
	}
	var parts []string
	for _, b := range bs {
		switch {
		case b.Text != "":
			parts = append(parts, b.Text)
		case strings.HasSuffix(b.Type, "image"):
			parts = append(parts, "[an image]")
		}
	}
	return strings.Join(parts, "\n")
}

// picture is an image of a prompt, or a text that stands for one that no
// provider would take.
func (s *Session) picture(media, data string) (img []llm.Image, instead string) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 || len(raw) > maxImage || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, media) {
		s.leave("images that no model takes, or of more than 5 MB")
		return nil, "[an image]"
	}
	return []llm.Image{{Media: media, Data: raw}}, ""
}

// dataURL takes an address with its content in itself apart.
func dataURL(url string) (media, data string) {
	rest, _ := strings.CutPrefix(url, "data:")
	media, data, _ = strings.Cut(rest, ";base64,")
	return media, data
}

// said joins the parts of a prompt.
func said(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// moment is a time in seconds or milliseconds since 1970: some agents have
// written both under one name.
func moment(n int64) time.Time {
	if n < 1e11 {
		return time.Unix(n, 0).UTC()
	}
	return time.UnixMilli(n).UTC()
}
