package search

// polynomial is what makes one coordinate of a Sobol sequence: a primitive polynomial over the integers modulo 2 and the first direction numbers.
// The polynomial is x^s + a_1 x^(s-1) + ... + a_(s-1) x + 1, s the number of initial values, a_1 the highest bit of coefficients.
type polynomial struct {
	coefficients uint32
	initial      []uint32 // m_1 to m_s, m_k odd and below 2^k
}

// polynomials are those of the coordinates 2 to 64 (the first needs none): the set new-joe-kuo-6 of S. Joe and F. Y. Kuo, Constructing Sobol
// sequences with better two-dimensional projections, SIAM Journal on Scientific Computing 30 (2008), 2635-2654. The numbers are
// copyright (c) 2008 Frances Y. Kuo and Stephen Joe, published under a BSD licence.
func polynomials() []polynomial {
	return []polynomial{
		{0, []uint32{1}},
		{1, []uint32{1, 3}},
		{1, []uint32{1, 3, 1}},
		{2, []uint32{1, 1, 1}},
		{1, []uint32{1, 1, 3, 3}},
		{4, []uint32{1, 3, 5, 13}},
		{2, []uint32{1, 1, 5, 5, 17}},
		{4, []uint32{1, 1, 5, 5, 5}},
		{7, []uint32{1, 1, 7, 11, 19}},
		{11, []uint32{1, 1, 5, 1, 1}},
		{13, []uint32{1, 1, 1, 3, 11}},
		{14, []uint32{1, 3, 5, 5, 31}},
		{1, []uint32{1, 3, 3, 9, 7, 49}},
		{13, []uint32{1, 1, 1, 15, 21, 21}},
		{16, []uint32{1, 3, 1, 13, 27, 49}},
		{19, []uint32{1, 1, 1, 15, 7, 5}},
		{22, []uint32{1, 3, 1, 15, 13, 25}},
		{25, []uint32{1, 1, 5, 5, 19, 61}},
		{1, []uint32{1, 3, 7, 11, 23, 15, 103}},
		{4, []uint32{1, 3, 7, 13, 13, 15, 69}},
		{7, []uint32{1, 1, 3, 13, 7, 35, 63}},
		{8, []uint32{1, 3, 5, 9, 1, 25, 53}},
		{14, []uint32{1, 3, 1, 13, 9, 35, 107}},
		{19, []uint32{1, 3, 1, 5, 27, 61, 31}},
		{21, []uint32{1, 1, 5, 11, 19, 41, 61}},
		{28, []uint32{1, 3, 5, 3, 3, 13, 69}},
		{31, []uint32{1, 1, 7, 13, 1, 19, 1}},
		{32, []uint32{1, 3, 7, 5, 13, 19, 59}},
		{37, []uint32{1, 1, 3, 9, 25, 29, 41}},
		{41, []uint32{1, 3, 5, 13, 23, 1, 55}},
		{42, []uint32{1, 3, 7, 3, 13, 59, 17}},
		{50, []uint32{1, 3, 1, 3, 5, 53, 69}},
		{55, []uint32{1, 1, 5, 5, 23, 33, 13}},
		{56, []uint32{1, 1, 7, 7, 1, 61, 123}},
		{59, []uint32{1, 1, 7, 9, 13, 61, 49}},
		{62, []uint32{1, 3, 3, 5, 3, 55, 33}},
		{14, []uint32{1, 3, 1, 15, 31, 13, 49, 245}},
		{21, []uint32{1, 3, 5, 15, 31, 59, 63, 97}},
		{22, []uint32{1, 3, 1, 11, 11, 11, 77, 249}},
		{38, []uint32{1, 3, 1, 11, 27, 43, 71, 9}},
		{47, []uint32{1, 1, 7, 15, 21, 11, 81, 45}},
		{49, []uint32{1, 3, 7, 3, 25, 31, 65, 79}},
		{50, []uint32{1, 3, 1, 1, 19, 11, 3, 205}},
		{52, []uint32{1, 1, 5, 9, 19, 21, 29, 157}},
		{56, []uint32{1, 3, 7, 11, 1, 33, 89, 185}},
		{67, []uint32{1, 3, 3, 3, 15, 9, 79, 71}},
		{70, []uint32{1, 3, 7, 11, 15, 39, 119, 27}},
		{84, []uint32{1, 1, 3, 1, 11, 31, 97, 225}},
		{97, []uint32{1, 1, 1, 3, 23, 43, 57, 177}},
		{103, []uint32{1, 3, 7, 7, 17, 17, 37, 71}},
		{115, []uint32{1, 3, 1, 5, 27, 63, 123, 213}},
		{122, []uint32{1, 1, 3, 5, 11, 43, 53, 133}},
		{8, []uint32{1, 3, 5, 5, 29, 17, 47, 173, 479}},
		{13, []uint32{1, 3, 3, 11, 3, 1, 109, 9, 69}},
		{16, []uint32{1, 1, 1, 5, 17, 39, 23, 5, 343}},
		{22, []uint32{1, 3, 1, 5, 25, 15, 31, 103, 499}},
		{25, []uint32{1, 1, 1, 11, 11, 17, 63, 105, 183}},
		{44, []uint32{1, 1, 5, 11, 9, 29, 97, 231, 363}},
		{47, []uint32{1, 1, 5, 15, 19, 45, 41, 7, 383}},
		{52, []uint32{1, 3, 7, 7, 31, 19, 83, 137, 221}},
		{55, []uint32{1, 1, 1, 3, 23, 15, 111, 223, 83}},
		{59, []uint32{1, 1, 5, 13, 31, 15, 55, 25, 161}},
		{62, []uint32{1, 1, 3, 13, 25, 47, 39, 87, 257}},
	}
}
