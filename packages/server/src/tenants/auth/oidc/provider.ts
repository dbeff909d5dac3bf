import Type from 'typebox'
import { demandPowerOfUsers, demandTokenPower } from '../../../api/access/secrets/token-power.ts'
import { type BaseServices, defineResource, type Entity, field } from '../../../api/resource/resource.ts'
import { standardOperations } from '../../../api/resource/standard-operations.ts'
import { invalid, refuseRepeated } from '../../../kernel/errors.ts'
import { mappingSchema } from './claim-mapping.ts'
import { checkIssuer } from './issuer.ts'
import { sealClientSecret } from './provider-records.ts'

const domainPattern = '^[a-z0-9](?:[a-z0-9-]{0,62}\\.)+[a-z0-9-]{2,63}$'

/**
 * The resource of OpenID Connect providers. It is granted with users: what signs users in can do what they can, so whoever writes one must be
 * able to do all that the keys can that access tokens stand for.
 */
export const oidcProvider = defineResource({
  name: 'oidcproviders',
  title: 'OidcProvider',
  path: '/api/v1/auth/providers',
  acl: 'users',
  example: {
    name: 'Harbour office',
    issuer: 'https://login.example.org',
    clientId: 'maps',
    clientSecret: 'a secret of the provider',
    createsUsers: true,
  },
  fields: {
    name: field('string', Type.String({ minLength: 1, maxLength: 255, description: 'What a sign-in page calls it' }), {
      required: true,
    }),
    issuer: field(
      'string',
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description:
          'Its address, as its tokens name it: below it is `/.well-known/openid-configuration`. It cannot change',
      }),
      { required: true },
    ),
    clientId: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
    clientSecret: field(
      'string',
      Type.Union([Type.String({ minLength: 1, maxLength: 1_000 }), Type.Null()], {
        description: 'Never returned; null for a public client',
      }),
      { mode: 'writeOnly' },
    ),
    clientSecretSet: field('boolean', Type.Boolean(), { mode: 'readOnly' }),
    scopes: field(
      'array',
      Type.Array(Type.String({ pattern: '^[!#-\\[\\]-~]{1,100}$', maxLength: 100 }), { maxItems: 20 }),
      {
        default: ['openid', 'profile', 'email'],
      },
    ),
    mapping: field('json', mappingSchema, { default: {}, queryable: false }),
    emailDomains: field(
      'array',
      Type.Array(Type.String({ pattern: domainPattern, maxLength: 253 }), {
        maxItems: 100,
        description: 'In lower case. If there are any, only users with a verified address in one of them may come',
      }),
      { default: [] },
    ),
    createsUsers: field(
      'boolean',
      Type.Boolean({ description: 'Whoever comes for the first time, with a verified address, becomes a user' }),
      { default: false },
    ),
    linksUsers: field(
      'boolean',
      Type.Boolean({
        description: 'May sign in as the user of the same address, where the provider says that it is verified',
      }),
      { default: false },
    ),
    secondFactor: field(
      'string',
      Type.Enum(['demanded', 'trusted'], {
        description:
          '`demanded`: who has a second factor here, or must have one, shows it after the provider’s own log-in, too; `trusted`: the ' +
          'provider’s log-in is enough',
      }),
      { default: 'demanded' },
    ),
    acceptsTokens: field(
      'boolean',
      Type.Boolean({ description: 'Its own access tokens (JWT) for `audience` are taken as Authorization: Bearer' }),
      { default: false },
    ),
    audience: field(
      'string',
      Type.Union([Type.String({ minLength: 1, maxLength: 1_000 }), Type.Null()], {
        description: 'What `aud` of its access tokens must name',
      }),
    ),
    enabled: field('boolean', Type.Boolean({ description: 'Switched off, it ends the sessions that come from it' }), {
      default: true,
    }),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async prepare({ values, previous, applicationId }, scope, { db, secrets }) {
    await demandTokenPower(db, scope, applicationId, [{ metadata: {} }])
    await demandPowerOfUsers(db, scope, applicationId, 'providers')
    checkProvider({ ...previous, ...values }, previous)
    if (typeof values.clientSecret !== 'string') return values
    return { ...values, clientSecret: sealClientSecret(secrets, applicationId, values.clientSecret) }
  },
})

function checkProvider(next: Entity, previous: Entity | undefined): void {
  const { issuer, scopes, emailDomains, acceptsTokens, audience, clientId } = next
  if (previous && previous.issuer !== issuer) {
    throw invalid('body/issuer', 'cannot change, because it says whose users are meant. Make another provider')
  }
  checkIssuer(String(issuer), 'body/issuer')
  if (!(scopes as string[]).includes('openid')) throw invalid('body/scopes', 'must contain openid')
  refuseRepeated(scopes as string[], 'body/scopes')
  refuseRepeated(emailDomains as string[], 'body/emailDomains')
  if (acceptsTokens === true && typeof audience !== 'string') {
    throw invalid(
      'body/audience',
      'is required where acceptsTokens is true: the `aud` of access tokens for this server',
    )
  }
  if (audience === clientId) {
    throw invalid(
      'body/audience',
      'must not be clientId, which is the audience of ID tokens: those are not for servers',
    )
  }
}

export const providerOperations = standardOperations<BaseServices>(oidcProvider)
