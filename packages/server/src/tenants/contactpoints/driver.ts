import type { TObject } from 'typebox'
import type { Message } from './message.ts'

/** The delivery that a message is sent for. The id stays the same however often it is tried. */
export type Delivery = { readonly id: string; readonly acceptedAt: Date; readonly now: Date }

export type RenderedMessage =
  | {
      readonly kind: 'http'
      readonly url: string
      readonly method: string
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | {
      readonly kind: 'mail'
      readonly to: readonly string[]
      readonly subject: string
      readonly text: string
      readonly html: string
    }

/** What the body of the answer says beyond the status. */
export type Verdict = { readonly error?: string; readonly isFinal?: boolean; readonly retryAfterSeconds?: number }

export type Settings = Readonly<Record<string, unknown>>

/** A driver: one type of contact point. */
export type ContactPointDriver = {
  /** All the settings, the secret ones included. */
  readonly settings: TObject
  /** The names of secret settings, which are never returned. */
  readonly secretFields: readonly string[]
  /** A secret that is sent to the address in another field must be given again when that changes. */
  readonly boundTo?: Readonly<Record<string, string>>
  /** Checks beyond the schema. Throws a 400. */
  check?(settings: Settings): void
  /** Whether this message can be sent to this point. Throws a 400. */
  checkMessage?(message: Message, settings: Settings): void
  render(message: Message, settings: Settings, delivery: Delivery): RenderedMessage
  judge?(answer: unknown): Verdict
}

/** A POST of JSON, which is what nearly all services take. */
export const postJson = (url: string, body: unknown, headers: Record<string, string> = {}): RenderedMessage => ({
  kind: 'http',
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
})
