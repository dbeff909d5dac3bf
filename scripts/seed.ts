// Loaded before each test file: what fast-check draws follows from TEST_SEED.
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.TEST_SEED) })
