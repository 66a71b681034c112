package servers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
)

// disk is config.Files in memory.
type disk map[string]string

func (d disk) Read(path string, _ int64) ([]byte, error) {
	if s, ok := d[path]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}
func (disk) Names(string) ([]string, error) { return nil, nil }
func (disk) Owned(string) error             { return nil }

// settings are those of a person, of the folder's local file and of an administrator.
func settings(t *testing.T, user, local, managed string) *config.Config {
	t.Helper()
	d := disk{}
	for path, s := range map[string]string{"/h/.adze/settings.json": user, "/w/.adze/settings.local.json": local, "/etc/adze/managed.json": managed} {
		if s != "" {
			d[path] = s
		}
	}
	c, err := config.Load(config.Options{Files: d, Home: "/h", Folders: config.Folders{Config: "/h/.adze"}, Dir: "/w", Root: "/w", ManagedDir: "/etc/adze", Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func file(path, text string) File {
	if text == "" {
		return File{Path: path, Err: fs.ErrNotExist}
	}
	return File{Path: path, Text: []byte(text)}
}

func env(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "t0ken", "EMPTY": "", "HOST": "db.example"}[name]
	return v, ok
}

// said is a set in one line per server.
func said(s Set) string {
	var b strings.Builder
	for i, list := range [][]Server{s.Servers, s.Hidden} {
		for _, x := range list {
			mark := ""
			if i == 1 {
				mark = "hidden "
			}
			fmt.Fprintf(&b, "%s%s %s %s", mark, x.Scope, x.Name, x.Approval)
			if x.Problem != "" {
				b.WriteString(": " + x.Problem)
			}
			if x.Why != "" {
				b.WriteString(" (" + x.Why + ")")
			}
			b.WriteString("\n")
		}
	}
	for _, p := range s.Problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

func check(t *testing.T, why, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(strings.ReplaceAll(want, "\t", "")) {
		t.Errorf("%s: got\n%s\nwant\n%s", why, got, want)
	}
}

const project = `{"mcpServers":{"db":{"command":"./db","args":["--fast"]}}}`

func TestScopes(t *testing.T) {
	from := Sources{
		Config: settings(t, `{"mcpServers":{"a":{"command":"user"},"own":{"command":"u"}},"enableAllProjectMcpServers":true}`, `{"mcpServers":{"z":{"command":"local"}}}`, `{"mcpServers":{"corp":{"command":"c"}}}`),
		Person: file("/h/.claude.json", "{\"numStartups\":3,\n\"projects\":{\"/w\":{\"mcpServers\":{\n\"a\":{\"command\":\"claude-local\"}}},\"/other\":{\"mcpServers\":{\"no\":{}}}},\n\"mcpServers\":{\"a\":{\"command\":\"claude-user\"},\n\"cu\":{\"type\":\"http\",\"url\":\"https://x.example/mcp\"}}}"),
		Dirs:   []string{"/w"}, Trusted: true, Env: env,
		Project: []File{file("/w/.mcp.json", `{"mcpServers":{"a":{"command":"project"},"p":{"command":"p"}}}`)},
		Plugins: []Given{{Name: "db", Plugin: "fmt", JSON: []byte(`{"command":"${CLAUDE_PLUGIN_ROOT}/db"}`), Vars: map[string]string{"CLAUDE_PLUGIN_ROOT": "/plug"}}},
		Given:   []Given{{Name: "f", JSON: []byte(`{"command":"one"}`)}, {Name: "f", JSON: []byte(`{"command":"two"}`)}, {Name: "in", Inside: true}},
	}
	s := Load(from)
	check(t, "all", said(s), `local a approved
		managed corp approved
		user cu approved
		flag f approved
		flag in approved
		user own approved
		project p approved
		plugin plugin:fmt:db approved
		local z pending (nobody has said yes to it yet)
		hidden flag f approved
		hidden project a approved
		hidden user a approved
		hidden user a approved`)
	a, _ := s.Get("a")
	f, _ := s.Get("f")
	cu, _ := s.Get("cu")
	plug, _ := s.Get("plugin:fmt:db")
	if a.Command != "claude-local" || a.Origin.String() != "/h/.claude.json:3:1" || f.Command != "two" || cu.Line() != "https://x.example/mcp (http)" || cu.Origin.Line != 5 || plug.Command != "/plug/db" || plug.Plugin != "fmt" {
		t.Errorf("%+v\n%+v\n%+v\n%+v", a, f, cu, plug)
	}

	from.Strict = true
	check(t, "strict", said(Load(from)), "managed corp approved\nflag f approved\nflag in approved\nhidden flag f approved")
	from.Strict = false
	from.Managed = file("/etc/claude-code/managed-mcp.json", `{"mcpServers":{"only":{"command":"c"}}}`)
	check(t, "an administrator's file", said(Load(from)), "managed corp approved\nflag in approved\nmanaged only approved")
	from.Managed.Text, from.Managed.Err = nil, errors.New("it is a folder")
	check(t, "an administrator's file that cannot be read leaves nothing either", said(Load(from)), "managed corp approved\nflag in approved\n/etc/claude-code/managed-mcp.json: error: mcpServers: not read: it is a folder")
}

func TestApproval(t *testing.T) {
	db := Server{Name: "db", Raw: []byte(`{"command":"./db","args":["--fast"]}`)}
	for _, c := range []struct {
		why, user, text string
		untrusted       bool
		answer          *Answer
		want            string
	}{
		{why: "nobody was asked", want: "project db pending (nobody has said yes to it yet)"},
		{why: "a folder that is not trusted", untrusted: true, user: `{"enableAllProjectMcpServers":true}`, answer: &Answer{Hash: db.Hash(), Yes: true}, want: "project db pending (the folder is not trusted as it is now: look at it with adze trust)"},
		{why: "yes", answer: &Answer{Hash: db.Hash(), Yes: true}, want: "project db approved"},
		{why: "yes to something else", answer: &Answer{Hash: "x", Yes: true}, want: "project db pending (it is not what you said yes to any more)"},
		{why: "no", answer: &Answer{Hash: db.Hash()}, want: "project db refused (you said no to it; adze mcp reset-choices has it asked again)"},
		{why: "no to something else", answer: &Answer{Hash: "x"}, want: "project db pending (nobody has said yes to it yet)"},
		{why: "all by settings", user: `{"enableAllProjectMcpServers":true}`, want: "project db approved"},
		{why: "this one by settings", user: `{"enabledMcpjsonServers":["db"]}`, want: "project db approved"},
		{why: "another one by settings", user: `{"enabledMcpjsonServers":["dbx"]}`, want: "project db pending (nobody has said yes to it yet)"},
		{why: "off by settings", user: `{"disabledMcpjsonServers":["db"],"enableAllProjectMcpServers":true}`, want: "project db refused (disabledMcpjsonServers names it)"},
		{why: "denied", user: `{"deniedMcpServers":[{"serverName":"db"}],"enableAllProjectMcpServers":true}`, want: "project db refused (deniedMcpServers forbids it)"},
		{why: "the person's own one while it waits", user: `{"mcpServers":{"db":{"command":"mine"}}}`, want: "user db approved\nhidden project db pending (nobody has said yes to it yet)"},
		{why: "switched off where it stands", text: `{"mcpServers":{"db":{"command":"x","disabled":true}}}`, user: `{"enableAllProjectMcpServers":true}`, want: `project db refused (its configuration says "disabled")`},
	} {
		text := c.text
		if text == "" {
			text = project
		}
		from := Sources{Config: settings(t, c.user, "", ""), Project: []File{file("/w/.mcp.json", text)}, Trusted: !c.untrusted, Env: env}
		if c.answer != nil {
			from.Answers = map[string]Answer{"db": *c.answer}
		}
		check(t, c.why, said(Load(from)), c.want)
	}
	// A local file that came with a repository starts nothing either.
	from := Sources{Config: settings(t, `{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["x"]}`, `{"mcpServers":{"x":{"command":"./evil"}}}`, ""), Trusted: true}
	check(t, "of the local file", said(Load(from)), "local x pending (nobody has said yes to it yet)")
	from.Config = settings(t, `{"mcpServers":{"x":{"command":"mine"}}}`, `{"mcpServers":{"x":{"command":"./evil"}}}`, "")
	check(t, "of the local file, beside the person's own", said(Load(from)), "user x approved\nhidden local x pending (nobody has said yes to it yet)")
}

func TestHashIsOfWhatRuns(t *testing.T) {
	base := Server{Raw: []byte(`{"command":"x","args":["a"],"env":{"A":"1"}}`)}
	for text, same := range map[string]bool{
		`{ "args":["a"], "type":"stdio", "command":"x", "env":{"A":"1"}, "timeout": 5, "alwaysLoad":true }`: true,
		`{"command":"y","args":["a"],"env":{"A":"1"}}`:                                                      false,
		`{"command":"x","args":["a"," "],"env":{"A":"1"}}`:                                                  false,
		`{"command":"x","args":["a"],"env":{"A":"2"}}`:                                                      false,
		`{"command":"x","args":["a"],"env":{"A":"1"},"headersHelper":"evil"}`:                               false,
		`{"command":"x a","env":{"A":"1"}}`:                                                                 false,
		`{"type":"http","command":"x","args":["a"],"env":{"A":"1"},"url":"https://h"}`:                      false,
		`{"command":"x","args":["a"],"env":{"A":"1"},"oauth":{"authServerMetadataUrl":"https://evil"}}`:     false,
		`{"command":["x"]}`: false,
	} {
		if got := (Server{Raw: []byte(text)}).Hash() == base.Hash(); got != same {
			t.Errorf("%s: same is %v", text, got)
		}
	}
	now := Server{Name: "db", Raw: []byte(`{"command":"x","args":["a","b c"],"env":{"A":"1"}}`)}
	got := Changed(now, Answer{Hash: base.Hash(), Yes: true, Said: base.Describe()})
	if !strings.Contains(got, "+  argument: \"b c\"\n") || strings.Contains(got, "-  ") {
		t.Errorf("%s", got)
	}
	if got := Changed(now, Answer{Hash: now.Hash(), Said: now.Describe()}) + Changed(now, Answer{}); got != "" {
		t.Error(got)
	}
}

// What stands in the files that a command names is a part of what is answered.
func TestHashIsOfPrograms(t *testing.T) {
	raw := []byte(`{"command":"node","args":["x.js"]}`)
	base := Server{Name: "x", Raw: raw, Programs: []Program{{Path: "x.js", Sum: "0123456789abcdef", Text: "one\ntwo\n"}}}
	answer := Answer{Hash: base.Hash(), Yes: true, Said: base.Describe(), Texts: base.Texts()}
	if (Server{Name: "x", Raw: raw}).Hash() == base.Hash() {
		t.Error("a program is no part of it")
	}
	now := base
	now.Programs = []Program{{Path: "x.js", Sum: "fedcba9876543210", Text: "one\nthree\n"}}
	if got := Changed(now, answer); !strings.Contains(got, "-two\n+three\n") || !strings.Contains(got, "+  file of this folder: x.js") {
		t.Error(got)
	}
	now.Programs[0].Text = "" // too long by now
	if got := Changed(now, answer); strings.Contains(got, "two") || !strings.Contains(got, "+  file of this folder: x.js") {
		t.Error(got)
	}
}

// What looks like a secret is not shown; that it is another one is.
func TestDescribeShowsNoSecrets(t *testing.T) {
	const secret = "a secret that stands in the file"
	for text, want := range map[string][2]string{ // what is in the description, what is not
		`{"command":"x","env":{"API_KEY":"hush"}}`:                                          {"API_KEY=(" + secret + ": 4 characters", "hush"},
		`{"command":"x","env":{"API_KEY":"${MINE}"}}`:                                       {"API_KEY=${MINE} (from your environment)", secret},
		`{"command":"x","env":{"API_KEY":"${MINE:-hush}"}}`:                                 {secret, "hush"},
		`{"command":"x","env":{"HOME":"/home/me","N":"4000","MODE":"read-only-and-quiet"}}`: {"MODE=read-only-and-quiet", secret},
		`{"command":"x","env":{"X":"ghp_0123456789abcdefghij"}}`:                            {secret + ": 24", "ghp_"},
		`{"command":"x","args":["--token","hush","--api-key=hush2","in.txt"]}`:              {"argument: in.txt", "hush"},
		`{"type":"http","url":"https://h/p?token=hush&n=1","headers":{"Cookie":"a=hush"}}`:  {"https://h/p?token=(" + secret, "hush"},
		`{"type":"http","url":"https://h/","headers":{"Authorization":"Basic ${X}"}}`:       {"Authorization: Basic ${X} (from your environment)", secret},
	} {
		got := (Server{Raw: []byte(text)}).Describe()
		if !strings.Contains(got, want[0]) || strings.Contains(got, want[1]) {
			t.Errorf("%s:\n%s", text, got)
		}
	}
	a, b := Server{Raw: []byte(`{"command":"x","env":{"KEY":"one1"}}`)}, Server{Raw: []byte(`{"command":"x","env":{"KEY":"two2"}}`)}
	if a.Describe() == b.Describe() {
		t.Error("another secret looks the same")
	}
}

func TestWhatCannotBeUsed(t *testing.T) {
	for text, want := range map[string]string{
		`{"command":"x"}`:                                                         "",
		`{"command":"x","args":null,"env":null}`:                                  "",
		`{"type":"streamable-http","url":"http://[::1]:1/mcp"}`:                   "",
		`{"url":"https://x.example/mcp"}`:                                         "",
		`{"type":"ws","url":"wss://x.example"}`:                                   "",
		`{"command":"x","env":{"PORT":3000,"ON":true}}`:                           "",
		`{"command":"x","args":["${TOKEN}","${EMPTY:-e}","${NO:-}","$NO","${}"]}`: "",
		`[]`:                                         "it is no object: a server looks like",
		`"x"`:                                        "it is no object",
		`null`:                                       "it is no object",
		`{}`:                                         `"command" is missing`,
		`{"Command":"x"}`:                            `"command" is missing`,
		`{"command":["x"]}`:                          `"command" is to be a text; "command" is missing`,
		`{"command":"x","args":"y"}`:                 `"args" is to be a list of at most 1000 texts`,
		`{"command":"x","args":[1]}`:                 `"args" is to be a list`,
		`{"command":"x","env":[]}`:                   `"env" is to be an object of at most 1000 texts`,
		`{"command":"x","env":{"A":{}}}`:             `"env" is to hold texts, and its "A" is none`,
		`{"command":"x","env":{"A=B":"1"}}`:          `"A=B" is no name of a variable`,
		`{"command":"x\u0000y"}`:                     "NUL byte",
		`{"command":"x","timeout":"fast"}`:           `"timeout" is to be a number of milliseconds`,
		`{"command":"x","timeout":1e12}`:             `"timeout" is to be`,
		`{"command":"x","url":"https://h"}`:          `which one counts`,
		`{"type":"htpp","url":"https://h"}`:          `there is no type "htpp"`,
		`{"type":"http"}`:                            `"url" is missing`,
		`{"type":"http","url":"file:///etc/passwd"}`: "its URL is to begin with https:// or http://",
		`{"type":"http","url":"x.example/mcp"}`:      "its URL is to begin",
		`{"type":"http","url":"https://"}`:           "its URL is to begin",
		`{"type":"ws","url":"https://h"}`:            "its URL is to begin with wss:// or ws://",
		`{"type":"http","url":"https://me:pw@h/"}`:   "its URL holds a name or a password",
		`{"type":"http","url":"https://h","headers":{"A b":"1"}}`:                                           `"A b" is no name of a header`,
		`{"type":"http","url":"https://h","headers":{"A":"1\r\nB: 2"}}`:                                     `"A" is no name of a header, or`,
		`{"type":"http","url":"https://h","oauth":{"scopes":"a"}}`:                                          `"oauth" is to be an object`,
		`{"type":"http","url":"https://h","oauth":{"clientSecret":"s3cret"}}`:                               `"oauth.clientSecret" names a variable`,
		`{"type":"http","url":"https://h","oauth":{"privateKey":"${A}x"}}`:                                  `"oauth.privateKey" names a variable`,
		`{"type":"http","url":"https://h","oauth":{"idp":{"issuer":"https://i","clientSecret":"${A:-x}"}}}`: `"oauth.idp.clientSecret" names a variable`,
		`{"command":"x","env":{"A":"${NO}"}}`:                                                               "the variable NO is not set",
		`{"command":"x","args":["${input:key}"]}`:                                                           "is a question of an editor's",
		`{"command":"x","env":{"A":"Bearer ${input:key}"}}`:                                                 "is a question of an editor's",
		`{"command":"x","envFile":"${workspaceFolder}/.env"}`:                                               "\"envFile\" is not read",
		`{"command":"${EMPTY}"}`:                                                                            "its command is empty",
		`{"command":"${NO}","env":{"A":"${NO2}","B":"${NO}"}}`:                                              "the variables NO, NO2 are not set",
		`{"type":"sdk"}`: "only the program that drives adze",
		`{"command":"` + strings.Repeat("x", 70<<10) + `"}`: "it has more than 65",
	} {
		s := Load(Sources{Config: settings(t, "", "", ""), Given: []Given{{Name: "s", JSON: []byte(text)}}, Env: env}).Servers[0]
		if !strings.Contains(s.Problem, want) || want == "" && s.Problem != "" {
			t.Errorf("%.80s: got %q, want %q", text, s.Problem, want)
		}
	}
	s := Load(Sources{Config: settings(t, "", "", ""), Given: []Given{{Name: "s", JSON: []byte(`{"command":"x","args":["${TOKEN}","${EMPTY:-e}","${NO:-}","$NO","${}","a${HOST}:1"],"env":{"PORT":3000}}`)}}, Env: env}).Servers[0]
	if got := strings.Join(s.Args, "|"); got != "t0ken|e||$NO|${}|adb.example:1" || s.Env["PORT"] != "3000" {
		t.Errorf("%q %v", got, s.Env)
	}
}

// One server that is wrong costs nothing but itself.
func TestTheRestWorks(t *testing.T) {
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, `,"s%d":{"command":"x"}`, i)
	}
	for _, c := range []struct{ why, text, want string }{
		{"comments and a mark", "\ufeff// ours\n{\"mcpServers\":{\"a\":{\"command\":\"x\",},},}", "project a approved"},
		{"twice", `{"mcpServers":{"a":{"command":"x"},"a":{"command":"y"},"b":{"command":"z"}}}`, "project a approved: the same file has another one of this name in line 1\nproject b approved"},
		{"a key twice", `{"mcpServers":{"a":{"command":"x","command":"y"},"b":{"command":"z"}}}`, "project a approved: \"command\" is given twice in it, again in line 1\nproject b approved"},
		{"names", `{"mcpServers":{"":{"command":"x"},"\u001b[31m":{"command":"x"},"b":{"command":"z"}}}`, "project  approved: its name is to be a text of 1 to 100 bytes without control characters\nproject \x1b[31m approved: its name is to be a text of 1 to 100 bytes without control characters\nproject b approved"},
		{"no JSON", `{"mcpServers":{`, "/w/.mcp.json: error: mcpServers: its MCP servers are not used: line 1, column 16: it ends before it is complete"},
		{"a list", `{"mcpServers":[]}`, "/w/.mcp.json: error: mcpServers: its MCP servers are not used: line 1: \"mcpServers\" is no object"},
		{"nothing", `{}`, ""},
	} {
		from := Sources{Config: settings(t, `{"enableAllProjectMcpServers":true}`, "", ""), Project: []File{file("/w/.mcp.json", c.text)}, Trusted: true}
		check(t, c.why, said(Load(from)), c.want)
	}
	from := Sources{Config: settings(t, `{"mcpServers":{"mine":{"command":"x"}}}`, "", ""), Project: []File{file("/w/.mcp.json", `{"mcpServers":{`+many.String()[1:]+`}}`)}}
	s := Load(from)
	if len(s.Servers) != MaxServers+1 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "more than 500") {
		t.Errorf("%d servers, %v", len(s.Servers), s.Problems)
	}
	from.Project = []File{{Path: "/w/.mcp.json", Err: errors.New("it is larger than 2048 KiB")}}
	from.Person = file("/h/.claude.json", `{"mcpServers":`)
	check(t, "files that cannot be read", said(Load(from)), `user mine approved
		/h/.claude.json: error: mcpServers: its MCP servers are not used: it is not valid JSON: line 1, column 15: unexpected EOF within "/mcpServers"
		/w/.mcp.json: error: mcpServers: not read: it is larger than 2048 KiB`)
}

func TestLists(t *testing.T) {
	program := Server{Name: "db", Transport: Stdio, Command: "npx", Args: []string{"-y", "db"}}
	remote := Server{Name: "web", Transport: HTTP, URL: "https://api.Example.com/mcp?x=1"}
	host := Server{Name: "in", Transport: Host}
	for _, c := range []struct {
		why, allowed, denied string // lists; "" is none
		want                 string // of the three those that may be used
	}{
		{"no lists", "", "", "db web in"},
		{"nothing is allowed", `[]`, "", "in"},
		{"by name", `[{"serverName":"db"}]`, "", "db in"},
		{"denied by name", "", `[{"serverName":"db"},{"serverName":"in"}]`, "web"},
		{"denial before allowance", `[{"serverName":"db"}]`, `[{"serverCommand":["npx","-y","db"]}]`, "in"},
		{"by command: the name is not enough", `[{"serverName":"db"},{"serverCommand":["npx","-y","other"]}]`, "", "in"},
		{"by command: exactly", `[{"serverCommand":["npx","-y","db"]},{"serverName":"web"}]`, "", "db web in"},
		{"by command: not its beginning", `[{"serverCommand":["npx","-y"]}]`, "", "in"},
		{"by URL: the name is not enough", `[{"serverUrl":"https://other.example/*"},{"serverName":"web"},{"serverName":"db"}]`, "", "db in"},
		{"by URL", `[{"serverUrl":"https://*.example.com/*"}]`, "", "web in"},
		{"denied by URL", "", `[{"serverUrl":"*://api.example.com/mcp*"}]`, "db in"},
		{"rows that cannot be read", `[{"serverName":"db","serverUrl":"x"},{"servername":"db"},7]`, "", "in"},
	} {
		text := ""
		for key, list := range map[string]string{"allowedMcpServers": c.allowed, "deniedMcpServers": c.denied} {
			if list != "" {
				text += fmt.Sprintf(`,%q:%s`, key, list)
			}
		}
		l, bad := readLists(settings(t, "{"+strings.TrimPrefix(text, ",")+"}", "", ""))
		var got []string
		for _, s := range []Server{program, remote, host} {
			if l.refuses(s) == "" {
				got = append(got, s.Name)
			}
		}
		if strings.Join(got, " ") != c.want || (len(bad) == 3) != strings.HasPrefix(c.why, "rows") {
			t.Errorf("%s: %v %v", c.why, got, bad)
		}
	}
}

func TestMatchURL(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"https://x.example/mcp", "https://x.example/mcp", true},
		{"https://X.Example/mcp", "HTTPS://x.example/mcp", true},
		{"https://x.example/mcp", "https://x.example/MCP", false},
		{"https://x.example/*", "https://x.example/a/b?c=d", true},
		{"https://x.example/*", "https://x.example", true},
		{"https://x.example", "https://x.example/", true},
		{"https://x.example", "https://x.example/mcp", false},
		{"https://*.example/*", "https://evil.com/x.example/", false},
		{"https://*.example/*", "https://evil.com?x.example/", false},
		{"https://*.example/*", "https://a@evil.com/.example/", false},
		{"https://x.example/*", "https://x.example@evil.com/", false},
		{"http://localhost:*/*", "http://localhost:3000/mcp", true},
		{"http://localhost:*/*", "http://localhost.evil.com:3000/mcp", false},
		{"*://x.example/*", "wss://x.example/y", true},
		{"*", "https://anything.example/x", true},
		{"", "https://x.example", false},
		{"https://x.example*", "https://x.example/y", true},
	} {
		if got := matchURL(c.pattern, c.url); got != c.want {
			t.Errorf("%q %q: %v", c.pattern, c.url, got)
		}
	}
}

func TestFromFlags(t *testing.T) {
	read := func(path string) ([]byte, error) {
		if path == "a.json" {
			return []byte("{\n\"mcpServers\":{\"a\":{\"command\":\"x\"}}}"), nil
		}
		return nil, &os.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	got, err := FromFlags([]string{"a.json", ` {"mcpServers":{"b":{"url":"https://h"},"b":{}}}`, `{"mcpServers":{}}`}, read)
	if err != nil || len(got) != 2 || got[0].Origin.String() != "a.json:2:15" || got[1].Origin.String() != "--mcp-config" || got[1].Problem == "" {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []string{"b.json", "{", "{}", `{"mcpServers":1}`, ""} {
		if got, err := FromFlags([]string{bad}, read); err == nil || !strings.HasPrefix(err.Error(), "--mcp-config ") {
			t.Errorf("%q: %v %v", bad, got, err)
		}
	}
}

// What a server is said to be in lists and errors holds no secret.
func TestLineHoldsNoSecret(t *testing.T) {
	for text, want := range map[string]string{
		`{"command":"x","args":["a b"],"env":{"KEY":"s3cret"}}`:                               "x \"a b\"",
		`{"command":"x","args":["--token","s3cret","--key=s3cret","-v","${A}"]}`:              "x --token (secret) --key=(secret) -v ${A}",
		`{"type":"http","url":"https://h/p?key=s3cret","headers":{"Authorization":"s3cret"}}`: "https://h/p (http)",
		`{"type":"http","url":"https://me:s3cret@h/p"}`:                                       "https://h/p (http)",
		`7`: "",
	} {
		if got := (Server{Raw: []byte(text)}).Line(); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{project, `{"mcpServers":{"a":{"url":"https://${H}/","headers":{"A":"${B:-c}"}}},"projects":{"/w":{"mcpServers":{"b":{}}}}}`, "\ufeff{", `{"mcpServers":{"a":1,"a":[]}}`} {
		f.Add(s, s)
	}
	cfg, err := config.Load(config.Options{Files: disk{}, Home: "/h", Folders: config.Folders{Config: "/h/.adze"}, Dir: "/w", Root: "/w"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, project, person string) {
		s := Load(Sources{Config: cfg, Project: []File{{Path: "/w/.mcp.json", Text: []byte(project)}}, Person: File{Path: "/h/.claude.json", Text: []byte(person)}, Dirs: []string{"/w"}, Env: env})
		for i, x := range s.Servers {
			if x.Scope == Project && x.Approval == Approved {
				t.Fatalf("%q is approved: %+v", project, x)
			}
			if x.Problem == "" && x.Transport == Stdio && x.Command == "" {
				t.Fatalf("nothing to run: %+v", x)
			}
			if i > 0 && s.Servers[i-1].Name >= x.Name {
				t.Fatal("not in order")
			}
			_, _, _ = x.Hash(), x.Line(), x.Describe()
		}
	})
}

// Arguments may name what the server's own env sets, as mcp-remote's instructions have it;
// what nobody sets stays as it is written, which is said. What would lose a secret (a
// header, a URL, a variable) is no server that starts.
func TestArgumentsOfItsOwnEnv(t *testing.T) {
	set := Load(Sources{
		Config: &config.Config{}, Env: func(name string) (string, bool) {
			if name == "HAS" || name == "AUTH" {
				return "outer " + name, true
			}
			return "", false
		},
		Private: func(name string) bool { return name == "OPENAI_API_KEY" },
		Given: []Given{
			{Name: "own", JSON: []byte(`{"command":"x","args":["--header","Authorization:${AUTH}","${NO:-d}","${env:HAS}"],"env":{"AUTH":"Bearer ${HAS}"}}`)},
			{Name: "stays", JSON: []byte(`{"command":"x","args":["${NO}/y","${workspaceFolder}"]}`)},
			{Name: "repo", Repo: true, JSON: []byte(`{"command":"x","args":["${OPENAI_API_KEY}"],"env":{"OPENAI_API_KEY":"mine"}}`)},
		},
	})
	got := ""
	for _, s := range set.Servers {
		got += fmt.Sprintf("%s %q %s\n", s.Name, s.Args, s.Problem)
	}
	want := "own [\"--header\" \"Authorization:Bearer outer HAS\" \"d\" \"outer HAS\"] \n" + "repo [\"mine\"] \n" + "stays [\"${NO}/y\" \"${workspaceFolder}\"] \n"
	if got != want {
		t.Errorf("%s\n%s", got, want)
	}
	if len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Message, "NO, workspaceFolder is not set, so its arguments have it as it is written") {
		t.Errorf("%v", set.Problems)
	}
}
