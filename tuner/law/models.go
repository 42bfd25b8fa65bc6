package law

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// model is a checkpoint: its shape, as its config.json has it, and the coefficients fitted for it.
type model struct {
	name        string
	layers      int
	moeLayers   int
	attnLayers  int // layers with a KV cache that grows; the others keep a constant state
	hidden      int
	heads       int
	kvHeads     int // 0: latent attention, whose cache is not divided by tensor parallelism
	padHeads    int // kernels compute at least so many heads on each GPU, however few it has
	headDim     int
	latent      int // values of a token and layer in a latent cache
	indexBytes  int // bytes of a token and layer that a sparse-attention indexer keeps beside the cache
	indexWork   int // multiply-adds of the indexer per token of context and layer
	window      int // tokens that attention looks at; 0: all
	experts     int
	topK        int
	expert      float64 // parameters in experts
	rest        float64 // parameters elsewhere, without embedding and head
	embed       float64 // parameters in embedding and head; always 2 bytes each
	bytes       float64 // of one weight: 1 for fp8, 2 for bf16
	state       float64 // bytes a running request keeps in the layers without a growing cache
	context     int
	coefficient Coefficients
}

// Coefficients are what was fitted to the published measurements: shares of the machine's peak, and fixed costs of a step.
// Every one is a property of the model's kernels, the same for each workload and each flag.
type Coefficients struct {
	Compute   float64 // share of the peak FLOP/s that linear layers reach
	Attention float64 // share of the peak bf16 FLOP/s that attention reaches
	Bandwidth float64 // share of the memory bandwidth that reading weights and cache reaches
	Narrow    float64 // share of the peaks above that 8-bit kernels reach, relative to 16-bit ones; 1 for a model that has only 8-bit weights
	Sequence  float64 // s a sequence and step costs on its attention group: index, top-k, sampling, detokenising
	VLLMGraph float64 // s a step costs whatever is in it, replayed from a graph: launch, synchronisation, scheduling
	VLLMEager float64 // the same for a step launched kernel by kernel
	SGLGraph  float64
	SGLEager  float64
	Gather    float64 // s a step gains when attention ranks meet in gathers (no all-to-all backend)
	Dispatch  float64 // s a step gains when attention ranks meet in an all-to-all that the host waits for (deepep normal)
	Overhead  float64 // GiB of a GPU that neither weights nor the static pool account for: context, communication buffers
	Graphs    float64 // GiB that graphs for batches up to 512 take
	Workspace float64 // MiB of activations per token of a step
}

// each lists the coefficients, in a fixed order.
func (c *Coefficients) each() []*float64 {
	return []*float64{&c.Compute, &c.Attention, &c.Bandwidth, &c.Narrow, &c.Sequence, &c.VLLMGraph, &c.VLLMEager, &c.SGLGraph, &c.SGLEager, &c.Gather, &c.Dispatch, &c.Overhead, &c.Graphs, &c.Workspace}
}

var glm52 = model{
	name: "zai-org/GLM-5.2-FP8", layers: 78, moeLayers: 75, attnLayers: 78, hidden: 6144, heads: 64, padHeads: 64, latent: 576,
	indexBytes: 132, indexWork: 32 * 128, window: 2048, experts: 256, topK: 8, expert: 724.8e9, rest: 17.3e9, embed: 1.9e9, bytes: 1, context: 202752,
	coefficient: Coefficients{
		Compute: 0.557, Attention: 0.352, Bandwidth: 0.880, Narrow: 1, Sequence: 96.9e-6,
		VLLMGraph: 8.30e-3, VLLMEager: 22.7e-3, SGLGraph: 6.34e-3, SGLEager: 95.1e-3, Gather: 5.19e-3, Dispatch: 179e-3,
		Overhead: 5.513, Graphs: 4, Workspace: 1.25,
	},
}

var qwen35 = model{
	name: "Qwen/Qwen3.5-35B-A3B", layers: 40, moeLayers: 40, attnLayers: 10, hidden: 2048, heads: 16, kvHeads: 2, headDim: 256,
	experts: 256, topK: 8, expert: 32.2e9, rest: 1.8e9, embed: 1.0e9, bytes: 2, state: 63e6, context: 262144,
	coefficient: Coefficients{
		Compute: 0.265, Attention: 0.936, Bandwidth: 0.950, Narrow: 0.618, Sequence: 16.8e-6,
		VLLMGraph: 6.27e-3, VLLMEager: 12.9e-3, SGLGraph: 7.45e-3, SGLEager: 45.6e-3, Gather: 5.8e-3, Dispatch: 41e-3,
		Overhead: 1.17, Graphs: 1.5, Workspace: 0.8,
	},
}

// demo is the model of the quickstart: dense, without grouped heads, so that its cache is large and memory flags matter.
var demo = model{
	name: "autotune/demo-13b", layers: 40, attnLayers: 40, hidden: 5120, heads: 40, kvHeads: 40, headDim: 128,
	rest: 12.7e9, embed: 0.33e9, bytes: 2, context: 8192, coefficient: generic,
}

// generic are coefficients of a well supported dense model; they are not fitted to anything.
var generic = Coefficients{
	Compute: 0.5, Attention: 0.4, Bandwidth: 0.75, Narrow: 0.8, Sequence: 0.03e-3,
	VLLMGraph: 2e-3, VLLMEager: 8e-3, SGLGraph: 1.8e-3, SGLEager: 8e-3, Gather: 2e-3, Dispatch: 40e-3,
	Overhead: 0.8, Graphs: 1.2, Workspace: 0.6,
}

// Models lists the models that have coefficients of their own; every other name gets those of a generic model of its size.
func Models() []string {
	return []string{glm52.name, qwen35.name, qwen35.name + "-FP8", demo.name}
}

var sizes = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])([0-9]+(?:\.[0-9]+)?)([bm])(?:$|[^a-z0-9])`)
var active = regexp.MustCompile(`(?i)[-_]a([0-9]+(?:\.[0-9]+)?)b`)

// lookup finds a model by its name, or makes a generic one of the size that the name tells.
func lookup(name string) model {
	lower := strings.ToLower(name)
	base := lower[strings.LastIndex(lower, "/")+1:]
	m := model{}
	switch {
	case strings.HasPrefix(base, "glm-5"):
		m = glm52
		if !strings.Contains(base, "fp8") {
			m.bytes = 2
		}
	case strings.HasPrefix(base, "qwen3.5-35b-a3b"), strings.HasPrefix(base, "qwen3.6-35b-a3b"):
		m = qwen35
		m.bytes = weightBytes(base)
	case strings.Contains(base, "demo") || strings.Contains(base, "tiny"):
		m = demo
	default:
		m = ofSize(base)
	}
	m.name = name
	return m
}

// weightBytes reads the type of the weights from a checkpoint's name.
func weightBytes(name string) float64 {
	switch {
	case strings.Contains(name, "fp8") || strings.Contains(name, "int8") || strings.Contains(name, "w8a8"):
		return 1
	case strings.Contains(name, "fp4") || strings.Contains(name, "int4") || strings.Contains(name, "awq") || strings.Contains(name, "gptq"):
		return 0.56
	}
	return 2
}

// ofSize makes a model of the usual shape: grouped attention, a hidden size and a depth that grow with the parameters, experts if
// the name tells active parameters apart (30B-A3B). A name without a size is taken for 7 billion.
func ofSize(name string) model {
	total := 7e9
	if f := sizes.FindStringSubmatch(name); f != nil {
		n, _ := strconv.ParseFloat(f[1], 64)
		total = n * 1e9
		if strings.EqualFold(f[2], "m") {
			total = n * 1e6
		}
	}
	act := total
	if f := active.FindStringSubmatch(name); f != nil {
		n, _ := strconv.ParseFloat(f[1], 64)
		act = min(n*1e9, total)
	}
	// Llama's family: 8B has 32 layers of 4096, 70B has 80 of 8192.
	hidden := int(math.Round(4096*math.Pow(act/8e9, 0.33)/256)) * 256
	hidden = max(hidden, 512)
	layers := max(4, int(math.Round(32*math.Pow(act/8e9, 0.33))))
	heads := max(8, hidden/128)
	m := model{
		layers: layers, attnLayers: layers, hidden: hidden, heads: powerOfTwo(heads), kvHeads: 8, headDim: 128,
		embed: min(2*128e3*float64(hidden), 0.3*total), bytes: weightBytes(name), context: 131072, coefficient: generic,
	}
	m.rest = total - m.embed
	if act < total*0.9 {
		// Of the active parameters about a third is attention and what every token passes.
		m.moeLayers, m.experts, m.topK = layers, 128, 8
		shared := act / 3
		m.rest = shared
		m.expert = total - shared - m.embed
		m.topK = max(1, int(math.Round(float64(m.experts)*(act-shared)/m.expert)))
	}
	return m
}

func powerOfTwo(n int) int {
	p := 8
	for p*2 <= n {
		p *= 2
	}
	return p
}
