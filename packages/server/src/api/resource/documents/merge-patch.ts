import { withDigits } from './exact-number.ts'

type Json = { readonly [name: string]: unknown }

/** JSON Merge Patch (RFC 7396), as deep as the patch, whose depth the body's limit bounds. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), change))
  }
  return Object.fromEntries(merged)
}

/** A number that is kept digit by digit is an object to JavaScript. */
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && withDigits(value) === value
