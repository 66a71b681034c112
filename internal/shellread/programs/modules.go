package programs

import (
	"path"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/shellread/world"
)

// jsonTool is python -m json.tool, which prints JSON anew. With -m, Python looks for each
// module that it imports in the folder it is started in first.
var jsonTool = &command{flags: "--sort-keys --no-ensure-ascii --json-lines --indent=x --tab --no-indent --compact", args: "p", check: func(u *Invocation) string {
	if u.r.Unpinned {
		return "Python imports more when variables say so"
	}
	if len(u.dirs) == 0 || u.r.World.Glob == nil {
		return "the folder that Python would import from is not known"
	}
	for _, d := range u.dirs {
		if why := u.shadowed(d); why != "" {
			return why
		}
	}
	return ""
}}

// shadowed says which file of a folder Python would import in the place of its own.
func (u *Invocation) shadowed(dir string) string {
	if len(u.r.Wrote) > 0 {
		return "what Python would import is not known before it runs"
	}
	at := strings.TrimSuffix(dir, "/") + "/"
	names := u.r.Glob(world.EscapeGlob(at) + "*")
	if names == nil {
		return "what Python would import is not known"
	}
	for _, n := range names {
		base := path.Base(n)
		stem, ext, file := strings.Cut(base, ".")
		code := file && (strings.HasSuffix(ext, "py") || strings.HasSuffix(ext, "pyc") || strings.HasSuffix(ext, "so") || strings.HasSuffix(ext, "pyd"))
		if !code && (file || len(u.r.Glob(world.EscapeGlob(at+base)+"/__init__*")) == 0) {
			continue
		}
		if standardModules()[strings.ToLower(stem)] || strings.HasPrefix(stem, "_") && stem != "__init__" && stem != "__main__" {
			return base + " would be imported in the place of Python's own module"
		}
	}
	return ""
}

// standardModules are the modules of Python's library, of any version, in small letters.
var standardModules = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for m := range strings.FieldsSeq(`abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression
	concurrent configparser contextlib contextvars copy copy_reg copyreg cprofile crypt cstringio csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest dummy_threading email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
	formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap marshal math
	mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile profiling pstats pty pwd
	py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site sitecustomize smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl
	stat statistics string stringio stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing
	unicodedata unittest urllib userdict usercustomize uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`) {
		out[m] = true
	}
	return out
})
