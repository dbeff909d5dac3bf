import type { AuthChanges } from '../auth-changes.ts'
import { changeable, creatable, type Params, readable } from '../crud.ts'
import { createProviderSignIns, type SignInReturn } from '../provider-sign-in.ts'
import { queryString } from '../query-string.ts'
import { path } from '../request.ts'
import type { Send } from '../send.ts'
import { type AuthEvent, audienceOf, type HeldTokens, type Session } from '../session.ts'
import type {
  Access,
  ConfirmSignupParams,
  KeySet,
  Login,
  OidcProvider,
  OidcProviderCreate,
  OidcProviderPatch,
  OidcProviderUpdate,
  OpenSession,
  PasswordChange,
  PasswordReset,
  PasswordResetRequest,
  RecoveryCodes,
  Role,
  RoleCreate,
  RolePatch,
  RoleUpdate,
  SecondFactorCode,
  SecondFactorSecret,
  SecondFactorStart,
  SignedIn,
  SignInToken,
  Signup,
  Tokens,
  User,
  UserCreate,
  UserPatch,
  UserUpdate,
} from '../types.ts'

const root = '/api/v1/auth'
const users = '/api/v1/auth/users'
const providers = '/api/v1/auth/providers'
const roles = '/api/v1/auth/roles'

/** Sign-in and sign-out, and what users can do with their own accounts. */
export function authGroup(send: Send, session: Session, { tell, onChange }: AuthChanges) {
  const hold = (event: AuthEvent, tokens: HeldTokens): void => tell(event, Object.assign(session, tokens) && tokens)
  const signIns = createProviderSignIns(session.url, (json) =>
    send<Tokens>('POST', () => `${root}/oidc/token`, undefined, { json, isPublic: true }),
  )
  return {
    /** Signs in. The client keeps the tokens and acts for this user from now on. */
    async login(data: Login, params?: Params): Promise<Tokens> {
      const tokens = await send<Tokens>('POST', () => `${root}/login`, params, { json: data, isPublic: true })
      hold('signedIn', tokens)
      return tokens
    },
    /** Exchanges the one-time token of a sign-in link for an API key. The client keeps the key and acts for no user. */
    async exchange(data: SignInToken, params?: Params): Promise<SignedIn> {
      const signedIn = await send<SignedIn>('POST', () => `${root}/exchange`, params, { json: data, isPublic: true })
      session.apiKey = signedIn.apiKey
      hold('signedOut', { accessToken: null, refreshToken: null })
      return signedIn
    },
    /** Gets a new access token, which the client keeps. `rotate` replaces the refresh token too. */
    async refresh(params?: Params<{ rotate?: boolean }>): Promise<Tokens> {
      const { refreshToken, accessToken } = session
      const json = { refreshToken, applicationId: audienceOf(accessToken) }
      const made = await send<Tokens | string>('POST', () => `${root}/refresh`, params, { json, isPublic: true })
      const tokens = typeof made === 'string' ? { accessToken: made, refreshToken: String(refreshToken) } : made
      hold('refreshed', tokens)
      return tokens
    },
    /** Ends the session; the client continues with its key. */
    async logout(params?: Params): Promise<void> {
      await send('POST', () => `${root}/logout`, params, { json: { refreshToken: session.refreshToken } })
      hold('signedOut', { accessToken: null, refreshToken: null })
    },
    /**
     * Leaves the page to sign in by a provider of the application. The provider leads back to `redirect`, where `completeSignIn` ends it.
     */
    signInWithProvider: signIns.begin,
    /** Completes a sign-in by a provider, when the page is loaded. The client keeps the tokens; null if there is none to complete. */
    async completeSignIn(options?: SignInReturn): Promise<Tokens | null> {
      const tokens = await signIns.complete(options)
      if (tokens) hold('signedIn', tokens)
      return tokens
    },
    /** Calls the listener whenever somebody has signed in or out, or tokens were replaced. Returns the function that ends that. */
    onChange,
    ...accountMethods(send),
    /** The URL that confirms a sign-up and then redirects to `redirect`: for a link that people open. */
    confirmSignupUrl: (params: ConfirmSignupParams) => `${session.url}${root}/confirmsignup${queryString(params)}`,
    /** Describes the client's key or token and its permissions. Rejects with status 401 when it is no longer valid. */
    access: (params?: Params) => send<Access>('GET', path`/api/v1/auth/access`, params),
    /** The public keys that access tokens are verified with. */
    jwks: (params?: Params) => send<KeySet>('GET', path`/.well-known/jwks.json`, params, { isPublic: true }),
    providers: {
      ...readable<OidcProvider>(send, providers),
      ...creatable<OidcProvider, OidcProviderCreate>(send, providers),
      ...changeable<OidcProvider, OidcProviderUpdate, OidcProviderPatch>(send, providers),
    },
    roles: {
      ...readable<Role>(send, roles),
      ...creatable<Role, RoleCreate>(send, roles),
      ...changeable<Role, RoleUpdate, RolePatch>(send, roles),
    },
    users: {
      ...readable<User>(send, users),
      ...creatable<User, UserCreate>(send, users),
      ...changeable<User, UserUpdate, UserPatch>(send, users),
      me: (params?: Params) => send<User>('GET', path`/api/v1/auth/users/me`, params),
    },
  }
}

/** What users do with their own accounts. */
function accountMethods(send: Send) {
  const open = (name: string, json: unknown, params?: Params) =>
    send<void>('POST', () => `${root}/${name}`, params, { json, isPublic: true })
  return {
    changePassword: (data: PasswordChange, params?: Params) =>
      send<void>('POST', () => `${root}/changepassword`, params, { json: data }),
    requestPasswordReset: (data: PasswordResetRequest, params?: Params) => open('requestpasswordreset', data, params),
    resetPassword: (data: PasswordReset, params?: Params) => open('resetpassword', data, params),
    signup: (data: Signup, params?: Params) =>
      send<User>('POST', () => `${root}/signup`, params, { json: data, isPublic: true }),
    sessions: {
      /** One's own sessions that have not ended, the youngest first. */
      list: (params?: Params) => send<OpenSession[]>('GET', path`/api/v1/auth/sessions`, params),
      end: (id: string, params?: Params) => send<void>('DELETE', path`/api/v1/auth/sessions/${id}`, params),
    },
    secondFactor: {
      /** Gets the secret for an authenticator app. It counts once a code has confirmed it. */
      start: (data: SecondFactorStart, params?: Params) =>
        send<SecondFactorSecret>('POST', () => `${root}/secondfactor`, params, { json: data, isPublic: true }),
      /** Switches the second factor on, or replaces its recovery codes, which are answered only here. */
      confirm: (data: SecondFactorCode, params?: Params) =>
        send<RecoveryCodes>('POST', () => `${root}/secondfactor/confirm`, params, { json: data, isPublic: true }),
      remove: (data: SecondFactorCode, params?: Params) => open('secondfactor/remove', data, params),
    },
  }
}
