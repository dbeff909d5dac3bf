/// <reference lib="dom" />
/** A slider over the time of a dataset, with a button that plays it. Each step is a bin of the server's histogram: a day, a month, a year. */
import type { ControlPosition, IControl } from 'maplibre-gl'
import type { GraticuleMap } from '../graticule-map.ts'
import type { TimeStep } from '../recipe/recipe.ts'
import { controlColours } from './control-colours.ts'

export interface TimeControlOptions {
  /** The id of the data source whose rows it shows, or of several, the first of which gives the steps. */
  source: string | readonly string[]
  /** The attribute with the time. @defaultValue the first date or datetime of the dataset; the server takes `metadata.time` */
  attribute?: string
  /** At most so many steps. @defaultValue 60 */
  steps?: number
  /** `step`: the rows of a step alone; `until`: all rows until its end. @defaultValue `step` */
  show?: 'step' | 'until'
  /** How long a step is shown while it plays, at least, in milliseconds. @defaultValue 1000 */
  stepMs?: number
  /** @defaultValue `bottom-left` */
  position?: ControlPosition
  /** Of dates. @defaultValue the reader's */
  locale?: string
}

/** What the control shows the time of. */
export interface TimeSubject {
  steps(): Promise<readonly TimeStep[]>
  /** Shows a period, or all times. */
  show(period: ShownPeriod | null): void
  fail(error: Error): void
}

/** `from` is undefined where it has no beginning; `to` is the moment behind its end. */
export interface ShownPeriod {
  readonly from: string | undefined
  readonly to: string
}

const usualStepMs = 1_000
const heightOfBars = 28

export class TimeControl implements IControl {
  readonly #map: GraticuleMap
  readonly #options: Omit<TimeControlOptions, 'source'>
  readonly #subject: TimeSubject
  readonly #box = document.createElement('section')
  readonly #bars = document.createElement('div')
  readonly #play = document.createElement('button')
  readonly #slider = document.createElement('input')
  readonly #label = document.createElement('output')
  #steps: readonly TimeStep[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #isPlaying = false
  readonly #paint = () => this.#map.whenStyled((_, theme) => Object.assign(this.#box.style, controlColours[theme]))

  constructor(map: GraticuleMap, options: Omit<TimeControlOptions, 'source'>, subject: TimeSubject) {
    this.#map = map
    this.#options = options
    this.#subject = subject
    this.#build()
  }

  onAdd(): HTMLElement {
    this.#map.gl.on('style.load', this.#paint)
    this.#paint()
    void this.#load().catch((error) => this.#fail(error))
    return this.#box
  }

  onRemove(): void {
    this.#map.gl.off('style.load', this.#paint)
    this.pause()
    this.#subject.show(null)
    this.#box.remove()
  }

  /** Shows a step, counted from 1; 0 shows all times. */
  show(step: number): void {
    this.#slider.value = String(step)
    this.#shown()
  }

  /** From the beginning if it is at the end. */
  play(): void {
    if (this.#isPlaying || this.#steps.length === 0) return
    this.#setPlaying(true)
    this.#next()
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#setPlaying(false)
  }

  #build(): void {
    const box = this.#box
    box.className = 'maplibregl-ctrl maplibregl-ctrl-group graticule-time'
    box.setAttribute('aria-label', 'Time')
    Object.assign(box.style, styles.box)
    Object.assign(this.#bars.style, styles.bars)
    this.#bars.setAttribute('aria-hidden', 'true')
    const row = document.createElement('div')
    Object.assign(row.style, styles.row)
    const play = this.#play
    play.type = 'button'
    Object.assign(play.style, styles.button)
    play.addEventListener('click', () => (this.#isPlaying ? this.pause() : this.play()))
    const slider = this.#slider
    Object.assign(slider, { type: 'range', min: '0', max: '0', step: '1', value: '0' })
    slider.setAttribute('aria-label', 'Time')
    Object.assign(slider.style, { flex: '1', minWidth: '0' })
    slider.addEventListener('input', () => {
      this.pause()
      this.#shown()
    })
    Object.assign(this.#label.style, { display: 'block' })
    row.append(play, slider)
    box.append(this.#label, this.#bars, row)
    this.#setPlaying(false)
  }

  async #load(): Promise<void> {
    this.#steps = await this.#subject.steps()
    this.#slider.max = String(this.#steps.length)
    this.#drawBars()
    this.#shown()
  }

  #drawBars(): void {
    const most = Math.max(...this.#steps.map(({ count }) => count), 1)
    const bars = this.#steps.map(({ count }) => {
      const bar = document.createElement('span')
      Object.assign(bar.style, { flex: '1', background: 'currentColor', height: `${(heightOfBars * count) / most}px` })
      return bar
    })
    this.#bars.replaceChildren(...bars)
  }

  #shown(): void {
    const at = Number(this.#slider.value)
    const step = this.#steps[at - 1]
    const isUntil = this.#options.show === 'until'
    const text = step ? `${isUntil ? 'Until ' : ''}${this.#textOf(step)}` : 'All times'
    this.#label.textContent = text
    this.#slider.setAttribute('aria-valuetext', text)
    for (const [index, bar] of [...this.#bars.children].entries()) {
      const isIn = at === 0 || index === at - 1 || (isUntil && index < at)
      ;(bar as HTMLElement).style.opacity = isIn ? '0.8' : '0.25'
    }
    this.#subject.show(step ? { from: isUntil ? undefined : step.from, to: step.to } : null)
  }

  #textOf({ from, to }: TimeStep): string {
    const format = new Intl.DateTimeFormat(this.#options.locale, {
      timeZone: 'UTC',
      dateStyle: 'medium',
      ...(isWithinDay(from, to) && { timeStyle: 'short' }),
    })
    return format.formatRange(new Date(from), new Date(lastOf(to)))
  }

  #next(): void {
    const { length } = this.#steps
    const at = Number(this.#slider.value)
    this.show(at >= length ? 1 : at + 1)
    const { stepMs = usualStepMs } = this.#options
    const isLast = Number(this.#slider.value) === length
    this.#timer = setTimeout(() => {
      if (isLast) this.pause()
      // Tiles that are slower than the steps are waited for.
      else if (this.#map.gl.areTilesLoaded()) this.#next()
      else this.#map.gl.once('idle', () => this.#isPlaying && this.#next())
    }, stepMs)
  }

  #setPlaying(isPlaying: boolean): void {
    this.#isPlaying = isPlaying
    this.#play.textContent = isPlaying ? '❚❚' : '►'
    this.#play.setAttribute('aria-label', isPlaying ? 'Pause' : 'Play')
  }

  #fail(cause: unknown): void {
    const message = cause instanceof Error ? cause.message : String(cause)
    this.#label.textContent = 'No times'
    this.#subject.fail(new Error(`Time control: ${message}`, { cause }))
  }
}

/** The last moment before the end: periods of the server include their ends. */
export const lastOf = (to: string): string => new Date(Date.parse(to) - 1).toISOString()

const dayMs = 86_400_000
const isWithinDay = (from: string, to: string): boolean => Date.parse(to) - Date.parse(from) < dayMs

const styles = {
  box: {
    padding: '8px 12px',
    width: '300px',
    maxWidth: 'calc(100vw - 60px)',
    boxSizing: 'border-box',
    font: '12px/1.5 system-ui, sans-serif',
  },
  bars: { display: 'flex', alignItems: 'flex-end', gap: '1px', height: `${heightOfBars}px`, margin: '2px 0 0 38px' },
  row: { display: 'flex', alignItems: 'center', gap: '8px' },
  button: {
    width: '30px',
    height: '30px',
    flex: 'none',
    color: 'inherit',
    background: 'transparent',
    borderRadius: '4px',
  },
} as const satisfies Readonly<Record<string, Partial<CSSStyleDeclaration>>>
