-- Run once by the image of PostgreSQL, as its superuser: creates the role and the database of the service.
\getenv password POSTGRES_PASSWORD
CREATE ROLE svc LOGIN PASSWORD :'password';
CREATE DATABASE svc OWNER svc;
-- The service knows this password. The superuser connects inside the container only, without one.
ALTER ROLE postgres PASSWORD NULL;
