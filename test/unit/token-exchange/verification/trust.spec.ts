// Until when an entry is trusted, for which way in, and whether for a subject alone.
import { judgeLoneSubject, judgeTrust } from '../../../../src/token-exchange/verification/trust.js';

const entry = { entryIndex: 0, label: 'entry-0', issuer: 'https://a.example' };
const NOON = Date.parse('2030-06-01T12:00:00Z') / 1000;

describe('trust', () => {
  it('[P.notAfter][K21] ends at its moment, neither before nor after', () => {
    const ending = { ...entry, notAfter: new Date('2030-06-01T12:00:00Z') };
    expect(() => judgeTrust(ending, 'embed', NOON - 0.001)).not.toThrow();
    expect(() => judgeTrust(ending, 'embed', NOON)).toThrow('trust_ended');
    expect(() => judgeTrust(entry, 'embed', NOON * 2)).not.toThrow();
  });

  it('[D71] is none while the entry is suspended, whatever else holds', () => {
    const ended = { ...entry, isSuspended: true, notAfter: new Date(0) };
    expect(() => judgeTrust(ended, 'embed', NOON)).toThrow('entry_suspended');
    expect(() => judgeTrust({ ...entry, isSuspended: false }, 'exchange', NOON)).not.toThrow();
  });

  it.each<[readonly ('embed' | 'exchange')[], readonly string[]]>([
    [['embed'], ['exchange']],
    [['exchange'], ['embed']],
    [['embed', 'exchange'], []],
  ])('[P.flows] for %j is none for %j', (flows, refused) => {
    const results = (['embed', 'exchange'] as const).filter((flow) => {
      try {
        judgeTrust({ ...entry, flows: new Set(flows) }, flow, NOON);
        return false;
      } catch (error) {
        expect(error).toMatchObject({ reason: 'flow_not_allowed' });
        return true;
      }
    });
    expect(results).toEqual(refused);
  });

  it('[P.requireActor] is for a subject alone unless the entry asks for an actor', () => {
    expect(() => judgeLoneSubject({ ...entry, requireActor: true })).toThrow('actor_required');
    expect(() => judgeLoneSubject({ ...entry, requireActor: false })).not.toThrow();
    expect(() => judgeLoneSubject(entry)).not.toThrow();
  });
});
