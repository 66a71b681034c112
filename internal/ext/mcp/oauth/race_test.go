package oauth

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/auth"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func testKey(t *testing.T) string {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func jwtOf(claims string) secret {
	return secret("e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln")
}

// raceChild is a process that wants a token when its standard input says so.
func raceChild() int {
	s := Settings{Name: "srv", ServerURL: os.Getenv("RACE_URL")}
	c := New(Config{Store: auth.Store{Dir: os.Getenv("RACE_DIR")}})
	defer c.Close()
	if os.Getenv("RACE_LOADED") != "" { // it has the old token in memory
		if _, err := c.server(s).current(context.Background()); err != nil {
			fmt.Println("ERROR", err)
			return 1
		}
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	r, err := c.server(s).valid(context.Background())
	if err == nil {
		var status int
		if status, err = call(context.Background(), c, s); err == nil && status != 200 {
			err = fmt.Errorf("status %d", status)
		}
	}
	if err != nil {
		fmt.Println("ERROR", err)
		return 1
	}
	sum := sha256.Sum256([]byte(r.Access))
	fmt.Println("OK", hex.EncodeToString(sum[:8]))
	return 0
}

// Twenty processes find the token at its end at the same moment. A refresh token
// counts once: who asks a second time loses the sign-in.
func TestRefreshRace(t *testing.T) {
	for name, expired := range map[string]bool{"near its end": false, "over": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dir := t.TempDir()
			c, s := w.newClient(dir), w.settings()
			w.login(c, s)
			r := c.server(s).r
			r.Issued, r.Expires = r.Issued.Add(-time.Hour), time.Now().Add(time.Minute)
			if expired {
				r.Expires = time.Now().Add(-time.Minute)
				w.mu.Lock()
				clear(w.access)
				w.mu.Unlock()
			}
			if err := c.write(t.Context(), s.key(), r); err != nil {
				t.Fatal(err)
			}
			const n = 20
			type child struct {
				in  io.WriteCloser
				out *bufio.Reader
				cmd *exec.Cmd
			}
			var all []child
			for i := range n {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "ADZE_OAUTH_TEST=race", "RACE_URL="+s.ServerURL, "RACE_DIR="+dir)
				if i%2 == 0 {
					cmd.Env = append(cmd.Env, "RACE_LOADED=1")
				}
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				all = append(all, child{in, bufio.NewReader(out), cmd})
			}
			for _, c := range all {
				if line, err := c.out.ReadString('\n'); line != "ready\n" {
					t.Fatal(line, err)
				}
			}
			for _, c := range all {
				_ = c.in.Close() // go
			}
			tokens := map[string]int{}
			for _, c := range all {
				line, _ := c.out.ReadString('\n')
				tokens[strings.TrimSpace(line)]++
				if err := c.cmd.Wait(); err != nil {
					t.Error(err)
				}
			}
			if w.count("refreshed") != 1 || w.count("reused") != 0 || len(tokens) != 1 {
				t.Errorf("%d refreshes, %d with a token that was used already: %v", w.count("refreshed"), w.count("reused"), tokens)
			}
		})
	}
}

// aged is a client whose token is about to end.
func (w *world) aged(left time.Duration) (*Client, Settings, *time.Time) {
	now := time.Now()
	c := w.newClient(w.t.TempDir(), func(cfg *Config) { cfg.Now = func() time.Time { return now } })
	s := w.settings()
	w.login(c, s)
	now = now.Add(time.Hour - left)
	return c, s, &now
}

func TestRefresh(t *testing.T) {
	w := newWorld(t)
	c, s, now := w.aged(6 * time.Minute)
	ok := func(refreshed int) {
		t.Helper()
		if status, err := call(t.Context(), c, s); status != 200 || err != nil || w.count("refreshed") != refreshed {
			t.Fatalf("%d %v, %d refreshes", status, err, w.count("refreshed"))
		}
	}
	ok(0)
	*now = now.Add(2 * time.Minute)
	ok(1)
	ok(1)
	if f := w.forms[len(w.forms)-1]; f.Get("resource") != s.ServerURL {
		t.Errorf("%v", f)
	}
	// The refresh token was replaced, and the next one is used.
	*now = now.Add(time.Hour)
	ok(2)
	// Servers that do not replace it.
	w.rotate = false
	*now = now.Add(time.Hour)
	ok(3)
	*now = now.Add(time.Hour)
	ok(4)
	// The server forgot the token before its time: one try.
	w.mu.Lock()
	clear(w.access)
	w.mu.Unlock()
	*now = now.Add(10 * time.Minute)
	ok(5)
	// It refuses what it has just given: no second one.
	w.mu.Lock()
	clear(w.access)
	w.mu.Unlock()
	if _, err := call(t.Context(), c, s); needs(err) == nil || w.count("refreshed") != 5 {
		t.Errorf("%v, %d", err, w.count("refreshed"))
	}
}

func TestRefreshFails(t *testing.T) {
	type answer struct {
		status int
		body   string
		gone   bool // the sign-in is over
	}
	for name, a := range map[string]answer{
		"revoked":            {400, `{"error":"invalid_grant"}`, true},
		"GitHub":             {200, `{"error":"bad_refresh_token","error_description":"x"}`, true},
		"Slack":              {200, `{"ok":false,"error":"token_revoked"}`, true},
		"upper case":         {400, `{"error":"INVALID_REFRESH_TOKEN"}`, true},
		"client is gone":     {401, `{"error":"invalid_client"}`, true},
		"busy":               {503, `later`, false},
		"limit":              {429, `{"error":"slow_down"}`, false},
		"not JSON":           {200, `<html>`, false},
		"empty":              {200, `{}`, false},
		"another type":       {200, `{"access_token":"x","token_type":"mac"}`, false},
		"type is a number":   {200, `{"access_token":"x","token_type":1}`, false},
		"token with a break": {200, `{"access_token":"x\r\nX-Evil: 1","token_type":"bearer"}`, false},
		"huge token":         {200, `{"access_token":"` + strings.Repeat("x", maxToken+1) + `"}`, false},
		"huge answer":        {200, `{"access_token":"` + strings.Repeat("x", 2<<20) + `"}`, false},
		"redirect":           {307, `/elsewhere`, false},
		"escape sequences":   {400, `{"error":"\u001b]0;x\u0007bad","error_description":"\u001b[2Jclear"}`, false},
		"error of two types": {400, `{"error":{"code":1}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c, s, now := w.aged(2 * time.Minute)
			used := c.server(s).r.Refresh
			w.onToken = func(rw http.ResponseWriter, f url.Values) bool {
				w.counts["tries"]++
				if f.Get("refresh_token") != string(used) {
					t.Error("another token was sent")
				}
				rw.Header().Set("Location", w.rs.URL+"/elsewhere")
				rw.WriteHeader(a.status)
				_, _ = io.WriteString(rw, strings.ReplaceAll(a.body, `"x"`, `"you sent `+string(used)+`"`))
				return true
			}
			_, err := call(t.Context(), c, s)
			w.scan(err)
			if a.gone {
				if needs(err) == nil {
					t.Fatal(err)
				}
				if st, err := c.Status(t.Context(), s); st.SignedIn || err != nil {
					t.Errorf("%+v %v", st, err)
				}
				return
			}
			if err != nil { // the token counts two more minutes
				t.Fatal(err)
			}
			if _, err := call(t.Context(), c, s); err != nil || w.count("tries") != 1 {
				t.Errorf("%v, %d tries", err, w.count("tries"))
			}
			*now = now.Add(5 * time.Minute)
			_, err = call(t.Context(), c, s)
			w.scan(err)
			if err == nil || needs(err) != nil || !strings.Contains(err.Error(), "could not be renewed") {
				t.Errorf("%v", err)
			}
			if st, err := c.Status(t.Context(), s); !st.SignedIn || err != nil {
				t.Errorf("it was forgotten: %v", err)
			}
			w.onToken = nil
			*now = now.Add(time.Minute)
			if status, err := call(t.Context(), c, s); status != 200 || err != nil {
				t.Errorf("%d %v", status, err)
			}
		})
	}
}

// Calls of one process share a renewal, and one that is interrupted does not
// lose what came for it.
func TestRefreshTogether(t *testing.T) {
	w := newWorld(t)
	c, s, _ := w.aged(-time.Minute)
	hold, begun := make(chan struct{}), make(chan struct{})
	var once sync.Once
	inner := w.as.Config.Handler
	w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(begun) })
		<-hold
		inner.ServeHTTP(rw, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var good, left atomic.Int32
	for i := range 50 {
		wg.Go(func() {
			use := t.Context()
			if i < 10 {
				use = ctx
			}
			if status, err := call(use, c, s); status == 200 && err == nil {
				good.Add(1)
			} else if i < 10 {
				left.Add(1)
			} else {
				t.Errorf("%d %v", status, err)
			}
		})
	}
	<-begun
	cancel()
	close(hold)
	wg.Wait()
	if w.count("refreshed") != 1 || good.Load()+left.Load() != 50 || good.Load() < 40 {
		t.Errorf("%d refreshes, %d good, %d left", w.count("refreshed"), good.Load(), left.Load())
	}
}

func TestClocks(t *testing.T) {
	for _, lifetime := range []any{-5, 0, "x", nil, "3600", 1e300, 9e18, -1e300, 3600.5, []int{1}, 1} {
		w := newWorld(t)
		w.lifetime = lifetime
		c, s := w.newClient(t.TempDir()), w.settings()
		w.login(c, s)
		if status, err := call(t.Context(), c, s); status != 200 || err != nil {
			t.Errorf("%v: %d %v", lifetime, status, err)
		}
		st, err := c.Status(t.Context(), s)
		if err != nil || st.Expires.After(time.Now().Add(maxLifetime+time.Hour)) {
			t.Errorf("%v: %v %v", lifetime, st, err)
		}
	}
	// The clock was wrong by a year, either way, when the token came: the server
	// says what counts.
	for _, off := range []time.Duration{-365 * 24 * time.Hour, 365 * 24 * time.Hour} {
		w := newWorld(t)
		w.rotate = false
		now := time.Now().Add(off)
		c := w.newClient(t.TempDir(), func(cfg *Config) { cfg.Now = func() time.Time { return now } })
		s := w.settings()
		w.login(c, s)
		now = time.Now()
		w.mu.Lock()
		clear(w.access)
		w.mu.Unlock()
		if status, err := call(t.Context(), c, s); status != 200 || err != nil {
			t.Errorf("%v: %d %v", off, status, err)
		}
	}
	// Without a refresh token our clock decides nothing.
	w := newWorld(t)
	c, s, now := w.aged(0)
	v := c.server(s)
	v.mu.Lock()
	v.r.Refresh = ""
	v.mu.Unlock()
	*now = now.Add(time.Hour)
	if status, err := call(t.Context(), c, s); status != 200 || err != nil {
		t.Errorf("%d %v", status, err)
	}
}

// A keyring in memory that can be locked.
type ring struct {
	mu     sync.Mutex
	keys   map[string]string
	locked error
}

func (r *ring) do(f func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.locked == nil {
		f()
	}
	return r.locked
}
func (r *ring) Set(s, u, p string) error { return r.do(func() { r.keys[s+u] = p }) }
func (r *ring) Get(s, u string) (p string, e error) {
	e = r.do(func() { p = r.keys[s+u] })
	return p, e
}
func (r *ring) Delete(s, u string) error { return r.do(func() { delete(r.keys, s+u) }) }

func TestKeyring(t *testing.T) {
	w := newWorld(t)
	k := &ring{keys: map[string]string{}}
	dir := t.TempDir()
	with := func(c *Config) { c.Store.Keyring = k }
	c, s := w.newClient(dir, with), w.settings()
	w.login(c, s)
	raw, err := os.ReadFile(dir + "/credentials.json")
	if err != nil || len(k.keys) != 1 {
		t.Errorf("%v %d", err, len(k.keys))
	}
	for _, v := range k.keys {
		if strings.Contains(string(raw), v) {
			t.Error("the file has the tokens too")
		}
	}
	// Locked: it says so, and nobody is sent to a browser for it.
	k.locked = fmt.Errorf("the collection is locked")
	_, err = call(t.Context(), w.newClient(dir, with), s)
	w.scan(err)
	if err == nil || needs(err) != nil || !strings.Contains(err.Error(), "keyring") {
		t.Errorf("%v", err)
	}
	// A new sign-in goes to the file then.
	c2 := w.newClient(dir, with)
	w.login(c2, s)
	if st, err := c2.Status(t.Context(), s); err != nil || !st.SignedIn || st.At == auth.InKeyring {
		t.Errorf("%+v %v", st, err)
	}
}

// What another adze wrote, or somebody changed, is as if it was not there.
func TestForeignRecords(t *testing.T) {
	w := newWorld(t)
	c, s := w.newClient(t.TempDir()), w.settings()
	for _, text := range []string{"x", base64.RawURLEncoding.EncodeToString([]byte(`{"v":9,"access":"y"}`)), base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"issuer":"https://other","access":"y"}`)), "bnVsbA"} {
		if _, _, err := c.store.Save(t.Context(), entry(s.key(), w.as.URL), text); err != nil {
			t.Fatal(err)
		}
		if r, _, err := c.load(t.Context(), s); err != nil || r.Access != "" {
			t.Errorf("%q: %v %v", text, r, err)
		}
	}
	w.login(c, s)
	// Tokens of one issuer are not those of another one.
	other := s
	other.MetadataURL = w.as.URL + "/.well-known/openid-configuration"
	if st, err := c.Status(t.Context(), other); st.SignedIn || err != nil {
		t.Errorf("%v %v", st, err)
	}
	if err := c.write(t.Context(), s.key(), record{Issuer: "https://new.example", Access: "a"}); err != nil {
		t.Fatal(err)
	}
	list, err := c.store.List()
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	raw, err := json.Marshal(record{Access: "shown to the store only"})
	if err != nil || !strings.Contains(string(raw), "shown") {
		t.Errorf("%s %v", raw, err)
	}
}

// A refresh token was used up, and what came for it cannot be saved: this
// process goes on with it, and says so once.
func TestNotSaved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of unix")
	}
	w := newWorld(t)
	c, s, now := w.aged(-time.Minute)
	if err := os.Chmod(c.store.Dir, 0o777); err != nil { // the store refuses that
		t.Fatal(err)
	}
	free := func(mode os.FileMode) {
		if err := os.Chmod(c.store.Dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	// Until it is mended nothing can be read either.
	if _, err := call(t.Context(), c, s); err == nil || needs(err) != nil || w.count("refreshed") != 0 {
		t.Errorf("%v", err)
	}
	free(0o700)
	w.onToken = func(http.ResponseWriter, url.Values) bool { free(0o777); return false }
	if _, err := call(t.Context(), c, s); err == nil || !strings.Contains(err.Error(), "cannot be saved") {
		t.Errorf("%v", err)
	}
	w.onToken = nil
	free(0o700)
	for range 2 {
		if status, err := call(t.Context(), c, s); status != 200 || err != nil || w.count("reused") != 0 {
			t.Errorf("%d %v", status, err)
		}
		*now = now.Add(time.Hour)
	}
	if w.count("refreshed") != 2 {
		t.Errorf("%d refreshes", w.count("refreshed"))
	}
	// From here on all know it.
	if status, err := call(t.Context(), w.newClient(c.store.Dir), s); status != 200 || err != nil {
		t.Errorf("%d %v", status, err)
	}
}

// A server that wants no token is not in the way of a store that cannot be read.
func TestNoTokenWanted(t *testing.T) {
	w := newWorld(t)
	w.onMCP = func(rw http.ResponseWriter, _ *http.Request) bool { return true }
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/credentials.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, err := call(t.Context(), w.newClient(dir), w.settings()); status != 200 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	w.onMCP = nil
	if _, err := call(t.Context(), w.newClient(dir), w.settings()); err == nil || needs(err) != nil || !strings.Contains(err.Error(), "JSON") {
		t.Errorf("%v", err)
	}
}

func TestAssertions(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	small, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := func(k any) secret {
		der, err := x509.MarshalPKCS8PrivateKey(k)
		if err != nil {
			t.Fatal(err)
		}
		return secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	now := time.Unix(1_800_000_000, 0)
	for _, pem := range []secret{secret(testKey(t)), text(rsaKey)} {
		s, err := parseKey(pem)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.assertion("me", "https://as.example", now)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(got), ".")
		sig, err := base64.RawURLEncoding.DecodeString(parts[2])
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		switch k := s.key.Public().(type) {
		case *ecdsa.PublicKey:
			if len(sig) != 64 || !ecdsa.Verify(k, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
				t.Error("ES256")
			}
		case *rsa.PublicKey:
			if err := rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], sig); err != nil {
				t.Error(err)
			}
		}
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		var c map[string]any
		if err != nil || json.Unmarshal(raw, &c) != nil || c["iss"] != "me" || c["sub"] != "me" || c["aud"] != "https://as.example" || c["exp"].(float64) != float64(now.Unix()+300) || c["jti"] == "" {
			t.Errorf("%s %v", raw, err)
		}
	}
	for _, bad := range []secret{"", "x", text(small), "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n"} {
		if _, err := parseKey(bad); err == nil || bad != "" && strings.Contains(err.Error(), string(bad)) {
			t.Errorf("%q: %v", string(bad), err)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	server := mustParse(t, "https://Example.com:443/a/mcp?x=1")
	for id, want := range map[string]bool{
		"https://example.com/a/mcp": true, "https://example.com/a/mcp/": true, "https://EXAMPLE.com:443/a": true, "https://example.com": true, "https://example.com/": true, "https://example.com/a/mcp?x=1": true,
		"https://example.com/a/mc": false, "https://example.com/b": false, "https://example.com:444/a": false, "http://example.com/a": false, "https://sub.example.com": false,
		"https://example.com/a/mcp?x=2": false, "https://example.com/a/mcp#f": false, "https://u@example.com/a": false, "": false, "example.com": false, "https://example.com/a/./mcp": false, "https://example.com/A/mcp": false,
	} {
		at := id + "?" // where the document of that one is
		if u, err := url.Parse(id); err == nil {
			at = u.Scheme + "://" + u.Host + wellKnown + u.Path
		}
		if stands(id, server, at) != want {
			t.Errorf("%s: %v", id, !want)
		}
		own := strings.Contains(id, "/a/mcp")
		for _, at := range []string{"https://example.com/a/mcp/says", "https://example.com" + wellKnown + "/a/mcp", "https://other.example" + wellKnown, ""} {
			if stands(id, server, at) != (want && own) {
				t.Errorf("%s, said at %s: %v", id, at, !own)
			}
		}
	}
	for in, want := range map[string]string{
		"HTTPS://Example.COM:443/": "https://example.com", "https://example.com:8443/mcp/": "https://example.com:8443/mcp/", "http://LOCALHOST:80/x#y": "http://localhost/x", "https://example.com/mcp": "https://example.com/mcp",
	} {
		if got := canonical(mustParse(t, in)); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}
