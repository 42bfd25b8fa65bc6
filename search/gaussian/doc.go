// Package gaussian has Gaussian processes over grids: regression with a kernel that is fitted between additive and full interaction, and
// classification by Laplace's approximation. It knows nothing of spaces and studies; inputs are levels of dimensions.
//
// Formulas and notation are those of Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006 (GPML), where not said otherwise.
package gaussian
