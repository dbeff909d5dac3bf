/**
 * Released migrations whose text was amended, because the documented role of PostgreSQL (`LOGIN CREATEROLE`, owner of its
 * database) could not run it, or ran less of it than a superuser. By file: the SHA-256 of its former texts, which databases and
 * backups may have recorded.
 */
export const formerChecksums: Readonly<Record<string, readonly string[]>> = {
  // Superusers closed the catalogs by these two; databases where they did stay closed, and hardening does the same elsewhere.
  '0002-data.sql': ['83f7ba732cc86423cc036c7cbc140a0f8824723a3c5520e92120e4a685c9b180'],
  '0010-closed-catalogs.sql': ['cb9c7cea755203f270a2c21841d8ed1405d994540073bbb10a55aac1ac301662'],
  // CREATE FUNCTION … SET svc.sweeps_audit needs a superuser. Brought up to date by 0035.
  '0024-audit.sql': ['182836c4d82a2d5ff866acaf2df4bfdcc98f059ebc2dd832ff2c8bdc38f59111'],
}
