package shellread_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// TestGiven: which scripts only hand the variables in a file to programs.
func TestGiven(t *testing.T) {
	f := newFixture()
	for _, c := range []struct {
		command string
		given   bool
	}{
		{"source .env && npm start", true}, {". ./.env && ./run.sh", true}, {"set -a; . ./.env; set +a; node server.js", true}, {"set -o allexport; source .env; set +o allexport; PORT=3000 node server.js", true},
		{"export $(cat .env | xargs) && node server.js", true}, {"export $(grep -v '^#' .env | xargs -d '\\n') && node server.js 2>&1 | tail -n 20", true}, {"cd src && source ../.env && npm test > out.log 2>&1 &", true},
		{"source .env; sh run.sh", true}, {"source .env && npx prisma migrate dev", true}, {"source .env && timeout 30 npm start", true}, {"source .env && nohup npm start &", true}, {"source .env && timeout 30 env", false}, {"source .env && sh -c 'echo $KEY'", false},
		{"node --env-file=.env server.js", true}, {"node --env-file .env server.js", true}, {"docker compose --env-file .env up -d", true},

		{"source .env", false}, {"source .env; echo $KEY", false}, {"source .env; echo ${KEY:0:5}; npm start", false}, {"source .env; npm start; env", false}, {"source .env; printenv KEY; npm start", false}, {"source .env; npm start $KEY", false},
		{"source .env; npm start | cut -c1-5", false}, {"source .env; npm start | head -c 5", false}, {"source .env; bash -c 'echo ${KEY:0:5}'", false}, {"source .env; node -e 'console.log(process.env.KEY.slice(1))'", false}, {"source .env; set; npm start", false},
		{"source .env; declare -p; npm start", false}, {"source .env; npm start <<< $KEY", false}, {"source .env; eval 'echo $KEY'; npm start", false}, {"source .env; for i in 1; do npm start; done", false}, {"source .env; f() { echo $KEY; }; f; npm start", false},
		{"cat .env; npm start", false}, {"export $(cat .env | tee /dev/stderr | xargs) && npm start", false}, {"export A=$(cat .env); npm start", false}, {"source .env; xargs npm start", false}, {"source .env && npm start && cat .env", false}, {"node server.js .env", false},
		{"node --env-file=.env -p 'process.env'; cat .env", false},
	} {
		found, all := false, true
		for _, a := range shellread.Read(c.command, f.world()).Actions {
			if r, ok := a.(policy.Read); ok && policy.HoldsSecrets(r.Path) && !r.List {
				found, all = true, all && r.Given
			}
		}
		if !found || all != c.given {
			t.Errorf("%s: found %v, given %v", c.command, found, all)
		}
	}
}
