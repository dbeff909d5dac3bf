import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// biome-ignore lint/style/noDefaultExport: Vite asks for it
export default defineConfig({ plugins: [react()] })
