/** The schema of an application's own data, which its role is called as well: `svc.tenant_name` in SQL. */
export const tenantSchema = (applicationId: string): string => `app_${applicationId.replaceAll('-', '')}`

/**
 * How the names of overviews begin, which are in that schema. They hold rows of datasets, also of those on other servers, which
 * not every key of the application may read.
 */
export const overviewPrefix = 'svc_ov_'
