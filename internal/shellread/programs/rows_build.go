package programs

// buildPrograms compile, build and test what is written in other languages.
func buildPrograms() []program {
	return []program{
		{names: "as c++", is: checker | includer},
		{names: "asdf", is: namesOthers},
		{names: "bats bazel bison buck busted cabal csc dmd flex gradlew kotlinc lein lessc mcs minitest nim nvcc ocamlc pest phpunit rebar3 revive rspec sass sbt scalac stack swift swiftc task v yacc", is: checker},
		{names: "bear ccache compiledb distcc icecc intercept-build scan-build sccache", is: launcher},
		{names: "bundle", is: checker, forms: []form{{words: "exec", runs: "*", own: "--keep-file-descriptors", command: true}, {words: "config set|unset", sets: "~/.bundle/config"}}},
		{names: "bundler", forms: []form{{words: "config set|unset", sets: "~/.bundle/config"}}},
		{names: "cargo", is: checker, help: rustVersion, helped: "build test run check clippy fmt doc bench add remove update install publish tree new init fix clean metadata package", runs: "--config* -Z* --manifest-path* -C", takes: "--manifest-path=p -C=p -q=a --quiet=a -v=a -vv=a --verbose=a --locked=a --offline=a --frozen=a --color=b",
			reads: rows{
				"--help": rustVersion, "--version": rustVersion, "-V": rustVersion, "-h": rustVersion, "locate-project": {flags: "--workspace --message-format=x", check: noCargoConfig},
				"metadata": {flags: "--no-deps --format-version=x --offline --locked --frozen --manifest-path=p -q --quiet", check: all(needs("cargo metadata may fetch and write Cargo.lock", "--no-deps"), noCargoConfig)},
				"tree": {flags: "-dieqv -p=x --offline --locked --frozen --depth=x --edges=x --invert=x --prefix=x --format=x -f=x --duplicates --no-dedupe --package=x --all-features --features=x --no-default-features --target=x --charset=x", check: func(u *Invocation) string {
					if !u.has("--frozen") && !(u.has("--locked") && u.has("--offline")) {
						return "cargo tree may fetch and write Cargo.lock"
					}
					return noCargoConfig(u)
				}},
				"version": rustVersion,
			},
			shows: rows{
				"--list": rustVersion, "--version --verbose": rustVersion, "-vV": rustVersion, "clippy --version": rustVersion, "fmt --version": rustVersion, "help": manual(noCargoConfig),
			},
			forms: []form{
				{words: "… package|publish", packs: true}, {words: "… fmt", unless: "--check", edits: "*.rs"}, {words: "… fix|clippy", flags: "--fix --allow-dirty --allow-staged", edits: "*.rs"},
			}},
		{names: "cc", is: checker | includer | speaker, runs: "-fplugin* -wrapper* -B* @* -specs*", shows: rows{"-dumpmachine": {}, "-dumpversion": {}, "-v": {}}},
		{names: "clang", is: checker | includer | speaker, runs: "-fplugin* -Xclang* -B* @* -load*", reads: rows{"--version": {}}, shows: rows{"-dumpmachine": {}, "-dumpversion": {}, "-print-resource-dir": {}, "-print-target-triple": {}, "-v": {}}},
		{names: "clang++", is: checker | includer, shows: rows{"-v": {}}},
		{names: "cmake", is: checker | speaker, runs: "-E -P -C* --toolchain* -DCMAKE_TOOLCHAIN_FILE* -DCMAKE_PROJECT_INCLUDE* -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES* --install-prefix*", reads: rows{"--version": {}}},
		{names: "composer", is: checker | starter, takes: "--working-dir=p -d=p"},
		{names: "cpp groff latex m4 nasm nroff pdflatex tcc tex troff", is: includer},
		{names: "dart", is: checker, shows: rows{"--version": {}}, forms: []form{{words: "… format|fix", edits: "*"}}},
		{names: "dotnet", is: checker | starter},
		{names: "flutter mix", is: checker, forms: []form{{words: "… format", edits: "*"}}},
		{names: "g++", is: checker | includer | speaker, runs: "-fplugin* -wrapper* -B* @*", reads: rows{"--version": {}}, shows: rows{"-dumpmachine": {}, "-dumpversion": {}, "-v": {}}},
		{names: "gcc", is: checker | includer | speaker, runs: "-fplugin* -wrapper* -B* @* -specs*", reads: rows{"--version": {}}, shows: rows{"-dumpmachine": {}, "-dumpversion": {}, "-print-multiarch": {}, "-print-search-dirs": {}, "-print-sysroot": {}, "-v": {}}},
		{names: "gci", forms: []form{{words: "… write", edits: "*.go"}}},
		{names: "gem", is: checker | namesOthers, shows: rows{"list": {flags: "-ldai --local --details --all --installed --no-versions --versions -e --exact", args: "x*"}, "which": {args: "x*", min: 1}}, forms: []form{{words: "… build", packs: true}}},
		{names: "ghc ninja", is: checker, shows: rows{"--version": {}}},
		{names: "go", is: checker, runs: "-exec* --exec* -toolexec* --toolexec* -vettool* --vettool* -overlay* -gccgoflags* --gccgoflags* -o -o=", takes: "-o=W -C=p",
			reads: rows{
				"--help": {}, "-h": {}, "doc": {early: true, flags: "-all -c -cmd -short -src -u", dash: true, args: "x x", check: goDoc}, "env": {early: true, flags: "-json -changed", dash: true, args: "x*"}, "help": {args: "x*"},
				"list":   {early: true, flags: "-json? -m -f=x -deps -test -e -find -u -versions -retracted -reuse=p -tags=x -mod=x -buildvcs=x", dash: true, args: "x*", check: goList},
				"vet -h": {}, "vet -help": {},
				"mod graph": {check: inRepo}, "mod why": {early: true, flags: "-m", dash: true, args: "x*", check: inRepo}, "version": {early: true, flags: "-m -v", dash: true, args: "p*"},
			},
			forms: []form{{words: "env", runs: "-w -u"}, {words: "run", script: true}, {words: "tool", runs: "*"}, {words: "… fmt|fix", unless: "-n", edits: "*.go"}}},
		{names: "gofmt", row: &command{early: true, flags: "-l -d -s -e -r=x", dash: true, args: "t*", check: pickGo}, changes: &changeRow{command{safe: true, flags: "-l -d -s -e -w -r=x", dash: true}, applyFormat}},
		{names: "gofumpt", forms: []form{{flags: "-w -extra", edits: "*.go"}}},
		{names: "goimports", row: &command{early: true, flags: "-l -d -e -v -local=x", dash: true, args: "t*", check: pickGo}, changes: &changeRow{command{safe: true, flags: "-l -d -e -v -w -local=x", dash: true}, applyFormat}},
		{names: "golangci-lint", is: speaker, forms: []form{{flags: "--fix", edits: "*"}, {words: "… fmt", edits: "*"}}},
		{names: "golines", forms: []form{{flags: "-w", edits: "*.go"}}},
		{names: "gradle", is: checker, takes: "--project-dir=p -p=p -q=a --quiet=a -i=a --info=a -s=a --stacktrace=a --offline=a --no-daemon=a --parallel=a --warn=a --console=b"},
		{names: "jar", shows: rows{
			"-tf": {args: "p x*", min: 1, check: noResponse}, "-tvf": {args: "p x*", min: 1, check: noResponse}, "tf": {args: "p x*", min: 1, check: noResponse}, "tvf": {args: "p x*", min: 1, check: noResponse},
		},
			forms: []form{{packs: true}}},
		{names: "java", is: speaker, reads: rows{"--version": {}, "-version": {}}},
		{names: "javac", is: checker, reads: rows{"--version": {}, "-version": {}}},
		{names: "javap", shows: rows{"": {flags: "-c -p -v -s -l -public -protected -package -private -constants -verbose -version", dash: true, args: "p*", check: noLocation}}},
		{names: "just", is: checker | ownNames, runs: "-c --command* --shell* --chooser* --choose -e --edit --init", takes: "--justfile=p --working-directory=p -d=p -f=p"},
		{names: "ld", is: checker | speaker, reads: rows{"--version": {}}},
		{names: "gmake make", is: checker | ownNames | setsWords | speaker, valued: "jlWo", runs: "-f* --file* --makefile* -C* --directory* -I* -E* --eval* SHELL=* --include-dir*", takes: "--directory=p --file=pr --include-dir=p --makefile=p -C=p -I=p -f=pr -j=a -k=a --keep-going=a -s=a --silent=a --no-print-directory=a -B=a --always-make=a", reads: rows{"--version": {}, "-v": {}}},
		{names: "mise", is: namesOthers | starter, forms: []form{{words: "trust|use|set|unset", sets: ".mise.toml"}, {words: "settings|config|alias set|unset|add", sets: "~/.config/mise/config.toml"}}},
		{names: "mvn", is: checker, takes: "--file=p -f=p -q=a --quiet=a -B=a --batch-mode=a -ntp=a --no-transfer-progress=a -o=a --offline=a -e=a --errors=a -am=a --also-make=a -DskipTests=a -T=b -pl=b --projects=b", shows: rows{"--version": {check: noMaven}, "-v": {check: noMaven}, "-version": {check: noMaven}}},
		{names: "perl", is: inPlaceEditor | speaker | writer, reads: rows{"--version": {}, "-v": {}}},
		{names: "php", is: speaker, reads: rows{"--version": {}, "-v": {}}},
		{names: "pkg-config", shows: rows{"": {flags: "--list-all --modversion --cflags --libs --exists --static --print-errors --variable=x --atleast-version=x --cflags-only-I --libs-only-l --libs-only-L --version", args: "x*", check: noPath}}},
		{names: "protoc", is: checker | includer | speaker, shows: rows{"--version": {}}},
		{names: "rails", forms: []form{{words: "db:drop|db:reset|db:purge", loses: lostData}}},
		{names: "rake", is: checker | setsWords, forms: []form{{words: "db:drop|db:reset|db:purge", loses: lostData}}},
		{names: "ruby", is: inPlaceEditor | speaker, reads: rows{"--version": {}, "-v": {}}},
		{names: "rustc", is: checker, reads: rows{"--version": rustVersion, "-V": rustVersion}, shows: rows{"--explain": {args: "x", min: 1, check: noCargoConfig}, "--print": {args: "x", min: 1, check: rustPrints}, "--version --verbose": rustVersion, "-vV": rustVersion}},
		{names: "rustfmt", forms: []form{{unless: "--check", edits: "*.rs"}}},
		{names: "rustup", is: namesOthers, reads: rows{"--version": rustVersion}, shows: rows{
			"component list": {flags: "--installed", check: noCargoConfig}, "show": {args: "x", check: rustShown}, "target list": {flags: "--installed", check: noCargoConfig},
			"toolchain list": {flags: "-v --verbose", check: noCargoConfig}, "which": {args: "x", min: 1, check: noCargoConfig},
		}},
		{names: "staticcheck", is: checker | speaker},
		{names: "watchman-make", is: launcher | takesScripts},
		{names: "zig", is: checker, shows: rows{"version": {}}, forms: []form{{words: "… fmt", edits: "*.zig *.zon"}}},
	}
}
