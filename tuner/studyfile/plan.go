package studyfile

import (
	"encoding/json"
	"slices"
	"strings"

	"autotune/space"
	"autotune/tuner/memory"
)

// Plan is what the memory planner is told beside the checkpoints' own files; all of it may be left out.
type Plan struct {
	// GPU is the name of the GPUs, and MemoryGiB the memory of one of them: that of the name when only the name is given; 0: unknown.
	GPU       string
	MemoryGiB float64
	// DiskGiB is what the checkpoints' disk reads in a second, in GiB; 0: unknown.
	DiskGiB float64
	// Models say where the geometry of a checkpoint is, for those whose name is no folder.
	Models []ModelPlan
}

// ModelPlan is the geometry of one of the study's checkpoints: the folder of its config.json, or the numbers themselves.
type ModelPlan struct {
	Model  string
	Folder string // a relative one is relative to the folder of the spec
	Config []byte // a config.json; empty where Folder is given
}

// Of is what is told of a checkpoint.
func (p Plan) Of(model string) (ModelPlan, bool) {
	i := slices.IndexFunc(p.Models, func(m ModelPlan) bool { return m.Model == model })
	if i < 0 {
		return ModelPlan{}, false
	}
	return p.Models[i], true
}

// plan reads the section plan.
func (r *reader) plan(s *Spec, n *node) {
	p := path{"plan"}
	var models *node
	r.fields(n, p,
		field{name: "gpu", read: r.gpu(&s.Plan)},
		field{name: "memory", read: r.number(&s.Plan.MemoryGiB, 0, 10_000, true, "the GiB of one GPU, such as 140.4")},
		field{name: "disk", read: r.number(&s.Plan.DiskGiB, 0, 10_000, true, "the GiB that the checkpoints' disk reads in a second, such as 3")},
		field{name: "models", read: keep(&models)},
	)
	if gib, known := memory.MemoryOf(s.Plan.GPU); known && s.Plan.MemoryGiB == 0 {
		s.Plan.MemoryGiB = gib
	}
	if at, told := r.places[p.child("gpu").id()]; told && s.Plan.GPU != "" && s.Plan.MemoryGiB == 0 {
		r.failAt(at, p.child("gpu"), FieldError{Problem: "a GPU whose memory is not known", Found: s.Plan.GPU, Allowed: strings.Join(memory.Names(), ", ") + "; or another name beside memory: GIB"})
	}
	if models != nil {
		r.planModels(s, models, p.child("models"))
	}
}

func (r *reader) gpu(to *Plan) func(*node, path) {
	return func(n *node, p path) {
		if w, ok := r.word(n, p, "the name of the GPUs, such as H200"); ok {
			to.GPU = w
		}
	}
}

func (r *reader) planModels(s *Spec, n *node, p path) {
	const allowed = "for each checkpoint a folder with its config.json, or numbers of it: {hidden_size: 4096, ...}"
	if n.kind != mapNode {
		r.fail(n, p, "wrong type", allowed)
		return
	}
	for _, e := range n.entries {
		child := p.child(e.key)
		r.places[child.id()] = e.at
		switch {
		case len(s.Models) > 0 && !slices.Contains(s.Models, e.key):
			r.failAt(e.at, child, FieldError{Problem: "not a checkpoint of this study", Allowed: strings.Join(s.Models, ", "), Near: nearest(e.key, s.Models)})
		case e.value.kind == mapNode:
			if text, ok := r.geometry(e.value, child); ok {
				s.Plan.Models = append(s.Plan.Models, ModelPlan{Model: e.key, Config: text})
			}
		default:
			if w, ok := r.word(e.value, child, allowed); ok {
				s.Plan.Models = append(s.Plan.Models, ModelPlan{Model: e.key, Folder: w})
			}
		}
	}
}

// geometry reads numbers of a config.json under its own keys, and gives them as one.
func (r *reader) geometry(n *node, p path) (text []byte, ok bool) {
	before := len(r.errs)
	config := map[string]any{}
	for _, e := range n.entries {
		child := p.child(e.key)
		if !slices.Contains(memory.Keys(), e.key) {
			r.failAt(e.at, child, FieldError{Problem: "not a key of config.json that the planner reads", Allowed: strings.Join(memory.Keys(), ", "), Near: nearest(e.key, memory.Keys())})
			continue
		}
		if !r.plain(e.value, child, "a number, a word, true or false") {
			continue
		}
		v, problem, more := e.value.value()
		switch {
		case problem != "":
			r.fail(e.value, child, problem, more)
		case v.Kind() == space.KindBool:
			config[e.key] = v.AsBool()
		case v.IsNumber():
			config[e.key] = v.AsFloat()
		default:
			config[e.key] = v.String()
		}
	}
	if len(r.errs) > before {
		return nil, false
	}
	text, err := json.Marshal(config)
	if err == nil {
		_, err = memory.ReadConfig(text)
	}
	if err != nil {
		r.fail(n, p, "no geometry: "+err.Error(), "at least num_hidden_layers, hidden_size, num_attention_heads and vocab_size")
		return nil, false
	}
	return text, true
}

// texts are the plan's parts in words, for a difference.
func (p Plan) texts() []string {
	var out []string
	for _, m := range p.Models {
		out = append(out, m.Model+": "+m.Folder+string(m.Config))
	}
	return out
}
