package policy

import (
	"strings"
	"testing"
)

func TestBroad(t *testing.T) {
	broad := `Bash|Bash(*)|Bash(:*)|Bash(* --version)|Agent|Task|Agent(reviewer)|PowerShell|PowerShell(pwsh:*)
Bash(python:*)|Bash(python3 *)|Bash(python*)|Bash(py*)|Bash(python3.12:*)|Bash(/usr/bin/python3:*)|Bash(/usr/bin/*)|Bash(python -*)|Bash(python -c:*)|Bash(python3 -m:*)|Bash(python3 -u:*)
Bash(node:*)|Bash(node -e:*)|Bash(node --eval *)|Bash(node*)|Bash(deno:*)|Bash(deno eval:*)|Bash(deno run:*)|Bash(tsx:*)|Bash(ts-node:*)|Bash(ruby -ne:*)|Bash(perl -pe *)|Bash(php -r:*)|Bash(lua:*)
Bash(bash:*)|Bash(bash -c:*)|Bash(sh -lc *)|Bash(zsh:*)|Bash(fish:*)|Bash(bash)|Bash(sh -s)|Bash(python3 -)|Bash(cmd.exe:*)|Bash(cmd /c:*)
Bash(npx:*)|Bash(npx *)|Bash(npx -y:*)|Bash(npx tsx:*)|Bash(bunx:*)|Bash(npm run:*)|Bash(npm run *)|Bash(npm run*)|Bash(npm:*)|Bash(npm*)|Bash(yarn run:*)|Bash(yarn:*)|Bash(pnpm run:*)|Bash(pnpm dlx:*)|Bash(bun run:*)|Bash(bun:*)|Bash(bun x:*)
Bash(eval:*)|Bash(exec:*)|Bash(command:*)|Bash(env:*)|Bash(env A=1:*)|Bash(env A=1 python3:*)|Bash(xargs:*)|Bash(xargs -I {} sh -c:*)|Bash(sudo:*)|Bash(sudo -u root:*)|Bash(sudo bash:*)|Bash(sudo -u root bash:*)|Bash(timeout:*)|Bash(timeout 60:*)|Bash(source:*)
Bash(ssh:*)|Bash(ssh host:*)|Bash(ssh -p 22 host:*)|Bash(docker:*)|Bash(docker run:*)|Bash(docker exec web:*)|Bash(docker exec -it web bash:*)|Bash(docker compose exec:*)|Bash(kubectl exec -n a pod:*)|Bash(kubectl exec pod -- sh:*)
Bash(uv run:*)|Bash(uv run python:*)|Bash(uv:*)|Bash(uv tool run:*)|Bash(poetry run:*)|Bash(poetry run python3:*)|Bash(go run:*)|Bash(go:*)|Bash(cargo:*)|Bash(bundle exec:*)|Bash(make:*)|Bash(A=1 python:*)`
	narrow := `Read|Edit(src/**)|WebFetch|Skill(x)|mcp__a__b|Bash(ls:*)|Bash(git:*)|Bash(git commit:*)|Bash(git*)|Bash(gh:*)|Bash(gh pr view:*)|Bash(find:*)
Bash(python3 manage.py:*)|Bash(python3 -u manage.py:*)|Bash(python3 x.py)|Bash(python -m pytest:*)|Bash(python scripts/*)|Bash(node scripts/build.js:*)|Bash(bash -c 'ls')|Bash(bash scripts/ci.sh *)|Bash(awk '{print $1}' *)
Bash(npm run test:*)|Bash(npm run test*)|Bash(npm test:*)|Bash(npm install:*)|Bash(yarn lint:*)|Bash(npx prettier:*)|Bash(npx -y prettier --check *)|Bash(pnpm exec eslint:*)|Bash(bun run build:*)
Bash(go test:*)|Bash(go run ./cmd/x:*)|Bash(cargo test:*)|Bash(make test:*)|Bash(make)|Bash(uv run pytest:*)|Bash(uv tool run ruff:*)|Bash(bundle exec rspec:*)|Bash(docker ps:*)|Bash(docker compose up:*)|Bash(docker exec web ls:*)|Bash(kubectl get:*)|Bash(ssh host uptime)|Bash(ssh host df:*)
Bash(timeout 60 npm test:*)|Bash(sudo apt-get update:*)|Bash(env CI=1 npm test:*)|Bash(./node_modules/.bin/*)|Bash(./scripts/*)|Bash(AWS_PROFILE=x aws:*)|Bash(command -v:*)|Bash(command -V *)`
	for want, text := range map[bool]string{true: broad, false: narrow} {
		for rule := range strings.SplitSeq(strings.ReplaceAll(text, "\n", "|"), "|") {
			r, err := ParseRule(rule, Allow, User, "x", "/w")
			if err != nil {
				t.Fatal(err)
			}
			if got := Broad(r); got != want {
				t.Errorf("%s: broad is %v", rule, got)
			}
			if r.Effect = Deny; Broad(r) {
				t.Errorf("%s is broad as a rule that denies", rule)
			}
		}
	}
}
