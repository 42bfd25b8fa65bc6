package memory

// GiB is 2^30 bytes, the unit of every size that engines print, also where they write GB.
const GiB = 1 << 30

// Model is a checkpoint's geometry: what the arithmetic needs of it. The zero Model is an unknown one. It is stored with a study.
type Model struct {
	Kind string `json:"kind,omitempty"` // model_type of config.json
	// Architecture is the class that serves it, as config.json names it first: Qwen3MoeForCausalLM. Nothing here is computed from it.
	Architecture string `json:"architecture,omitempty"`

	Weights Weights `json:"weights"`

	Layers       int `json:"layers"`                  // decoder layers, those of the draft not counted
	FullLayers   int `json:"full_layers"`             // whose KV cache grows with the request
	WindowLayers int `json:"window_layers,omitempty"` // whose KV cache stops at Window tokens
	Window       int `json:"window,omitempty"`
	LinearLayers int `json:"linear_layers,omitempty"` // that keep a state of constant size instead
	DraftLayers  int `json:"draft_layers,omitempty"`  // that predict further tokens, each with a KV cache

	Hidden  int `json:"hidden"`
	Vocab   int `json:"vocab"`
	Heads   int `json:"heads"`
	KVHeads int `json:"kv_heads,omitempty"`
	KeyDim  int `json:"key_dim,omitempty"` // of one KV head
	ValDim  int `json:"value_dim,omitempty"`

	// Latent is the number of values that latent attention (MLA) keeps of a token and layer on every GPU alike; 0 for attention by heads.
	Latent int `json:"latent,omitempty"`
	// LatentUp is the parameters of the projection out of the latent space, over all layers: engines keep a second, 16-bit copy of it.
	LatentUp int64 `json:"latent_up,omitempty"`
	// IndexLayers keep an indexer's keys of IndexDim values beside the cache (sparse attention), 8 bits each and a 4-byte scale for 128 of them.
	IndexLayers int `json:"index_layers,omitempty"`
	IndexDim    int `json:"index_dim,omitempty"`
	// State and Conv are the values that a running request keeps in the linear layers together: the recurrent state, and the convolution's window.
	State int64 `json:"state,omitempty"`
	Conv  int64 `json:"conv,omitempty"`

	Experts    int  `json:"experts,omitempty"` // routed ones of a layer; 0: dense
	Context    int  `json:"context,omitempty"` // longest request that the model was made for; 0: unknown
	Multimodal bool `json:"multimodal,omitempty"`
	// KnownCache says that the attention is of a kind whose cache this package knows: of any other the cache is a guess, and excludes nothing.
	KnownCache bool `json:"known_cache"`
}

// Weights are bytes by how engines split them over GPUs.
type Weights struct {
	Experts    int64 `json:"experts,omitempty"`   // routed: by expert or by slices, over all GPUs of a stage
	Attention  int64 `json:"attention,omitempty"` // by heads
	KeyValue   int64 `json:"key_value,omitempty"` // by KV heads: copied where there are more GPUs than heads
	Dense      int64 `json:"dense,omitempty"`     // MLPs
	Shared     int64 `json:"shared,omitempty"`    // experts that every token passes
	Embedding  int64 `json:"embedding,omitempty"`
	Head       int64 `json:"head,omitempty"` // 0 where it is the embedding again
	Replicated int64 `json:"replicated,omitempty"`
	Vision     int64 `json:"vision,omitempty"` // of another modality than text: left out where a server is for text alone
	Draft      int64 `json:"draft,omitempty"`  // loaded only by a server that speculates with it
	// Loose are the bytes that attention, and beside experts also the rest, would take more at 16 bits, where the config does not tell whether they have
	// them: no part of the total.
	Loose int64 `json:"loose,omitempty"`
	// Exact says that these are the bytes of the checkpoint's files; otherwise they were computed from its geometry.
	Exact bool `json:"exact"`
	// Wide says that nothing is quantised: every weight has 16 bits.
	Wide bool `json:"wide,omitempty"`
	// Unsure says that the geometry does not tell the type of the weights: they may be narrower.
	Unsure bool `json:"unsure,omitempty"`
}

// Total is all of them.
func (w Weights) Total() int64 {
	return w.Experts + w.Attention + w.KeyValue + w.Dense + w.Shared + w.Embedding + w.Head + w.Replicated + w.Vision + w.Draft
}

// Known tells whether the model is one that can be planned with.
func (m Model) Known() bool { return m.Layers > 0 && m.Hidden > 0 && m.Weights.Total() > 0 }
