/** Rules to begin with. */
import type { Dataset } from '@graticule/client'
import { isNumeric } from '@graticule/map/recipe'
import type { DatasetAttribute } from '../dataset.ts'
import type { Rule } from './rule.ts'
import { ruleLevels } from './rule.ts'
import type { RulesDraft } from './rules-draft.ts'

type Described = Pick<Dataset, 'attributes' | 'type'>

export interface Template {
  label: string
  text: string
  /** A rule whose form is opened, because something is to be chosen. */
  rule?: (dataset: Described) => Rule
  /** Rules that are complete. */
  draft?: (dataset: Described) => RulesDraft
}

export const templates: readonly Template[] = [
  {
    label: 'Each user sees their own rows',
    text: 'An attribute holds whose a row is: an e-mail, or the id of a user.',
    rule: rowsOfUser,
  },
  {
    label: 'A role sees everything',
    text: 'Users with a role have all that their key grants, and others nothing.',
    rule: () => ({ roles: [], levels: [...ruleLevels] }),
  },
  {
    label: 'Everybody reads, signed-in users write',
    text: 'Keys without a user, such as that of a public map, only read.',
    draft: (dataset) => ({
      rules: [{ users: 'anyone', levels: ['read'] }, ...(isTable(dataset) ? [{ levels: [...ruleLevels] }] : [])],
      rulesFor: 'all',
    }),
  },
]

const isTable = ({ type }: Described): boolean => type === 'table'

/** The first rule of somebody who begins with nothing. */
export const newRule = (): Rule => ({ levels: ['read'] })

export function rowsOfUser(dataset: Described): Rule {
  const owner = ownerOf(dataset.attributes)
  if (!owner) return newRule()
  const own = { [owner.name]: isNumeric(owner.type) ? '$user.id' : '$user.email' }
  return isTable(dataset) ? { levels: [...ruleLevels], where: own, set: own } : { levels: ['read'], where: own }
}

const usual = /^(owner|user|customer|client|author|email|e_mail|mail|created_?by|assigned_?to)/i

/** The attribute that most likely says whose a row is. */
export function ownerOf(attributes: readonly DatasetAttribute[]): DatasetAttribute | undefined {
  const fit = attributes.filter(({ type, primaryKey }) => !primaryKey && (type === 'string' || type === 'integer'))
  return fit.find(({ name }) => usual.test(name)) ?? fit.find(({ type }) => type === 'string') ?? fit[0]
}
