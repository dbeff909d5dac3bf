/** What becomes of the tags of a dataset that is tagged, or moved from the folder of one tag to that of another. */
export interface TagChange {
  add?: string | undefined
  remove?: string | undefined
}

/** Undefined where nothing changes. */
export function changedTags(tags: readonly string[], { add, remove }: TagChange): string[] | undefined {
  const kept = tags.filter((tag) => tag !== remove)
  const changed = add && !kept.includes(add) ? [...kept, add] : kept
  return changed.length === tags.length && changed.every((tag, index) => tag === tags[index]) ? undefined : changed
}
