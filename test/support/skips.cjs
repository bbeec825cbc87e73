// What a run may leave out, and why: any other skipped test fails it.

/**
 * A skipped test has the title `skipped: REASON`; its REASON fits one of these.
 * `install`: the command that brings what is missing, where there is one.
 */
const ALLOWED_SKIPS = [
  { name: 'PostgreSQL', reason: /PostgreSQL/, install: 'apt-get install -y postgresql' },
  { name: 'Chromium', reason: /Chromium/, install: 'apt-get install -y chromium' },
  { name: 'Firefox', reason: /Firefox/, install: 'apt-get install -y firefox-esr' },
  {
    name: 'WebKit',
    reason: /WebKit/,
    install: 'apt-get install -y webkit2gtk-driver xvfb',
  },
  { name: 'nginx', reason: /nginx/, install: 'apt-get install -y nginx-light' },
  { name: 'HAProxy', reason: /HAProxy/, install: 'apt-get install -y haproxy' },
  { name: 'Caddy', reason: /Caddy/i, install: 'apt-get install -y caddy' },
  { name: 'PgBouncer', reason: /PgBouncer/, install: 'apt-get install -y pgbouncer' },
  { name: 'promtool', reason: /promtool/, install: 'apt-get install -y prometheus' },
  {
    name: 'Python with PyJWT, cryptography and Flask',
    reason: /Python 3/,
    install: 'apt-get install -y python3-jwt python3-cryptography python3-flask',
  },
  { name: 'the public test vectors', reason: /the test vectors of [\w-]+ are not in/ },
  { name: 'the right to mount a small file system', reason: /may not mount/ },
  { name: 'a second account to run a command as', reason: /only root can/ },
  { name: 'what only a whole series does', reason: /by `npm run (test:long -- \w+|fuzz -- --minutes N)`/ },
  { name: 'the tools of another language', reason: /is not on this machine|could not (prepare|fetch)/ },
];

/** The row that allows a skipped test by its whole name; undefined where none does. */
function allowedSkip(fullName) {
  const reason = /skipped: (.+)$/s.exec(fullName)?.[1];
  return reason && ALLOWED_SKIPS.find((row) => row.reason.test(reason));
}

module.exports = { ALLOWED_SKIPS, allowedSkip };
