// Counts what exchanges have left in a server's database.

export async function writtenRows({ postgres }, { database }) {
  const [rows] = await postgres.query(
    database,
    `SELECT (SELECT count(*) FROM used_jti)::int AS "usedTokens",
       (SELECT count(*) FROM audit_event WHERE name = 'svc.audit.token-exchange.succeeded')::int AS successes,
       (SELECT count(*) FROM audit_event WHERE name = 'svc.audit.token-exchange.failed')::int AS failures`,
  );
  return rows;
}
