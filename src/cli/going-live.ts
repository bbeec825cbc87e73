// The points of docs/going-live.md, each with what the configuration alone says about it.
import type { CheckedStartup } from '../instance/startup.js';
import { frameAncestorsOf } from '../instance/frame-ancestors.js';
import { renderTable } from '../administration/table.js';

/** `check`: the configuration cannot show it; docs/going-live.md has the command that does. */
export interface GoingLivePoint {
  readonly title: string;
  readonly state: 'good' | 'open' | 'check';
  readonly detail: string;
}

type Finding = Omit<GoingLivePoint, 'title'>;

const good = (detail: string): Finding => ({ state: 'good', detail });
const open = (detail: string): Finding => ({ state: 'open', detail });
const check = (detail: string): Finding => ({ state: 'check', detail });

/** By the titles that the document has, in its order. */
const POINTS: Readonly<Record<string, (startup: CheckedStartup) => Finding>> = {
  'Strict policy': ({ config }) =>
    config.strict
      ? good('entries allow only what they say')
      : open('what an entry does not say is allowed; set SVC_TOKEN_EXCHANGE_STRICT=true'),
  Audience({ config, trustedKeys }) {
    if (trustedKeys.length === 0) return check('no entry is configured; keys list has the stored ones');
    const unsaid = trustedKeys.filter(({ expectedAudience }) => expectedAudience === undefined);
    if (unsaid.length > 0) return open(`any audience passes under ${labelsOf(unsaid)}`);
    const others = trustedKeys.filter(({ expectedAudience }) => expectedAudience !== config.baseUrl);
    return others.length === 0
      ? good('each configured entry expects the address of this instance')
      : check(`${labelsOf(others)}: another audience than the address of this instance`);
  },
  Origins({ config, trustedKeys }) {
    const origins = frameAncestorsOf(config, trustedKeys);
    if (origins === undefined) return open('any site may frame the instance, unless a proxy forbids it');
    const plain = origins.filter((origin) => !origin.startsWith('https:'));
    return plain.length === 0
      ? good(origins.join(' ') || 'embedded login is off')
      : open(`without HTTPS: ${plain.join(' ')}`);
  },
  HTTPS: ({ config }) =>
    config.baseUrl.startsWith('https:')
      ? check(`${config.baseUrl} needs a valid certificate`)
      : open(`${config.baseUrl} is plain HTTP`),
  'Proxy hops': ({ config }) => check(`${config.proxyHops} trusted: as many must stand in front`),
  'Sealing key': ({ config }) =>
    config.encryptionKeys.length > 0
      ? check('it is configured; keep it apart from the backups, too')
      : open('it is in the data folder only; set SVC_ENCRYPTION_KEY_FILE'),
  Backup: () => check('restore one'),
  Alerts: ({ config }) =>
    config.metricsPort === 0 ? open('there are no metrics: the port of metrics is 0') : check('raise one'),
  Retention: ({ config }) =>
    config.auditRetentionDays > 0
      ? good(`the trail keeps events for ${config.auditRetentionDays} days`)
      : open('the trail grows for ever; set SVC_AUDIT_RETENTION_DAYS'),
  Throttle({ config, trustedKeys }) {
    const unlimited = trustedKeys.filter(({ perMinute }) => perMinute === undefined);
    if (unlimited.length > 0) return open(`counted by address: ${labelsOf(unlimited)}; set perMinute`);
    return config.throttleStore === 'database' ? good('counted for all instances') : check('per instance');
  },
  Clock: () => check('compare it with that of another machine'),
  Log: () => check('look for a token in the logs of proxy and service'),
};

export function goingLivePoints(startup: CheckedStartup): GoingLivePoint[] {
  return Object.entries(POINTS).map(([title, find]) => ({ title, ...find(startup) }));
}

export function goingLiveText(points: readonly GoingLivePoint[]): string {
  const rows = points.map(({ title, state, detail }, index) => [`${index + 1}`, title, state, detail]);
  return `Before partners use the instance (docs/going-live.md):\n${renderTable(['', 'POINT', 'STATE', 'BECAUSE'], rows)}`;
}

function labelsOf(entries: readonly { readonly label: string }[]): string {
  return entries.map(({ label }) => label).join(', ');
}
