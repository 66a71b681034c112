package print

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// maxLine bounds one line of --input-format stream-json, in bytes.
const maxLine = 64 << 20

// An Input is a line of --input-format stream-json. One that is empty asks
// for nothing.
type Input struct {
	Op      op.Op
	Command bool     // Op stands in the place of a prompt
	Reply   *reply   // to a request of ours
	Request *Request // of the host
	Note    string   // what to tell the host
	// Said is the content of a prompt's message, as the host wrote it, and UUID its
	// name of the message.
	Said json.RawMessage
	UUID string

	last string     // a slash command that the last of its texts is
	pdfs []document // beside it
	left []string   // what of it is not used
	Bad  error      // why the line cannot be used
}

// Read sends what a stream-json input asks for until it ends. A line that
// makes no sense is an input, too: it says so, and what follows goes on.
func Read(ctx context.Context, in io.Reader, to chan<- Input) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(r)
		if err != nil && !errors.Is(err, errLong) && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if x, any := parseLine(n, line, err); any {
			select {
			case to <- x:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

var errLong = fmt.Errorf("it is longer than %d MB", maxLine>>20)

// readLine reads a line. Of one that is too long nothing is kept.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := r.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && long:
			return nil, errLong
		default:
			return line, err
		}
	}
}

func parseLine(n int, line []byte, err error) (x Input, any bool) {
	line = bytes.TrimSpace(line)
	switch {
	case errors.Is(err, errLong):
		x.Bad = err
	case len(line) == 0:
		return x, false
	default:
		x, x.Bad = parse(line)
	}
	if x.Bad != nil {
		x = Input{Bad: fmt.Errorf("line %d of the input: %w", n, x.Bad)}
	}
	return x, true
}

// maxNested is how deep objects and lists of a line may stand in each other.
const maxNested = 1000

type inputLine struct {
	Type      string          `json:"type"`
	UUID      string          `json:"uuid"`
	Composed  bool            `json:"client_composed"` // its text is taken as it is written
	Synthetic bool            `json:"isSynthetic"`     // no person wrote it
	Meta      bool            `json:"isMeta"`          // likewise
	Query     *bool           `json:"shouldQuery"`     // false: nothing is asked of a model
	Parent    *string         `json:"parent_tool_use_id"`
	RequestID string          `json:"request_id"`
	Response  *reply          `json:"response"`
	Message   json.RawMessage `json:"message"`
	Request   json.RawMessage `json:"request"`
}

func parse(raw []byte) (Input, error) {
	var l inputLine
	// Names are what they are to the letter and stand once: hosts may read a line in
	// another way, and a no must not be a yes to one of both.
	if err := fastjson.Walk(raw, maxNested, func(int, string) error { return nil }); errors.Is(err, fastjson.ErrTwice) || errors.Is(err, fastjson.ErrDeep) {
		return Input{}, err
	}
	if err := fastjson.Unmarshal(raw, &l); err != nil {
		return Input{}, fmt.Errorf("it is not a JSON object of the shape that is known: %s", fastjson.InWords(err))
	}
	switch l.Type {
	case "user":
		p, err := prompt(l.Message)
		p.ID, p.Verbatim, p.Quiet = l.UUID, l.Composed, l.Query != nil && !*l.Query
		if !l.Synthetic && !l.Meta && l.Parent == nil { // a call has no person either
			p.Typed = op.All(p.Text)
		}
		return Input{Op: p.Prompt, Said: said(l.Message), UUID: l.UUID, last: p.last, pdfs: p.pdfs, left: p.left}, err
	case "control_request":
		return Input{Request: newRequest(l)}, nil
	case "control_response":
		if l.Response == nil {
			return Input{}, errors.New(`a control_response needs a "response" with the "request_id" that it answers`)
		}
		return Input{Reply: l.Response}, nil
	case "keep_alive", "assistant", "control_cancel_request", "update_environment_variables":
		// Nothing here needs to be kept awake, is told what was said elsewhere, runs
		// long for a host, or takes variables while it runs.
		return Input{}, nil
	case "":
		return Input{}, errors.New(`it has no "type"; a prompt is {"type":"user","message":{"role":"user","content":"…"}}`)
	}
	return Input{Note: "input of type " + l.Type + " is not known and was ignored"}, nil
}

// said is the content of a message.
func said(message json.RawMessage) json.RawMessage {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	_ = fastjson.Unmarshal(message, &m) // prompt says what is wrong with it
	return m.Content
}

// A prompted is a message as it was read: the prompt, documents that are no text, and
// what of it was left out.
type prompted struct {
	op.Prompt
	last string     // a slash command that the last of several texts is
	pdfs []document // their texts go into With
	left []string
}

type document struct {
	name string
	data []byte
}

// prompt reads a message, whose content is a string, or blocks of text, images and
// documents. A block of another kind is left out.
func prompt(message json.RawMessage) (p prompted, err error) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := fastjson.Unmarshal(message, &m); err != nil {
		return p, errors.New(`it has no "message" like {"role":"user","content":"…"}`)
	}
	if m.Role != "" && m.Role != "user" {
		return p, fmt.Errorf("its message has the role %q, and only prompts of the user are taken", m.Role)
	}
	if fastjson.Unmarshal(m.Content, &p.Text) == nil {
		return p, p.check()
	}
	var blocks []block
	if err := fastjson.Unmarshal(m.Content, &blocks); err != nil {
		return p, errors.New(`"message.content" is neither a string nor a list of blocks`)
	}
	var texts []string
	after := 0 // texts joined so far
	for i, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
			after += len(b.Text) + len("\n")
		case "image":
			data, err := base64.StdEncoding.DecodeString(b.Source.data())
			if err != nil || b.Source.Type != "base64" {
				return p, fmt.Errorf("block %d: an image needs a base64 source", i+1)
			}
			p.Images = append(p.Images, op.Image{Media: b.Source.Media, Data: data})
			p.ImagesAt = append(p.ImagesAt, after)
		case "document":
			if why := p.document(b); why != "" {
				p.left = append(p.left, fmt.Sprintf("block %d was left out: %s", i+1, why))
			}
		default:
			p.left = append(p.left, fmt.Sprintf("block %d was left out: it is of type %q; text, image and document are understood", i+1, b.Type))
		}
	}
	p.Text = strings.Join(texts, "\n")
	for i, at := range p.ImagesAt {
		p.ImagesAt[i] = min(at, len(p.Text)) // no line break is behind the last text
	}
	if n := len(texts); n > 1 && slashed(texts[n-1]) {
		p.last = strings.TrimSpace(texts[n-1])
	}
	return p, p.check()
}

type block struct {
	Type   string      `json:"type"`
	Text   string      `json:"text"`
	Title  string      `json:"title"`
	Source blockSource `json:"source"`
}

type blockSource struct {
	Type    string          `json:"type"`
	Media   string          `json:"media_type"`
	Data    json.RawMessage `json:"data"`
	Content json.RawMessage `json:"content"` // a text, or blocks
}

func (s blockSource) data() (text string) {
	_ = json.Unmarshal(s.Data, &text) // what is none is empty
	return text
}

// document puts a document beside the prompt; why says that it cannot be read.
func (p *prompted) document(b block) (why string) {
	name := cmp.Or(b.Title, "document "+strconv.Itoa(len(p.With)+len(p.pdfs)+1))
	switch b.Source.Type {
	case "text":
		p.beside(name, b.Source.data())
		return ""
	case "content":
		var text string
		var parts []block
		if json.Unmarshal(b.Source.Content, &text) != nil && json.Unmarshal(b.Source.Content, &parts) == nil {
			for _, x := range parts {
				text += x.Text
			}
		}
		if text == "" {
			return "the document has no text"
		}
		p.beside(name, text)
		return ""
	case "base64":
		data, err := base64.StdEncoding.DecodeString(b.Source.data())
		switch {
		case err != nil:
			return "the document is no base64"
		case b.Source.Media == "application/pdf":
			p.pdfs = append(p.pdfs, document{name, data})
			return ""
		case utf8.Valid(data) && strings.HasPrefix(b.Source.Media, "text/"):
			p.beside(name, string(data))
			return ""
		}
		return fmt.Sprintf("a document of %q is neither text nor PDF", b.Source.Media)
	}
	return fmt.Sprintf("a document with the source %q is not fetched; text, content and base64 are understood", b.Source.Type)
}

// beside has a text stand with the prompt, between tags that nothing in it can end.
func (p *prompted) beside(name, text string) {
	name = clip.Line(clip.Visible(name), 200)
	text = fmt.Sprintf("<document name=%q>\n%s\n</document>", name, strings.ReplaceAll(clip.Clean(text), "</document", "< /document"))
	p.With = append(p.With, op.Text{Name: name, Text: text})
}

func (p prompted) check() error {
	if strings.TrimSpace(p.Text) == "" && len(p.Images)+len(p.With)+len(p.pdfs) == 0 {
		return errors.New(strings.Join(append([]string{"the prompt is empty"}, p.left...), "; "))
	}
	return nil
}
