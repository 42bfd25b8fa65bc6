package gaussian

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// factor is the Cholesky factorisation UᵀU of a covariance, without the estimate of its condition that mat.Cholesky makes each time: a fifth of a factorisation of
// this size, and nobody asks for it.
type factor struct {
	upper blas64.Triangular
	lower []float64 // L = Uᵀ by rows, for solveLower
}

// of factorises a matrix, and tells whether it is positive definite.
func (f *factor) of(m *mat.SymDense) bool {
	raw := m.RawSymmetric()
	n := raw.N
	if len(f.upper.Data) != n*n {
		f.upper.Data = make([]float64, n*n)
	}
	for i := range n {
		copy(f.upper.Data[i*n+i:(i+1)*n], raw.Data[i*raw.Stride+i:i*raw.Stride+n])
	}
	var ok bool
	f.upper, ok = lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: f.upper.Data, Uplo: raw.Uplo})
	return ok
}

// logDet is the logarithm of the determinant.
func (f *factor) logDet() float64 {
	sum := 0.0
	for i := range f.upper.N {
		sum += 2 * math.Log(f.upper.Data[i*f.upper.Stride+i])
	}
	return sum
}

// solve solves UᵀU x = b in place of b.
func (f *factor) solve(b []float64) {
	lapack64.Potrs(f.upper, blas64.General{Rows: len(b), Cols: 1, Stride: 1, Data: b})
}

// inverse is the inverse's upper half, by rows. The factorisation is gone afterwards.
func (f *factor) inverse() []float64 {
	inverse, _ := lapack64.Potri(f.upper)
	return inverse.Data
}

// keepLower makes ready for solveLower.
func (f *factor) keepLower() {
	n := f.upper.N
	f.lower = make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			f.lower[i*n+j] = f.upper.Data[j*n+i]
		}
	}
}

// solveLower solves L v = b in place of b.
func (f *factor) solveLower(b []float64) {
	n := len(b)
	for i := range b {
		row := f.lower[i*n : i*n+i+1]
		b[i] = (b[i] - floats.Dot(row[:i], b[:i])) / row[i]
	}
}
