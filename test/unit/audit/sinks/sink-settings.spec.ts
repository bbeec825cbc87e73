// Which variables make which sinks, and what does not fit together.
import { auditProblems, sinkSettings } from '../../../../src/audit/sinks/sink-settings.js';
import { readConfig } from '../../../../src/config/load-config.js';

const SECRET = 'marker-5150-of-thirty-two-characters';
const URL = 'https://siem.example/marker-5150';

const WEBHOOK = 'SVC_AUDIT_WEBHOOK_';
/** A webhook with some other settings, by the ends of their names. */
const webhook = (others: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ URL, SECRET, ...others }).map(([name, value]) => [WEBHOOK + name, value ?? '']),
  );

const read = (environment: Record<string, string>) => {
  const { config, problems, given } = readConfig([environment]);
  return { settings: sinkSettings(config), problems: [...problems, ...auditProblems(config, given)] };
};

it('[D87] without variables there is no sink', () => {
  const { settings, problems } = read({});
  expect(settings).toEqual({ standardOutput: false });
  expect(problems).toEqual([]);
});

it('[D87] each kind of sink has an address', () => {
  const { settings, problems } = read({
    SVC_AUDIT_WEBHOOK_URL: URL,
    SVC_AUDIT_WEBHOOK_SECRET: `${SECRET}, ${SECRET}2`,
    SVC_AUDIT_WEBHOOK_HEADERS: 'Authorization: Splunk 1: 2\r\n\nX-Scope-OrgID:\ttenant \n',
    SVC_AUDIT_SYSLOG_URL: 'tls://[::1]:6514',
    SVC_AUDIT_STDOUT: 'true',
  });
  expect(problems).toEqual([]);
  expect(settings).toEqual({
    webhook: {
      url: URL,
      secrets: [SECRET, `${SECRET}2`],
      headers: [
        ['authorization', 'Splunk 1: 2'],
        ['x-scope-orgid', 'tenant'],
      ],
      allowHttp: false,
      allowPrivate: [],
    },
    syslog: { host: '::1', port: 6514, useTls: true },
    standardOutput: true,
  });
});

it.each<[string, Record<string, string>, string]>([
  ['no secret', { SVC_AUDIT_WEBHOOK_URL: URL }, 'SVC_AUDIT_WEBHOOK_SECRET: is required'],
  ['no address', { SVC_AUDIT_WEBHOOK_SECRET: SECRET }, 'SVC_AUDIT_WEBHOOK_URL: is required'],
  [
    'a short secret',
    webhook({ SECRET: 'marker-5150' }),
    `${WEBHOOK}SECRET: member 1 has fewer than 32 characters`,
  ],
  ['headers without an address', { [`${WEBHOOK}HEADERS`]: 'x: marker-5150' }, `${WEBHOOK}URL: is required`],
  ...[
    ['no colon', 'Bearer marker-5150', 'line 1 must be `Name: value`'],
    ['a character that is not ASCII', 'a: märker-5150', 'line 1 has a character that'],
    [
      'a header of the service',
      'a: b\n\nX-Audit-Signature: marker-5150',
      'line 3 sets x-audit-signature, which',
    ],
    ['a header twice', 'a: marker-5150\nA: b', 'has a header twice'],
  ].map(([name, HEADERS, problem]): [string, Record<string, string>, string] => [
    `headers with ${name}`,
    webhook({ HEADERS }),
    `${WEBHOOK}HEADERS: ${problem}`,
  ]),
  ...[
    ['plain HTTP', 'http://marker-5150.example', 'must be an https:// URL, unless'],
    ['a user name in the address', 'https://marker-5150@siem.example', 'must have no user name'],
  ].map(([name, URL, problem]): [string, Record<string, string>, string] => [
    String(name),
    webhook({ URL }),
    `${WEBHOOK}URL: ${problem}`,
  ]),
  ['no port', { SVC_AUDIT_SYSLOG_URL: 'tls://marker-5150' }, 'SVC_AUDIT_SYSLOG_URL: must be tls://'],
  [
    'the path of a certificate',
    { SVC_AUDIT_SYSLOG_URL: 'tls://siem.example:6514', SVC_AUDIT_SYSLOG_CA: '/etc/ssl/marker-5150.pem' },
    'SVC_AUDIT_SYSLOG_CA: must be PEM certificates; did you mean SVC_AUDIT_SYSLOG_CA_FILE, with this path?',
  ],
  ['a most without a least', { SVC_AUDIT_MAX_DAYS: '5' }, 'SVC_AUDIT_RETENTION_DAYS: is required'],
  [
    'a most below the least',
    { SVC_AUDIT_MAX_DAYS: '5', SVC_AUDIT_RETENTION_DAYS: '6' },
    'SVC_AUDIT_MAX_DAYS: must be no less',
  ],
])('[D87][D32] %s is a problem that is reported without the value', (_, environment, problem) => {
  const { problems } = read(environment);
  expect(problems).toHaveLength(1);
  expect(problems.join('\n')).toContain(problem);
  expect(problems.join('\n')).not.toMatch(/marker-5150/i);
});
