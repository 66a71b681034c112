//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// What agents are measured with.
const (
	crew       = 32                     // agents of a fan-out
	crewSteps  = 10                     // requests of each
	crewReply  = 200 * time.Millisecond // what the model takes for a reply
	idleAgents = 64
	stopped    = 20 // agents that are stopped in the middle of a command
	forks      = 10
	flowAgents = 100 // of a workflow
)

// agents measures sessions that work for others.
func (b *bench) agents() []figure {
	return append(append(append(append(b.started(), b.fanOut()...), b.forked()...), b.idleCrew()...), append(b.stoppedTree(), b.flow()...)...)
}

// A cast is a provider whose answers depend on who asks: the first session, or an agent
// that was told "part N".
type cast struct {
	*provider
	mu    sync.Mutex
	steps map[string]int // requests of each
}

// lead is the name of the first session in a cast.
const lead = ""

// castOf serves answers by who asks and its how manieth request it is, from 1.
func castOf(answer func(who string, step int, w io.Writer)) *cast {
	c := &cast{steps: map[string]int{}}
	p, err := serve(nil)
	check(err)
	c.provider = p
	p.play = func(n int, w io.Writer) {
		p.mu.Lock()
		body := p.bodies[n-1]
		p.mu.Unlock()
		who := part(body)
		c.mu.Lock()
		c.steps[who]++
		step := c.steps[who]
		c.mu.Unlock()
		answer(who, step, w)
	}
	return c
}

// part is who made a request: what its newest directive names.
func part(body []byte) string {
	i := bytes.LastIndex(body, []byte("part <"))
	if i < 0 {
		return lead
	}
	name, _, _ := bytes.Cut(body[i+len("part <"):], []byte(">"))
	return string(name)
}

// call is a call of a tool, to be answered with.
func call(w io.Writer, name string, inputs ...obj) {
	begin(w)
	for i, in := range inputs {
		raw, _ := json.Marshal(in)
		send(w, "content_block_start", obj{"type": "content_block_start", "index": i, "content_block": obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d_%d", name, time.Now().UnixNano(), i), "name": name, "input": obj{}}})
		send(w, "content_block_delta", obj{"type": "content_block_delta", "index": i, "delta": obj{"type": "input_json_delta", "partial_json": string(raw)}})
		send(w, "content_block_stop", obj{"type": "content_block_stop", "index": i})
	}
	end(w, "tool_use")
}

// orders are calls of Agent for so many parts.
func orders(n int, kind string, wait bool) []obj {
	var list []obj
	for i := range n {
		list = append(list, obj{"description": "one part", "prompt": fmt.Sprintf("Do part <%d>.", i), "subagent_type": kind, "run_in_background": !wait})
	}
	return list
}

const crewSettings = `{"agents": {"max_alive": 64}, "titles": false, "memory": {"session": false, "auto": false}, "helpers": {"progress": false}}`

// crewArgs begin a session that may start agents and run echo and sleep.
func crewArgs(more ...string) []string {
	return append([]string{"-p", "go", "--model", "anthropic/claude-sonnet-4-6", "--allowed-tools", "Agent,Bash(echo:*),Bash(sleep:*)", "--settings", crewSettings}, more...)
}

// started is how long a call that waits takes until the first byte of its agent's request.
func (b *bench) started() []figure {
	var xs []sample
	for range b.runs {
		var asked, first time.Time
		c := castOf(func(who string, step int, w io.Writer) {
			switch {
			case who == lead && step == 1:
				call(w, "Agent", orders(1, "general", true)...)
				asked = time.Now()
			case who != lead:
				first = time.Now()
				say(w, "Done.")
			default:
				say(w, "Over.")
			}
		})
		b.run(c.provider, crewArgs()...)
		c.close()
		xs = append(xs, sample{wall: first.Sub(asked)})
	}
	return []figure{{"agent that is waited for: call to request", ms(durations(xs, wall)), "< 15 ms"}}
}

// fanOut compares agents at once with agents one after the other.
func (b *bench) fanOut() []figure {
	run := func(n int, atOnce bool) sample {
		c := castOf(func(who string, step int, w io.Writer) {
			if who != lead {
				time.Sleep(crewReply)
				if step < crewSteps {
					use(w, step, fmt.Sprintf("echo %s %d", who, step))
				} else {
					say(w, "Done.")
				}
				return
			}
			all := orders(n, "general", true)
			switch {
			case atOnce && step == 1:
				call(w, "Agent", all...)
			case !atOnce && step <= n:
				call(w, "Agent", all[step-1])
			default:
				say(w, "Over.")
			}
		})
		defer c.close()
		return b.run(c.provider, crewArgs()...)
	}
	const few = 2
	one := run(few, false).wall / few
	all := run(crew, true)
	return []figure{
		{fmt.Sprintf("%d agents of %d steps, against in turn", crew, crewSteps), fmt.Sprintf("%.1f x shorter (%.1f s)", float64(one*crew)/float64(all.wall), all.wall.Seconds()), ">= 8 x"},
		{"the same: peak RSS", mb(all.own), "< 200 MB"},
	}
}

// forked is how much of the requests of forks their parent has sent before.
func (b *bench) forked() []figure {
	var mu sync.Mutex
	bodies := map[string][]byte{}
	var c *cast
	c = castOf(func(who string, step int, w io.Writer) {
		if who == lead && step == 1 {
			use(w, step, "echo "+strings.Repeat("some words ", 500))
			return
		}
		mu.Lock()
		c.provider.mu.Lock()
		for _, body := range c.bodies {
			if p := part(body); bodies[p] == nil || p == lead && len(body) > len(bodies[p]) {
				bodies[p] = body
			}
		}
		c.provider.mu.Unlock()
		mu.Unlock()
		if who == lead && step == 2 {
			call(w, "Agent", orders(forks, "fork", true)...)
			return
		}
		say(w, "Done.")
	})
	defer c.close()
	b.run(c.provider, crewArgs()...)
	parent := c.bodies[1]
	var same, all int
	for _, body := range c.bodies[2:] {
		if part(body) == lead {
			continue
		}
		s, p := prefixes([][]byte{parent, body})
		same, all = same+s, all+p
	}
	return []figure{{"10 forks: bytes of the parent's request", fmt.Sprintf("%.2f %%", 100*float64(same)/float64(max(all, 1))), ">= 98 %"}}
}

// idleCrew is what agents cost that have nothing to do: a session that programs drive
// stays open beside them.
func (b *bench) idleCrew() []figure {
	measure := func(n int) (int64, time.Duration) {
		c := castOf(func(who string, step int, w io.Writer) {
			if who == lead && step == 1 && n > 0 {
				call(w, "Agent", orders(n, "general", true)...)
				return
			}
			say(w, "Done.")
		})
		defer c.close()
		work := filepath.Join(b.dir, fmt.Sprint("idle", n))
		check(os.MkdirAll(work, 0o755))
		cmd := exec.Command(b.bin, crewArgs("--input-format", "stream-json", "--output-format", "stream-json")...)
		cmd.Args = append(cmd.Args[:2], cmd.Args[3:]...) // the prompt comes on stdin
		cmd.Dir, cmd.Stderr = work, os.Stderr
		cmd.Env = []string{"HOME=" + filepath.Join(b.dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + b.dir, "ANTHROPIC_API_KEY=sk-bench", "ANTHROPIC_BASE_URL=" + c.url}
		in, err := cmd.StdinPipe()
		check(err)
		out, err := cmd.StdoutPipe()
		check(err)
		check(cmd.Start())
		_, err = io.WriteString(in, `{"type":"user","message":{"role":"user","content":"go"}}`+"\n")
		check(err)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() && !strings.Contains(lines.Text(), `"type":"result"`) {
		}
		time.Sleep(time.Second) // what ends with the turn
		before, _ := loadOf(cmd.Process.Pid)
		time.Sleep(5 * time.Second)
		after, _ := loadOf(cmd.Process.Pid)
		check(in.Close())
		go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the program
		check(cmd.Wait())
		return after.rss, after.cpu - before.cpu
	}
	none, _ := measure(0)
	all, cpu := measure(idleAgents)
	return []figure{
		{fmt.Sprintf("%d idle agents: RSS over none", idleAgents), mb(all - none), "< 64 MB"},
		{"the same: CPU in 5 s", ms(cpu), "0.0 ms"},
	}
}

// stoppedTree is how long it takes until nothing of a tree is left that was told to end.
func (b *bench) stoppedTree() []figure {
	mark := fmt.Sprint(86400 + os.Getpid()) // seconds of sleeps that nobody else runs
	var mu sync.Mutex
	running := 0
	ready := make(chan struct{})
	c := castOf(func(who string, step int, w io.Writer) {
		switch {
		case who == lead && step == 1:
			call(w, "Agent", orders(stopped, "general", true)...)
		case who != lead && step == 1:
			use(w, step, "sleep "+mark+" & wait")
			mu.Lock()
			if running++; running == stopped {
				close(ready)
			}
			mu.Unlock()
		default:
			say(w, "Over.")
		}
	})
	defer c.close()
	work := filepath.Join(b.dir, "stopped")
	check(os.MkdirAll(work, 0o755))
	cmd := exec.Command(b.bin, append(crewArgs(), "--allowed-tools", "Bash,Agent")...)
	cmd.Dir = work
	cmd.Env = []string{"HOME=" + filepath.Join(b.dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + b.dir, "ANTHROPIC_API_KEY=sk-bench", "ANTHROPIC_BASE_URL=" + c.url}
	check(cmd.Start())
	<-ready
	for end := time.Now().Add(20 * time.Second); sleeps(mark) < stopped && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	shells := sleeps(mark)
	start := time.Now()
	check(cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait() // it says that it was stopped
	for end := time.Now().Add(10 * time.Second); sleeps(mark) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	took := time.Since(start)
	c.provider.mu.Lock()
	asked := len(c.bodies)
	c.provider.mu.Unlock()
	time.Sleep(time.Second)
	c.provider.mu.Lock()
	after := len(c.bodies) - asked
	c.provider.mu.Unlock()
	return []figure{
		{fmt.Sprintf("stop a tree of %d with %d shells", stopped, shells), ms(took), "< 2000 ms"},
		{"the same: processes left, requests after", fmt.Sprintf("%d, %d", sleeps(mark), after), "0, 0"},
	}
}

// flow is what adze itself takes for an agent of a workflow: what a hundred take longer
// than one.
func (b *bench) flow() []figure {
	work := filepath.Join(b.dir, "flow")
	check(os.MkdirAll(work, 0o755))
	was := b.work
	b.work = work
	defer func() { b.work = was }()
	run := func(n int) sample {
		file := filepath.Join(work, fmt.Sprint("of", n, ".js"))
		text := "export const meta = {name: 'many', description: 'many agents'}\nconst all = Array.from({length: %d}, (_, i) => () => agent('Do part <' + i + '>.'))\nreturn (await parallel(all)).length\n"
		check(os.WriteFile(file, fmt.Appendf(nil, text, n), 0o644))
		c := castOf(func(_ string, _ int, w io.Writer) { say(w, "Done.") })
		defer c.close()
		return b.run(c.provider, "workflow", "run", file, "--model", "anthropic/claude-sonnet-4-6", "--settings", crewSettings)
	}
	one, all := run(1), run(1+flowAgents)
	return []figure{
		{fmt.Sprintf("workflow of %d agents: each", flowAgents), fmt.Sprintf("%s, CPU %s", ms((all.wall-one.wall)/flowAgents), ms((all.cpu-one.cpu)/flowAgents)), "< 5 ms"},
		{"the same: peak RSS", mb(all.own), "(no target)"},
	}
}

// sleeps counts the processes that sleep so many seconds.
func sleeps(seconds string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		if b, err := os.ReadFile(f); err == nil && string(b) == "sleep\x00"+seconds+"\x00" {
			n++
		}
	}
	return n
}
