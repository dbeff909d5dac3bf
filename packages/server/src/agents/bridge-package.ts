/** The agent package's door for the platform, by path: the server runs from sources, of which no build is made. */
export type { Fetch, Handler, Invoke, InvokeOptions, Message, Running, Tools } from '../../../agent/src/in-process.ts'

export type BridgePackage = typeof import('../../../agent/src/in-process.ts')

/** Loads the bridges, which is done only where they are on. */
export const loadBridgePackage = (): Promise<BridgePackage> => import('../../../agent/src/in-process.ts')
