package deploy

// chartFlags are the keys of vllmConfig in the values of vLLM's production-stack chart and the flags that its template makes of them, in the template's
// order (helm/templates/deployment-vllm-multi.yaml).
var chartFlags = []struct{ key, flag string }{
	{"maxModelLen", "--max-model-len"}, {"dtype", "--dtype"}, {"tensorParallelSize", "--tensor-parallel-size"}, {"maxNumSeqs", "--max-num-seqs"},
	{"gpuMemoryUtilization", "--gpu-memory-utilization"}, {"maxLoras", "--max-loras"}, {"runner", "--runner"}, {"convert", "--convert"},
}

// chartValues are the servers that the values of vLLM's production-stack chart describe: the chart's template puts the command together.
func chartValues(doc tree, o *Options) ([]start, error) {
	spec, _ := doc.get("servingEngineSpec")
	models, _ := spec.get("modelSpec")
	shared, _ := spec.get("env")
	var found []start
	for _, m := range models.items {
		url, ok := m.get("modelURL")
		if !ok {
			continue
		}
		repository, _ := m.get("repository")
		tag, _ := m.get("tag")
		c := chart{in: container{image: repository.text + ":" + tag.text}}
		c.in.kubernetesEnv(shared, o)
		env, _ := m.get("env")
		c.in.kubernetesEnv(env, o)
		for _, word := range []string{"vllm", "serve", url.text} {
			c.add(url.line, word)
		}
		c.model(m)
		if _, ok := m.get("lmcacheConfig"); ok {
			c.in.notes = append(c.in.notes, Note{m.line, "lmcacheConfig is not read: what the chart makes of it, --kv-transfer-config, is left out"})
		}
		c.in.notes = append(c.in.notes, Note{url.line, "these are values of the production-stack chart: its template makes the command"})
		more, err := startsOf(call{words: c.words}, o, variables{}, c.in)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// chart collects the words of one command.
type chart struct {
	in    container
	words []word
}

func (c *chart) add(line int, texts ...string) {
	for _, t := range texts {
		c.words = append(c.words, word{text: t, line: line})
	}
}

// isOn is how a template reads a switch.
func isOn(t tree, key string) (on bool, line int) {
	v, ok := t.get(key)
	return ok && v.text != "" && v.text != "false" && v.text != "0", v.line
}

// model takes one entry of modelSpec.
func (c *chart) model(m tree) {
	if on, line := isOn(m, "enableLoRA"); on {
		c.add(line, "--enable-lora")
	}
	if on, line := isOn(m, "enableTool"); on {
		c.add(line, "--enable-auto-tool-choice")
	}
	if parser, ok := m.get("toolCallParser"); ok && parser.text != "" {
		c.add(parser.line, "--tool-call-parser", parser.text)
	}
	if config, ok := m.get("vllmConfig"); ok {
		c.config(config)
	}
	if revision, ok := m.get("modelRevision"); ok && revision.text != "" {
		c.add(revision.line, "--revision", revision.text)
	}
	if template, ok := m.get("chatTemplate"); ok && template.text != "" {
		c.add(template.line, "--chat-template", "/templates/"+template.text)
	}
}

// config takes vllmConfig. The template switches prefix caching off where it is not asked for.
func (c *chart) config(t tree) {
	if on, line := isOn(t, "enableChunkedPrefill"); line > 0 {
		c.toggle(line, on, "enable-chunked-prefill")
	}
	on, line := isOn(t, "enablePrefixCaching")
	if line == 0 {
		line = t.line
	}
	c.toggle(line, on, "enable-prefix-caching")
	for _, f := range chartFlags {
		if v, ok := t.get(f.key); ok {
			c.add(v.line, f.flag, v.text)
		}
	}
	extra, _ := t.get("extraArgs")
	for _, a := range extra.items {
		c.add(a.line, a.text)
	}
}

func (c *chart) toggle(line int, on bool, flag string) {
	if on {
		c.add(line, "--"+flag)
	} else {
		c.add(line, "--no-"+flag)
	}
}
