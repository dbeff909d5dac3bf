// What other programs read in the file of an export: GDAL, GeoPandas (by Fiona, and by pyogrio where it is installed), pandas
// with openpyxl, and DuckDB. They must not complain.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { duckdbRows } from '../../../driver-duckdb/testing/read-parquet.ts'
import { type ExportedGeometry, gdalFeatures } from './exports.ts'

export type Bounds = readonly [west: number, south: number, east: number, north: number]

/** Undefined where a reader does not tell it. */
export type PeerReading = {
  readonly rows: number
  readonly columns?: readonly string[]
  /** Null where no row has a geometry with a place. */
  readonly bounds?: Bounds | null
}

/** West, south, east and north of all positions. */
export function boundsOf(geometries: readonly (ExportedGeometry | null | undefined)[]): Bounds | null {
  let bounds: Bounds | null = null
  const add = (value: unknown): void => {
    if (!Array.isArray(value)) return
    const [x, y] = value
    if (typeof x !== 'number') {
      for (const part of value) add(part)
      return
    }
    const [west, south, east, north] = bounds ?? [x, y, x, y]
    bounds = [Math.min(west, x), Math.min(south, y), Math.max(east, x), Math.max(north, y)]
  }
  const addGeometry = (geometry: ExportedGeometry | null | undefined): void => {
    add(geometry?.coordinates)
    geometry?.geometries?.forEach(addGeometry)
  }
  geometries.forEach(addGeometry)
  return bounds
}

export async function readByGdal(path: string): Promise<PeerReading> {
  const features = await gdalFeatures(path)
  const bounds = boundsOf(features.map(({ geometry }) => geometry))
  const [first] = features
  const columns = first && [...('id' in first ? ['id'] : []), ...Object.keys(first.properties)]
  return { rows: features.length, bounds, ...(columns && { columns }) }
}

export async function readByDuckdb(source: string): Promise<PeerReading> {
  const columns = await duckdbRows(`SELECT column_name AS name FROM (DESCRIBE SELECT * FROM ${source})`)
  const [counted] = await duckdbRows(`SELECT count(*) AS rows FROM (SELECT * FROM ${source})`)
  return { rows: Number(counted?.rows), columns: columns.map(({ name }) => String(name)) }
}

/** Debian's, which has the libraries. */
const python = '/usr/bin/python3'

/** Reads a file for each line of its input, which names the reader and the file. */
const readFiles = `
import json, sys, warnings
import geopandas, pandas
try:
    import pyogrio
except ImportError:
    pyogrio = None

def reading(frames):
    boxes = [shape.bounds for frame in frames if isinstance(frame, geopandas.GeoDataFrame)
             for shape in frame.geometry if shape is not None and not shape.is_empty]
    edges = list(zip(*boxes))
    bounds = edges and [min(edges[0]), min(edges[1]), max(edges[2]), max(edges[3])] or None
    columns = [str(name) for name in frames[0].columns if name != "geometry"]
    return {"rows": sum(len(frame) for frame in frames), "columns": columns, "bounds": bounds}

def by_fiona(path):
    import fiona
    return reading([geopandas.read_file(path, layer=layer, engine="fiona") for layer in fiona.listlayers(path)])

def by_pyogrio(path):
    if pyogrio is None:
        return None
    layers = pyogrio.list_layers(path)
    return reading([pyogrio.read_dataframe(path, layer=name) for name, _ in layers])

def as_table(frame):
    return {"rows": len(frame), "columns": [str(name) for name in frame.columns]}

readers = {
    "fiona": by_fiona,
    "pyogrio": by_pyogrio,
    "excel": lambda path: as_table(pandas.read_excel(path)),
    "csv": lambda path: as_table(pandas.read_csv(path)),
    "json": lambda path: as_table(pandas.read_json(path)),
}

def read(reader, path):
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        try:
            result = readers[reader](path)
        except Exception as error:
            return {"complaints": [repr(error)]}
        # Shapely has no measures.
        told = [str(one.message) for one in complaints if not str(one.message).startswith("Measured (M) geometry")]
        return {"reading": result, "complaints": told}

for line in sys.stdin:
    print(json.dumps(read(*json.loads(line))), flush=True)`

export type PythonReader = 'fiona' | 'pyogrio' | 'excel' | 'csv' | 'json'

/** `reading` is null where the reader is not installed. */
type PythonAnswer = { readonly reading?: PeerReading | null; readonly complaints: readonly string[] }

/** One process for all files, because it takes seconds to load the libraries. It reads one file after the other. */
export function startPythonReaders() {
  const child = spawn(python, ['-c', readFiles], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    /** Throws what the reader complains of. Undefined where it is not installed. */
    async read(reader: PythonReader, path: string): Promise<PeerReading | undefined> {
      child.stdin.write(`${JSON.stringify([reader, path])}\n`)
      const { done, value } = await lines.next()
      if (done) throw new Error('Python ended.')
      const { reading, complaints }: PythonAnswer = JSON.parse(value)
      if (complaints.length > 0) throw new Error(complaints.join('; '))
      return reading ?? undefined
    },
    close: () => child.stdin.end(),
  }
}
