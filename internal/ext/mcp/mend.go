package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// mended is a message that can be read. Of an answer, its number as a string is the
// number, and a protocol that is not known the known one that comes nearest. One odd block
// of a result would have the whole answer refused: base64 in another form is put right, and any other
// block that cannot be read becomes a text that says so. A message that needs none of
// that is returned as it is.
func (i *inspector) mended(raw []byte) []byte {
	odd := func(part string) bool { return bytes.Contains(raw, []byte(part)) }
	if !odd(`"content"`) && !odd(`"protocolVersion"`) && !odd(`"id":"`) && !odd(`"id": "`) {
		return raw
	}
	var message, result map[string]json.RawMessage
	if json.Unmarshal(raw, &message) != nil || message["method"] != nil {
		return raw
	}
	numbered := mendID(message)
	if json.Unmarshal(message["result"], &result) == nil && (mendContent(result) || i.mendProtocol(result)) {
		var err error
		if message["result"], err = json.Marshal(result); err != nil {
			return raw
		}
	} else if !numbered {
		return raw
	}
	out, err := json.Marshal(message)
	if err != nil {
		return raw
	}
	return out
}

// answerTo is the number of the request that an answer is to. Ours have numbers, and
// some servers write each as a string.
func answerTo(id json.RawMessage) (n int64, quoted bool, err error) {
	var text string
	if json.Unmarshal(id, &text) == nil && len(id) > 0 && id[0] == '"' {
		n, err = strconv.ParseInt(text, 10, 64)
		return n, true, err
	}
	return n, false, json.Unmarshal(id, &n)
}

func mendID(message map[string]json.RawMessage) bool {
	n, quoted, err := answerTo(message["id"])
	if err != nil || !quoted {
		return false
	}
	message["id"] = strconv.AppendInt(nil, n, 10)
	return true
}

func mendContent(result map[string]json.RawMessage) bool {
	var blocks []json.RawMessage
	if len(result["content"]) == 0 || json.Unmarshal(result["content"], &blocks) != nil || unread(result["content"]) == nil {
		return false
	}
	for i, b := range blocks {
		blocks[i] = mendedBlock(b)
	}
	content, err := json.Marshal(blocks)
	if err == nil {
		result["content"] = content
	}
	return err == nil
}

// mendProtocol has a server that answers with a protocol that the SDK does not know
// spoken to in the newest that is older, or in the oldest.
func (i *inspector) mendProtocol(result map[string]json.RawMessage) bool {
	var said string
	known := sdk.SupportedProtocolVersions() // the newest first
	if json.Unmarshal(result["protocolVersion"], &said) != nil || slices.Contains(known, said) {
		return false
	}
	at := slices.IndexFunc(known, func(v string) bool { return v <= legacy && v < said })
	if at < 0 {
		at = len(known) - 1
	}
	i.mu.Lock()
	i.unknown = said
	i.mu.Unlock()
	result["protocolVersion"], _ = json.Marshal(known[at]) // of a string, that cannot fail
	return true
}

// protocolNote says that a server is spoken to in another protocol than it said.
func (i *inspector) protocolNote(spoken string) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.unknown == "" {
		return nil
	}
	return []string{fmt.Sprintf("it speaks protocol %s, which adze does not know; adze speaks to it in %s", quote(line(i.unknown, 40)), spoken)}
}

// unread is why a list of blocks cannot be read.
func unread(content json.RawMessage) error {
	return json.Unmarshal(append(append([]byte(`{"content":`), content...), '}'), new(sdk.CallToolResult))
}

func mendedBlock(b json.RawMessage) json.RawMessage {
	alone := func(b json.RawMessage) error { return unread(append(append(json.RawMessage{'['}, b...), ']')) }
	why := alone(b)
	if why == nil {
		return b
	}
	var said string
	var block map[string]json.RawMessage
	if b[0] != '"' || json.Unmarshal(b, &said) != nil {
		said = fmt.Sprintf("[The server sent content that cannot be read (%s): %s]", line(fastjson.InWords(why).Error(), 200), line(string(b), 200))
		if json.Unmarshal(b, &block) == nil && block != nil {
			plainBase64(block)
			if again, err := json.Marshal(block); err == nil && alone(again) == nil {
				return again
			}
		}
	}
	text, err := json.Marshal(map[string]string{"type": "text", "text": said})
	if err != nil {
		return b
	}
	return text
}

// plainBase64 has the data of a block in the form of RFC 4648, section 4: servers send
// data URLs, the alphabet of section 5, line breaks, and no padding.
func plainBase64(block map[string]json.RawMessage) {
	var data, kind string
	if json.Unmarshal(block["data"], &data) != nil {
		return
	}
	if head, rest, found := strings.Cut(data, ";base64,"); found {
		data = rest
		if kind, found = strings.CutPrefix(head, "data:"); found && len(block["mimeType"]) == 0 {
			block["mimeType"], _ = json.Marshal(kind) // of a string, that cannot fail
		}
	}
	data = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "", " ", "", "=", "").Replace(data)
	if raw, err := base64.RawStdEncoding.DecodeString(data); err == nil {
		block["data"], _ = json.Marshal(raw)
	}
}
