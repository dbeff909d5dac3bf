/** Below it are the operations that browsers are sent through. */
export const oidcPath = '/api/v1/auth/oidc'
