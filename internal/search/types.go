package search

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// types gives the file names of each type, with the names that ripgrep uses and
// some that people try.
var types = map[string]string{
	"agda":         `*.agda *.lagda`,
	"aidl":         `*.aidl`,
	"amake":        `*.bp *.mk`,
	"asciidoc":     `*.adoc *.asc *.asciidoc`,
	"asm":          `*.S *.asm *.s`,
	"asp":          `*.ascx *.ascx.cs *.ascx.vb *.aspx *.aspx.cs *.aspx.vb`,
	"astro":        `*.astro`,
	"ats":          `*.ats *.dats *.hats *.sats`,
	"avro":         `*.avdl *.avpr *.avsc`,
	"awk":          `*.awk`,
	"bash":         `*.bash *.sh .bash_profile .bashrc`,
	"bazel":        `*.BUILD *.bazel *.bazelrc *.bzl BUILD WORKSPACE`,
	"bitbake":      `*.bb *.bbappend *.bbclass *.conf *.inc`,
	"brotli":       `*.br`,
	"buildstream":  `*.bst`,
	"bzip2":        `*.bz2 *.tbz2`,
	"c":            `*.[chH] *.[chH].in *.cats`,
	"cabal":        `*.cabal`,
	"cbor":         `*.cbor`,
	"ceylon":       `*.ceylon`,
	"clojure":      `*.clj *.cljc *.cljs *.cljx`,
	"cmake":        `*.cmake CMakeLists.txt`,
	"coffeescript": `*.coffee`,
	"config":       `*.cfg *.conf *.config *.ini`,
	"coq":          `*.v`,
	"cpp":          `*.[ChH] *.[ChH].in *.[ch]pp *.[ch]pp.in *.[ch]xx *.[ch]xx.in *.cc *.cc.in *.hh *.hh.in *.inl`,
	"creole":       `*.creole`,
	"crystal":      `*.cr Projectfile`,
	"cs":           `*.cs`,
	"csharp":       `*.cs`,
	"cshtml":       `*.cshtml`,
	"css":          `*.css *.scss`,
	"csv":          `*.csv`,
	"cuda":         `*.cu *.cuh`,
	"cython":       `*.pxd *.pxi *.pyx`,
	"d":            `*.d`,
	"dart":         `*.dart`,
	"dhall":        `*.dhall`,
	"diff":         `*.diff *.patch`,
	"docker":       `*Dockerfile*`,
	"dvc":          `*.dvc Dvcfile`,
	"ebuild":       `*.ebuild`,
	"edn":          `*.edn`,
	"elisp":        `*.el`,
	"elixir":       `*.eex *.ex *.exs`,
	"elm":          `*.elm`,
	"erb":          `*.erb`,
	"erlang":       `*.erl *.hrl`,
	"fidl":         `*.fidl`,
	"fish":         `*.fish`,
	"flatbuffers":  `*.fbs`,
	"fortran":      `*.F *.F77 *.F90 *.F95 *.f *.f77 *.f90 *.f95 *.pfo`,
	"fsharp":       `*.fs *.fsi *.fsx`,
	"fut":          `.fut`,
	"gap":          `*.g *.gap *.gd *.gi *.tst`,
	"gleam":        `*.gleam`,
	"gn":           `*.gn *.gni`,
	"go":           `*.go`,
	"golang":       `*.go`,
	"gradle":       `*.gradle`,
	"graphql":      `*.gql *.graphql *.graphqls`,
	"groovy":       `*.gradle *.groovy`,
	"gzip":         `*.gz *.tgz`,
	"h":            `*.h *.hpp`,
	"haml":         `*.haml`,
	"haskell":      `*.c2hs *.cpphs *.hs *.hsc *.lhs`,
	"hbs":          `*.hbs`,
	"hs":           `*.hs *.lhs`,
	"html":         `*.ejs *.htm *.html`,
	"idris":        `*.idr *.lidr`,
	"java":         `*.java *.jsp *.jspx *.properties`,
	"javascript":   `*.js *.jsx *.vue`,
	"jinja":        `*.j2 *.jinja *.jinja2`,
	"jl":           `*.jl`,
	"js":           `*.js *.jsx *.vue`,
	"json":         `*.json composer.lock`,
	"jsonl":        `*.jsonl`,
	"jsx":          `*.jsx`,
	"julia":        `*.jl`,
	"jupyter":      `*.ipynb *.jpynb`,
	"k":            `*.k`,
	"kotlin":       `*.kt *.kts`,
	"kt":           `*.kt *.kts`,
	"less":         `*.less`,
	"license":      `*[.-]LICEN[CS]E* AGPL-*[0-9]* APACHE-*[0-9]* BSD-*[0-9]* CC-BY-* COPYING COPYING[.-]* COPYRIGHT COPYRIGHT[.-]* EULA EULA[.-]* GFDL-*[0-9]* GNU-*[0-9]* GPL-*[0-9]* LGPL-*[0-9]* LICEN[CS]E LICEN[CS]E[.-]* MIT-*[0-9]* MPL-*[0-9]* NOTICE NOTICE[.-]* OFL-*[0-9]* PATENTS PATENTS[.-]* UNLICEN[CS]E UNLICEN[CS]E[.-]* agpl[.-]* gpl[.-]* lgpl[.-]* licen[cs]e licen[cs]e.*`,
	"lisp":         `*.el *.jl *.lisp *.lsp *.sc *.scm`,
	"lock":         `*.lock package-lock.json`,
	"log":          `*.log`,
	"lua":          `*.lua`,
	"lz4":          `*.lz4`,
	"lzma":         `*.lzma`,
	"m4":           `*.ac *.m4`,
	"make":         `*.mak *.mk [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile [Mm]akefile.am [Mm]akefile.in`,
	"mako":         `*.mako *.mao`,
	"man":          `*.[0-9][cEFMmpSx] *.[0-9lnpx]`,
	"markdown":     `*.markdown *.md *.mdown *.mkdn`,
	"matlab":       `*.m`,
	"md":           `*.markdown *.md *.mdown *.mkdn`,
	"mdx":          `*.mdx`,
	"meson":        `meson.build meson_options.txt`,
	"minified":     `*.min.css *.min.html *.min.js`,
	"mint":         `*.mint`,
	"mk":           `mkfile`,
	"ml":           `*.ml`,
	"mojo":         `*.mojo`,
	"msbuild":      `*.csproj *.fsproj *.proj *.props *.targets *.vcxproj`,
	"nim":          `*.nim *.nimble *.nimf *.nims`,
	"nix":          `*.nix`,
	"objc":         `*.h *.m`,
	"objcpp":       `*.h *.mm`,
	"ocaml":        `*.ml *.mli *.mll *.mly`,
	"org":          `*.org *.org_archive`,
	"pascal":       `*.dpr *.inc *.lpr *.pas *.pp`,
	"pdf":          `*.pdf`,
	"perl":         `*.PL *.perl *.pl *.plh *.plx *.pm *.t`,
	"php":          `*.php *.php3 *.php4 *.php5 *.phtml`,
	"po":           `*.po`,
	"pod":          `*.pod`,
	"postscript":   `*.eps *.ps`,
	"prisma":       `*.prisma`,
	"proto":        `*.proto`,
	"protobuf":     `*.proto`,
	"ps":           `*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1`,
	"puppet":       `*.erb *.pp *.rb`,
	"purs":         `*.purs`,
	"py":           `*.py`,
	"python":       `*.py`,
	"qmake":        `*.prf *.pri *.pro`,
	"qml":          `*.qml`,
	"r":            `*.R *.Rmd *.Rnw *.r`,
	"racket":       `*.rkt`,
	"rb":           `*.gemspec *.rb *.rbw .irbrc Gemfile Rakefile config.ru`,
	"rdoc":         `*.rdoc`,
	"readme":       `*README README*`,
	"red":          `*.r *.red *.reds`,
	"robot":        `*.robot`,
	"rs":           `*.rs`,
	"rst":          `*.rst`,
	"ruby":         `*.gemspec *.rb *.rbw .irbrc Gemfile Rakefile config.ru`,
	"rust":         `*.rs`,
	"sass":         `*.sass *.scss`,
	"scala":        `*.sbt *.scala`,
	"sh":           `*.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .cshrc .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc`,
	"shell":        `*.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .cshrc .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc`,
	"slim":         `*.skim *.slim *.slime`,
	"smarty":       `*.tpl`,
	"sml":          `*.sig *.sml`,
	"solidity":     `*.sol`,
	"soy":          `*.soy`,
	"spark":        `*.spark`,
	"spec":         `*.spec`,
	"sql":          `*.psql *.sql`,
	"stylus":       `*.styl`,
	"sv":           `*.h *.sv *.svh *.v *.vg`,
	"svelte":       `*.svelte`,
	"svg":          `*.svg`,
	"swift":        `*.swift`,
	"swig":         `*.def *.i`,
	"systemd":      `*.automount *.conf *.device *.link *.mount *.path *.scope *.service *.slice *.socket *.swap *.target *.timer`,
	"taskpaper":    `*.taskpaper`,
	"tcl":          `*.tcl`,
	"tex":          `*.bib *.cls *.dtx *.ins *.ltx *.sty *.tex`,
	"text":         `*.txt`,
	"textile":      `*.textile`,
	"tf":           `*.tf`,
	"thrift":       `*.thrift`,
	"toml":         `*.toml Cargo.lock`,
	"ts":           `*.ts *.tsx`,
	"tsx":          `*.tsx`,
	"twig":         `*.twig`,
	"txt":          `*.txt`,
	"typescript":   `*.ts *.tsx`,
	"typoscript":   `*.ts *.typoscript`,
	"typst":        `*.typ`,
	"vala":         `*.vala`,
	"vb":           `*.vb`,
	"vcl":          `*.vcl`,
	"verilog":      `*.sv *.svh *.v *.vh`,
	"vhdl":         `*.vhd *.vhdl`,
	"vim":          `*.vim`,
	"vimscript":    `*.vim`,
	"vue":          `*.vue`,
	"webidl":       `*.idl *.webidl *.widl`,
	"wgsl":         `*.wgsl`,
	"wiki":         `*.mediawiki *.wiki`,
	"xml":          `*.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt`,
	"xz":           `*.txz *.xz`,
	"yacc":         `*.y`,
	"yaml":         `*.yaml *.yml`,
	"yang":         `*.yang`,
	"yml":          `*.yaml *.yml`,
	"z":            `*.Z`,
	"zig":          `*.zig`,
	"zsh":          `*.zsh .zlogin .zlogout .zprofile .zshenv .zshrc zlogin zlogout zprofile zshenv zshrc`,
	"zstd":         `*.zst *.zstd`,
}

// typeNames lists the known types.
func typeNames() []string { return slices.Sorted(maps.Keys(types)) }

// endings are those of the files of all types, in lower case, with their dots.
var endings = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, globs := range types {
		for _, g := range strings.Fields(globs) {
			if strings.HasPrefix(g, "*.") {
				out[strings.ToLower(path.Ext(g))] = true
			}
		}
	}
	return out
})

// KnownEnding reports whether files of some type have the ending of this name.
func KnownEnding(name string) bool { return endings()[strings.ToLower(path.Ext(name))] }

// nearType names types that may be meant, by prefix or by a file name.
func nearType(typ string) string {
	typ = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(typ, "*"), "."))
	if _, ok := types[typ]; ok {
		return "; did you mean " + typ + "?"
	}
	var near []string
	for _, t := range typeNames() {
		if slices.Contains(strings.Fields(types[t]), "*."+typ) || len(typ) > 1 && strings.HasPrefix(t, typ[:2]) {
			near = append(near, t)
		}
	}
	if len(near) == 0 {
		return "; use glob instead, such as \"*.ext\""
	}
	return "; near ones are " + strings.Join(near[:min(len(near), 8)], ", ") + "; or use glob, such as \"*." + typ + "\""
}
