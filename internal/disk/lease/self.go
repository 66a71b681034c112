package lease

import (
	"crypto/rand"
	"os"
	"time"
)

// ThisProcess is the Self of the running process.
func ThisProcess() Self {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	pid := os.Getpid()
	return Self{PID: pid, Host: host, Start: started(pid), Now: time.Now, Token: rand.Text, Alive: Alive, Pause: time.Sleep}
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
