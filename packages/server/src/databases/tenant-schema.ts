/** The schema of an application's own data, which its role is called as well: `svc.tenant_name` in SQL. */
export const tenantSchema = (applicationId: string): string => `app_${applicationId.replaceAll('-', '')}`
