/** Describes an ACL in a sentence: "Reads and queries 2 datasets; cannot change anything." */
import {
  type AclClass,
  type AclLevel,
  aclClasses,
  aclLevels,
  hasLevel,
  type Permissions,
} from '../../../../../server/src/api/access/grants.ts'
import { hasEffect, isPartOfWrite, isSameGrant, type LevelGrant, type Matrix, matrixOf } from './acl-matrix.ts'

interface ClassWords {
  /** The heading of the row. */
  title: string
  one: string
  many: string
  /** The verb for `execute`. */
  execute: string
}

const words: Record<AclClass, ClassWords> = {
  agents: { title: 'Agents', one: 'agent', many: 'agents', execute: 'asks' },
  apikeys: { title: 'API keys', one: 'API key', many: 'API keys', execute: 'uses' },
  appconfig: { title: 'Configuration', one: 'configuration', many: 'configuration', execute: 'uses' },
  applications: { title: 'Application', one: 'application', many: 'applications', execute: 'uses' },
  auth: { title: 'Accounts', one: 'account of its user', many: 'accounts of its users', execute: 'serves' },
  contactpoints: { title: 'Contact points', one: 'contact point', many: 'contact points', execute: 'sends by' },
  databases: { title: 'Databases', one: 'database', many: 'databases', execute: 'tests' },
  datasets: { title: 'Datasets', one: 'dataset', many: 'datasets', execute: 'queries' },
  styles: { title: 'Maps', one: 'map', many: 'maps', execute: 'shows' },
  tiles: { title: 'Tile sources', one: 'tile source', many: 'tile sources', execute: 'draws' },
  uploads: { title: 'Uploads', one: 'upload', many: 'uploads', execute: 'makes' },
  users: { title: 'Users', one: 'user', many: 'users', execute: 'uses' },
}

export const classTitle = (aclClass: string): string =>
  aclClass === '*' ? 'Everything else' : (words[aclClass as AclClass]?.title ?? aclClass)

/** "2 datasets" */
export const countOf = (aclClass: AclClass, count: number): string =>
  `${count} ${count === 1 ? words[aclClass].one : words[aclClass].many}`

export function aclSentence(permissions: Permissions): string {
  const matrix = matrixOf(permissions)
  const changes = aclClasses.some((one) => hasEffect(one, 'write') && matrix[one].write !== 'none')
  const isReading = !changes && matrix['*'].write === 'none'
  const limit = `cannot change anything${matrix.datasets.append === 'none' ? '' : ' else'}`
  return sentenceOf(matrix, isReading ? [limit] : [])
}

/** Without what is not granted: for an ACL that is added to another one, as that of a role is. */
export const grantsSentence = (permissions: Permissions): string => sentenceOf(matrixOf(permissions), [])

function sentenceOf(matrix: Matrix, limits: readonly string[]): string {
  const cells = Object.entries(matrix).flatMap(([row, levels]) =>
    aclLevels.filter((level) => hasLevel(row, level)).map((level) => levels[level]),
  )
  if (cells.every((grant) => grant === 'all')) return 'May do everything: read, change and use all there is.'
  if (cells.every((grant) => grant === 'none')) return 'May do nothing.'
  const isOpen = aclLevels.some((level) => matrix['*'][level] !== 'none')
  const clauses = isOpen ? clausesByLevel(matrix) : clausesByClass(matrix)
  const sentence = [...clauses, ...limits].join('; ')
  if (sentence === '') return 'May do nothing.'
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

/** "reads and queries 2 datasets", for ACLs without a rule for all classes. */
const clausesByClass = (matrix: Matrix): string[] =>
  aclClasses.flatMap((aclClass) => {
    const isSaid = (level: AclLevel): boolean => hasEffect(aclClass, level) && !isPartOfWrite(matrix, aclClass, level)
    const levels = aclLevels.filter((level) => isSaid(level) && matrix[aclClass][level] !== 'none')
    const clauses: { grant: LevelGrant; verbs: string[] }[] = []
    for (const level of levels) {
      const grant = matrix[aclClass][level]
      const same = clauses.find((clause) => isSameGrant(clause.grant, grant))
      if (same) same.verbs.push(verbOf(aclClass, level))
      else clauses.push({ grant, verbs: [verbOf(aclClass, level)] })
    }
    return clauses.map(({ grant, verbs }) => `${list(verbs)} ${objectOf(aclClass, grant)}`)
  })

const levelVerbs = { read: 'reads', append: 'adds rows to', write: 'changes', execute: 'uses' }

const verbOf = (aclClass: AclClass, level: AclLevel): string =>
  level === 'execute' ? words[aclClass].execute : levelVerbs[level]

const objectOf = (aclClass: AclClass, grant: LevelGrant): string =>
  typeof grant === 'string' ? `all ${words[aclClass].many}` : countOf(aclClass, grant.length)

/** "reads everything but users", for ACLs with a rule for all classes. */
function clausesByLevel(matrix: Matrix): string[] {
  const clauses: { verbs: string[]; object: string }[] = []
  for (const level of ['read', 'execute', 'write'] as const) {
    const object = scopeClause(matrix, level)
    if (object === '') continue
    const same = clauses.find((clause) => clause.object === object)
    if (same) same.verbs.push(levelVerbs[level])
    else clauses.push({ verbs: [levelVerbs[level]], object })
  }
  const { append } = matrix.datasets
  if (append !== 'none' && !isPartOfWrite(matrix, 'datasets', 'append'))
    clauses.push({ verbs: [levelVerbs.append], object: objectOf('datasets', append) })
  return clauses.map(({ verbs, object }) => `${list(verbs)} ${object}`)
}

function scopeClause(matrix: Matrix, level: AclLevel): string {
  const base = matrix['*'][level]
  const own = aclClasses.filter((one) => hasEffect(one, level) && !isSameGrant(matrix[one][level], base))
  const granted = own.filter((one) => matrix[one][level] !== 'none')
  if (base === 'none') return list(granted.map((one) => objectOf(one, matrix[one][level])))
  const refused = own.filter((one) => matrix[one][level] === 'none').map((one) => words[one].many)
  const start = base === 'all' ? 'everything' : `whatever has one of ${base.length} ids`
  const but = refused.length > 0 ? ` but ${list(refused)}` : ''
  const limits = granted.map((one) => limitOf(one, matrix[one][level]))
  return [start + but, ...limits].join(', ')
}

const limitOf = (aclClass: AclClass, grant: LevelGrant): string =>
  typeof grant === 'string' ? `all ${words[aclClass].many}` : `of the ${words[aclClass].many} only ${grant.length}`

/** "a, b and c" */
export const list = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
