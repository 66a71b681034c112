package lease

import (
	"crypto/rand"
	"os"
	"sync"
	"time"
)

// began is when this process did.
var began = sync.OnceValue(func() int64 { return started(os.Getpid()) })

// ThisProcess is the Self of the running process.
func ThisProcess() Self {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Self{PID: os.Getpid(), Host: host, Start: began(), Now: time.Now, Token: rand.Text, Alive: Alive, Pause: time.Sleep}
}

// Alive reports whether the process with this ID runs and, where the system
// tells, is still the one that started at start.
func Alive(pid int, start int64) bool {
	if !exists(pid) {
		return false
	}
	now := started(pid)
	return start == 0 || now == 0 || now == start
}
