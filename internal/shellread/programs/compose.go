package programs

import (
	"path"
	"strings"
)

// composed is a form of docker compose that shows what runs. To do so it reads the
// project's files, which may name others that it fetches.
func composed(flags, args string) *command {
	return &command{flags: flags, args: args, check: func(u *Invocation) string {
		if u.r.World.Text == nil || len(u.dirs) != 1 {
			return "what the project of docker compose names is not known"
		}
		for d := u.dirs[0]; ; d = path.Dir(d) {
			why, found := u.composeProject(d)
			if why != "" || found || d == path.Dir(d) {
				return why
			}
		}
	}}
}

// composeProject says why the files that docker compose reads in a folder may make it
// fetch or start something; found is whether it reads any there.
func (u *Invocation) composeProject(dir string) (why string, found bool) {
	at := strings.TrimSuffix(dir, "/") + "/"
	for _, name := range []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml", ".env"} {
		if !u.r.mayBe(at + name) {
			continue
		}
		text, ok := u.r.World.Text(at + name)
		if !ok || len(u.r.Wrote) > 0 {
			return "what stands in " + at + name + " is not known", true
		}
		if name == ".env" {
			if strings.Contains(text, "COMPOSE_") || strings.Contains(text, "DOCKER_") {
				return at + ".env has settings of docker compose", found
			}
			continue
		}
		found = true
		// A backslash may stand for any letter in the name of a key.
		if strings.Contains(text, "include") || strings.Contains(text, "extends") || strings.Contains(text, `\`) {
			return at + name + " may include files that docker compose fetches", found
		}
	}
	return "", found
}
