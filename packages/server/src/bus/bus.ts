/** How replicas of one installation talk to each other. Messages are JSON; those from one replica keep their order. */
export type Bus = {
  /** The name of this replica. */
  readonly id: string
  /** To one replica. False when it is not there. */
  send(to: string, message: object): Promise<boolean>
  /** The same, for those who do not care whether it arrives. */
  post(to: string, message: object): void
  /** To all other replicas. */
  broadcast(message: object): void
  /** Hears what others say; there is one listener. */
  listen(hear: (message: unknown, from: string) => void): void
  close(): Promise<void>
}
