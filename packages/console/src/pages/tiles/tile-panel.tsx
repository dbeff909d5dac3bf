/** The details of a tile: size, contents, timing of each stage, and query plan. */
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { IconButton } from '../../components/button.tsx'
import { CodeBlock, Copyable } from '../../components/copyable.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Note, Skeleton } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatBytes, formatMs, formatNumber } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { Bars } from './bars.tsx'
import { PlanTree } from './plan-tree.tsx'
import { type TileLayer, tileContents } from './tile-contents.ts'
import { compressionOf, featuresText, readExplanation, type TileExplanation } from './tile-explanation.ts'
import { type TileAddress, tileKey } from './tile-pyramid.ts'
import type { TileMeasure } from './tile-recorder.ts'
import { builtIn, extensionOf, isVector, type TileJson } from './tile-set.ts'
import classes from './tiles.module.css'

export interface TilePanelProps {
  id: string
  tile: TileAddress
  tileJson: TileJson
  measure: TileMeasure | undefined
  onClose(): void
}

export function TilePanel({ id, tile, tileJson, measure, onClose }: TilePanelProps): ReactElement {
  const client = useClient()
  const at = { ...tile, ext: extensionOf(tileJson) }
  const explanation = useQuery({
    queryKey: queryKeys.tilesources.one(id, 'explain', tileKey(tile)),
    queryFn: async ({ signal }) => readExplanation(await client.tiles.get(id, at, { explain: true, signal })),
    enabled: id !== builtIn,
  })
  const contents = useQuery({
    queryKey: queryKeys.tilesources.one(id, 'tile', tileKey(tile)),
    queryFn: async ({ signal }) => tileContents((await client.tiles.get(id, at, { signal })) ?? new ArrayBuffer(0)),
    enabled: isVector(tileJson),
  })
  return (
    <section aria-label={`Tile ${tileKey(tile)}`} className={layout.section}>
      <div className={classes.panelHead}>
        <h2>Tile {tileKey(tile)}</h2>
        <IconButton icon="close" label="Close the tile" onClick={onClose} />
      </div>
      <Copyable text={client.tiles.tileUrl(id, at)} label="address of the tile" />
      <Sizes measure={measure} explanation={explanation.data} />
      {explanation.error && <ErrorNote error={explanation.error} onRetry={() => void explanation.refetch()} />}
      {explanation.isLoading && <Skeleton height={96} />}
      {explanation.data && <Explained explanation={explanation.data} />}
      {contents.error && <ErrorNote error={contents.error} onRetry={() => void contents.refetch()} />}
      {contents.data && <Contents layers={contents.data} isExplained={hasBytes(explanation.data)} />}
      {explanation.data && <HowMade explanation={explanation.data} />}
    </section>
  )
}

/** With a decimal for short times, because encoding takes less than a millisecond. */
const stageText = (ms: number): string => (ms < 10 ? `${formatNumber(Math.round(ms * 10) / 10)} ms` : formatMs(ms))

const hasBytes = (explanation: TileExplanation | undefined): boolean => explanation?.bytesPerAttribute !== undefined

interface SizesProps {
  measure: TileMeasure | undefined
  explanation: TileExplanation | undefined
}

function Sizes({ measure, explanation }: SizesProps): ReactElement {
  const compression = compressionOf(explanation)
  const raw = explanation?.bytes?.tile ?? measure?.bytes
  const facts = [
    raw !== undefined && `${formatBytes(raw)} raw`,
    compression && `${formatBytes(compression.bytes)} ${compression.name}`,
    !compression && measure && `${formatBytes(measure.sentBytes)} sent`,
    featuresText(explanation?.features ?? measure?.features),
    explanation && `cache ${explanation.cache}`,
    explanation?.skipped ? `${formatNumber(explanation.skipped)} rows left out` : false,
  ]
  return <p className={classes.sizes}>{facts.filter(Boolean).join(' · ')}</p>
}

interface ExplainedProps {
  explanation: TileExplanation
}

function Explained({ explanation }: ExplainedProps): ReactElement {
  const { milliseconds, bytesPerAttribute, hints = [] } = explanation
  return (
    <>
      {hints.map((hint) => (
        <Note key={hint} kind="warn">
          {hint}
        </Note>
      ))}
      {milliseconds && <Bars title="Time by stage" values={Object.entries(milliseconds)} format={stageText} />}
      {bytesPerAttribute && (
        <Bars title="Bytes by attribute" values={Object.entries(bytesPerAttribute)} format={formatBytes} isSorted />
      )}
    </>
  )
}

interface ContentsProps {
  layers: readonly TileLayer[]
  isExplained: boolean
}

function Contents({ layers, isExplained }: ContentsProps): ReactElement {
  if (layers.length === 0) return <p className={classes.quiet}>The tile is empty.</p>
  return (
    <>
      {layers.map(({ name, features, kinds, attributes, sample }) => (
        <div key={name} className={layout.section}>
          <h3>
            Layer {name}: {formatNumber(features)} {kinds.join(' and ')}
          </h3>
          {!isExplained && (
            <Bars
              title="Bytes by attribute"
              values={attributes.map(({ name: attribute, bytes }) => [attribute, bytes])}
              format={formatBytes}
            />
          )}
          <details>
            <summary>{`The first ${sample.length} features`}</summary>
            <CodeBlock
              text={sample.map((properties) => JSON.stringify(properties)).join('\n')}
              label="first features"
            />
          </details>
        </div>
      ))}
    </>
  )
}

interface HowMadeProps {
  explanation: TileExplanation
}

function HowMade({ explanation: { sql, plan, stored } }: HowMadeProps): ReactElement {
  return (
    <>
      {plan && (
        <details>
          <summary>Plan</summary>
          <PlanTree node={plan} />
        </details>
      )}
      {sql && (
        <details>
          <summary>SQL</summary>
          <CodeBlock text={sql} label="SQL" />
        </details>
      )}
      {stored !== undefined && (
        <details>
          <summary>Archive</summary>
          <CodeBlock text={JSON.stringify(stored, null, 2)} label="archive" />
        </details>
      )}
    </>
  )
}
