/** Types of the non-TypeScript modules that Vite handles. */
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export = classes
}
declare module '*.css'
declare module '*?worker&url' {
  const url: string
  export = url
}
