package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
)

// scene is a scratch world with everything the tries aim at.
type scene struct {
	Root   string `json:"root"`
	Port   int    `json:"port"` // a TCP service of this machine
	UDP    int    `json:"udp"`
	Parent int    `json:"parent"` // adze

	was map[string]string // what was at the places that must not change
}

// sceneFiles are the files of a scene, below its root: a project with repositories, somebody's other folder,
// secrets, another session's temporary folder, a cache.
var sceneFiles = map[string]string{
	"home/.ssh/id_test": "secret", "home/.adze/credentials": "secret", "home/.cache/go-build/ab/entry": "before",
	"outside/file": "before", "outside/dir/file": "before", "other-session/file": "before",
	"project/.git/hooks/pre-commit.sample": "", "project/.git/config": "[core]\n", "project/.git/HEAD": "ref: refs/heads/main\n",
	"project/.git/objects/x": "", "project/.git/refs/x": "", "project/.vscode/settings.json": "{}", "project/main.go": "package main\n",
	"project/.git/worktrees/w/HEAD": "ref: refs/heads/w\n", "project/.git/worktrees/w/commondir": "../..\n", "project/.git/worktrees/w/gitdir": "$/w/.git\n",
	"project/pkg/sub/.keep": "", "project/pkg/sub/.vscode/settings.json": "{}", "project/shared/cursor/rules": "before",
	"project/pkg/lib/.git/HEAD": "ref: refs/heads/main\n", "project/pkg/lib/.git/config": "[core]\n", "project/pkg/lib/.git/objects/x": "", "project/pkg/lib/.git/refs/x": "",
	"project/pkg/lib/githooks/pre-commit": "before",
	"project/pkg/hooked/.git/HEAD":        "ref: refs/heads/main\n", "project/pkg/hooked/.git/objects/x": "", "project/pkg/hooked/.git/refs/x": "",
	"project/pkg/hooked/.git/config":          "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../extra.conf\n\tpath = ../shared.conf\n[filter \"x\"]\n\tclean = sh clean.sh %f\n",
	"project/pkg/hooked/.githooks/pre-commit": "before", "project/pkg/hooked/shared.conf": "[user]\n", "project/pkg/hooked/clean.sh": "before",
}

// abstract is a socket that answers, without a path.
func (sc *scene) abstract() string { return "@adze-check-" + filepath.Base(sc.Root) }

// Check tries to get out of the sandbox that c describes, in a scratch
// project of its own, and says what became of each attempt. It harms nothing:
// what a try could reach was made for it.
func Check(ctx context.Context, c Config) (Level, []Try, error) {
	root, err := os.MkdirTemp("", "adze-check-")
	if err != nil {
		return Level{}, nil, err
	}
	defer func() { _ = safe.RemoveAll(root) }()
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return Level{}, nil, err
	}
	sc, closeScene, err := newScene(root)
	if err != nil {
		return Level{}, nil, err
	}
	defer closeScene()
	c.Dir, c.Roots, c.Temp, c.Cache, c.Env, c.Ask = filepath.Join(root, "project"), nil, "", filepath.Join(root, "home", ".adze", "cache"), nil, nil
	c.Home, c.State, c.Run = filepath.Join(root, "home"), []string{filepath.Join(root, "home", ".adze")}, filepath.Join(root, "home", ".adze", "sandbox")
	c.Settings.Network.AllowedDomains = []string{"allowed.invalid"}
	c.Settings.Network.UnixSockets, c.Settings.Network.AllUnixSockets, c.Settings.Network.LocalPorts, c.Settings.Network.Registries = nil, false, nil, false
	s, err := New(ctx, c)
	if err != nil {
		return Level{}, nil, err
	}
	defer s.Close()
	if s.level.Strength == None {
		return s.level, nil, unavailable{s.level}
	}
	table := proc.NewTable()
	defer table.Close(time.Second)
	var out []Try
	for _, e := range allEscapes() {
		t := Try{Name: e.name, What: e.what}
		t.Result, t.Detail = sc.beside(s, table, e)
		if t.Result == Escaped && e.has(weak) && s.level.Name == "landlock" {
			t.Result = Known
		}
		out = append(out, t)
	}
	return s.level, out, ctx.Err()
}

// newScene makes the world.
func newScene(root string) (*scene, func(), error) {
	sc := &scene{Root: root, Parent: os.Getpid(), was: map[string]string{}}
	for path, text := range sceneFiles {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(path, []byte(sc.place(text)), 0o644); err != nil {
			return nil, nil, err
		}
	}
	for at, to := range map[string]string{"$/project/.cursor": "shared/cursor", "$/project/pkg/lib/.git/hooks": "../githooks"} {
		if err := os.Symlink(to, sc.place(at)); err != nil {
			return nil, nil, err
		}
	}
	for _, e := range allEscapes() {
		sc.was[e.same()] = sc.look(e.same())
	}
	var closers []func() error
	var wg sync.WaitGroup
	end := func() {
		for _, c := range closers {
			_ = c()
		}
		wg.Wait()
	}
	for _, l := range []struct{ network, address string }{{"unix", sc.place("$/s")}, {"unix", sc.abstract()}, {"tcp4", "127.0.0.1:0"}} {
		ln, err := net.Listen(l.network, l.address)
		if err != nil {
			end()
			return nil, nil, err
		}
		closers = append(closers, ln.Close)
		if a, ok := ln.Addr().(*net.TCPAddr); ok {
			sc.Port = a.Port
		}
		wg.Add(1)
		go func() { // ends when the listener is closed
			defer wg.Done()
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}()
	}
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		end()
		return nil, nil, err
	}
	closers = append(closers, u.Close)
	sc.UDP = u.LocalAddr().(*net.UDPAddr).Port
	return sc, end, nil
}

// beside is try, while a command runs in the background if the attempt aims at one.
func (sc *scene) beside(s *Sandbox, table *proc.Table, e escape) (Result, string) {
	if !e.has(beside) {
		return sc.try(s, table, e)
	}
	c := proc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "echo up; exec " + victim}, Dir: sc.place("$/project"), Env: []string{"PATH=/usr/bin:/bin", "SECRET=x"}, Keep: true}
	_, err := s.Wrap(&c, policy.Needs{})
	if err != nil {
		return Skipped, err.Error()
	}
	up := make(word, 1)
	p, err := table.Start(c, up)
	if err != nil {
		return Skipped, err.Error()
	}
	select {
	case <-up:
	case <-p.Done():
	}
	result, text := sc.try(s, table, e)
	select {
	case <-p.Done():
		result, text = Escaped, "the command in the background ended"
	default:
		p.Stop(0)
		<-p.Done()
	}
	return result, text
}

// A word is told when something is written to it, whatever that is.
type word chan struct{}

func (w word) Write(b []byte) (int, error) {
	select {
	case w <- struct{}{}:
	default:
	}
	return len(b), nil
}

// try runs one attempt inside and looks at the world afterwards.
func (sc *scene) try(s *Sandbox, table *proc.Table, e escape) (Result, string) {
	c, err := sc.command(s.config.Self, e.name)
	if err == nil {
		_, err = s.Wrap(&c, policy.Needs{})
	}
	if err != nil {
		return Skipped, err.Error()
	}
	var out bytes.Buffer
	p, err := table.Start(c, &out)
	if err != nil {
		return Skipped, err.Error()
	}
	late := time.AfterFunc(20*time.Second, func() { p.Stop(0) })
	<-p.Done()
	late.Stop()
	text := strings.TrimSpace(out.String())
	if why := sc.changed(e); why != "" {
		return Escaped, why
	}
	switch p.Status().Code {
	case codeBlocked:
		return Blocked, text
	case codeEscaped:
		if e.has(settled) {
			return Blocked, "nothing of it is left"
		}
		return Escaped, text
	case codeSkipped:
		return Skipped, text
	}
	if e.has(dies) {
		return Blocked, "it was killed"
	}
	return Skipped, fmt.Sprintf("exit code %d: %s", p.Status().Code, text)
}

func (sc *scene) command(self, name string) (proc.Command, error) {
	data, err := json.Marshal(sc)
	if err != nil {
		return proc.Command{}, err
	}
	return proc.Command{
		Path: self, Args: []string{filepath.Base(self), HelperArg, "try", name, string(data)}, Dir: sc.place("$/project"), Gate: true,
		Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + filepath.Join(sc.Root, "home")},
	}, nil
}

// Exit codes of the helper that tries.
const (
	codeBlocked = 0
	codeEscaped = 10
	codeSkipped = 11
)

// try is the helper inside.
func try(name, data string) int {
	var sc scene
	if err := json.Unmarshal([]byte(data), &sc); err != nil {
		fmt.Println(err)
		return codeSkipped
	}
	table := allEscapes()
	i := slices.IndexFunc(table, func(e escape) bool { return e.name == name })
	if i < 0 {
		fmt.Println("no such try")
		return codeSkipped
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until what ends it at last knows it
	err := table[i].inside(&sc)
	switch {
	case err == nil:
		fmt.Println("it worked")
		return codeEscaped
	case strings.HasPrefix(err.Error(), "skip: "):
		fmt.Println(err)
		return codeSkipped
	}
	fmt.Println(err)
	return codeBlocked
}
