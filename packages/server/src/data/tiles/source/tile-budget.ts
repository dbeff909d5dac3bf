/** What a tile may hold. */
export type TileBudget = { readonly maxFeatures: number; readonly maxBytes: number }
