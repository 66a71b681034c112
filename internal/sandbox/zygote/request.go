// Package zygote is a process that waits inside a sandbox to start commands
// there: each in namespaces of its own for mounts, IPC and users, as a child
// of whoever started the zygote, without capabilities and behind a filter of
// system calls. Its namespace of processes is its own as well, or that of a room,
// in which several commands see each other's. It owns what goes back and forth on its socket, and the few
// system calls between a fork and the command. It decides nothing: which files
// and networks there are is settled when it is started, by who starts it.
package zygote

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Bounds of a request.
const (
	maxRequest = 8 << 20 // bytes; the kernel takes no more than 6 MB of arguments
	maxWords   = 1 << 16 // arguments and variables
	maxFiles   = 64      // descriptors of a command
)

// A Request is one command. No text may hold a NUL byte.
type Request struct {
	Dir  string
	Path string // absolute
	Args []string
	Env  []string
	// OpenFiles are the soft and the hard limit of its open files (RLIMIT_NOFILE).
	OpenFiles [2]uint64
}

// encode is the form in which a request goes over: texts with a NUL byte behind
// each. Those that name numbers come first.
func (r Request) encode() ([]byte, error) {
	texts := []string{
		strconv.Itoa(len(r.Args)), strconv.Itoa(len(r.Env)),
		strconv.FormatUint(r.OpenFiles[0], 10), strconv.FormatUint(r.OpenFiles[1], 10), r.Dir, r.Path,
	}
	if len(r.Args)+len(r.Env) > maxWords {
		return nil, fmt.Errorf("start a command: it has %d arguments and variables; %d are the most", len(r.Args)+len(r.Env), maxWords)
	}
	var b bytes.Buffer
	for _, list := range [][]string{texts, r.Args, r.Env} {
		for _, s := range list {
			b.WriteString(s)
			b.WriteByte(0)
		}
	}
	n := bytes.Count(b.Bytes(), []byte{0})
	switch {
	case n != len(texts)+len(r.Args)+len(r.Env):
		return nil, errors.New("start a command: a NUL byte in an argument or a variable")
	case b.Len() > maxRequest:
		return nil, fmt.Errorf("start a command: %d bytes of arguments and variables; %d are the most", b.Len(), maxRequest)
	}
	return b.Bytes(), nil
}

// A parsed is a request as it lies in the memory it came in: each text is
// followed by its NUL byte, which is how the kernel takes it.
type parsed struct {
	dir, path []byte
	args, env [][]byte
	openFiles [2]uint64
}

var errRequest = errors.New("the request is damaged")

// decode finds the texts of a request in b, without copying them.
func decode(b []byte) (parsed, error) {
	var p parsed
	if len(b) == 0 || len(b) > maxRequest || b[len(b)-1] != 0 {
		return p, errRequest
	}
	next := func() []byte {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return nil
		}
		s := b[: i+1 : i+1]
		b = b[i+1:]
		return s
	}
	number := func(most uint64) (n uint64, ok bool) {
		s := next()
		if s == nil {
			return 0, false
		}
		n, err := strconv.ParseUint(string(s[:len(s)-1]), 10, 64)
		return n, err == nil && n <= most
	}
	args, ok1 := number(maxWords)
	env, ok2 := number(maxWords)
	soft, ok3 := number(1<<64 - 1)
	hard, ok4 := number(1<<64 - 1)
	if !ok1 || !ok2 || !ok3 || !ok4 || args == 0 || args+env > maxWords || soft > hard {
		return p, errRequest
	}
	p.openFiles = [2]uint64{soft, hard}
	p.dir, p.path = next(), next()
	if len(p.dir) < 2 || p.dir[0] != '/' || len(p.path) < 2 || p.path[0] != '/' {
		return p, errRequest
	}
	for range args {
		p.args = append(p.args, next())
	}
	for range env {
		p.env = append(p.env, next())
	}
	if len(b) > 0 || len(p.args) > 0 && p.args[len(p.args)-1] == nil || len(p.env) > 0 && p.env[len(p.env)-1] == nil {
		return parsed{}, errRequest
	}
	return p, nil
}
