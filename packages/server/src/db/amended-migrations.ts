/**
 * Released migrations whose text was amended, because the documented role of PostgreSQL (`LOGIN CREATEROLE`, owner of its
 * database) could not run it. By file: the SHA-256 of its former texts, which databases and backups may have recorded. A later
 * migration brings what the former text made to the state of the new one.
 */
export const formerChecksums: Readonly<Record<string, readonly string[]>> = {
  // CREATE FUNCTION … SET svc.sweeps_audit needs a superuser. Brought up to date by 0035.
  '0024-audit.sql': ['182836c4d82a2d5ff866acaf2df4bfdcc98f059ebc2dd832ff2c8bdc38f59111'],
}
