package programs

// netPrograms reach other machines.
func netPrograms() []program {
	return []program{
		{names: "croc lftp lsyncd unison wormhole", forms: []form{{packs: true}}},
		{names: "curl", is: checker | speaker | takesTexts, valued: "XHduAbeFmrxyYzECwQPtU", runs: "-o* -O --output* --remote-name* -K* --config* -T* --upload-file* --unix-socket* --libcurl* -c --cookie-jar* --trace* -D --dump-header* --engine* --netrc-file* --etag-save* --stderr* --hsts* --alt-svc* --dump-ca-embed* --ssl-sessions* --metalink* --expand-* --variable* --proto-default* !--netrc !--cookie !--ssl !--proto", takes: "--alt-svc=w --dump-ca-embed=w --etag-save=w --hsts=w --libcurl=w --ssl-sessions=w --stderr=w --cookie-jar=w --dump-header=w --output=w --remote-name=i --remote-name-all=i --trace=w --trace-ascii=w -D=w -O=i -c=w -o=w -K=c --config=c", reads: rows{"--version": {}}},
		{names: "gpg", is: checker | speaker},
		{names: "gpg-agent ssh-agent sshpass", is: launcher},
		{names: "http", is: takesTexts},
		{names: "mosh rsh", is: launcher | remote},
		{names: "nc", is: checker, valued: "iIMmOpPqsTVWwXx", runs: "-c* -e*"},
		{names: "ncat", valued: "gGimdwpsx", runs: "-c* -e* --exec* --sh-exec*"},
		{names: "netstat", shows: rows{"": {flags: "-tulnpaersWi46", args: "x", check: oneProtocol}}},
		{names: "nmap", runs: "--script* -oN* -oX* -oA*"},
		{names: "openssl", is: checker | speaker, runs: "-engine* -provider-path*", reads: rows{"version": {flags: "-a"}}, shows: rows{"x509": {flags: "-in=p -noout -text -subject -issuer -dates -enddate -startdate -serial -fingerprint -sha256 -sha1 -pubkey -modulus -purpose -email -ext=x -checkend=x -inform=x -nameopt=x", dash: true, check: values(" may be another store than a file", holding(":"), "-in")}}},
		{names: "rsync", is: checker | copier | speaker | walker, valued: "BMfT", runs: "-e* --rsh* --rsync-path* --daemon --config*", takes: "--files-from=l"},
		{names: "scp", is: checker | copier | walker, valued: "cilPX", runs: "-o* -F* -S* -J* -D*", takes: "-i=r -F=r"},
		{names: "sftp", runs: "-o* -F* -S* -J* -b*", takes: "-i=r -F=r"},
		{names: "ssh", is: checker | launcher | remote | speaker | takesScripts, valued: "BbcilmpQe", runs: "-o* -F* -J* -W* -L* -R* -D* -w* -E* -S* -I*", takes: "-i=r -F=r", shows: rows{"-V": {}}},
		{names: "ssh-add", is: reader},
		{names: "wget", is: checker | speaker | takesTexts, valued: "aBtTQUwRAIDlX", runs: "-O* --output* -i* --input-file* --use-askpass* -e* --execute* --config* --post-file* -P*", takes: "--output-document=w --output-file=w -O=w -P=f -o=w -i=c --input-file=c", reads: rows{"--version": {}}},
	}
}
