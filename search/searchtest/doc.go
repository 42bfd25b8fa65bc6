// Package searchtest is the suite that every sampler passes.
package searchtest
