// npm run pack [-- FOLDER]: puts the tarballs of the packages that are published into FOLDER, dist/ by default.
import { makeTarballs } from './tarballs.ts'

const [folder = 'dist'] = process.argv.slice(2)
for (const tarball of Object.values(await makeTarballs(folder))) console.log(tarball)
