/** Message bus between the replicas of an installation. Messages are JSON; those from one replica keep their order. */
export type Bus = {
  /** The id of this replica. */
  readonly id: string
  /** Sends to one replica and waits for its receipt. False when there is none. */
  send(to: string, message: object): Promise<boolean>
  /** Sends to one replica without waiting for a receipt. */
  post(to: string, message: object): void
  /** Sends to all other replicas. */
  broadcast(message: object): void
  /** False while the way to the other replicas is broken. */
  isConnected(): boolean
  /** Sets the one listener. */
  listen(listener: (message: unknown, from: string) => void): void
  close(): Promise<void>
}
