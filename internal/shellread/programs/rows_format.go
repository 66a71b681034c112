package programs

// formatPrograms change the form of files, or their names.
func formatPrograms() []program {
	return []program{
		{names: "alejandra astyle buildifier chattr codemod detox exiftool fastmod jscodeshift mdformat mmv nixfmt phpcbf pint prename rector restorecon rnm rpl sad scalafmt sd setfacl strip swiftformat treefmt uncrustify unix2dos xattr", forms: []form{{edits: "*"}}},
		{names: "ast-grep", forms: []form{{flags: "-U --update-all", edits: "*"}}},
		{names: "biome", forms: []form{{flags: "--write --apply --apply-unsafe --fix", edits: "*"}}},
		{names: "buf", forms: []form{{words: "… format", flags: "-w --write", edits: "*"}}},
		{names: "clang-format", shows: rows{
			"": {flags: "-n --dry-run --Werror --style=x --fallback-style=x --assume-filename=x --lines=x --verbose --output-replacements-xml --dump-config", args: "p*", check: namedStyle}, "--version": {},
		},
			forms: []form{{flags: "-i", edits: "*"}}},
		{names: "clang-tidy", shows: rows{"--version": {}}, forms: []form{{flags: "-fix --fix --fix-errors", edits: "*"}}},
		{names: "codespell typos", forms: []form{{flags: "-w --write-changes", edits: "*"}}},
		{names: "comby", forms: []form{{flags: "-i -in-place", edits: "*"}}},
		{names: "dprint", forms: []form{{words: "… fmt", edits: "*"}}},
		{names: "eslint", is: checker, valued: "cfo", runs: "--init --rulesdir* --resolve-plugins* -c --config* --plugin* --parser* -f* --format* -o* --output*", takes: "--output-file=W -o=W --config=p --format=p -c=p -f=p", forms: []form{{flags: "--fix", edits: "*"}}},
		{names: "fourmolu ormolu", forms: []form{{flags: "-i --inplace", edits: "*"}}},
		{names: "google-java-format", forms: []form{{flags: "-i --replace", edits: "*"}}},
		{names: "ktlint", forms: []form{{flags: "-F --format", edits: "*"}}},
		{names: "markdownlint", forms: []form{{flags: "--fix -f", edits: "*"}}},
		{names: "markdownlint-cli2 oxlint standard standardrb stylelint tslint xo", forms: []form{{flags: "--fix", edits: "*"}}},
		{names: "php-cs-fixer", forms: []form{{words: "… fix", edits: "*"}}},
		{names: "prettier", runs: "--plugin* --config*", takes: "--config=p", forms: []form{{flags: "--write -w", edits: "*"}}},
		{names: "rename", is: packer, forms: []form{{edits: "*"}}},
		{names: "rubocop", forms: []form{{flags: "-a -A --autocorrect --autocorrect-all --auto-correct", edits: "*"}}},
		{names: "shfmt", is: speaker, shows: rows{"": {flags: "-l -d -f -i=x -ci -bn -sr -fn -kp -s -mn -p -ln=x --list --diff --find --indent=x --version", dash: true, args: "t*"}}, forms: []form{{flags: "-w --write", edits: "*"}}},
		{names: "sqlfluff", forms: []form{{words: "… fix|format", edits: "*"}}},
		{names: "stylua", forms: []form{{unless: "--check", edits: "*.lua"}}},
		{names: "swift-format", forms: []form{{flags: "-i --in-place", edits: "*"}}},
		{names: "swiftlint", forms: []form{{flags: "--fix --autocorrect", edits: "*"}}},
		{names: "taplo", forms: []form{{words: "… fmt|format", edits: "*"}}},
	}
}
