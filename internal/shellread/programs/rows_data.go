package programs

// dataPrograms are clients of databases.
func dataPrograms() []program {
	return []program{
		{names: "clickhouse-client cockroach mongo sqlcmd", is: database},
		{names: "dropdb", is: destroyer},
		{names: "mariadb", is: database, bundle: bundle{"e", "uhpPDS"}, runs: "-e* --execute*", takes: "--execute=t -e=t"},
		{names: "mongosh", is: checker | database | takesTexts},
		{names: "mysql", is: checker | database | interpreter | speaker | takesTexts, bundle: bundle{"e", "uhpPDS"}, runs: "-e* --execute*", takes: "--execute=t -e=t", shows: rows{"-V": {}}},
		{names: "psql", is: checker | database | interpreter | speaker | takesTexts, bundle: bundle{"cfoL", "dhpUvFPRT"}, runs: "-c* --command* -f* --file* -o* --output* -L* --log-file*", takes: "--log-file=w --output=w -L=w -o=w --command=t --file=p -c=t -f=p", shows: rows{"-V": {}}},
		{names: "redis-cli", is: checker | database | takesTexts, shows: rows{"--version": {}}},
		{names: "sqlite3", is: database | interpreter | speaker | takesTexts | writesFirst, runs: "-cmd* -init*", reads: rows{"--version": {}}},
	}
}
