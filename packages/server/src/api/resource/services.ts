/** What operations find resources and their changes by. */
import type { BaseServices, Generations, Resource, Store } from './resource.ts'

export function createGenerations(): Generations {
  const counts = new Map<string, number>()
  const of = ({ title }: { title: string }): number => counts.get(title) ?? 0
  return {
    of,
    next(resource) {
      counts.set(resource.title, of(resource) + 1)
    },
  }
}

/** The resources by title; a join that names none of them stops the start. */
export function createStores<S extends BaseServices>(
  resources: readonly Resource<S>[],
): (services: S, title: string) => Store<S> {
  const byTitle = new Map(resources.map((resource) => [resource.title, resource]))
  const find = (title: string): Resource<S> => {
    const resource = byTitle.get(title)
    if (!resource) throw new Error(`There is no resource ${title}`)
    return resource
  }
  for (const { joins } of resources) for (const join of Object.values(joins)) find('one' in join ? join.one : join.many)
  return (services, title) => ({ resource: find(title), services })
}
