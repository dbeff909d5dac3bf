/** Does the work for every item, a few at a time; the first failure ends it. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  width = 8,
): Promise<void> {
  const rest = items[Symbol.iterator]()
  const take = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: width }, take))
}
