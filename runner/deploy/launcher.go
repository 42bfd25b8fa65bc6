package deploy

import (
	"path"
	"slices"
	"strings"
)

// launchers start a command somewhere else, or look after it. Their options are many: what they start is found by how it begins.
var launchers = []string{"srun", "salloc", "mpirun", "mpiexec", "apptainer", "singularity", "enroot", "shifter", "charliecloud", "ch-run", "screen", "systemd-run", "gosu", "su-exec", "setpriv",
	"runuser", "su", "dotenv", "doppler", "infisical", "op", "direnv", "ray", "nix", "nix-shell", "devbox", "unbuffer", "flock", "kubectl", "oc", "catchsegv", "tini", "dumb-init", "s6-setuidgid",
	"proxychains", "proxychains4", "ncu", "rocprof", "py-spy", "accelerate", "with-contenv", "opentelemetry-instrument", "xargs", "parallel", "modal", "chroot", "unshare", "nsenter", "prlimit", "cgexec"}

// launched finds the command that a launcher starts: words, or a text for a shell.
func launched(words []word) (rest []word, text word, note Note) {
	name := path.Base(words[0].text)
	note = Note{words[0].line, name + " is left out: the server that autotune starts is started here"}
	switch {
	case name == "tmux":
		text = tmuxText(words[1:])
	case name == "ssh":
		text = sshText(words[1:])
	case name == "sbatch" || name == "su" || name == "runuser" || name == "script" || name == "watch":
		for i, w := range words {
			option, value, inline := strings.Cut(w.text, "=")
			if option != "--wrap" && w.text != "-c" && option != "--command" {
				continue
			}
			if inline {
				text = word{value, w.line, w.fault}
			} else if i+1 < len(words) {
				text = words[i+1]
			}
		}
	}
	if text.line > 0 {
		return nil, text, note
	}
	if name != "docker" && name != "podman" && !slices.Contains(launchers, name) {
		return nil, word{}, Note{}
	}
	for i := 1; i < len(words); i++ {
		_, isShell := shellText(words[i:])
		_, wrapped := droppedWrappers[path.Base(words[i].text)]
		d, _ := engineAt(words[i:])
		if d != nil || isShell || wrapped && !slices.Contains([]string{"time", "exec", "command"}, words[i].text) || // a word of the launcher's own
			slices.Contains(keptWrappers, path.Base(words[i].text)) {
			return words[i:], word{}, note
		}
	}
	return nil, word{}, Note{}
}

// tmuxText is what tmux new-session or send-keys has a shell run.
func tmuxText(words []word) word {
	for len(words) > 0 && !slices.Contains([]string{"new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "send-keys", "send"}, words[0].text) {
		words = words[1:]
	}
	if len(words) == 0 {
		return word{}
	}
	keys := strings.HasPrefix(words[0].text, "send")
	words = withoutOptions(words[1:], "cefFnstTxy")
	for keys && len(words) > 0 && slices.Contains([]string{"C-m", "Enter", "KPEnter"}, words[len(words)-1].text) {
		words = words[:len(words)-1]
	}
	return joined(words)
}

// sshText is what a shell on another machine is given.
func sshText(words []word) word {
	words = withoutOptions(words, "BbcDEeFIiJLlmOopQRSWw")
	if len(words) < 2 {
		return word{}
	}
	return joined(words[1:])
}

// withoutOptions drops options of one letter, with their values where they take one.
func withoutOptions(words []word, takes string) []word {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") && len(words[0].text) > 1 {
		option := words[0].text
		words = words[1:]
		if option == "--" {
			break
		}
		if strings.IndexByte(takes, option[len(option)-1]) >= 0 && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}

// joined is what eval and its like make of several words.
func joined(words []word) (text word) {
	var parts []string
	for _, w := range words {
		parts, text.fault = append(parts, w.text), append(text.fault, w.fault...)
	}
	if len(words) > 0 {
		text.line = words[0].line
	}
	text.text = strings.Join(parts, " ")
	return text
}
