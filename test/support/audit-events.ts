// Holds every event that a service of the tests tells against the published schema, and looks for secrets in it.
import type { EventEmitter2 } from '@nestjs/event-emitter';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { AuditEvent } from '../../src/token-exchange/audit/audit-trail.js';
import { secretsIn } from './secrets.js';
import { repositoryFile } from './source-files.js';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);
const isEvent = ajv.compile(
  JSON.parse(repositoryFile('docs/reference/audit-events.schema.json').text) as object,
);

/** Lists the schema violations of an event; empty if it is valid. */
export function faultsOf(event: object): string[] {
  // The name is the one that is stored, and shown by commands and the API.
  if (isEvent(JSON.parse(JSON.stringify(event)))) return [];
  return (isEvent.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Listens to all events of a service. @returns a function that lists the schema violations so far */
export function watchEvents(emitter: EventEmitter2): () => string[] {
  const faults: string[] = [];
  emitter.on('svc.audit.**', ({ name, ...event }: AuditEvent) => {
    const { subjectUserId = null, actorUserId = null } = event;
    const stored = { id: '1', event: name, ...event, subjectUserId, actorUserId };
    const all = [...faultsOf(stored), ...secretsIn(JSON.stringify(stored))];
    faults.push(...all.map((fault) => `${name}: ${fault}`));
  });
  return () => faults;
}
