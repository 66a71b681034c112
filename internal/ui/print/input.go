package print

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/adze-agent/adze/internal/op"
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
	Bad  error // why the line cannot be used
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
		p.ID, p.Verbatim = l.UUID, l.Composed
		if !l.Synthetic && !l.Meta && l.Parent == nil { // a call has no person either
			p.Typed = op.All(p.Text)
		}
		return Input{Op: p, Said: said(l.Message), UUID: l.UUID}, err
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

// prompt reads a message, whose content is a string, or blocks of text and
// images.
func prompt(message json.RawMessage) (op.Prompt, error) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := fastjson.Unmarshal(message, &m); err != nil {
		return op.Prompt{}, errors.New(`it has no "message" like {"role":"user","content":"…"}`)
	}
	if m.Role != "" && m.Role != "user" {
		return op.Prompt{}, fmt.Errorf("its message has the role %q, and only prompts of the user are taken", m.Role)
	}
	var s string
	if fastjson.Unmarshal(m.Content, &s) == nil {
		return checked(op.Prompt{Text: s})
	}
	var blocks []struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Source struct {
			Type  string `json:"type"`
			Media string `json:"media_type"`
			Data  string `json:"data"`
		} `json:"source"`
	}
	if err := fastjson.Unmarshal(m.Content, &blocks); err != nil {
		return op.Prompt{}, errors.New(`"message.content" is neither a string nor a list of blocks`)
	}
	var p op.Prompt
	var texts []string
	for i, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "image":
			data, err := base64.StdEncoding.DecodeString(b.Source.Data)
			if err != nil || b.Source.Type != "base64" {
				return p, fmt.Errorf("block %d: an image needs a base64 source", i+1)
			}
			p.Images = append(p.Images, op.Image{Media: b.Source.Media, Data: data})
		default:
			return p, fmt.Errorf("block %d is of type %q; text and image are understood", i+1, b.Type)
		}
	}
	p.Text = strings.Join(texts, "\n")
	return checked(p)
}

func checked(p op.Prompt) (op.Prompt, error) {
	if strings.TrimSpace(p.Text) == "" && len(p.Images) == 0 {
		return p, errors.New("the prompt is empty")
	}
	return p, nil
}
