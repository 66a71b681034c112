package programs

// archivePrograms pack, unpack and keep copies.
func archivePrograms() []program {
	return []program{
		{names: "7z", is: walker, takes: "@=l"},
		{names: "7za rar", is: walker},
		{names: "7zr ar brotli bunzip2 bzgrep gzcat lz4cat lzcat lzip lzma lzop uncompress unrar unxz unzstd xzgrep zdiff zegrep zfgrep zgrep zless zmore zstdgrep", is: packer},
		{names: "afio bsdcpio", is: listed},
		{names: "arj dar ditto duplicity genisoimage kopia lha makeself mkisofs mksquashfs rdiff-backup shar star xorriso zpaq", forms: []form{{packs: true}}},
		{names: "borg", forms: []form{{words: "… create", packs: true}}},
		{names: "bsdtar", is: tarLike | walker, takes: "-T=l"},
		{names: "compress lz4 pigz pzstd unpigz", is: clusters | walker, forms: []form{{flags: "-r --recursive", edits: "*"}}},
		{names: "cpio", is: listed | packer},
		{names: "gtar", is: tarLike},
		{names: "pax", is: listed | walker},
		{names: "restic", forms: []form{{words: "… backup", packs: true}}},
		{names: "zip", is: walker | writer, runs: "-T* -TT* --unzip-command*", takes: "-@=l"},
	}
}
