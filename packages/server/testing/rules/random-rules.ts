// Random rules, and callers with values that are usual, absent or hostile.
import { pick, type Random } from '../uploads/random.ts'
import type { Condition, OracleRule } from './oracle.ts'
import { type PlainTable, teams } from './plain-table.ts'

/** Metadata of users: what rules read, and what a careless filter would read as something else. */
export const metadataOf: Readonly<Record<string, Condition>> = {
  ada: { team: 't1', teams: ['t1', 't3'], level: 2, box: [6, 45, 8.2, 48], deep: { a: 't2' }, doc: { team: 't1' } },
  bob: { team: { $ne: '' }, teams: ['null'], level: 'null', box: 'everywhere', deep: 't1', doc: '{}' },
  eve: { team: '%', teams: 't1,t2', level: [1, [2]], box: [-200, -100, 200, 100, 5], deep: { a: null }, doc: [] },
  dan: { team: 1, teams: [], level: '3', box: null, deep: { a: { $exists: true } }, doc: 'true' },
  nil: {},
  chief: { team: '' },
}
export const rolesOf: Readonly<Record<string, readonly string[]>> = {
  ada: ['red'],
  bob: ['blue', 'red'],
  eve: ['blue'],
  dan: ['red'],
  nil: [],
  chief: ['chief'],
}

const variables = [
  ...[
    '$user.metadata.team',
    '$user.metadata.team',
    '$user.metadata.deep.a',
    '$user.email',
    '$user.id',
    '$key.metadata.team',
  ],
  '$user.metadata.absent',
]
const lists = ['$user.metadata.teams', '$user.roles', '$key.metadata.teams']

/** A condition on one attribute. */
function randomLeaf(random: Random, { rows }: PlainTable): Condition {
  const some = <T>(...items: readonly T[]): T => pick(random, items)
  const cell = (name: string) => pick(random, rows)[name] ?? rows.find((row) => row[name] !== null)?.[name]
  const team = () => (random() < 0.7 ? some(...variables) : some(...teams))
  switch (Math.floor(random() * 12)) {
    case 0:
    case 1:
      return { team_qz: team() }
    case 2:
      return { team_qz: { [some('$eq', '$ne', '$startsWith', '$substring')]: team() } }
    case 3:
      return {
        team_qz: some<unknown>(some(...lists), { [some('$in', '$notIn')]: some(...lists) }, { $in: ['t2', team()] }, [
          't1',
          't3',
        ]),
      }
    case 4:
      return {
        level_qz: some<unknown>('$user.metadata.level', 2, {
          [some('$gte', '$lt', '$ne')]: some<unknown>('$user.metadata.level', 2, 3),
        }),
      }
    case 5:
      return { level_qz: { $between: some<unknown>([1, 3], [1, '$user.metadata.level']) } }
    case 6:
      return some<Condition>(
        { open_qz: true },
        { open_qz: { $ne: true } },
        { open_qz: { $is: null } },
        { open_qz: { $is: '$user.metadata.level' } },
      )
    case 7:
      return some<Condition>(
        { big_qz: { $gt: cell('big_qz') } },
        { price_qz: { $lte: cell('price_qz') } },
        { team_qz: { $is: null } },
      )
    case 8:
      return some<Condition>({ day_qz: { $gte: cell('day_qz') } }, { at_qz: { $lt: cell('at_qz') } })
    case 9:
      return { doc_qz: { $contains: some<unknown>({ team: 't1' }, '$user.metadata.doc', '$user.metadata.team') } }
    case 10:
      return {
        tags_qz: { [some('$overlap', '$contains')]: some<unknown>(some(...lists), ['t1'], '$user.metadata.team') },
      }
    default:
      return { geom_qz: { $bbox: some<unknown>([6, 45, 8.2, 48], '$user.metadata.box') } }
  }
}

function randomWhere(random: Random, table: PlainTable, depth = 0): Condition {
  const inner = (): Condition => randomWhere(random, table, depth + 1)
  const kind = depth > 2 ? 0 : random()
  if (kind < 0.5) return randomLeaf(random, table)
  if (kind < 0.65) return { $not: inner() }
  if (kind < 0.85) return { $or: [inner(), inner()] }
  return { $and: [inner(), inner()] }
}

/** A condition without values of callers, on attributes of a list. */
export function randomFilter(random: Random, table: PlainTable, columns: readonly string[]): Condition {
  for (let turn = 0; turn < 40; turn++) {
    const filter = randomWhere(random, table, 1)
    const text = JSON.stringify(filter)
    const named: string[] = text.match(/\w+_qz/g) ?? []
    if (!text.includes('"$user') && !text.includes('"$key') && named.every((name) => columns.includes(name)))
      return filter
  }
  return {}
}

const chief: OracleRule = { roles: ['chief'], levels: ['read', 'append', 'change', 'delete'] }

export function randomRules(random: Random, table: PlainTable): OracleRule[] {
  const names = Object.keys(table.kinds)
  const some = (items: readonly string[], share: number) => items.filter(() => random() < share)
  const count = 1 + Math.floor(4 * random())
  const rules = Array.from({ length: count }, (): OracleRule => {
    const roles = some(['red', 'blue'], 0.5)
    const attributes = some(names, 0.6)
    return {
      ...(roles.length > 0 && { roles }),
      ...(random() < 0.4 && { users: 'anyone' as const }),
      levels: ['read', ...some(['append', 'change', 'delete'], 0.4)],
      ...(random() < 0.85 && { where: randomWhere(random, table) }),
      ...(random() < 0.45 && attributes.length > 0 && { attributes }),
    }
  })
  return [...rules, chief]
}
