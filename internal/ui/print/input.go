package print

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/adze-agent/adze/internal/op"
)

// maxLine bounds one line of --input-format stream-json, in bytes.
const maxLine = 64 << 20

// Read sends what a stream-json input asks for until it ends. A line that
// makes no sense ends it with an error that names the line; what came before
// is carried out.
func Read(ctx context.Context, in io.Reader, to chan<- Input) error {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" {
			continue
		}
		x, err := parse([]byte(line))
		if err != nil {
			return fmt.Errorf("line %d of the input: %w", n, err)
		}
		select {
		case to <- x:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line of the input is longer than %d MB", maxLine>>20)
	}
	return sc.Err()
}

type inputLine struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Response  *reply `json:"response"`
	Message   struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Request struct {
		Subtype string `json:"subtype"`
		Mode    string `json:"mode"`
		Model   string `json:"model"`
	} `json:"request"`
}

func parse(raw []byte) (Input, error) {
	var l inputLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return Input{}, fmt.Errorf("it is not a JSON object: %w", err)
	}
	switch l.Type {
	case "user":
		p, err := prompt(l.Message.Content)
		return Input{Op: p}, err
	case "control_request":
		return control(l), nil
	case "control_response":
		if l.Response == nil {
			return Input{}, errors.New(`a control_response needs a "response" with the "request_id" that it answers`)
		}
		return Input{Reply: l.Response}, nil
	case "":
		return Input{}, errors.New(`it has no "type"; a prompt is {"type":"user","message":{"role":"user","content":"…"}}`)
	}
	return Input{Respond: func(error) any {
		return ignored{Type: "system", Subtype: "informational", Level: "warning", Content: "input of type " + l.Type + " is not known and was ignored"}
	}}, nil
}

type ignored struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Level   string `json:"level"`
	Content string `json:"content"`
}

// prompt reads a message's content: a string, or blocks of text and images.
func prompt(raw json.RawMessage) (op.Prompt, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
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
	if err := json.Unmarshal(raw, &blocks); err != nil {
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

// control carries out the requests of a host that drives adze over the pipe
// (compat.md 4.5), as far as they concern a print run.
func control(l inputLine) Input {
	ok := func(body any) func(error) any {
		return func(err error) any {
			if err != nil {
				return controlLine("error", l.RequestID, nil, err.Error())
			}
			return controlLine("success", l.RequestID, body, "")
		}
	}
	switch l.Request.Subtype {
	case "interrupt":
		return Input{Op: op.Interrupt{}, Respond: ok(map[string]any{})}
	case "set_permission_mode":
		return Input{Op: op.SetMode{Mode: l.Request.Mode}, Respond: ok(map[string]any{"mode": l.Request.Mode})}
	case "set_model":
		return Input{Op: op.SetModel{Name: l.Request.Model}, Respond: ok(map[string]any{})}
	case "initialize":
		return Input{Respond: ok(map[string]any{"commands": []any{}, "agents": []any{}, "output_style": "default", "available_output_styles": []string{"default"}, "models": []any{}, "account": map[string]any{}})}
	}
	return Input{Respond: func(error) any {
		return controlLine("error", l.RequestID, nil, fmt.Sprintf("the request %q is not supported", l.Request.Subtype))
	}}
}

func controlLine(subtype, id string, body any, problem string) any {
	res := map[string]any{"subtype": subtype, "request_id": id}
	if problem != "" {
		res["error"] = problem
	} else {
		res["response"] = body
	}
	return map[string]any{"type": "control_response", "response": res}
}
