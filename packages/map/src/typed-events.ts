/// <reference lib="dom" />
/** An EventTarget whose events are named and typed by a record from name to `detail`. */
export interface TypedEvents<Details> extends EventTarget {
  addEventListener<Name extends keyof Details & string>(
    type: Name,
    listener: (event: CustomEvent<Details[Name]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void
  removeEventListener<Name extends keyof Details & string>(
    type: Name,
    listener: (event: CustomEvent<Details[Name]>) => void,
    options?: boolean | EventListenerOptions,
  ): void
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions,
  ): void
}

export const typedEvents = <Details>() => EventTarget as new () => TypedEvents<Details>
