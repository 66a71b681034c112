package programs

import "strings"

// What makes an archive reads its operands: flags of tar and zip that change nothing but
// what the archive holds (the manuals of GNU tar 1.35, bsdtar 3.7 and Info-ZIP 3.0). values are the
// letters of tar that take one.
const (
	tarLetters = "cruzjJavphlPkSo"
	tarValues  = "fCTXbHV"
	tarLong    = " --create --append --update --file --directory --exclude --exclude-from --exclude-vcs --exclude-vcs-ignores --exclude-caches --files-from --gzip --bzip2 --xz --zstd --lzma --lzip --auto-compress --verbose --totals --dereference --owner --group --mode --mtime --sort --numeric-owner --transform --format --no-recursion --absolute-names --one-file-system --null --label "
	zipLetters = "rqv0123456789yjXDgSuxi"
	zipLong    = " --recurse-paths --quiet --verbose --symlinks --junk-paths --exclude --include --no-extra --no-dir-entries --update "
)

// packs are the places in a command's words of the archives that it makes; ok is false
// where it may write anything else.
func packs(name string, ws []Word) (archives []int, ok bool) {
	switch name {
	case "tar", "gtar", "bsdtar":
		return tarPacks(ws)
	case "zip":
		return zipPacks(ws)
	}
	return nil, false
}

func tarPacks(ws []Word) (archives []int, ok bool) {
	for i := 1; i < len(ws); i++ {
		w := ws[i]
		letters, short := strings.CutPrefix(w.Text, "-")
		name, _, glued := strings.Cut(w.Text, "=")
		switch {
		case w.Kind != Exact && (w.FlagLike() || i == 1):
			return nil, false
		case strings.HasPrefix(w.Text, "--") && w.Text != "--":
			if !strings.Contains(tarLong, " "+name+" ") {
				return nil, false
			}
			ok = ok || name == "--create" || name == "--append" || name == "--update"
			if name == "--file" {
				if !glued {
					i++
				}
				archives = append(archives, i)
			}
		case short && letters != "" && letters != "-", i == 1:
			for at := 0; at < len(letters); at++ {
				c := letters[at]
				ok = ok || strings.IndexByte("cru", c) >= 0
				if strings.IndexByte(tarValues, c) >= 0 {
					place := i
					if rest := letters[at+1:]; rest == "" || !short {
						i++
						place = i
					}
					if c == 'f' {
						archives = append(archives, place)
					}
					if short {
						break
					}
				} else if strings.IndexByte(tarLetters, c) < 0 {
					return nil, false
				}
			}
		}
	}
	return archives, ok && (len(archives) == 0 || archives[len(archives)-1] < len(ws))
}

func zipPacks(ws []Word) (archives []int, ok bool) {
	for i := 1; i < len(ws); i++ {
		w := ws[i]
		letters, short := strings.CutPrefix(w.Text, "-")
		switch {
		case w.Kind != Exact && (w.FlagLike() || len(archives) == 0):
			return nil, false
		case strings.HasPrefix(w.Text, "--") && w.Text != "--":
			if !strings.Contains(zipLong, " "+w.Text+" ") {
				return nil, false
			}
		case short && letters != "" && letters != "-":
			if strings.Trim(letters, zipLetters) != "" {
				return nil, false
			}
		case len(archives) == 0:
			archives = []int{i}
		}
	}
	return archives, len(archives) > 0
}
