/** The visible tiles as a list, for keyboards and screen readers. */
import { type ReactElement, useSyncExternalStore } from 'react'
import { layout } from '../../components/page.tsx'
import { formatBytes, formatMs } from '../../format.ts'
import { type TileAddress, tileKey } from './tile-pyramid.ts'
import type { TileRecorder } from './tile-recorder.ts'
import classes from './tiles.module.css'

const maxListed = 12

export interface TilesInViewProps {
  tiles: readonly TileAddress[]
  recorder: TileRecorder
  onSelect(tile: TileAddress): void
}

export function TilesInView({ tiles, recorder, onSelect }: TilesInViewProps): ReactElement {
  useSyncExternalStore(recorder.subscribe, recorder.getCount)
  const unique = [...new Map(tiles.map((tile) => [tileKey(tile), tile])).entries()]
  const size = (key: string) => recorder.get(key)?.sentBytes ?? 0
  const listed = unique.sort(([one], [other]) => size(other) - size(one)).slice(0, maxListed)
  return (
    <section className={layout.section} aria-labelledby="tiles-in-view">
      <h2 id="tiles-in-view">Tiles in view</h2>
      {unique.length === 0 && <p className={classes.quiet}>This source has no tiles at this zoom. Zoom in.</p>}
      {unique.length > 0 && (
        <table className={layout.list}>
          <thead>
            <tr>
              <th scope="col">Tile</th>
              <th scope="col" data-align="end">
                Size
              </th>
              <th scope="col" data-align="end">
                Time
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.map(([key, tile]) => {
              const measure = recorder.get(key)
              return (
                <tr key={key}>
                  <td>
                    <button type="button" className={classes.link} onClick={() => onSelect(tile)}>
                      {key}
                    </button>
                  </td>
                  <td data-align="end">{measure ? formatBytes(measure.sentBytes) : '–'}</td>
                  <td data-align="end">{measure ? formatMs(measure.ms) : '–'}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      {unique.length > maxListed && <p className={classes.quiet}>{`The ${maxListed} largest of ${unique.length}.`}</p>}
    </section>
  )
}
