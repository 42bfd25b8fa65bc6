package memory

import "strings"

// narrow is the bytes of a weight by where it lies.
type narrow struct {
	experts, attention, dense float64
	wide, unsure              bool
	few                       bool // 4 bits or fewer
}

// Bytes of a weight with its scales: 4 bytes for 128 x 128 of fp8 are next to nothing; one byte for 32 of mxfp4 and for 16 of nvfp4; a 16-bit scale and a
// zero point for a group of 128 of awq, gptq and other integers.
const (
	bytesMXFP4 = 0.53125
	bytesNVFP4 = 0.5625
	bytesGroup = 0.02
)

// types reads how the weights are quantised. Embeddings, heads, routers and norms stay at 16 bits.
func (c config) types(kind string, layers int) narrow {
	raw, _ := c["quantization_config"].(map[string]any)
	q := config(raw)
	method := strings.ToLower(q.word("quant_method"))
	if method == "" {
		method = strings.ToLower(c.word("quant_method"))
	}
	name := method + " " + strings.ToLower(q.word("quant_algo"))
	bits, float, mixed := q.bits()
	all := func(b float64) narrow { return narrow{experts: b, attention: b, dense: b} }
	var n narrow
	switch {
	case method == "":
		return narrow{experts: 2, attention: 2, dense: 2, wide: true}
	case method == "mxfp4":
		n = narrow{experts: bytesMXFP4, attention: 2, dense: 2}
		n.unsure = kind != "gpt_oss"
	case strings.Contains(name, "fp4"), bits == 4 && float:
		n = all(bytesNVFP4)
		n.unsure = true // of most such checkpoints some parts have 8 bits
	case strings.Contains(name, "fp8"), strings.Contains(name, "int8"), bits == 8 && method != "gptq" && method != "awq", q.on("load_in_8bit"):
		n = all(1)
	case bits > 0, method == "awq", method == "gptq":
		if bits == 0 {
			bits = 4
		}
		n = all(float64(bits)/8 + bytesGroup)
		n.few = bits <= 4
	default:
		n = all(bytesNVFP4)
		n.unsure = true
	}
	n.unsure = n.unsure || mixed
	kept, experts := q.left(layers)
	n.attention += kept * (2 - n.attention)
	n.unsure = n.unsure || experts && strings.Contains(method, "compressed") // which of them is not read
	return n
}

// bits of a weight where the config tells a number, and whether they are of a float; mixed: several groups have their own.
func (q config) bits() (bits int, float, mixed bool) {
	if bits = q.int("bits"); bits > 0 {
		return bits, false, false
	}
	groups, _ := q["config_groups"].(map[string]any)
	for _, g := range groups {
		group, _ := g.(map[string]any)
		weights, _ := group["weights"].(map[string]any)
		n, kind := config(weights).int("num_bits"), config(weights).word("type") == "float"
		if n == 0 {
			continue
		}
		mixed = mixed || bits > 0 && (bits != n || float != kind)
		if n > bits {
			bits, float = n, kind
		}
	}
	return bits, float, mixed
}

// left is the share of the layers whose attention stays at 16 bits, as the config lists them, and whether it names experts.
func (q config) left(layers int) (attention float64, experts bool) {
	named := map[string]bool{}
	for _, list := range []string{"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules"} {
		for _, word := range q.words(list) {
			experts = experts || strings.Contains(word, "expert")
			if !strings.Contains(word, "self_attn") || strings.Contains(word, "vis") || strings.Contains(word, "audio") {
				continue
			}
			number := layerNumber.FindStringSubmatch(word)
			if number == nil { // a pattern, for all
				return 1, experts
			}
			named[number[1]] = true
		}
	}
	return min(1, float64(len(named))/float64(max(1, layers))), experts
}
