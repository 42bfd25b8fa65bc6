// Package fake is a fake serving engine that obeys tuner/law, for tests and for rehearsing a study without a GPU.
package fake
