/** The key under which a source of records keeps the ids that features have besides their properties. */
export const featureIdKey = '\0feature id'

/** What the column of these ids is called: `id`, or `feature_id` where a property has that name. */
export function featureIdName(properties: readonly string[]): string {
  return properties.some((name) => name.toLowerCase() === 'id') ? 'feature_id' : 'id'
}
