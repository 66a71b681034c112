package programs

// containerPrograms are containers, clouds, and what deploys to them.
func containerPrograms() []program {
	return []program{
		{names: "ansible ansible-playbook grype packer skaffold snyk syft trivy", is: checker},
		{names: "apptainer catatonit dockerize lxc-attach nsenter singularity", is: launcher},
		{names: "aws", is: namesOthers | speaker | takesTexts,
			forms: []form{
				{words: "s3 rb", flags: "--force", loses: lostCloud, plain: true}, {words: "s3 rm", flags: "--recursive", loses: lostCloud, plain: true},
				{words: "configure set|sso|import", sets: "~/.aws/config"}, {words: "… s3|deploy|cloudformation", packs: true},
			}},
		{names: "az", is: namesOthers | remote | takesTexts, forms: []form{{words: "… storage|webapp|functionapp", packs: true}}},
		{names: "azcopy kaniko mc rclone s3cmd surge vercel", forms: []form{{packs: true}}},
		{names: "buildah", forms: []form{{words: "… build|bud|copy|add", packs: true}}},
		{names: "cdk", forms: []form{{words: "destroy", loses: lostCloud}}},
		{names: "cf", forms: []form{{words: "… push", packs: true}}},
		{names: "docker", is: checker | container | ownNames | remote | speaker, helped: "run exec build pull push ps logs stop start restart rm rmi create cp commit tag images inspect network volume compose image container save load stats system buildx", runs: "--config* -H* --host* -v* --volume* --mount* --privileged* --pid* --cap-add* --device* --security-opt*", takes: "-f=r --file=r",
			reads: rows{
				"--version": {}, "buildx ls": {}, "buildx version": {}, "compose ls": dockerList, "compose version": {flags: "--short -f=x --format=x"},
				"container inspect": {flags: "-s -f=x --format=x --size", args: "x*", min: 1}, "container list": dockerList, "container ls": dockerList, "context ls": dockerList,
				"diff": {args: "x", min: 1}, "history": {flags: "-qH --no-trunc --quiet --human --format=x", args: "x", min: 1},
				"image inspect": {flags: "-f=x --format=x", args: "x*", min: 1}, "image ls": dockerList, "images": dockerList, "info": {flags: "-f=x --format=x"}, "inspect": {flags: "-s -f=x --format=x --size --type=x", args: "x*", min: 1},
				"logs": {flags: "-tn=x --tail=x --since=x --until=x --timestamps --details", args: "x", min: 1}, "network inspect": {flags: "-f=x --format=x -v", args: "x*", min: 1},
				"network ls": dockerList, "port": {args: "x x", min: 1}, "ps": dockerList,
				"stats":     {flags: "-a --no-stream --all --format=x --no-trunc", args: "x*", check: needs("docker stats never ends", "--no-stream")},
				"system df": {flags: "-v --verbose --format=x"}, "top": {args: "x", min: 1}, "version": {flags: "-f=x --format=x"}, "volume inspect": {flags: "-f=x --format=x", args: "x*", min: 1}, "volume ls": dockerList,
			},
			shows: rows{
				"compose images": composed("-q --quiet --format=x", "x*"), "compose logs": composed("-tn=x --tail=x --since=x --until=x --timestamps --no-color --no-log-prefix", "x*"), "compose port": composed("--protocol=x --index=x", "x x"),
				"compose ps": composed("-aq --all --quiet --format=x --services --filter=x --status=x --no-trunc --orphans", "x*"), "compose top": composed("", "x*"),
				"container logs": {flags: "-tn=x --tail=x --since=x --until=x --timestamps --details", args: "x", min: 1}, "container port": {args: "x x", min: 1},
				"container top": {args: "x", min: 1}, "context show": {}, "image history": {flags: "-qH --no-trunc --quiet --human --format=x", args: "x", min: 1},
			},
			forms: []form{
				{words: "compose", runs: "exec run", takes: "-f=p --file=p --project-directory=p -p=b --project-name=b --profile=b --ansi=b --progress=b"}, {words: "create", takes: "--mount=m --volume=m -v=m"}, {words: "exec", runs: "*"},
				{words: "run", runs: "*", takes: "--mount=m --volume=m -v=m"}, {words: "volume", runs: "-o* --opt* -d* --driver*"}, {words: "volume prune|rm|remove", loses: lostVolumes},
				{words: "system prune", flags: "--volumes", loses: lostVolumes, plain: true}, {words: "compose down", flags: "-v --volumes", loses: lostVolumes},
				{words: "… build|buildx|cp", packs: true}, {words: "compose", helped: "up down build run exec pull push start stop restart logs ps config top images ls rm create"},
			}},
		{names: "docker-compose", is: launcher, reads: rows{"--version": {}}, shows: rows{"--version": {}, "version": {flags: "--short -f=x --format=x"}}, forms: []form{{words: "down", flags: "-v --volumes", loses: lostVolumes}}},
		{names: "doctl", is: namesOthers},
		{names: "eb firebase netlify serverless", forms: []form{{words: "… deploy", packs: true}}},
		{names: "fly flyctl", is: namesOthers, forms: []form{{words: "… deploy|launch", packs: true}}},
		{names: "gcloud", is: namesOthers | remote | speaker | takesTexts, forms: []form{{words: "… app|functions|run|builds|storage|compute", packs: true}}},
		{names: "gsutil", forms: []form{{words: "rb", loses: lostCloud}, {packs: true}}},
		{names: "hadolint", is: checker | reader},
		{names: "helm", is: checker | speaker, helped: "install upgrade template list uninstall rollback repo pull lint dependency show get history status", takes: "--kubeconfig=r -n=b --namespace=b --kube-context=b",
			reads: rows{
				"history": {flags: "-n=x --namespace=x -o=x --max=x", args: "x", min: 1}, "list": {flags: "-Aaqn=x --all --all-namespaces --namespace=x -o=x --output=x"},
				"status": {flags: "-n=x --namespace=x -o=x --output=x", args: "x", min: 1, check: helmTable}, "version": {flags: "--short --client"},
			},
			shows: rows{"plugin list": {}, "search repo": {flags: "-lr --versions --regexp --devel --version=x -o=x --output=x --max-col-width=x", args: "x*"}},
			forms: []form{{words: "… package", packs: true}}},
		{names: "heroku", is: namesOthers | remote},
		{names: "kubectl", is: checker | container | ownNames | remote | speaker, helped: "apply create delete get describe logs exec run rollout scale patch edit label annotate expose set cp drain top config diff port-forward explain", runs: "--kubeconfig* -s --server* --token*", takes: "--kubeconfig=r -n=b --namespace=b --context=b --cluster=b --request-timeout=b",
			reads: rows{
				"api-resources": {flags: "-o=x --output=x --namespaced? --api-group=x --verbs=x --no-headers"}, "api-versions": {},
				"auth can-i": {flags: kubeFlags + " --list", args: "x*"}, "cluster-info": {}, "config current-context": {}, "config get-clusters": {},
				"config get-contexts": {flags: "-o=x --output=x --no-headers", args: "x*"}, "config view": {flags: "--minify -o=x --output=x", check: checkKube},
				"describe": {flags: kubeFlags + " -l=x --selector=x --show-events?", args: "x*", min: 1, check: checkKube}, "events": {flags: kubeFlags + " --for=x --types=x --no-headers -o=x --output=x", check: checkKube},
				"explain": {flags: "--recursive --api-version=x --output=x", args: "x", min: 1},
				"get":     {flags: kubeFlags + " -o=x --output=x -l=x --selector=x --show-labels --no-headers --sort-by=x --field-selector=x -L=x --label-columns=x --ignore-not-found --chunk-size=x --show-kind", args: "x*", min: 1, check: checkKube},
				"logs": {flags: kubeFlags + " -c=x --container=x -p --previous --tail=x --since=x --since-time=x --timestamps --all-containers --prefix -l=x --selector=x --limit-bytes=x", args: "x x", check: func(u *Invocation) string {
					if len(u.args) == 0 && !u.has("-l", "--selector") {
						return "kubectl logs of what is not said"
					}
					return ""
				}},
				"rollout history": {flags: kubeFlags + " --revision=x", args: "x*", min: 1}, "top": {flags: kubeFlags + " -l=x --selector=x --containers --no-headers --sort-by=x", args: "x*", min: 1}, "version": {flags: "-o=x --output=x --client"},
			},
			shows: rows{"rollout status": {flags: kubeFlags + " --watch? -w --timeout=x --revision=x", args: "x*", min: 1}},
			forms: []form{{words: "cp|debug|exec|run", runs: "*"}, {words: "config set|set-credentials|set-cluster", sets: "~/.kube/config"}, {words: "… cp", packs: true}}},
		{names: "machinectl", is: launcher | takesScripts},
		{names: "modal", forms: []form{{words: "… deploy|run", packs: true}}},
		{names: "nerdctl", is: container | remote,
			forms: []form{
				{words: "volume prune|rm|remove", loses: lostVolumes}, {words: "system prune", flags: "--volumes", loses: lostVolumes, plain: true}, {words: "compose down", flags: "-v --volumes", loses: lostVolumes},
			}},
		{names: "oc", is: container | remote},
		{names: "podman", is: checker | container | ownNames | remote | speaker, runs: "-v* --volume* --mount* --privileged*", shows: rows{
			"--version": {}, "images": dockerList, "info": {flags: "-f=x --format=x"}, "inspect": {flags: "-s -f=x --format=x --size --type=x", args: "x*", min: 1},
			"logs": {flags: "-tn=x --tail=x --since=x --until=x --timestamps", args: "x", min: 1}, "ps": dockerList, "version": {flags: "-f=x --format=x"},
		},
			forms: []form{
				{words: "create|run", takes: "--mount=m --volume=m -v=m"}, {words: "volume", runs: "-o* --opt* -d* --driver*"}, {words: "volume prune|rm|remove", loses: lostVolumes},
				{words: "system prune", flags: "--volumes", loses: lostVolumes, plain: true}, {words: "compose down", flags: "-v --volumes", loses: lostVolumes}, {words: "… build|cp", packs: true},
			}},
		{names: "pulumi", is: checker, forms: []form{{words: "destroy", loses: lostCloud}}},
		{names: "railway", forms: []form{{words: "… up", packs: true}}},
		{names: "sam", forms: []form{{words: "… build|package|deploy", packs: true}}},
		{names: "terraform tofu", is: checker | speaker, takes: "-chdir=p", reads: rows{"--version": {}}, forms: []form{{words: "destroy", loses: lostCloud}, {words: "apply", flags: "-destroy --destroy", loses: lostCloud}, {words: "… fmt", unless: "-check", edits: "*.tf *.tfvars *.hcl"}}},
		{names: "terragrunt", forms: []form{{words: "destroy", loses: lostCloud}, {words: "apply", flags: "-destroy --destroy", loses: lostCloud}}},
		{names: "tsh", is: remote},
		{names: "vagrant", is: checker | remote},
		{names: "wrangler", forms: []form{{words: "… deploy|publish|pages", packs: true}}},
	}
}
