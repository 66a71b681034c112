package cli

// sessionWords says what names a session, wherever a command takes one.
const sessionWords = "SESSION is an id or the beginning of one, a title, or words from it. Without one it is\nthe newest session of this folder."

// examples are lines that show how a command is used, by what it is called below
// adze. Those whose explanation has some are not here.
var examples = map[string][]string{
	"config get":                  {"adze config get model"},
	"config describe":             {"adze config describe sandbox.network", "adze config describe ui.notify"},
	"config set":                  {"adze config set model sonnet", "adze config set permissions.deny 'Read(.env*),Bash(curl:*)' --scope project"},
	"config unset":                {"adze config unset model"},
	"config edit":                 {"adze config edit --scope local"},
	"schedule allow":              {"adze schedule allow a1b2c3d4"},
	"schedule delete":             {"adze schedule delete d01ca26"},
	"schedule add":                {"adze schedule add '0 9 * * 1-5' 'look at the pull requests'", "adze schedule add 2h 'look at CI' --once"},
	"workflow check":              {"adze workflow check .adze/workflows/audit.js"},
	"workflow run":                {"adze workflow run audit internal/policy", `adze workflow run audit.js '["a.go", "b.go"]'`},
	"context":                     {"adze context", "adze context --model anthropic/claude-sonnet-4-6"},
	"diff":                        {"adze diff", "adze diff 'mend the parser' --stat"},
	"export":                      {"adze export -o session.md", "adze export 'mend the parser' --format html -o session.html"},
	"import":                      {"adze import --dry-run", "adze import --from codex --only settings"},
	"attach":                      {"adze attach", "adze attach 0199c5a2"},
	"send":                        {`adze send 0199c5a2 "also update the changelog"`, `adze send "review this" <change.diff`},
	"tail":                        {"adze tail", "adze tail 0199c5a2 --json", "adze tail --turn"},
	"logout":                      {"adze logout anthropic", "adze logout --all"},
	"mcp add-json":                {`adze mcp add-json db '{"command": "./db-server", "args": ["--fast"]}'`},
	"mcp add-from-claude-desktop": {"adze mcp add-from-claude-desktop", "adze mcp add-from-claude-desktop files db --yes"},
	"mcp approve":                 {"adze mcp approve db", "adze mcp approve db --no"},
	"mcp call":                    {`adze mcp call files/list_directory '{"path": "."}'`, "adze mcp call db/query - <query.json"},
	"mcp get":                     {"adze mcp get db"},
	"mcp info":                    {"adze mcp info db"},
	"mcp login":                   {"adze mcp login docs"},
	"mcp logout":                  {"adze mcp logout docs"},
	"mcp read":                    {"adze mcp read files file:///README.md"},
	"mcp remove":                  {"adze mcp remove db --scope user"},
	"mcp resources":               {"adze mcp resources files"},
	"mcp tools":                   {"adze mcp tools", "adze mcp tools db"},
	"models":                      {"adze models", "adze models --all sonnet"},
	"permissions add":             {`adze permissions add "Bash(npm run test:*)"`, `adze permissions add "Read(.env*)" --to deny --scope project`},
	"permissions check":           {`adze permissions check "git status && rm -rf build"`, `adze permissions check --allow "Bash(make:*)" "make test"`},
	"permissions rm":              {`adze permissions rm "Bash(npm run test:*)"`},
	"plugin disable":              {"adze plugin disable hello"},
	"plugin enable":               {"adze plugin enable hello", "adze plugin enable hello --set token=- <token.txt"},
	"plugin marketplace add":      {"adze plugin marketplace add OWNER/REPO"},
	"plugin marketplace remove":   {"adze plugin marketplace remove shop"},
	"plugin marketplace update":   {"adze plugin marketplace update", "adze plugin marketplace update shop"},
	"plugin new":                  {"adze plugin new hello"},
	"plugin uninstall":            {"adze plugin uninstall hello"},
	"plugin update":               {"adze plugin update", "adze plugin update hello@shop"},
	"plugin validate":             {"adze plugin validate ./hello"},
	"record":                      {`adze record -o bug.cassette -- "explain this" --model sonnet`},
	"replay":                      {`adze replay bug.cassette "explain this"`},
	"rewind":                      {"adze rewind", "adze rewind --to 3 --code", "adze rewind --undo"},
	"sandbox run":                 {"adze sandbox run -- ls -l", "adze sandbox run -- npm test"},
	"sessions rm":                 {"adze sessions rm 'mend the parser'", "adze sessions rm 0199c5a2 0199c5b7"},
	"sessions search":             {"adze sessions search walrus operator", "adze sessions search --all walrus"},
	"sessions show":               {"adze sessions show", "adze sessions show 'mend the parser'"},
	"skills check":                {"adze skills check", "adze skills check ./skills/release"},
	"agents check":                {"adze agents check", "adze agents check .claude/agents"},
	"agents new":                  {`adze agents new reviewer --description "Reviews a change. Use it before a commit."`},
	"skills new":                  {`adze skills new changelog --description "Writes the changelog entry of a change."`},
	"stats":                       {"adze stats --days 30", "adze stats --by project", "adze stats --html stats.html"},
}

// explanations are what a command is about, for those that do not say it themselves.
var explanations = map[string]string{
	"config": `Settings stand in files. What is nearer to the run wins:

  user      ~/.adze/settings.json         yours, everywhere
  project   .adze/settings.json           everybody's here, once you trust it
  local     .adze/settings.local.json     yours, here

--settings, variables (ADZE_…) and flags go before files.`,
	"config list": "Lists the settings that have a value, and where it is from. At a terminal, lines are\ncut to its width; in a pipe and with --json they are whole.",
	"agents": `A definition of an agent is a Markdown file in ~/.adze/agents, ~/.claude/agents or a
repository's .adze/agents: what it is for, its tools, its model, its instructions.
adze --agent NAME begins a session as one.`,
	"hooks": `Hooks are programs of yours that adze runs at certain moments, such as before each
call, and that may refuse it. They stand under "hooks" in settings files.`,
	"mcp": `MCP servers are programs or services that bring the model further tools. Those that
a repository brings (.mcp.json) run only after you trusted the folder and approved
them.`,
	"permissions": `Rules say what the model may do: deny wins over ask, and ask over allow; what no
rule and no mode allows is asked about. A rule names a tool, and what it is used on:

  Bash(npm run test:*)   commands that begin so
  Edit(src/**)           files below src
  Read(.env*)            files of that name, anywhere
  mcp__files             all tools of an MCP server`,
	"permissions add":   "Adds a rule to a settings file, where it counts at once. adze help permissions shows\nhow rules look, adze permissions check what they come to.",
	"permissions rm":    "Removes a rule from a settings file, written as adze permissions list shows it.",
	"permissions check": "Says how a shell command would be judged, part by part, and which rule or check\nsettles it. Nothing is run.",
	"plugin": `A plugin brings skills, commands, agents, hooks, servers, styles and themes
together. A marketplace is a list of plugins; add one first, then install what it
offers.`,
	"sessions":      "A session is a conversation, kept in ~/.adze/projects until you remove it (or\ncleanup_days is over). adze --continue goes on with the newest of this folder, adze\n--resume with any.",
	"sessions show": "Shows the facts of a session, then what was said.\n\n" + sessionWords,
	"sessions rm":   "Removes sessions with all that is kept beside them. SESSION is an id or the\nbeginning of one, a title, or words from it; words that fit several remove none.",
	"diff":          "Shows what is different on disk from what it was before the session began.\n\n" + sessionWords,
	"skills": `A skill is a folder with a SKILL.md that tells the model how to do something; a
command is one Markdown file. /NAME runs either. They stand in ~/.adze, ~/.claude
and ~/.agents, and in a repository once you trust it.`,
	"replay": "Runs a prompt as adze -p does, with the answers that adze record kept: no key, no\nnetwork.",
}
