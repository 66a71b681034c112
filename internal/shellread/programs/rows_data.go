package programs

// dataPrograms are clients of databases.
func dataPrograms() []program {
	return []program{
		{names: "clickhouse-client cockroach mongo sqlcmd", lost: sqlLoses, is: queries},
		{names: "dropdb", forms: []form{{loses: lostAll}}},
		{names: "mariadb", lost: sqlLoses, is: queries, valued: "uhpPDS", runs: "-e* --execute* --local-infile* --pager* --tee* --init-command*", takes: "--execute=t -e=t"},
		{names: "mongosh", lost: sqlLoses, is: queries | checker | takesTexts},
		{names: "mysql", lost: sqlLoses, is: queries | checker | interpreter | speaker | takesTexts, valued: "uhpPDS", runs: "-e* --execute* --local-infile* --pager* --tee* --init-command*", takes: "--execute=t -e=t", shows: rows{"-V": {}}},
		{names: "psql", lost: sqlLoses, is: queries | checker | interpreter | speaker | takesTexts, valued: "dhpUvFPRT", runs: "-c* --command* -f* --file* -o* --output* -L* --log-file*", takes: "--log-file=w --output=w -L=w -o=w --command=q --file=p -c=q -f=p", shows: rows{"-V": {}}},
		{names: "redis-cli", lost: sqlLoses, is: queries | checker | takesTexts, shows: rows{"--version": {}}},
		{names: "sqlite3", lost: sqlLoses, is: queries | interpreter | speaker | takesTexts | writesFirst, runs: "-cmd* -init*", reads: rows{"--version": {}}},
	}
}
