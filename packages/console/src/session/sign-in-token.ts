/** Takes the one-time sign-in token out of the URL, so that neither the history nor a copied link contains it. */
export function takeSignInToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search)
  return token
}
