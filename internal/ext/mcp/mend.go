package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// mended is a message whose content of a result can be read: one odd block would
// have the whole answer refused. Base64 in another form is put right, and any other
// block that cannot be read becomes a text that says so. A message that needs none of
// that is returned as it is.
func mended(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"content"`)) {
		return raw
	}
	var message, result map[string]json.RawMessage
	if json.Unmarshal(raw, &message) != nil || json.Unmarshal(message["result"], &result) != nil || len(result["content"]) == 0 {
		return raw
	}
	var blocks []json.RawMessage
	if json.Unmarshal(result["content"], &blocks) != nil || unread(result["content"]) == nil {
		return raw
	}
	for i, b := range blocks {
		blocks[i] = mendedBlock(b)
	}
	var err error
	if result["content"], err = json.Marshal(blocks); err != nil {
		return raw
	}
	if message["result"], err = json.Marshal(result); err != nil {
		return raw
	}
	out, err := json.Marshal(message)
	if err != nil {
		return raw
	}
	return out
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
