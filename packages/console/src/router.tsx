/**
 * The routes of the console. Each page is a lazy chunk. The state of a page (filter, selection, tab) is in its URL, so that
 * Back works and links can be shared. Keys never are.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { consolePath } from './address.ts'
import { LinkButton } from './components/button.tsx'
import { ErrorNote } from './components/error-note.tsx'
import { Empty, Skeleton } from './components/note.tsx'
import { readActivitySearch } from './pages/activity/activity-search.ts'
import { readAgentSearch } from './pages/agents/agent-search.ts'
import { readDataSearch } from './pages/data/data-search.ts'
import { readQuerySearch } from './pages/dataset/query/query-search.ts'
import { readView } from './pages/dataset/view-address.ts'
import { readUsageSearch } from './pages/usage/usage-search.ts'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: ErrorNote })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: ({ show }: Record<string, unknown>): { show?: string } => (typeof show === 'string' ? { show } : {}),
  component: lazyRouteComponent(() => import('./pages/home/home-page.tsx'), 'HomePage'),
})

const data = createRoute({
  getParentRoute: () => shell,
  path: 'data',
  validateSearch: readDataSearch,
  component: lazyRouteComponent(() => import('./pages/data/data-page.tsx'), 'DataPage'),
})

const dataset = createRoute({
  getParentRoute: () => shell,
  path: 'data/$datasetId',
  validateSearch: readView,
  component: lazyRouteComponent(() => import('./pages/dataset/dataset-page.tsx'), 'DatasetPage'),
})
const datasetStart = createRoute({
  getParentRoute: () => dataset,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/data/$datasetId/table', params, replace: true })
  },
})
const table = createRoute({
  getParentRoute: () => dataset,
  path: 'table',
  component: lazyRouteComponent(() => import('./pages/dataset/table-tab.tsx'), 'TableTab'),
})
const query = createRoute({
  getParentRoute: () => dataset,
  path: 'query',
  validateSearch: readQuerySearch,
  component: lazyRouteComponent(() => import('./pages/dataset/query-tab.tsx'), 'QueryTab'),
})
const attributes = createRoute({
  getParentRoute: () => dataset,
  path: 'attributes',
  component: lazyRouteComponent(() => import('./pages/dataset/attributes-tab.tsx'), 'AttributesTab'),
})
const rules = createRoute({
  getParentRoute: () => dataset,
  path: 'rules',
  component: lazyRouteComponent(() => import('./pages/dataset/rules/rules-tab.tsx'), 'RulesTab'),
})
const snippets = createRoute({
  getParentRoute: () => dataset,
  path: 'snippets',
  component: lazyRouteComponent(() => import('./pages/dataset/snippets/snippets-tab.tsx'), 'SnippetsTab'),
})
const settings = createRoute({
  getParentRoute: () => dataset,
  path: 'settings',
  component: lazyRouteComponent(() => import('./pages/dataset/settings-tab.tsx'), 'SettingsTab'),
})

/** `dataset` and `base` (the id of a style, or `none`) are for a new map; `layer` is the selected one. */
function mapSearch({ dataset, base, layer }: Record<string, unknown>): {
  dataset?: string
  base?: string
  layer?: string
} {
  return {
    ...(typeof dataset === 'string' && { dataset }),
    ...(typeof base === 'string' && { base }),
    ...(typeof layer === 'string' && { layer }),
  }
}
const maps = createRoute({
  getParentRoute: () => shell,
  path: 'maps',
  validateSearch: ({
    q,
    part,
    dataset,
  }: Record<string, unknown>): { q?: string; part?: 'tiles'; dataset?: string } => ({
    ...(typeof q === 'string' && q !== '' && { q }),
    ...(part === 'tiles' && { part }),
    ...(typeof dataset === 'string' && { dataset }),
  }),
  beforeLoad: ({ search: { dataset } }) => {
    if (!dataset) return
    throw redirect({
      to: '/maps/$styleId/$tab',
      params: { styleId: 'new', tab: 'look' },
      search: { dataset },
      replace: true,
    })
  },
  component: lazyRouteComponent(() => import('./pages/maps/maps-page.tsx'), 'MapsPage'),
})
const mapStart = createRoute({
  getParentRoute: () => shell,
  path: 'maps/$styleId',
  validateSearch: mapSearch,
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: '/maps/$styleId/$tab', params: { ...params, tab: 'look' }, search, replace: true })
  },
})
const map = createRoute({
  getParentRoute: () => shell,
  path: 'maps/$styleId/$tab',
  validateSearch: mapSearch,
  component: lazyRouteComponent(() => import('./pages/maps/style-page.tsx'), 'StylePage'),
})
const tileSource = createRoute({
  getParentRoute: () => shell,
  path: 'tiles/$tileSourceId',
  validateSearch: ({ tile }: Record<string, unknown>): { tile?: string } => (typeof tile === 'string' ? { tile } : {}),
  component: lazyRouteComponent(() => import('./pages/tiles/tile-source-page.tsx'), 'TileSourcePage'),
})

const keys = createRoute({
  getParentRoute: () => shell,
  path: 'access/keys',
  validateSearch: ({ editor }: Record<string, unknown>): { editor?: 'new' } => (editor === 'new' ? { editor } : {}),
  component: lazyRouteComponent(() => import('./pages/access/keys/keys-page.tsx'), 'KeysPage'),
})
const users = createRoute({
  getParentRoute: () => shell,
  path: 'access/users',
  validateSearch: ({ q, page }: Record<string, unknown>): { q?: string; page?: number } => ({
    ...(typeof q === 'string' && q !== '' && { q }),
    ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
  }),
  component: lazyRouteComponent(() => import('./pages/access/users/users-page.tsx'), 'UsersPage'),
})
const roles = createRoute({
  getParentRoute: () => shell,
  path: 'access/roles',
  component: lazyRouteComponent(() => import('./pages/access/roles/roles-page.tsx'), 'RolesPage'),
})
const signUpRules = createRoute({
  getParentRoute: () => shell,
  path: 'access/signup',
  component: lazyRouteComponent(() => import('./pages/access/users/sign-up-page.tsx'), 'SignUpRulesPage'),
})
const providers = createRoute({
  getParentRoute: () => shell,
  path: 'access/signin',
  component: lazyRouteComponent(() => import('./pages/access/providers/providers-page.tsx'), 'ProvidersPage'),
})
const applications = createRoute({
  getParentRoute: () => shell,
  path: 'access/applications',
  component: lazyRouteComponent(() => import('./pages/access/applications-page.tsx'), 'ApplicationsPage'),
})

const agents = createRoute({
  getParentRoute: () => shell,
  path: 'agents',
  component: lazyRouteComponent(() => import('./pages/agents/agents-page.tsx'), 'AgentsPage'),
})
const agentStart = createRoute({
  getParentRoute: () => shell,
  path: 'agents/$agentId',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/agents/$agentId/$tab', params: { ...params, tab: 'playground' }, replace: true })
  },
})
const agent = createRoute({
  getParentRoute: () => shell,
  path: 'agents/$agentId/$tab',
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => import('./pages/agents/agent-page.tsx'), 'AgentPage'),
})

const databases = createRoute({
  getParentRoute: () => shell,
  path: 'databases/{-$databaseId}',
  component: lazyRouteComponent(() => import('./pages/databases/databases-page.tsx'), 'DatabasesPage'),
})
const sql = createRoute({
  getParentRoute: () => shell,
  path: 'sql/{-$queryId}',
  component: lazyRouteComponent(() => import('./pages/sql/sql-page.tsx'), 'SqlPage'),
})
const contactPoints = createRoute({
  getParentRoute: () => shell,
  path: 'contact-points/{-$contactPointId}',
  component: lazyRouteComponent(() => import('./pages/contact-points/contact-points-page.tsx'), 'ContactPointsPage'),
})
const outbox = createRoute({
  getParentRoute: () => shell,
  path: 'outbox/{-$mailId}',
  component: lazyRouteComponent(() => import('./pages/outbox/outbox-page.tsx'), 'OutboxPage'),
})
const activity = createRoute({
  getParentRoute: () => shell,
  path: 'activity',
  validateSearch: readActivitySearch,
  component: lazyRouteComponent(() => import('./pages/activity/activity-page.tsx'), 'ActivityPage'),
})
const usage = createRoute({
  getParentRoute: () => shell,
  path: 'usage/{-$applicationId}',
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
})
const configuration = createRoute({
  getParentRoute: () => shell,
  path: 'configuration',
  component: lazyRouteComponent(() => import('./pages/configuration/configuration-page.tsx'), 'ConfigurationPage'),
})

const share = createRoute({
  getParentRoute: () => root,
  path: 'share/$styleId',
  component: lazyRouteComponent(() => import('./pages/share/share-page.tsx'), 'SharePage'),
})
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: 'reset-password',
  component: lazyRouteComponent(() => import('./pages/reset-password/reset-password-page.tsx'), 'ResetPasswordPage'),
})
const confirmAddress = createRoute({
  getParentRoute: () => root,
  path: 'confirm',
  component: lazyRouteComponent(() => import('./pages/confirm/confirm-page.tsx'), 'ConfirmPage'),
})

/** Any other address, inside the frame. */
const unknown = createRoute({ getParentRoute: () => shell, path: '$', component: NotFound })

const routeTree = root.addChildren([
  shell.addChildren([
    home,
    data,
    dataset.addChildren([datasetStart, table, query, attributes, rules, snippets, settings]),
    ...[maps, mapStart, map, tileSource],
    ...[keys, users, roles, signUpRules, providers, applications],
    ...[agents, agentStart, agent],
    ...[databases, sql, contactPoints, outbox, activity, usage, configuration, unknown],
  ]),
  share,
  resetPassword,
  confirmAddress,
])

export const router = createRouter({
  routeTree,
  basepath: consolePath,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Skeleton height="100%" />,
  defaultErrorComponent: ErrorNote,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

function NotFound(): ReactElement {
  return (
    <Empty title="There is no such page" action={<LinkButton href={consolePath}>Go to the first page</LinkButton>}>
      <p>The address may be misspelt, or the page may have moved.</p>
    </Empty>
  )
}
