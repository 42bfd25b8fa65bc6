package studyfile

import (
	"strings"

	"autotune/tuner/workload"
)

// loneWorkload is the name of a workload that stands by itself.
const loneWorkload = "load"

// ParseWorkload reads one workload: a text that is its mapping, {dataset: random, ...}, or a spec, of whose workloads name says which; one
// that has a single workload needs no name. What else stands in a spec is not looked at. source is the text's name, for messages. The error
// is Errors: everything that is wrong with the workload, by position, in the words of Parse.
func ParseWorkload(source, name string, text []byte) (workload.Spec, error) {
	root, errs := readDocument(text)
	r := &reader{errs: errs, places: places{}}
	var w workload.Spec
	if root != nil {
		w = r.lone(root, name)
	}
	if len(r.errs) == 0 {
		return w, nil
	}
	for i := range r.errs {
		r.errs[i].File = source
	}
	return workload.Spec{}, r.errs.sorted()
}

// lone reads the workload that is meant.
func (r *reader) lone(root *node, name string) workload.Spec {
	at := 0
	for at < len(root.entries) && root.entries[at].key != "workloads" {
		at++
	}
	if at == len(root.entries) {
		if name != "" {
			r.failAt(root.at, nil, FieldError{Problem: "no workload is called so: one stands here by itself, without a name", Found: name})
		}
		return r.workload(loneWorkload, root, nil)
	}
	n, p := root.entries[at].value, path{"workloads"}
	if n.kind != mapNode || len(n.entries) == 0 {
		r.workloads(&Spec{}, n)
		return workload.Spec{}
	}
	var names []string
	for _, e := range n.entries {
		if names = append(names, e.key); e.key == name || name == "" && len(n.entries) == 1 {
			return r.workload(e.key, e.value, p.child(e.key), r.role(&Traffic{})...)
		}
	}
	e := FieldError{Problem: "several workloads stand here: which one is not said", Allowed: strings.Join(names, ", ")}
	if name != "" {
		e.Problem, e.Found, e.Near = "no workload is called so", name, nearest(name, names)
	}
	r.failAt(n.at, p, e)
	return workload.Spec{}
}
