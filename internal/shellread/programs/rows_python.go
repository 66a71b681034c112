package programs

// pythonPrograms are those of Python.
func pythonPrograms() []program {
	return []program{
		{names: "autoflake autopep8 docformatter yapf", forms: []form{{flags: "-i --in-place -ri -ir", edits: "*.py *.pyi *.ipynb *.pyw"}}},
		{names: "bandit behave ctest flake8 nosetests nox py.test pydocstyle pylint pyre pyright pytype tox vulture", is: checker},
		{names: "black", is: speaker, forms: []form{{unless: "--check --diff", edits: "*.py *.pyi *.ipynb *.pyw"}}},
		{names: "build http.server tarfile zipfile", is: module, forms: []form{{packs: true}}},
		{names: "code2prompt files-to-prompt gitingest twine", forms: []form{{packs: true}}},
		{names: "conda mamba", is: checker,
			forms: []form{
				{words: "run", runs: "*", own: "-n=x -p=x -v --name=x --prefix=x --cwd=x --no-capture-output --live-stream --verbose"}, {words: "init", unless: "--show --show-sources --get --help -h --describe --validate", sets: "~/.bashrc"},
				{words: "config", unless: "--show --show-sources --get --help -h --describe --validate", sets: "~/.condarc"},
			}},
		{names: "flit", forms: []form{{words: "… build|publish", packs: true}}},
		{names: "hatch", forms: []form{{words: "run", script: true}, {words: "… build|publish", packs: true}, {words: "… fmt", edits: "*.py *.pyi *.ipynb *.pyw"}}},
		{names: "isort", forms: []form{{unless: "-c --check --check-only --diff", edits: "*.py *.pyi *.ipynb *.pyw"}}},
		{names: "micromamba", forms: []form{{words: "shell init|deinit", sets: "~/.bashrc"}, {words: "config set|append|prepend|remove", sets: "~/.condarc"}}},
		{names: "mypy", is: checker | speaker},
		{names: "pdm", forms: []form{{words: "run", script: true}, {words: "… build|publish", packs: true}}},
		{names: "pip pip3", is: checker | speaker, helped: "install uninstall download freeze list show index wheel cache config check", runs: "--python* --index-url* -i* --extra-index-url* --proxy* --log*", takes: "-q=a --quiet=a -v=a --verbose=a --disable-pip-version-check=a --no-input=a",
			reads: rows{"--version": {}, "cache dir": {}, "check": {check: noCargoConfig}, "freeze": pipFreeze, "list": pipList, "show": pipShow},
			forms: []form{{words: "config set|unset|edit", sets: "~/.config/pip/pip.conf"}}},
		{names: "pip-compile pipdeptree", is: namesOthers},
		{names: "pipenv", forms: []form{{words: "run", runs: "*", command: true, script: true}}},
		{names: "pipx", is: launcher | starter},
		{names: "poetry", is: checker, takes: "--directory=p -C=p",
			forms: []form{
				{words: "run", runs: "*", command: true, script: true}, {words: "config", unless: "--list --help -h", sets: "~/.config/pypoetry/config.toml"}, {words: "… build|publish", packs: true},
			}},
		{names: "pytest", is: checker, valued: "kmrnW", runs: "-p* --pdbcls* -c --config-file* --pastebin* --tx* --basetemp* @* --rootdir* --confcutdir* -o* --override-ini* !--pdb", takes: "--confcutdir=p --config-file=p --override-ini=s --rootdir=p -c=p -o=s -p=o"},
		{names: "python python3", is: speaker, reads: rows{"--version": {}, "-V": {}}, shows: rows{"-m json.tool": jsonTool}},
		{names: "pyupgrade", forms: []form{{edits: "*.py *.pyi *.ipynb *.pyw"}}},
		{names: "ruff", is: speaker, forms: []form{{words: "… format", unless: "--check --diff", edits: "*.py *.pyi *.ipynb *.pyw"}, {flags: "--fix --fix-only --unsafe-fixes", edits: "*.py *.pyi *.ipynb *.pyw"}}},
		{names: "rye", is: starter, forms: []form{{words: "run", script: true}}},
		{names: "torchrun", is: launcher},
		{names: "uv", is: checker | speaker, helped: "sync add remove run lock pip venv tool init export tree build", runs: "--python* --with* --index* --default-index*", takes: "--directory=p --project=p", reads: rows{"--version": {}},
			forms: []form{{words: "run", script: true}, {words: "tool", runs: "*"}, {words: "… build|publish", packs: true}, {words: "… format", edits: "*.py *.pyi *.ipynb *.pyw"}}},
		{names: "uvx", is: launcher | starter, reads: rows{"--version": {}}},
	}
}
