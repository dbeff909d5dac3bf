-- Closed the catalogs to tenants' roles where a superuser ran it. That is a step of its own now: npm start -- hardening (db/hardening.ts).
SELECT;
