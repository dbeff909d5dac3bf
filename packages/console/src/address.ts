/** The URLs of the console and its server, derived from this script's URL, because a proxy may add a path prefix. */
const built = new URL(/* @vite-ignore */ '../', import.meta.url)

/** `/console/`, after the proxy's path prefix, if any. */
export const consolePath: string = built.pathname
/** The server's URL, with a trailing slash. */
export const serverUrl: string = new URL('../', built).href
/** The absolute URL of a page of the console. */
export const consoleUrl = (path: string): string => new URL(path.replace(/^\//, ''), built).href
/** The absolute URL of a path of the server, such as `api/docs`. */
export const serverAddress = (path: string): string => new URL(path.replace(/^\//, ''), serverUrl).href
