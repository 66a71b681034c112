package policy

import (
	"path"
	"strings"
)

// Filled reports whether programs fill a folder of this name and nobody starts
// anything in it: packages, and what compilers keep.
func Filled(name string) bool { return output[name] == filled }

// Output reports whether what has this name is made anew by package managers,
// builds and tests, where git ignores it.
func Output(name string, dir bool) bool {
	if dir {
		return output[name] != 0 || strings.HasPrefix(name, "cmake-build-") || strings.HasSuffix(name, ".egg-info") || strings.HasSuffix(name, "_cache")
	}
	return outputFiles[path.Ext(name)]
}

// Kinds of folders that programs fill. In one that is built people may keep
// settings of editors, so it is looked into.
const (
	built = iota + 1
	filled
)

// output are the folders, by name.
var output = map[string]int{
	"node_modules": filled, "bower_components": filled, "__pycache__": filled, ".venv": filled, "venv": filled, ".tox": filled, "target": filled,
	".gradle": filled, ".terraform": filled,
	"dist": built, "build": built, "out": built, "obj": built, "vendor": built, "Pods": built, "site-packages": built, "coverage": built, "htmlcov": built,
	".next": built, ".nuxt": built, ".output": built, ".svelte-kit": built, ".astro": built, ".docusaurus": built, ".angular": built, ".expo": built, ".turbo": built,
	".nx": built, ".vite": built, ".parcel-cache": built, ".cache": built, ".sass-cache": built, ".ccache": built, ".pnpm-store": built, ".nyc_output": built,
	"storybook-static": built, ".serverless": built, ".aws-sam": built, "cdk.out": built, ".nox": built, ".eggs": built, ".hypothesis": built,
	".ipynb_checkpoints": built, ".direnv": built, "CMakeFiles": built, "DerivedData": built, ".build": built, ".dart_tool": built, ".kotlin": built, ".vs": built,
	".stack-work": built, "dist-newstyle": built, "_build": built, "elm-stuff": built, ".zig-cache": built, "zig-cache": built, "zig-out": built, "buck-out": built,
	".metals": built, ".bloop": built, ".cpcache": built, ".shadow-cljs": built, ".vscode-test": built,
}

// outputFiles are endings of files that compilers make.
var outputFiles = map[string]bool{
	".o": true, ".obj": true, ".a": true, ".lib": true, ".so": true, ".dylib": true, ".dll": true, ".exe": true, ".pdb": true, ".pyc": true, ".pyo": true,
	".class": true, ".jar": true, ".war": true, ".rlib": true, ".rmeta": true, ".wasm": true, ".tsbuildinfo": true, ".gch": true, ".pch": true,
	".beam": true, ".hi": true, ".cmi": true, ".cmo": true, ".cmx": true, ".gcda": true, ".gcno": true, ".profraw": true,
}
