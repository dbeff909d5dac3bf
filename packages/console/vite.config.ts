/**
 * How the console is built. Addresses are relative to the files themselves, so that it works behind a proxy that adds a
 * path; MapLibre, CodeMirror and React have chunks of their own, so that a change of a page rewrites only small files.
 */
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const chunks = [
  { name: 'maplibre', test: /node_modules[\\/](maplibre-gl|@maplibre[\\/](?!maplibre-gl-style-spec))/ },
  { name: 'codemirror', test: /node_modules[\\/](@codemirror|@lezer|style-mod|crelt|w3c-keyname)/ },
  {
    name: 'react',
    test: /node_modules[\\/](react|react-dom|scheduler|@tanstack[\\/](react-query|query-core|react-router|router-core|history|react-store|store))[\\/]/,
  },
]

// biome-ignore lint/style/noDefaultExport: Vite asks for it
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  resolve: { conditions: ['graticule-source', 'module', 'browser', 'production'] },
  worker: { format: 'es' },
  build: {
    outDir: resolve(import.meta.dirname, 'built'),
    emptyOutDir: true,
    target: 'es2023',
    // Style sheets may not hold data: addresses of scripts, and small files are cheap.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: chunks } } },
  },
})
