package policy_test

import (
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestSpellings: a rule that forbids speaks of a command however its flags stand, and
// whatever its subcommand is called; what may or may not be one is a question. No
// other command becomes one.
func TestSpellings(t *testing.T) {
	for _, c := range []struct{ rule, want, commands string }{
		{"Bash(cargo publish:*)", "deny", "cargo publish|cargo +nightly publish|cargo +nightly publish --dry-run"},
		{"Bash(cargo publish:*)", "deny", "cargo -q publish|cargo --color never publish|cargo +nightly -q publish|cargo -C x publish"},
		{"Bash(cargo publish:*)", "allow", "cargo build|cargo test publish|cargo run -- publish|cargo add publish|cargo +nightly build|cargo test -p x|cargo build --features publish"},
		{"Bash(cargo build:*)", "deny", "cargo b|cargo b --release|cargo +stable b"},
		{"Bash(npm publish:*)", "deny", "npm -s publish|npm --tag x publish"},
		{"Bash(npm publish:*)", "ask", "npm pub|npm publ|npm publis|npm p|npm -w a pub"},
		{"Bash(npm publish:*)", "allow", "npm test|npm run publish|npm run build|npm install|npm i|npm run -s build|npm test -- publish|npm pack"},
		{"Bash(npm install:*)", "deny", "npm i|npm add x|npm isntall x|npm in x"},
		{"Bash(npm run deploy)", "deny", "npm run deploy|npm run-script deploy|npm rum deploy|npm urn deploy"},
		{"Bash(npm run deploy)", "deny", "npm run -s deploy|npm -s run deploy|npm run-script -s deploy|npm --prefix x run deploy"},
		{"Bash(npm run deploy)", "ask", "npm runScript deploy"},
		{"Bash(npm run deploy)", "allow", "npm run deploy:x|npm run build|npm run test deploy|npm run -s build|npm deploy"},
		{"Bash(npm run test:*)", "deny", "npm test|npm t|npm tst --watch|npm run-script test"},
		{"Bash(yarn deploy:*)", "deny", "yarn run deploy"},
		{"Bash(pnpm run deploy:*)", "deny", "pnpm deploy x"},
		{"Bash(docker run:*)", "deny", "docker container run x|docker run x"},
		{"Bash(docker run:*)", "deny", "docker --context x run y|docker container --x run y|docker -l debug container run y"},
		{"Bash(docker run:*)", "allow", "docker ps|docker container ls|docker build -t run .|docker compose run x|docker image ls|docker rm run"},
		{"Bash(docker compose down:*)", "deny", "docker-compose down -v"},
		{"Bash(docker compose down:*)", "deny", "docker compose -f x.yml down"},
		{"Bash(docker compose down:*)", "ask", "docker-compose -f x.yml down"},
		{"Bash(gh pr merge:*)", "deny", "gh pr -R x merge|gh -R x pr merge|gh -R x pr -R y merge"},
		{"Bash(gh pr merge:*)", "allow", "gh pr list|gh pr view merge|gh pr list --search merge|gh issue list"},
		{"Bash(systemctl stop:*)", "deny", "systemctl --user stop x|systemctl --no-block --user stop"},
		{"Bash(systemctl stop:*)", "allow", "systemctl status stop|systemctl list-units --user stop|systemctl restart x"},
		{"Bash(aws s3 rm:*)", "deny", "aws --profile x s3 rm y|aws s3 --profile x rm y|aws --profile x s3 --region y rm z|aws --no-verify-ssl s3 rm y"},
		{"Bash(aws s3 rm:*)", "allow", "aws s3 ls rm|aws s3 cp a rm|aws --profile x s3 ls|aws ec2 rm"},
		{"Bash(make deploy:*)", "ask", "make -s deploy|make -j4 deploy|make x deploy|make -C d deploy|gmake x deploy|make A=b deploy"},
		{"Bash(make deploy:*)", "deny", "make deploy|make -j4 --silent=x deploy|gmake deploy"},
		{"Bash(make deploy:*)", "allow", "make|make build test|make -j4|make deploy-docs"},
		{"Bash(rm -rf:*)", "deny", "rm -rf x|rm -fr x|rm -r -f x|rm -f -r x|rm -rfv x|rm x -rf|rm -Rf x|rm --recursive --force x|rm -r --forc x|rm -v -r x -f"},
		{"Bash(rm -rf:*)", "allow", "rm x|rm -r x|rm -f x|rm -v x|rm -- -rf|rm --force x"},
		{"Bash(apt-get install:*)", "ask", "apt-get -y install x|apt-get -o a=b install x|apt -y install x"},
		{"Bash(apt-get install:*)", "deny", "apt install x"},
		{"Bash(apt-get install:*)", "allow", "apt-get update|apt-get remove install|apt-get -y update"},
		{"Bash(git push --force:*)", "deny", "git push origin --force|git push -f|git push origin main -f|git push --force=x|git push --forc"},
		{"Bash(git push --force:*)", "ask", "git push -fv|git -x y push -f"},
		{"Bash(git push --force:*)", "allow", "git push|git push origin HEAD|git push -u origin x|git fetch -f|git push --follow-tags"},
		{"Bash(git commit --no-verify:*)", "deny", "git commit -n|git commit -m x --no-verify"},
		{"Bash(git commit --no-verify:*)", "allow", "git commit -m n|git commit -am x|git commit --amend"},
		{"Bash(git stash:*)", "allow", "git commit -m stash|git log --grep stash|git status|git add stash|git checkout stash"},
		{"Bash(pip install:*)", "deny", "pip3 install x"},
		{"Bash(pip install:*)", "deny", "pip -q install x"},
		{"Bash(pip install:*)", "ask", "python -m pip install x|python3 -m pip install x"},
		{"Bash(pip install:*)", "allow", "pip list|pip show install|python -m pytest install|python3 -m http.server"},
		{"Bash(terraform destroy:*)", "deny", "terraform apply -destroy|terraform -chdir=x destroy"},
		{"Bash(terraform destroy:*)", "allow", "terraform plan|terraform apply|terraform plan -out destroy"},
		{"Bash(npx:*)", "deny", "npm exec x|npm x y"},
		{"Bash(kubectl delete pod:*)", "deny", "kubectl -n x delete pod y|kubectl delete -n x pod y"},
		{"Bash(kubectl delete pod:*)", "allow", "kubectl get pod|kubectl delete svc pod|kubectl -n delete get pod"},
		{"Bash(curl -X DELETE:*)", "deny", "curl u -X DELETE|curl -s u -XDELETE|curl -s -X DELETE u"},
		{"Bash(curl -X DELETE:*)", "allow", "curl u|curl -X POST u|curl -s DELETE"},
		{"Bash(curl --request=DELETE:*)", "deny", "curl --request=DELETE u|curl u --request DELETE"},
		{"Bash(curl --request=DELETE:*)", "allow", "curl --request=POST DELETE|curl --request GET DELETE|curl u --request"},
		{"Bash(git push:*)", "allow", "git p|git pus"},
		{"Bash(git push --mirror:*)", "ask", "git push --mirr"},
		{"Bash(git push --mirror:*)", "allow", "git push --tags"},
		{"Bash(sort -r:*)", "allow", "sort -R x"},
		{"Bash(gmake)", "allow", "make -j4"},
		{"Bash(/usr/bin/rm:*)", "deny", "rm x|/usr/bin/rm x|/bin/rm x"},
		{"Bash(/usr/bin/rm:*)", "allow", "rmdir x|cp x y"},
		{"Bash(/bin/rm /etc/x)", "deny", "rm /etc/x"},
		{"Bash(/bin/rm)", "deny", "rm"},
		{"Bash(/opt/bin/rm:*)", "allow", "rm x"},
		{"Bash(/usr/bin/x/rm:*)", "allow", "rm x|x/rm x"},
		{"Bash(/usr/bin/)", "allow", "ls|/usr/bin/ls"},
		{"Bash(git push *)", "allow", "git status|git log push"},
		{"Bash(npm publish*)", "deny", "npm -s publish-x"},
		{"Bash(ls)", "allow", "ls -la"},
		{"Bash(bundle install:*)", "ask", "bundle inst|bundle i"},
	} {
		for command := range strings.SplitSeq(c.commands, "|") {
			q := bash(exec(strings.Fields(command)...))
			if v := policy.Decide(rules(t, "allow Bash", "deny "+c.rule), policy.Default, q); v.Effect.String() != c.want {
				t.Errorf("deny %s: %q: %s (%s), want %s", c.rule, command, v.Effect, v.Reason, c.want)
			}
			want := policy.Allow
			if c.want != "allow" {
				want = policy.Ask
			}
			if v := policy.Decide(rules(t, "ask "+c.rule), policy.Bypass, q); v.Effect != want {
				t.Errorf("ask %s: %q: %s (%s), want %s", c.rule, command, v.Effect, v.Reason, want)
			}
			if v := policy.Decide(rules(t, "allow "+c.rule), policy.Default, q); c.want == "ask" && v.Effect == policy.Allow {
				t.Errorf("allow %s: %q: %s (%s)", c.rule, command, v.Effect, v.Reason)
			}
		}
	}
}
