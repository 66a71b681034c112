package servers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Bounds of what is configured.
const (
	MaxServers = 500      // of one file
	maxEntry   = 64 << 10 // bytes of one server
	maxName    = 100      // bytes
	maxMany    = 1000     // arguments, variables or headers of one server
)

// written is a server's configuration as it stands in a file, before any
// variable is put in.
type written struct {
	Type          Transport
	Command       string
	Args          []string
	Env           map[string]string
	URL           string
	Headers       map[string]string
	HeadersHelper string
	OAuth         OAuth

	timeout                                         time.Duration
	alwaysLoad, trustAnnotations, sampling, disable bool
}

var aliases = map[string]Transport{
	"stdio": Stdio, "local": Stdio,
	"http": HTTP, "streamable-http": HTTP, "streamableHttp": HTTP, "streamable_http": HTTP, "remote": HTTP,
	"sse": SSE, "ws": WebSocket, "websocket": WebSocket, "sdk": Host,
}

// read reads a configuration. The error says in plain words what is wrong with
// it; what could be read comes with it.
func read(raw json.RawMessage) (written, error) {
	var w written
	if len(raw) > maxEntry {
		return w, fmt.Errorf("it has more than %s", clip.Size(maxEntry))
	}
	var m map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || fastjson.Unmarshal(raw, &m) != nil {
		return w, errors.New(`it is no object: a server looks like {"command": "…", "args": ["…"]} or {"type": "http", "url": "https://…"}`)
	}
	var bad []error
	text := func(key string, to *string) {
		if v, ok := m[key]; ok && !null(v) && fastjson.Unmarshal(v, to) != nil {
			bad = append(bad, fmt.Errorf("%q is to be a text", key))
		}
	}
	flag := func(key string, to *bool) {
		if v, ok := m[key]; ok && !null(v) && fastjson.Unmarshal(v, to) != nil {
			bad = append(bad, fmt.Errorf("%q is to be true or false", key))
		}
	}
	var kind string
	text("type", &kind)
	if kind == "" {
		text("transport", &kind) // as some clients name it
	}
	text("command", &w.Command)
	text("url", &w.URL)
	text("headersHelper", &w.HeadersHelper)
	flag("alwaysLoad", &w.alwaysLoad)
	flag("trustAnnotations", &w.trustAnnotations)
	flag("allowSampling", &w.sampling)
	flag("disabled", &w.disable)
	if v, ok := m["args"]; ok && !null(v) && (fastjson.Unmarshal(v, &w.Args) != nil || len(w.Args) > maxMany) {
		bad, w.Args = append(bad, fmt.Errorf("\"args\" is to be a list of at most %d texts", maxMany)), nil
	}
	for key, to := range map[string]*map[string]string{"env": &w.Env, "headers": &w.Headers} {
		var err error
		if *to, err = texts(m[key]); err != nil {
			bad = append(bad, fmt.Errorf("%q %w", key, err))
		}
	}
	if v, ok := m["oauth"]; ok && !null(v) && fastjson.Unmarshal(v, &w.OAuth) != nil {
		bad = append(bad, errors.New(`"oauth" is to be an object with "clientId", "callbackPort", "authServerMetadataUrl", "scopes" (a list of texts)`))
	}
	secrets := w.OAuth.secrets()
	for _, key := range slices.Sorted(maps.Keys(secrets)) {
		if v := secrets[key]; v != "" && Variable(v) == "" {
			bad = append(bad, fmt.Errorf(`%q names a variable that holds it, "${NAME}": a secret does not belong into a file`, key))
		}
	}
	if v, ok := m["timeout"]; ok && !null(v) {
		var ms float64
		if fastjson.Unmarshal(v, &ms) != nil || ms < 0 || ms > 24*60*60*1000 {
			bad = append(bad, errors.New(`"timeout" is to be a number of milliseconds, a day at most`))
		}
		w.timeout = time.Duration(ms) * time.Millisecond
	}
	if v, ok := m["envFile"]; ok && !null(v) {
		bad = append(bad, errors.New(`"envFile" is not read: put its variables into "env", as "NAME": "${NAME}" for one that is set where adze starts`))
	}
	if in := input().FindString(strings.Join(w.texts(), "\n")); in != "" {
		bad = append(bad, fmt.Errorf(`%q is a question of an editor's, which adze does not ask: name a variable instead, "${NAME}"`, clip.Visible(clip.Line(in, 60))))
	}
	bad = append(bad, w.transport(kind))
	return w, errors.Join(bad...)
}

// input matches what editors ask a person for.
var input = pattern.Lazy(`\$\{input:[^}]*\}`)

// texts are those in which a variable may stand.
func (w *written) texts() []string {
	out := append([]string{w.Command, w.URL}, w.Args...)
	for _, m := range []map[string]string{w.Env, w.Headers} {
		out = slices.AppendSeq(out, maps.Values(m))
	}
	return out
}

func null(v json.RawMessage) bool { return string(bytes.TrimSpace(v)) == "null" }

// texts reads a map of texts. Numbers, true and false count as what they look
// like: people write ports without quotes.
func texts(raw json.RawMessage) (map[string]string, error) {
	if len(raw) == 0 || null(raw) {
		return nil, nil
	}
	var m map[string]json.RawMessage
	if fastjson.Unmarshal(raw, &m) != nil || len(m) > maxMany {
		return nil, fmt.Errorf("is to be an object of at most %d texts", maxMany)
	}
	out := make(map[string]string, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		v := bytes.TrimSpace(m[name])
		var s string
		switch {
		case len(v) > 0 && (v[0] == '{' || v[0] == '[' || v[0] == 'n'):
			return nil, fmt.Errorf("is to hold texts, and its %q is none", clip.Visible(clip.Line(name, 60)))
		case fastjson.Unmarshal(v, &s) != nil:
			s = string(v)
		}
		out[name] = s
	}
	return out, nil
}

// transport works out how the server is spoken to.
func (w *written) transport(kind string) error {
	t, known := aliases[kind]
	w.Type = t
	switch {
	case kind != "" && !known:
		return fmt.Errorf("there is no type %q%s: stdio, http, sse or ws", clip.Visible(clip.Line(kind, 40)), near.Hint(kind, []string{"stdio", "http", "sse", "ws"}))
	case kind == "" && w.Command != "" && w.URL != "":
		return errors.New(`it has "command" and "url": which one counts, "type" has to say`)
	case kind == "" && w.URL != "":
		w.Type = HTTP
	case kind == "":
		w.Type = Stdio
	}
	switch {
	case w.Type == Host:
		return nil
	case w.Type == Stdio && w.Command == "":
		return errors.New(`"command" is missing: the program to run, or "url" for a server elsewhere`)
	case w.Type != Stdio && w.URL == "":
		return fmt.Errorf(`"url" is missing, and a server of type %s has one`, w.Type)
	}
	return nil
}

// check says what is wrong with the values, once variables are put in.
func (s Server) check() error {
	switch {
	case s.Name == "" || len(s.Name) > maxName || clip.Visible(s.Name) != s.Name:
		return fmt.Errorf("its name is to be a text of 1 to %d bytes without control characters", maxName)
	case s.Transport == Host:
		return nil
	case s.Transport == Stdio && s.Command == "":
		return errors.New("its command is empty")
	case s.Transport == Stdio:
		for _, v := range append([]string{s.Command}, s.Args...) {
			if strings.ContainsRune(v, 0) {
				return errors.New("the command holds a NUL byte")
			}
		}
		for name, v := range s.Env {
			if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(v, 0) {
				return fmt.Errorf("%q is no name of a variable, or its value holds a NUL byte", clip.Visible(clip.Line(name, 60)))
			}
		}
		return nil
	}
	schemes := []string{"https", "http"}
	if s.Transport == WebSocket {
		schemes = []string{"wss", "ws"}
	}
	u, err := url.Parse(s.URL)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" {
		return fmt.Errorf("its URL is to begin with %s:// and a host", strings.Join(schemes, ":// or "))
	}
	if u.User != nil {
		return errors.New("its URL holds a name or a password, which logs would show: use \"headers\" instead")
	}
	for name, v := range s.Headers {
		if !token(name) || strings.ContainsAny(v, "\r\n\x00") {
			return fmt.Errorf("%q is no name of a header, or its value has more than one line", clip.Visible(clip.Line(name, 60)))
		}
	}
	return nil
}

// token reports whether a header may be named so (RFC 9110, 5.6.2).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// Hash tells what a server runs, with the content of the files of the folder that its
// command names, where it connects to and what it sends there: what a person says yes
// to. Variables count as they are written.
func (s Server) Hash() string {
	w, err := read(s.Raw)
	if err != nil { // it can never run; the text tells it from others
		return digest(s.Raw)
	}
	text, err := json.Marshal(struct {
		Type          Transport
		Command       string
		Args          []string
		Env           map[string]string
		URL           string
		Headers       map[string]string
		HeadersHelper string
		OAuth         OAuth
		Programs      map[string]string `json:",omitempty"`
	}{w.Type, w.Command, w.Args, w.Env, w.URL, w.Headers, w.HeadersHelper, w.OAuth, sums(s.Programs)})
	if err != nil {
		return digest(s.Raw)
	}
	return digest(text)
}

func digest(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Describe says line by line what the server runs or connects to, as it is
// configured, for a person who is to say yes to it. Of values that look like secrets
// it says where they are, and tells one from another.
func (s Server) Describe() string {
	w, err := read(s.Raw)
	var b strings.Builder
	line := func(what, v string) {
		if v != "" {
			fmt.Fprintf(&b, "%s: %s\n", what, clip.Visible(v))
		}
	}
	if err != nil {
		line("cannot be used", err.Error())
		line("configuration", string(s.Raw))
		return b.String()
	}
	if w.Type == Stdio {
		line("runs", quoted(w.Command))
		for _, a := range shownArgs(w.Args) {
			line("  argument", quoted(a))
		}
	} else {
		line("connects to", shownURL(w.URL)+" ("+string(w.Type)+")")
	}
	for _, k := range slices.Sorted(maps.Keys(w.Env)) {
		line("  variable", k+"="+shown(k, w.Env[k]))
	}
	for _, k := range slices.Sorted(maps.Keys(w.Headers)) {
		line("  header", k+": "+shown(k, w.Headers[k]))
	}
	line("runs for its headers", w.HeadersHelper)
	describePrograms(s.Programs, line)
	line("signs in as client", w.OAuth.ClientID)
	line("  with the secret in", w.OAuth.ClientSecret)
	line("  with the private key in", w.OAuth.PrivateKey)
	line("signs in by what is written at", w.OAuth.MetadataURL)
	if p := w.OAuth.IdP; p != nil {
		line("signs in at", p.Issuer)
		line("  as client", p.ClientID)
		line("  with the secret in", p.ClientSecret)
	}
	return b.String()
}

// Variable is the name in "${NAME}", "" where a text is anything else.
func Variable(s string) string {
	name, begins := strings.CutPrefix(s, "${")
	name, ends := strings.CutSuffix(name, "}")
	if !begins || !ends || strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return ""
	}
	return name
}

// quoted writes what has spaces, or nothing in it, so that its ends are seen.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// Line says in one line what the server is: the command with its arguments, or
// the URL without its query. No value of a variable or header is in it.
func (s Server) Line() string {
	w, err := read(s.Raw)
	if err != nil && w.Command == "" && w.URL == "" {
		return ""
	}
	var text string
	switch w.Type {
	case Host:
		text = "served by the program that drives adze"
	case Stdio:
		words := []string{quoted(w.Command)}
		for _, a := range withoutSecrets(w.Args) {
			words = append(words, quoted(a))
		}
		text = strings.Join(words, " ")
	case HTTP, SSE, WebSocket:
		text, _, _ = strings.Cut(w.URL, "?")
		if u, err := url.Parse(w.URL); err == nil && u.User != nil {
			u.User, u.RawQuery = nil, ""
			text = u.String()
		}
		text += " (" + string(w.Type) + ")"
	}
	return clip.Line(clip.Visible(text), 300)
}
