// Keys are kept for the session of the tab, so that a reload keeps them and closing it does not. Swagger UI itself would put
// them into local storage for good, as earlier versions of this page did.
const place = 'authorized'
const scheme = 'headerApiKey'
localStorage.removeItem(place)

// As in the console: light, dark, or what the system says. The choice is made there.
const isDark = matchMedia('(prefers-color-scheme: dark)')
function followTheme() {
  const root = document.documentElement
  const choice = localStorage.getItem('graticule.theme')
  const isChosen = choice === 'light' || choice === 'dark'
  if (isChosen) root.dataset.theme = choice
  else delete root.dataset.theme
  root.classList.toggle('dark-mode', isChosen ? choice === 'dark' : isDark.matches)
}
isDark.addEventListener('change', followTheme)
addEventListener('storage', followTheme)
followTheme()

const keepForSession = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded:
          (_, { authSelectors }) =>
          () => {
            sessionStorage.setItem(place, JSON.stringify(authSelectors.authorized().toJS()))
          },
      },
    },
  },
})

/** Swagger UI's own filter looks at the names of tags alone. */
const searchEverything = () => ({
  fn: {
    opsFilter(taggedOperations, phrase) {
      const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
      const matches = (tag, operation) => {
        const described = operation.get('operation')
        const parts = [tag, operation.get('path'), operation.get('method')]
        // Swagger UI writes operations anew when they are opened; their own name has another key then.
        for (const name of ['operationId', '__originalOperationId', 'summary', 'description']) {
          parts.push(described.get(name) ?? '')
        }
        const text = parts.join(' ').toLowerCase()
        return words.every((word) => text.includes(word))
      }
      return taggedOperations
        .map((group, tag) => group.update('operations', (list) => list.filter((one) => matches(tag, one))))
        .filter((group) => group.get('operations').size > 0)
    },
  },
})

const ui = window.SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayOperationId: true,
  docExpansion: 'list',
  filter: true,
  persistAuthorization: false,
  plugins: [keepForSession, searchEverything],
  onComplete() {
    const kept = sessionStorage.getItem(place)
    if (kept) ui.authActions.restoreAuthorization({ authorized: JSON.parse(kept) })
    const search = document.querySelector('.operation-filter-input')
    search?.setAttribute('aria-label', 'Search operations')
    search?.setAttribute('placeholder', 'Search operations')
  },
  tagsSorter: 'alpha',
})

document.getElementById('access').addEventListener('submit', (event) => {
  event.preventDefault()
  void useKey(document.getElementById('key').value.trim())
})

async function useKey(value) {
  const status = document.getElementById('access-status')
  if (!value) {
    ui.authActions.logoutWithPersistOption([scheme])
    status.textContent = 'No key is used.'
    return
  }
  const schema = ui.specSelectors.securityDefinitions().get(scheme)
  ui.authActions.authorizeWithPersistOption({ [scheme]: { name: scheme, schema, value } })
  const answer = await fetch('/api/v1/datasets?limit=1&fields=id', { headers: { 'x-api-key': value } })
  const { detail } = answer.ok ? {} : await answer.json().catch(() => ({}))
  status.textContent = answer.ok ? 'The key is used for every request of this page.' : `The key is used, but: ${detail}`
}
