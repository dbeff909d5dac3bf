/// <reference lib="dom" />
/** An EventTarget whose events are named and typed by a record from name to `detail`. */
export interface TypedEvents<Details> extends EventTarget {
  /** @internal The types of events that somebody has asked for. */
  readonly listenedTo: ReadonlySet<string>
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

class NotingTarget extends EventTarget {
  readonly listenedTo = new Set<string>()

  override addEventListener(...[type, listener, options]: Parameters<EventTarget['addEventListener']>): void {
    this.listenedTo.add(type)
    super.addEventListener(type, listener, options)
  }
}

/** A class whose details may name the type parameters of its subclass. */
export const TypedEventTarget = NotingTarget as unknown as new <Details>() => TypedEvents<Details>
