/** What claims of a provider become: fields of a user, and values that a session keeps. Claims are untrusted, and bounded here. */
import Type, { type Static } from 'typebox'
import { emailPattern } from '../../../api/http/email-address.ts'

const closed = { additionalProperties: false } as const

const claimName = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }))

const namedClaims = (maxProperties: number, description: string) =>
  Type.Optional(
    Type.Record(
      Type.String({ pattern: '^(?!auth$|__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$' }),
      Type.String({ minLength: 1, maxLength: 200 }),
      { maxProperties, description, ...closed },
    ),
  )

export const mappingSchema = Type.Object(
  {
    email: claimName('By default `email`'),
    emailVerified: claimName('By default `email_verified`'),
    firstName: claimName('By default `given_name`'),
    lastName: claimName('By default `family_name`'),
    roles: claimName('A list of texts, or one text. With it the provider alone decides the roles'),
    metadata: namedClaims(20, 'Fields of the user’s metadata, and the claims that they are taken from'),
    claims: namedClaims(20, 'Values that the session keeps, and the claims that they are taken from'),
  },
  {
    ...closed,
    description:
      'Names of claims, also of those within others (`realm_access.roles`). A sign-in updates the user by them',
  },
)

export type ClaimMapping = Static<typeof mappingSchema>

export type ClaimSet = Readonly<Record<string, unknown>>

/** A user as a provider describes it. What is undefined, the provider does not say. */
export type ProviderProfile = {
  readonly subject: string
  /** Only one that the provider calls verified. */
  readonly verifiedEmail: string | undefined
  readonly firstName: string | undefined
  readonly lastName: string | undefined
  readonly roles: readonly string[] | undefined
  /** The mapped fields that have a value. */
  readonly metadata: ClaimSet
  /** The names of the mapped fields, also of those without a value. */
  readonly metadataNames: readonly string[]
  /** What the session keeps. */
  readonly claims: ClaimSet
}

const maxName = 255
const maxRoles = 200
const maxText = 1_024
const maxItems = 100
/** Of all values of one mapping together, as JSON. */
const maxBytes = 8_192

const isEmail = new RegExp(emailPattern, 'u')

/** What names a user at a provider, as the specification bounds it, and as the database can hold it. */
export const isSubject = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\p{Cc}]{1,255}$/u.test(value) && value.isWellFormed()

export function readProfile(mapping: ClaimMapping, subject: string, claims: ClaimSet): ProviderProfile {
  const email = claimAt(claims, mapping.email ?? 'email')
  const verified = claimAt(claims, mapping.emailVerified ?? 'email_verified')
  // Some providers write booleans as texts.
  const isVerified = verified === true || verified === 'true'
  return {
    subject,
    verifiedEmail: isVerified && typeof email === 'string' && isEmail.test(email) ? email : undefined,
    firstName: nameOf(claimAt(claims, mapping.firstName ?? 'given_name')),
    lastName: nameOf(claimAt(claims, mapping.lastName ?? 'family_name')),
    roles: mapping.roles === undefined ? undefined : rolesOf(claimAt(claims, mapping.roles)),
    metadata: selected(claims, mapping.metadata),
    metadataNames: Object.keys(mapping.metadata ?? {}),
    claims: selected(claims, mapping.claims),
  }
}

/** The claim of this name; otherwise dots lead into claims that are objects. Names may hold dots, as URLs do. */
export function claimAt(claims: ClaimSet, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as ClaimSet)[part]
  }
  return value
}

/** Texts that the database can hold. */
const cleaned = (text: string): string => text.toWellFormed().replaceAll('\0', '')

const nameOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? cleaned(value).slice(0, maxName) : undefined

/** Nobody keeps a role that the provider no longer names. */
function rolesOf(value: unknown): string[] {
  const roles = typeof value === 'string' ? [value] : Array.isArray(value) ? value : []
  const names = roles.filter((role): role is string => typeof role === 'string' && role.length <= maxName)
  return [...new Set(names.map(cleaned))].slice(0, maxRoles)
}

/** Values that are too large, or no plain ones, are left out: a rule that asks for them is not fulfilled. */
function selected(claims: ClaimSet, names: Readonly<Record<string, string>> = {}): ClaimSet {
  const chosen: Record<string, unknown> = {}
  let bytes = 0
  for (const [name, claim] of Object.entries(names)) {
    const value = plainValue(claimAt(claims, claim))
    if (value === undefined) continue
    bytes += Buffer.byteLength(JSON.stringify(value))
    if (bytes > maxBytes) break
    chosen[name] = value
  }
  return chosen
}

type Scalar = string | number | boolean

function plainValue(value: unknown): Scalar | Scalar[] | undefined {
  if (!Array.isArray(value)) return scalarOf(value)
  const items = value.map(scalarOf)
  return items.length <= maxItems && items.every((item) => item !== undefined) ? items : undefined
}

function scalarOf(value: unknown): Scalar | undefined {
  if (typeof value === 'string') return value.length <= maxText ? cleaned(value) : undefined
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : undefined
}
