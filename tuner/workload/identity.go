package workload

// Identity is what a workload asks: only measurements of equal identities are ever compared. The seed is no part of it, the file's content is.
func (s Spec) Identity(fileHash string) string { return "" }
