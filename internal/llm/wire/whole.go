package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

// A jsonReader gives the values of an answer that is no event stream as events: one whole
// reply of a server that does not stream, lines with one value each, or a list of them.
type jsonReader struct {
	dec   *json.Decoder
	list  bool
	first json.RawMessage
}

// maxHead is how much white space may come before the first value, in bytes.
const maxHead = 512

// values is a reader of an answer that begins as JSON does. An event stream begins with
// the name of a field; what kind of answer it is said to be matters little. nil
// is none of these.
func values(r *bufio.Reader, contentType string) (*jsonReader, error) {
	switch t, _, _ := mime.ParseMediaType(contentType); t {
	case "text/html", "application/xhtml+xml":
		return nil, nil
	}
	for n := 1; n <= maxHead; n++ {
		b, err := r.Peek(n)
		if err == io.EOF { // there is nothing
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch b[n-1] {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			j := &jsonReader{dec: json.NewDecoder(r), list: b[n-1] == '['}
			if j.list {
				_, _ = j.dec.Token() // the bracket
			}
			return j, nil
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// Next is the next value.
func (j *jsonReader) Next() (Event, error) {
	if j.list && !j.dec.More() {
		return Event{}, io.EOF
	}
	var v json.RawMessage
	if err := j.dec.Decode(&v); err != nil {
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			err = ErrGarbage
		}
		return Event{}, err
	}
	if j.first == nil {
		j.first = v
	}
	return Event{Data: v}, nil
}

// whole decodes an answer of JSON values. Where they are no reply, it is refused.
func (c *Client) whole(ctx, reqCtx context.Context, j *jsonReader, dec Decoder, out *Out, resp *http.Response, host string) error {
	err := c.decode(j, dec, out)
	switch {
	case err == nil || out.left:
		return nil
	case errors.Is(err, ErrNoEnd) && !out.begun && j.first != nil, errors.Is(err, ErrGarbage) && !out.begun:
		return c.refused(resp, j.first, host)
	}
	return c.broken(ctx, reqCtx, err, host, resp, out)
}
