/** Getting started, for a tenant without data: upload a file, connect a database, or read the quick start. */
import { Link } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import classes from './home.module.css'

const QuickStart = lazy(() => import('./quick-start.tsx').then((module) => ({ default: module.QuickStart })))

export function GettingStarted(): ReactElement {
  const [isReading, setReading] = useState(false)
  return (
    <section aria-label="Three ways to begin" className={classes.gettingStarted}>
      <Link to="/data" search={{ add: 'file' } as never} className={classes.option}>
        <Icon name="upload" size={20} />
        <strong>Drop a file here</strong>
        <span>GeoJSON, Shapefile, GeoPackage, CSV … or click to choose one</span>
      </Link>
      <Link to="/databases/{-$databaseId}" className={classes.option}>
        <Icon name="database" size={20} />
        <strong>Connect a database</strong>
        <span>PostGIS tables become datasets and maps</span>
      </Link>
      <button type="button" className={classes.option} onClick={() => setReading(true)}>
        <Icon name="book" size={20} />
        <strong>Read the quick start</strong>
        <span>From a file to a map in four commands</span>
      </button>
      <Suspense>{isReading && <QuickStart onClose={() => setReading(false)} />}</Suspense>
    </section>
  )
}
