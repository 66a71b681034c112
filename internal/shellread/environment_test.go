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
		for a := range policy.All(shellread.Read(c.command, f.world()).Actions) {
			if r, ok := a.(policy.Read); ok && policy.HoldsSecrets(r.Path) && !r.List {
				found, all = true, all && r.Given
			}
		}
		if !found || all != c.given {
			t.Errorf("%s: found %v, given %v", c.command, found, all)
		}
	}
}

// TestUnseenNames: files whose names the shell works out are hidden from commands that only
// handle files, whatever form names them; a program beside them may need what is hidden.
func TestUnseenNames(t *testing.T) {
	f := newFixture()
	dir := f.world().Dir
	rules := policy.Rules{Dir: dir, Dirs: []string{dir}}
	const x = "x=$(ls -A | grep 'env$'); "
	for command, want := range map[string]policy.Hide{
		x + `fold -w4 < "$x"`: policy.HideAll, `ls -A | while read -r f; do fold -w4 < "$f"; done`: policy.HideAll, `exec 3< $(ls -A); cat <&3`: policy.HideAll, `cat < $(ls) > r.txt`: policy.HideAll,
		`mapfile -t x < <(ls -A); for i in "${x[@]}"; do fold -w4 "$i"; done`: policy.HideAll, `readarray x < <(ls); cat "${x[@]}"`: policy.HideAll, `set -- $(ls -A); fold "$1"`: policy.HideAll,
		`exec {fd}< $(ls); fold <&$fd`: policy.HideAll, `declare -a x=($(ls)); fold "${x[@]}"`: policy.HideAll, x + `let y=1; fold < "$x"`: policy.HideAll, x + `(( y[0]=1 )); fold < "$x"`: policy.HideAll,
		x + `coproc fold < "$x"`: policy.HideAll, x + `case $x in *) fold < "$x";; esac`: policy.HideAll, `f() { fold < "$1"; }; f "$(ls)"`: policy.HideAll, `select x in $(ls); do fold < "$x"; done`: policy.HideAll,
		x + `read -r v < "$x"; echo ${v:0:5}`: policy.HideAll, `source ./$(ls); echo ${K:0:5}`: policy.HideAll, `eval 'fold < "$x"'`: policy.HideAll, `f=fold; $f < "$(ls)"`: policy.HideAll, x + "fold < \"$x\"\n)": policy.HideAll,
		x + `trap - EXIT; shopt -s dotglob; fold < "$x"`: policy.HideAll, `history -r "$(ls)"; history`: policy.HideAll, x + `K=1 fold < "$x"`: policy.HideAll,

		`export A=1; ls`: policy.HideValues, `mapfile -t x < a; echo "${#x[@]}"`: policy.HideValues,
		x + `npm start < "$x"`: policy.HideValues, `$(which npm) start`: policy.HideValues, `c=npm; $c start`: policy.HideValues, `eval "$c"`: policy.HideValues, `mapfile -C ./each -t x < a`: policy.HideValues, `trap ./end EXIT; ls`: policy.HideValues,
		`source ./lib.sh; build`: policy.HideValues, `enable -f ./x.so x`: policy.HideValues,
	} {
		v := policy.Decide(rules, policy.Default, policy.Request{Tool: "Bash", Actions: shellread.Read(command, f.world()).Actions, Sandboxed: true})
		if v.Needs.Hide != want {
			t.Errorf("%s: hides %q, want %q", command, v.Needs.Hide, want)
		}
	}
}

// TestHandlesPlainly: what an archive leaves out is not written, and the mode of a secret is
// not its content; neither is a question in the sandbox.
func TestHandlesPlainly(t *testing.T) {
	f := newFixture()
	dir := f.world().Dir
	f.files[dir+"/.env"] = true
	for command, want := range map[string]policy.Effect{
		"tar czf x.tgz --exclude=.git src": policy.Allow, "tar czf x.tgz --exclude='./.git' --exclude=bin src": policy.Allow, "zip -qr x.zip src -x '.git/*' '.git/hooks/*'": policy.Allow, "rsync -a --exclude .git src out": policy.Allow, "rsync -a --exclude=.git src out": policy.Allow,
		"chmod 600 .env": policy.Allow, "chmod 600 .env; ls -l src": policy.Allow,

		"zip -b -x .git/config a": policy.Ask, "zip -x .git/config": policy.Ask, "tar xf a.tar --exclude=x .git/config": policy.Ask, "rsync -a -e --exclude .git out": policy.Ask,
		"chmod 600 .env; cat $(ls -A)": policy.Ask, "chmod 600 .env; x=$(ls -A); fold < \"$x\"": policy.Ask, "cp .env x": policy.Ask,
	} {
		q := policy.Request{Tool: "Bash", Actions: shellread.Read(command, f.world()).Actions, Sandboxed: true}
		if v := policy.Decide(policy.Rules{Dir: dir, Dirs: []string{dir}}, policy.Default, q); v.Effect != want {
			t.Errorf("%s: %s (%s), want %s", command, v.Effect, v.Reason, want)
		}
	}
}
