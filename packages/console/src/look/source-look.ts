/** The options of a data source that draw a look. */
import type { DataSourceProps } from '@graticule/map/react'
import type { DatasetLook } from './telling-attribute.ts'

export type SourceLook = Pick<DataSourceProps, 'colorBy' | 'sizeBy' | 'heat'>

export const sourceLook = ({ colour, size, isHeat }: DatasetLook): SourceLook => {
  if (isHeat) return { heat: true }
  return { ...(colour !== null && { colorBy: colour }), ...(size !== null && { sizeBy: size }) }
}
