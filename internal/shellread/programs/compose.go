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
		if len(u.compose) > 0 {
			return u.composeGiven()
		}
		for d := u.dirs[0]; ; d = path.Dir(d) {
			why, found := u.composeProject(d)
			if why != "" || found || d == path.Dir(d) {
				return why
			}
		}
	}}
}

// composeFiles takes the files of docker compose -f FILE out of its words.
func (u *Invocation) composeFiles(ws []Word) []Word {
	for u.name == "docker" && len(ws) > 4 && ws[1].Is("compose") && (ws[2].Is("-f") || ws[2].Is("--file")) {
		u.compose = append(u.compose, ws[3])
		ws = append([]Word{ws[0], ws[1]}, ws[4:]...)
	}
	return ws
}

// composeGiven is composeProject for files that are named.
func (u *Invocation) composeGiven() string {
	for _, w := range u.compose {
		if w.Kind != Exact || w.Is("-") || strings.Contains(w.Text, ":") {
			return "what " + w.Source + " holds is not known"
		}
		if why := u.touch('p', w); why != "" {
			return why
		}
		for _, t := range u.r.Resolve(w, u.dirs) {
			if why := u.composed(t.Real); why != "" {
				return why
			}
			for _, d := range []string{u.dirs[0], path.Dir(t.Named)} {
				if why := u.composed(strings.TrimSuffix(d, "/") + "/.env"); u.r.mayBe(strings.TrimSuffix(d, "/")+"/.env") && why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// composeProject says why the files that docker compose reads in a folder may make it
// fetch or start something; found is whether it reads any there.
func (u *Invocation) composeProject(dir string) (why string, found bool) {
	at := strings.TrimSuffix(dir, "/") + "/"
	for _, name := range []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml", ".env"} {
		if !u.r.mayBe(at + name) {
			continue
		}
		found = found || name != ".env"
		if why := u.composed(at + name); why != "" {
			return why, found
		}
	}
	return "", found
}

// composed says why a file that docker compose reads may make it fetch something, or look
// elsewhere.
func (u *Invocation) composed(file string) string {
	text, ok := u.r.World.Text(file)
	switch {
	case !ok || len(u.r.Wrote) > 0:
		return "what stands in " + file + " is not known"
	case path.Base(file) == ".env":
		if strings.Contains(text, "COMPOSE_") || strings.Contains(text, "DOCKER_") {
			return file + " has settings of docker compose"
		}
	// A backslash may stand for any letter in the name of a key.
	case strings.Contains(text, "include"), strings.Contains(text, "extends"), strings.Contains(text, `\`):
		return file + " may include files that docker compose fetches"
	}
	return ""
}
