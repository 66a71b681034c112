// Package setting knows which settings of git do no harm. There is one list, of what
// is harmless: a setting that is not in it, of a later version of git or of nobody's,
// may make git run a program or read elsewhere. It reads no file and starts nothing.
package setting

import (
	"strings"
	"sync"
)

// A Kind says to whom a setting does no harm.
type Kind int

// Kinds, from the worst: each is harmless to all that the one before it is.
const (
	Beyond  Kind = iota // it may do anything, or nobody knows it
	Pinned              // it may name a program, which reading with conf.PinnedEnv does not run
	Reading             // it makes commands that only read run nothing, and read nothing elsewhere
	Plain               // it makes no command of git run a program, and names none
)

// list has a section a line: keys that are Plain, behind the first "|" those that are
// Reading, behind the second those that are Pinned. "*" is every key: it stands only
// where no command that reads looks into the section, now or later, and in sections of
// programs that are not git.
const list = `
core: repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath abbrev compression loosecompression sharedrepository hidedotfiles longpaths
core: sparsecheckout sparsecheckoutcone untrackedcache commitgraph multipackindex fscache protecthfs protectntfs checkstat trustctime preloadindex bigfilethreshold deltabasecachelimit packedgitlimit
core: packedgitwindowsize splitindex fsync fsyncmethod fsyncobjectfiles createobject whitespace commentchar commentstring warnambiguousrefs checkroundtripencoding disambiguate | ignorestat notesref | fsmonitor hookspath pager
extensions: objectformat refstorage worktreeconfig relativeworktrees compatobjectformat preciousobjects
branch: remote pushremote merge rebase description autosetupmerge autosetuprebase | *
remote: fetch push tagopt prune prunetags mirror pushdefault gh-resolved | skipdefaultupdate skipfetchall followremotehead serveroption proxy proxyauthmethod partialclonefilter
submodule: active | path branch ignore shallow fetchrecursesubmodules fetchjobs propagatebranches alternatelocation alternateerrorstrategy
user: name email useconfigonly | *
author: name email
committer: name email
init: defaultbranch
pull: rebase ff | *
push: default autosetupremote followtags | *
fetch: prune prunetags | *
merge: conflictstyle ff log stat renames renamelimit directoryrenames autostash | name tool guitool renormalize verbosity default recursive suppressdest branchdesc defaulttoupstream
rerere: enabled autoupdate
rebase: autostash autosquash updaterefs | *
gc: auto autodetach autopacklimit writecommitgraph | aggressivedepth aggressivewindow pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire rerereresolved rerereunresolved packrefs cruftpacks maxcruftsize bigpackthreshold
commitgraph: generationversion maxnewfilters readchangedpaths changedpaths changedpathsversion
maintenance: auto strategy autodetach | enabled schedule repo
advice: *
index: version threads sparse skiphash recordendofindexentries recordoffsettable
feature: manyfiles experimental
tag: | forcesignannotated
versionsort: suffix prereleasesuffix
status: short branch showuntrackedfiles showstash relativepaths aheadbehind renames renamelimit displaycommentprefix
diff: renames renamelimit algorithm context colormoved colormovedws noprefix mnemonicprefix interhunkcontext wserrorhighlight indentheuristic statgraphwidth statnamewidth relative srcprefix dstprefix suppressblankempty dirstat
diff: | wordregex xfuncname funcname binary cachetextconv ignoresubmodules tool guitool trustexitcode | autorefreshindex
log: date decorate abbrevcommit follow showroot mailmap excludedecoration initialdecorationset graphcolors
blame: coloring date showemail showroot blankboundary markunblamablelines markignoredlines
grep: linenumber column patterntype extendedregexp threads fullname fallbacktonoindex
column: ui status branch tag clean
color: * | pager
commit: cleanup status verbose | template
format: | attach coverletter from signature signoff subjectprefix suffix thread to cc headers numbered outputdirectory useautobase encodeemailheaders filenamemaxlength mboxrd notes noprefix
i18n: commitencoding logoutputencoding
interactive: | singlekey
mailmap: | blob
notes: mergestrategy displayref rewriteref rewritemode rewrite
pack: windowmemory window depth threads compression packsizelimit usebitmaps writebitmaps indexversion usesparse allowpackreuse deltacachesize
repack: usedeltabaseoffset writebitmaps packkeptobjects
checkout: defaultremote guess workers thresholdforparallelism
clean: | requireforce
stash: showpatch showstat showincludeuntracked
showbranch: default
worktree: guessremote userelativepaths
filter: | required
url: | insteadof pushinsteadof
ssh: | variant
am: | *
apply: | whitespace ignorewhitespace
bundle: | *
clone: | *
http: | *
receive: | *
transfer: | *
help: | format autocorrect
sendemail: | to cc from smtpserverport smtpencryption smtpuser confirm suppresscc signedoffbycc chainreplyto thread annotate multiedit assume8bitencoding transferencoding validate suppressfrom | *
uploadpack: | allowfilter allowanysha1inwant allowtipsha1inwant allowreachablesha1inwant hiderefs keepalive advertiserefs | *
imap: | | *
instaweb: | | *
guitool: | | *
safe: | | *
protocol: | | *
lfs: repositoryformatversion access locksverify | url pushurl concurrenttransfers activitytimeout dialtimeout tlstimeout keepalive fetchinclude fetchexclude fetchrecentrefsdays fetchrecentalways fetchrecentcommitsdays pruneoffsetdays
lfs: | allowincompletepush batch basictransfersonly tustransfers skipdownloaderrors setlockablereadonly lockignoredfiles contenttype maxretries maxretrydelay
annex: | | *
gui: | *
gitg: | *
gitk: | *
tig: | *
magit: | *
vscode: | *
codespaces: | *
github: | *
gitlab: | *
gitea: | *
hub: | *
gitflow: | *
git-town: | *
gitbutler: | *
gitreview: | *
ghstack: | *
branchless: | *
stgit: | *
topgit: | *
svn: | *
svn-remote: | *
git-p4: | *
gitweb: | *
gitcvs: | *
cinnabar: | *
`

// kinds is list by SECTION.KEY.
var kinds = sync.OnceValue(func() map[string]Kind {
	out := map[string]Kind{}
	for line := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		section, keys, _ := strings.Cut(line, ":")
		kind := Plain
		for key := range strings.FieldsSeq(keys) {
			if key == "|" {
				kind--
			} else {
				out[section+"."+key] = kind
			}
		}
	}
	return out
})

// values judge, by SECTION.KEY, what depends on the value.
var values = sync.OnceValue(func() map[string]func(value string) Kind {
	sort := func(v string) bool { return strings.Contains(v, "signature") }
	runs := func(v string) bool { return strings.HasPrefix(v, "!") }
	return map[string]func(value string) Kind{
		"branch.sort": but(sort, Beyond), "tag.sort": but(sort, Beyond), "format.pretty": but(Verifies, Beyond), "pretty.*": but(Verifies, Beyond),
		"remote.url": but(helped, Pinned), "remote.pushurl": but(helped, Pinned), "submodule.url": but(helped, Pinned), "submodule.update": but(runs, Pinned),
		"commit.gpgsign": only(Reading, "false"), "tag.gpgsign": only(Reading, "false"), "log.showsignature": only(Pinned, "false"),
		"remote.promisor": only(Beyond, "false"), "submodule.recurse": only(Beyond, "false"), "status.submodulesummary": only(Beyond, "false", "0"), "diff.submodule": only(Beyond, "short"),
		"log.diffmerges": but(func(v string) bool { return strings.HasPrefix(v, "r") }, Beyond),
	}
})

// helped reports an address for which git runs a helper that it names.
func helped(u string) bool { return strings.Contains(u, "::") || strings.HasPrefix(u, "-") }

// but is Plain for all values but those that are bad.
func but(bad func(value string) bool, kind Kind) func(string) Kind {
	return func(v string) Kind {
		if bad(v) || bad(strings.ToLower(v)) {
			return kind
		}
		return Plain
	}
}

// only is Plain for these values alone.
func only(kind Kind, plain ...string) func(string) Kind {
	return func(v string) Kind {
		for _, p := range plain {
			if strings.EqualFold(v, p) {
				return Plain
			}
		}
		return kind
	}
}

// Of says to whom a setting does no harm. Section and key are lower case; a name between
// them ("remote.origin.url") says nothing.
func Of(section, key, value string) Kind {
	for _, k := range []string{key, "*"} {
		if f := values()[section+"."+k]; f != nil {
			return f(value)
		}
		if kind, ok := kinds()[section+"."+k]; ok {
			return kind
		}
	}
	return Beyond
}

// Named is Of a setting by its whole name.
func Named(name, value string) Kind {
	section, rest, ok := strings.Cut(strings.ToLower(name), ".")
	if !ok {
		return Beyond
	}
	return Of(section, rest[strings.LastIndexByte(rest, '.')+1:], value)
}

// Strategy reports a way to merge that git brings: for any other name it runs the program
// git-merge-NAME.
func Strategy(name string) bool {
	switch name {
	case "ort", "recursive", "resolve", "octopus", "ours", "subtree":
		return true
	}
	return false
}
