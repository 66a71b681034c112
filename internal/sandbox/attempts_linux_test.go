package sandbox

import "testing"

func TestAttempts(t *testing.T) {
	for text, want := range map[string][2]int64{
		"": {}, "Tcp: AttemptFails\n": {}, "Tcp: AttemptFails PassiveOpens\nTcp: 3\n": {3, 0},
		"Ip: Forwarding\nIp: 1\nTcp: RtoMin ActiveOpens PassiveOpens AttemptFails\nTcp: 200 9 2 7\nUdp: AttemptFails\nUdp: 5\n": {7, 2},
	} {
		if failed, taken := attempts(text); failed != want[0] || taken != want[1] {
			t.Errorf("%q: %d failed, %d taken", text, failed, taken)
		}
	}
}
