package runner

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"autotune/runner/engine"
	"autotune/tuner"
)

// news is what the lines of a server's log say, as they come.
type news struct {
	engine *engine.Definition
	came   chan struct{} // holds one: something has come since it was last emptied

	mu        sync.Mutex
	last      time.Time // of the last line
	phase     tuner.Phase
	milestone string
	facts     map[string]string
	config    json.RawMessage // as the log has it; nil for not yet
	unread    []string        // lines that nobody has judged yet
	fatal     *engine.Finding
	fatalAt   time.Time
}

// unreadMost bounds what waits to be judged; a log that floods is judged by its latest lines.
const unreadMost = 400

func newNews(d *engine.Definition) *news {
	return &news{engine: d, came: make(chan struct{}, 1), last: time.Now(), phase: tuner.PhaseFlags, facts: map[string]string{}}
}

// line takes one line. A milestone shows that what looked fatal was not.
func (n *news) line(text string) {
	n.mu.Lock()
	n.last = time.Now()
	if n.unread = append(n.unread, text); len(n.unread) > unreadMost {
		n.unread = n.unread[1:]
	}
	if p, ok := n.engine.Marker(text); ok {
		n.milestone, n.fatal = text, nil
		if later(p, n.phase) {
			n.phase = p
		}
	}
	n.learn(n.engine.Facts(text))
	if n.config == nil {
		n.config = n.engine.LoggedConfig(text)
	}
	n.mu.Unlock()
	select {
	case n.came <- struct{}{}:
	default:
	}
}

// learn keeps facts that are not known yet: of several ranks the first one counts.
func (n *news) learn(facts map[string]string) {
	for name, value := range facts {
		if _, known := n.facts[name]; !known {
			n.facts[name] = value
		}
	}
}

// add takes facts that came another way than by the log.
func (n *news) add(facts map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.learn(facts)
}

// logged is the configuration as the log has it; nil where it does not.
func (n *news) logged() json.RawMessage {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.config
}

// judge looks for signs of the end in the lines that came since the last time.
func (n *news) judge(searched []engine.Setting, ready bool) {
	n.mu.Lock()
	lines, phase := n.unread, n.phase
	n.unread = nil
	n.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	f := engine.Classify(engine.Evidence{Engine: n.engine.Name, Lines: lines, Phase: phase, Running: true, Ready: ready, Searched: searched})
	if !f.Found() || f.Reason == tuner.ReasonTransient {
		return
	}
	n.mu.Lock()
	if n.fatal == nil {
		n.fatal, n.fatalAt = &f, time.Now()
	}
	n.mu.Unlock()
}

// dying is the sign of the end that has stood for so long; nil for none.
func (n *news) dying(longer time.Duration) *engine.Finding {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fatal == nil || time.Since(n.fatalAt) < longer {
		return nil
	}
	return n.fatal
}

// forgive forgets a sign of the end: the server goes on all the same.
func (n *news) forgive() {
	n.mu.Lock()
	n.fatal = nil
	n.mu.Unlock()
}

// silent is how long nothing has come.
func (n *news) silent() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Since(n.last)
}

// standing is the phase that the log has reached, and its last milestone.
func (n *news) standing() (tuner.Phase, string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.phase, n.milestone
}

func (n *news) fact(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.facts[name]
}

func (n *news) allFacts() map[string]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.facts) == 0 {
		return nil
	}
	return maps.Clone(n.facts)
}
