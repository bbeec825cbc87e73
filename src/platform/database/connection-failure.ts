// Says in words why a connection to PostgreSQL failed.

/** By SQLSTATE, or by the code of the system. */
const WORDS: Readonly<Record<string, string>> = {
  '28P01': 'wrong password, or no such role',
  '28000': 'no such role, or pg_hba.conf does not let it connect',
  '3D000': 'no such database',
  '42501': 'the role has no right to use the database',
  '53300': 'the server has no connection left',
  '57P03': 'the server is starting or stopping',
  ECONNREFUSED: 'connection refused: no server listens at this address',
  ECONNRESET: 'the server closed the connection',
  ENOENT: 'no server has this socket',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host cannot be resolved',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/** One line without any part of the URL: words where the code is known, and the code in parentheses. */
export function connectionFailure(cause: unknown): string {
  const { code, name } = cause as { code?: unknown; name?: unknown };
  const known = String(code ?? name);
  const words = Object.hasOwn(WORDS, known) ? WORDS[known] : undefined;
  return words === undefined ? known : `${words} (${known})`;
}
