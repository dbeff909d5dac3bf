/** The agent package, imported by path because the server runs from sources without a build. */
export type {
  Fetch,
  Handler,
  Invoke,
  InvokeOptions,
  Message,
  RunningInvocation,
  Tools,
} from '../../../../agent/src/in-process.ts'

export type BridgePackage = typeof import('../../../../agent/src/in-process.ts')

/** Loaded lazily: only installations with bridges need it. */
export const loadBridgePackage = (): Promise<BridgePackage> => import('../../../../agent/src/in-process.ts')
